"""Ctrl-C during the fit of a forest, in a new process that continues afterwards."""

import subprocess
import sys

import pytest

# A hundred thousand trees take minutes, so the signal arrives during their fit.
SCRIPT = """
import signal, threading
import numpy as np
from committee import RandomForestClassifier

signal.signal(signal.SIGINT, signal.default_int_handler)
rng = np.random.default_rng(0)
X = rng.normal(size=(2000, 5))
y = X[:, 0] + X[:, 1] > 0
forest = RandomForestClassifier(5, random_state=0, n_jobs={n_jobs}).fit(X, y)
before = forest.votes(X)
threading.Timer(0.5, signal.raise_signal, (signal.SIGINT,)).start()
try:
    forest.set_params(n_estimators=100_000).fit(X, y)
except KeyboardInterrupt:
    print("interrupted")
print(np.array_equal(forest.votes(X), before))
print(np.array_equal(forest.set_params(n_estimators=5).fit(X, y).votes(X), before))
"""


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_ends_a_long_fit_and_does_not_change_the_forest(n_jobs):
    command = [sys.executable, "-c", SCRIPT.format(n_jobs=n_jobs)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.stderr == ""
    assert ended.stdout.split() == ["interrupted", "True", "True"]
