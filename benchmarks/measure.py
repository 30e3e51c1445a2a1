"""Measuring one model in the process that runs nothing else.

`fit_and_score` is what a worker does: warm up, fit, predict, score. Time comes from the monotonic clock. Peak
memory comes from the kernel's own high-water mark, so nothing runs beside the fit.
"""

import ctypes
import gc
import resource
import statistics
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.metrics import accuracy_score, log_loss, root_mean_squared_error

MEGABYTE = 1024 * 1024
# Fits that take so long together need no repetition.
ENOUGH_SECONDS = 3.0


def fit_and_score(peer, kind, split, *, n_estimators, seed, n_fits=1, n_calls=0):
    """Fit one kind of model of a peer and say what it cost and how good it is.

    Parameters
    ----------
    peer : Peer
    kind : str
        One of `peer.kinds`.
    split : Split
    n_estimators, seed : int
    n_fits : int, default=1
        Fits of equal models in this process, fewer if they take long; their median time counts.
    n_calls : int, default=0
        Calls with one row each, whose median time counts; 0 leaves them out.

    Returns
    -------
    dict of str to float
        By name of a metric in `harness.METRICS`.
    """
    _warm_up(peer, kind, split)
    models = [peer.model(kind, n_estimators=n_estimators, seed=seed) for _ in range(n_fits)]
    train, test = models[0].table(split.X_train), models[0].table(split.X_test)

    readings = {}
    with PeakMemory() as peak:
        times = [seconds(models[0].fit, train, split.y_train)]
    readings["memory"] = peak.megabytes
    for model in models[1:]:
        if sum(times) < ENOUGH_SECONDS:
            times.append(seconds(model.fit, train, split.y_train))
    readings["fit"] = statistics.median(times)

    model = models[0]
    readings["predict"] = statistics.median(seconds(model.votes, test) for _ in range(3))
    readings |= _scores(model.order(model.votes(test)), split)
    if model.nbytes() is not None:
        readings["size"] = model.nbytes() / MEGABYTE
    if n_calls:
        rows = [model.table(split.X_test[i : i + 1]) for i in range(n_calls)]
        readings["one_row"] = _microseconds_per_row(model.predict, rows)
        if (prepared := model.prepared()) is not None:
            readings["prepared_row"] = _microseconds_per_row(prepared, rows)
    return readings


def seconds(function, *arguments):
    """The time of one call."""
    gc.collect()
    start = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - start


class PeakMemory:
    """How far the resident memory rose above where it stood on entry.

    Linux tells the high-water mark and lets a process reset it. Elsewhere the mark cannot be reset, so the
    rise is measured from the highest mark so far and is a lower bound.
    """

    def __enter__(self):
        gc.collect()
        _return_free_memory()
        self._resettable = _reset_high_water()
        self._before = _status("VmRSS") if self._resettable else _max_rss()
        return self

    def __exit__(self, *_):
        after = _status("VmHWM") if self._resettable else _max_rss()
        self.megabytes = max(0, after - self._before) / MEGABYTE


def _warm_up(peer, kind, split, n_rows=1000):
    """Load the libraries and start what they keep, on a small part of the table."""
    model = peer.model(kind, n_estimators=10, seed=0)
    model.fit(model.table(split.X_train[:n_rows]), split.y_train[:n_rows])
    model.votes(model.table(split.X_test[:n_rows]))


def _scores(votes, split):
    if votes.ndim == 1 or votes.shape[1] == 1:
        return {"rmse": root_mean_squared_error(split.y_test, votes.ravel())}
    # Some peers vote in float32; their rows sum to one only nearly.
    votes = votes.astype(np.float64) / votes.sum(axis=1, keepdims=True, dtype=np.float64)
    classes = np.unique(split.y_train)
    return {
        "accuracy": accuracy_score(split.y_test, classes[votes.argmax(axis=1)]),
        "log_loss": log_loss(split.y_test, votes, labels=classes),
    }


def _microseconds_per_row(predict, rows):
    times = []
    for row in rows:
        start = time.perf_counter_ns()
        predict(row)
        times.append(time.perf_counter_ns() - start)
    return statistics.median(times) / 1000


def _return_free_memory():
    """Give what the allocator hoards back to the system, so that a fit cannot hide in it (glibc only)."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)


def _reset_high_water():
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return False
    return True


def _status(field):
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"/proc/self/status has no {field}.")


def _max_rss():
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
