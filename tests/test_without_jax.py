"""The default path of every estimator runs without jax, equinox and optax: they belong to the paper's algorithm."""

import subprocess
import sys

PROGRAM = """
import sys, tempfile
from pathlib import Path
import numpy as np
import farrier

folder = Path(tempfile.mkdtemp())
x = np.arange(24.0)
y = 0.1 * x + np.sin(x) + 0.1 * np.random.default_rng(0).standard_normal(24)
labels = (y > y.mean()).astype(int)
models = {
    "found": farrier.Regressor().fit(x[:, None], y),
    "given": farrier.Regressor(kernels=["Lin", "SE * Per"], prior="softmax").fit(x[:, None], y),
    "paper": farrier.Regressor(kernels="paper", iterations=5).fit(x[:, None], y),
    "t": farrier.Regressor(likelihood="student-t").fit(x[:, None], y),
    "classes": farrier.Classifier().fit(x[:, None], labels),
    "chosen": farrier.Classifier(kernels=["SE"]).fit(x[:, None], labels),
}
for name, model in models.items():
    model.predict(x[:, None])
    str(model.explain())
    model.report(folder / f"{name}.html")
    model.save(folder / f"{name}.farrier")
    farrier.load(folder / f"{name}.farrier").predict(x[:, None])
forecaster = farrier.Forecaster().fit(x, y)
forecaster.forecast(3)
forecaster.update([24.0, 25.0], [2.5, 2.4])
str(forecaster.explain())
forecaster.report(folder / "series.html")
forecaster.save(folder / "series.farrier")
farrier.load(folder / "series.farrier").forecast(3)
print(sorted(name for name in sys.modules if name.partition(".")[0] in ("jax", "jaxlib", "equinox", "optax")))
"""


def test_fit_predict_explain_report_save_and_load_need_no_jax():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"
