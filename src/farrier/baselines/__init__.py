"""The methods that the paper compares with, all with the same `fit` and `predict`.

    model = BASELINES["abcd"](seed=1).fit(X, y)
    mean, sd = model.predict(X_new)              # of a new observation, in the units of y

A factory imports its file when it is called, so that listing the methods is fast.
"""

from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal, final


@final
@dataclass(frozen=True)
class Factory:
    """A method: where it is defined, a description in one line, and the most rows it can handle."""

    home: str
    """The file and the class in it, "file:class"."""
    description: str
    most_rows: int
    """Above this number of rows it uses a random subset, or takes too long; by judgement."""
    task: Literal["regression", "classification"] = "regression"

    def __call__(self, **settings: Any) -> Any:
        """The method with these settings, ready to fit."""
        import_module("farrier.paper")  # its packages are those of all methods
        file, maker = self.home.split(":")
        return getattr(import_module(f"farrier.baselines.{file}"), maker)(**settings)


BASELINES: dict[str, Factory] = {
    "full-gp": Factory("full:FullGP", "exact Gaussian process, one smooth kernel", 3_000),
    "svgp-se": Factory("sparse:SmoothSVGP", "sparse Gaussian process, one smooth kernel", 100_000),
    "svgp": Factory("sparse:PoolSVGP", "the paper's pool without a prior, shared inducing points", 50_000),
    "multisvgp": Factory("sparse:PoolMultiSVGP", "the paper's pool without a prior, points for each kernel", 50_000),
    "spike-and-slab": Factory("sparse:SpikeAndSlabSVGP", "the paper's pool with a spike-and-slab prior", 50_000),
    "paper": Factory("sparse:HorseshoeSVGP", "the paper's method by the paper's algorithm", 50_000),
    "paper-as-printed": Factory("sparse:PrintedSVGP", "the same, trained by Adam alone as printed", 50_000),
    "paper-tables": Factory("tables:HorseshoeTables", "the paper's method for tables, 12 kernels, six starts", 50_000),
    "paper-staged": Factory("tables:StagedTableSVGP", "the same, shrunk kernels hand on their inducing points", 50_000),
    "no-prior-tables": Factory("tables:FreeTables", "the same 12 kernels without a prior", 50_000),
    "softmax": Factory("sparse:SoftmaxSVGP", "softmax weights on 12 candidate sums, as in the paper", 50_000),
    "softmax-variational": Factory(
        "sparse:VariationalSoftmaxSVGP", "12 candidate sums averaged by their evidence (Teng et al. 2020)", 20_000
    ),
    "gp-nkn": Factory("network:KernelNetwork", "differentiable network of kernels (Sun et al. 2018)", 10_000),
    "additive-gp": Factory("additive:AdditiveGP", "additive kernels of all orders (Duvenaud et al. 2011)", 2_000),
    "additive-classifier": Factory(
        "additive:AdditiveClassifier", "the same for two classes, by Laplace's approximation", 2_000, "classification"
    ),
    "subset-classifier": Factory(
        "additive:SubsetClassifier",
        "sets of inputs under a horseshoe (the paper)",
        2_000,
        "classification",
    ),
    "sets-classifier": Factory(
        "additive_sets:SetsClassifier",
        "sets of inputs under a horseshoe, by the paper's algorithm",
        2_000,
        "classification",
    ),
    "free-sets-classifier": Factory(
        "additive_sets:FreeSetsClassifier", "the same without a prior", 2_000, "classification"
    ),
    "abcd": Factory("search:KernelSearch", "greedy search over kernels by BIC (Lloyd et al. 2014)", 1_000),
    "skc": Factory("scalable:ScalableSearch", "the search guided by two bounds (Kim and Teh 2018)", 4_000),
    "bbq": Factory("quantile:QuantileKernel", "black-box quantile kernel (Tompkins et al. 2019)", 50_000),
}
"""The methods by name, the simple ones first."""
