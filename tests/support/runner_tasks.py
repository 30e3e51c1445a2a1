"""Functions and members for the tests of runners. Worker processes import them from this module."""

import os
import signal
import threading
import time
import warnings
from contextvars import ContextVar
from pathlib import Path

import numpy as np
import threadpoolctl
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.naive_bayes import GaussianNB

from committee.running import Work, n_threads, runner
from committee.running.resources import MOST_THREADS

setting: ContextVar[str] = ContextVar("setting", default="nothing")


def doubled(value):
    return 2 * value


def fail(message):
    raise ValueError(message)


def throw(error):
    raise error


class OddError(Exception):
    """An error that can be pickled but not unpickled."""

    def __init__(self, first, second):
        super().__init__(f"{first} and {second}")


def fail_oddly():
    raise OddError("this", "that")


def leave():
    raise SystemExit(3)


def wait_for(path):
    """Wait until a file exists, in steps that can be interrupted."""
    while not Path(path).exists():
        time.sleep(0.01)
    return str(path)


def wait_then_touch(path, other):
    wait_for(path)
    Path(other).touch()
    return str(other)


def report_and_wait(folder):
    """Write a file that names the thread, then wait forever, in steps that can be interrupted."""
    (Path(folder) / f"begun {os.getpid()} {threading.get_ident()}").touch()
    wait_for(Path(folder) / "never")


def die(signal_number=signal.SIGKILL):
    os.kill(os.getpid(), signal_number)


def fork_and_die():
    """Die, and leave a child process that keeps all files of the worker open."""
    if os.fork() == 0:
        time.sleep(60)
        os._exit(0)
    die()


def die_once(folder):
    """Die the first time, then return the number of tries."""
    (Path(folder) / f"try {os.getpid()}").touch()
    n_tries = len(list(Path(folder).glob("try *")))
    if n_tries == 1:
        die()
    return n_tries


def record(path, word):
    """Append a word to a file, which then shows the number of calls."""
    with open(path, "a") as file:
        file.write(word + "\n")
    return word


def place():
    return os.getpid(), threading.get_ident()


def memory_of(array):
    """Return the type that owns the memory of an array, its flags and its sum."""
    base = array
    while isinstance(base, np.ndarray) and base.base is not None:
        base = base.base
    if isinstance(base, memoryview):
        base = base.obj
    return type(base).__name__, array.flags.owndata, array.flags.writeable, float(array.sum())


def megabytes_to_read(array):
    """Return the memory that a process allocates to read a whole array."""
    before = own_megabytes()
    array.sum()
    return own_megabytes() - before


def own_megabytes():
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Anonymous:")) / 1024


def identity(value):
    return id(value)


def describe(value):
    return type(value).__name__, value.to_dict() if hasattr(value, "to_dict") else value


def overwrite(array):
    array[0] = -1.0


def thread_counts():
    """Return the numbers of threads of committee, of the libraries and of joblib."""
    # A multiplication loads BLAS.
    np.ones((2, 2)) @ np.ones((2, 2))
    libraries = [library["num_threads"] for library in threadpoolctl.threadpool_info()]
    counts = {n_jobs: n_threads(n_jobs) for n_jobs in (None, -1, 1, 64)}
    return counts, max(libraries), effective_n_jobs(-1), effective_n_jobs(64)


def workers_inside(kind):
    """Return the workers and threads of a runner in a task, and the threads of a task of that runner."""
    with runner(kind) as inner:
        return inner.n_workers, inner.threads_per_worker, inner.submit(n_threads, None).result()


def work():
    with Work("rounds", "Work", 2) as work:
        work.report(1)
        work.report(2)


def context():
    return setting.get()


def warn():
    warnings.warn("It is late.", UserWarning, stacklevel=1)
    return "no error"


def fold_votes(estimator, table, rows):
    X, y = table
    return fit_and_vote(estimator, X[rows], y[rows], X)


def fit_and_vote(estimator, table, y, X):
    return clone(estimator).fit(table, y).predict_proba(X)


def give_back(value):
    return value


def open_file():
    return open(os.devnull)


class Tired(GaussianNB):
    """A member that fails unless all weights are equal, as for the first member."""

    def fit(self, X, y, sample_weight=None):
        if np.ptp(sample_weight) > 0:
            raise KeyError("coffee")
        return super().fit(X, y, sample_weight)


class Deadly(GaussianNB):
    """A member that ends its process."""

    def fit(self, X, y, sample_weight=None):
        os._exit(3)


class Asking(GaussianNB):
    """A member that requests more threads than there are cores."""

    def fit(self, X, y, sample_weight=None):
        self.n_threads_ = n_threads(MOST_THREADS)
        return super().fit(X, y, sample_weight)


class Failing(ClassifierMixin, BaseEstimator):
    """A member that fails on some bags."""

    def fit(self, X, y):
        if len(X) and X[0, 0] > 0:
            raise RuntimeError("out of\nluck")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


class Hungry(ClassifierMixin, BaseEstimator):
    """A member whose fit and model use memory, and which counts how many are fitted at the same time."""

    n_now, n_most, n_fits = 0, 0, 0
    alone = threading.Lock()

    def __init__(self, at_once=0, model=0):
        self.at_once, self.model = at_once, model

    def fit(self, X, y):
        with self.alone:
            Hungry.n_now, Hungry.n_fits = Hungry.n_now + 1, Hungry.n_fits + 1
            Hungry.n_most = max(Hungry.n_most, Hungry.n_now)
        self.classes_ = np.unique(y)
        filled = np.ones(self.at_once, dtype=np.uint8)
        self.kept_ = np.ones(self.model, dtype=np.uint8)
        np.sort(np.random.default_rng(0).normal(size=300_000))
        with self.alone:
            Hungry.n_now -= int(filled[:1].size) if self.at_once else 1
        return self

    def predict_proba(self, X):
        return np.full((len(X), len(self.classes_)), 1 / len(self.classes_))

    def predict(self, X):
        return self.classes_[np.zeros(len(X), dtype=int)]
