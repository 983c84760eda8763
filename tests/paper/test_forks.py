"""After a stochastic fit a forked process says that it cannot go on; it does not hang."""

import os
import subprocess
import sys

import pytest

CODE = """
import os, warnings
import numpy as np
from farrier import Regressor

warnings.simplefilter("ignore")
X = np.arange(12.0)[:, None]
y = np.sin(X[:, 0])
make = lambda: Regressor(["SE"], method="stochastic", iterations=2, inducing=4)
model = make().fit(X, y)
for work in (lambda: model.predict(X), lambda: make().fit(X, y), lambda: Regressor().fit(X, y)):
    child = os.fork()
    if child == 0:
        try:
            work()
            print("done", flush=True)
        except RuntimeError as error:
            print(error, flush=True)
        os._exit(0)
    os.waitpid(child, 0)
print("parent", len(model.predict(X)))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
def test_a_forked_process_refuses_compiled_programs_and_runs_all_others():
    environment = os.environ | {"FARRIER_CACHE": "off"}
    ran = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, timeout=120, env=environment)
    predicted, fitted, quick, parent = ran.stdout.splitlines()
    assert 'method="stochastic" cannot run in a process that was forked' in predicted
    assert predicted == fitted
    assert (quick, parent) == ("done", "parent 12")
