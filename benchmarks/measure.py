"""Measure the time, memory and quality of one model in a process that runs nothing else.

`fit_and_score` contains the steps of a worker: warm up, fit, predict, score. The time is that of the
monotonic clock. The peak memory is the kernel's high-water mark, so no other code runs during the fit.
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
# Fits are not repeated after this total time.
ENOUGH_SECONDS = 3.0


def fit_and_score(peer, kind, split, *, n_estimators, seed, n_fits=1, n_calls=0):
    """Fit one kind of model of a peer and measure its cost and quality.

    Parameters
    ----------
    peer : Peer
    kind : str
        One of `peer.kinds`.
    split : Split
    n_estimators, seed : int
    n_fits : int, default=1
        Number of fits of equal models in this process, fewer if they take long. The result is their median
        time.
    n_calls : int, default=0
        Number of predictions of a single row. The result is their median time.

    Returns
    -------
    dict of str to float
        The values by the name of their metric in `harness.METRICS`.
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
    """Return the time of one call."""
    gc.collect()
    start = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - start


class PeakMemory:
    """The largest rise of the resident memory within a block.

    Linux reports the high-water mark, and a process can reset it. On other systems it cannot be reset, so the
    rise is measured from the highest value so far and is a lower bound.
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
    """Load the libraries and start their threads with a model on a small part of the table."""
    model = peer.model(kind, n_estimators=10, seed=0)
    model.fit(model.table(split.X_train[:n_rows]), split.y_train[:n_rows])
    model.votes(model.table(split.X_test[:n_rows]))


def _scores(votes, split):
    if votes.ndim == 1 or votes.shape[1] == 1:
        return {"rmse": root_mean_squared_error(split.y_test, votes.ravel())}
    # Some peers vote in float32, so their rows do not sum exactly to one.
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
    """Return free memory of the allocator to the system, so that the fit cannot reuse it (glibc only)."""
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
