"""A check of the approximation: the weights of three kernels by NUTS beside ours, on 60 points.

y is drawn from a smooth curve and a cycle; the pool holds a line as well, which nothing needs. Farrier fits the pool;
then NUTS (numpyro) draws the weights from their posterior under the same prior, w_i = tau lambda_i with half-Cauchy
tau and lambda_i, the kernels' numbers and the noise being where Farrier put them. Reported are quantiles of log w and
which kernels are kept: those whose component has a standard deviation of at least 3 % of y's.
"""

import argparse

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.record import Clock, Recorder, tell
from farrier.kernels.registry import CentredPeriodic, Linear, SquaredExponential
from farrier.model.given import fit_given
from farrier.search.enriching import SMALLEST

DESCRIPTION = "quantiles of the weights of three kernels, by NUTS and by ours"
ROWS = 60
QUANTILES = (0.05, 0.5, 0.95)
NAMES = ("SE", "Per0", "Lin")


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2], help="of the data")
    parser.add_argument("--draws", type=int, default=2000, help="of each of two chains, after as many to warm up")


def run(arguments: argparse.Namespace, record: Recorder) -> None:
    """Both posteriors for each seed."""
    for seed in arguments.seeds:
        if record.done(settings := {"rows": ROWS, "draws": arguments.draws}, seed):
            continue
        clock = Clock()
        x, y = draw(seed)
        learned = fit_given([SquaredExponential(0.7), CentredPeriodic(0.6, 1.0), Linear(0.0)], x, y)
        grams = learned.posterior.pool.gram(x, x)
        noise, z = learned.noise_variance, learned.scale.forward(y)
        sampled, trouble = nuts(grams, noise, z, arguments.draws, seed)
        ours = np.log([np.asarray(learned.prior.quantile(q)) for q in QUANTILES])
        theirs = np.quantile(np.log(sampled), QUANTILES, axis=0)
        kept_ours = kept(np.exp(ours[1])[None], grams, noise, z)
        kept_theirs = kept(sampled[:: len(sampled) // 100], grams, noise, z)
        figures = {
            name: {
                **{f"ours_{q:g}": round(float(ours[k, i]), 3) for k, q in enumerate(QUANTILES)},
                **{f"nuts_{q:g}": round(float(theirs[k, i]), 3) for k, q in enumerate(QUANTILES)},
                "kept_by_ours": bool(kept_ours[i]),
                "kept_by_nuts": bool(kept_theirs[i]),
            }
            for i, name in enumerate(NAMES)
        }
        record.add(settings, seed, {**figures, "divergences": trouble}, clock, ("numpyro",))
        tell(f"seed {seed}: {figures}")


def draw(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of a smooth curve, a cycle and noise."""
    generator = np.random.default_rng(seed)
    x = np.linspace(-1.7, 1.7, ROWS)[:, None]
    pool = [SquaredExponential(0.7), CentredPeriodic(0.6, 1.0)]
    y = 0.3 * generator.standard_normal(ROWS)
    for kernel in pool:
        K = kernel.gram(x, x)
        y += generator.multivariate_normal(np.zeros(ROWS), K, method="eigh")
    return x, y


def nuts(grams: np.ndarray, noise: float, z: np.ndarray, draws: int, seed: int) -> tuple[np.ndarray, int]:
    """Draws of the weights, (S, m), and how many of them went astray."""
    import numpyro
    from numpyro.distributions import HalfCauchy, MultivariateNormal
    from numpyro.infer import MCMC, NUTS

    K, eye = jnp.asarray(grams), jnp.eye(len(z))

    def model() -> None:
        tau = numpyro.sample("tau", HalfCauchy(1.0))
        with numpyro.plate("kernels", len(grams)):
            local = numpyro.sample("local", HalfCauchy(1.0))
        w = numpyro.deterministic("w", tau * local)
        C = jnp.tensordot(w**2, K, axes=1) + noise * eye
        numpyro.sample("z", MultivariateNormal(jnp.zeros(len(z)), C), obs=jnp.asarray(z))

    chains = MCMC(
        NUTS(model, target_accept_prob=0.97), num_warmup=draws, num_samples=draws, num_chains=2, progress_bar=False
    )
    chains.run(jax.random.key(seed))
    return np.asarray(chains.get_samples()["w"]), int(np.sum(chains.get_extra_fields()["diverging"]))


def kept(weights: np.ndarray, grams: np.ndarray, noise: float, z: np.ndarray) -> np.ndarray:
    """Whether each component's mean has a standard deviation that is not small, over draws of the weights."""
    sizes = []
    for w in weights:
        C = sum(v**2 * K for v, K in zip(w, grams, strict=True)) + noise * np.eye(len(z))
        a = np.linalg.solve(C, z)
        sizes.append([(v**2 * K @ a).std() for v, K in zip(w, grams, strict=True)])
    return np.mean(sizes, axis=0) > SMALLEST
