"""Measure the speed, quality and size of gradient boosting and AdaBoost, and compare them with targets.

python benchmarks/boosting.py [--quick] [--cases ...] [--peers ...] [--repeats 5]
"""

import hashlib
import pickle
from functools import partial

import tables
from boosting_peers import BINS, BOOSTERS, GRADIENT, LEAVES, RATE
from harness import Case, Plot, Question, main
from measure import fit_and_score
from verdicts import at_most, not_above, one_model, ratio, ratio_among, ratio_to_good

LIGHTGBM, SKLEARN = "LightGBM", "scikit-learn"
QUICK_ROWS = {"n_rows": 4000, "n_test": 2000}
ROUNDS, STUMPS = 200, 100
THREADS_TO_TRY = (1, 2, 3, 7)
# Peers with as many leaves as committee, and with a separate split in each node.
ORDINARY = (LIGHTGBM, "LightGBM quantised", "XGBoost", SKLEARN, "YDF")

TWO = "100,000 x 28, 2 classes"
HALF_MILLION = "500,000 x 30, 2 classes"
REGRESSION = "200,000 x 20, regression"
TEN = "20,000 x 50, 10 classes"
CANCER = "breast_cancer"
DIGITS = "digits"
ADABOOST = "AdaBoost, 100,000 x 28"
SAME_MODEL = "any number of threads"
LOSSES = {TWO: "log_loss", HALF_MILLION: "log_loss", REGRESSION: "rmse", TEN: "log_loss"}


def large(name, about, kind, table, *, n_calls=0, without=()):
    """Return a case with one fit per process."""

    def measure(peer, *, seed, quick):
        split = table(**QUICK_ROWS) if quick else table()
        calls, rounds = (min(n_calls, 20), 20) if quick else (n_calls, ROUNDS)
        return fit_and_score(peer, kind, split, n_estimators=rounds, seed=seed, n_calls=calls)

    return Case(name, about, tuple(peer for peer in _peers_with(kind) if peer not in without), measure)


def small(name, about, table):
    """Return a case with several short fits per process, without memory and batch prediction."""

    def measure(peer, *, seed, quick):
        fits, rounds = (2, 20) if quick else (5, ROUNDS)
        readings = fit_and_score(peer, "classifier", table(), n_estimators=rounds, seed=seed, n_fits=fits)
        return {metric: readings[metric] for metric in ("fit", "accuracy", "log_loss")}

    return Case(name, about, _peers_with("classifier"), measure)


def stumps(name, about, table):
    """Return a case of AdaBoost."""

    def measure(peer, *, seed, quick):
        split = table(**QUICK_ROWS) if quick else table()
        readings = fit_and_score(peer, "stumps", split, n_estimators=20 if quick else STUMPS, seed=seed)
        return {metric: readings[metric] for metric in ("fit", "predict", "accuracy")}

    return Case(name, about, _peers_with("stumps"), measure)


def same_model(name, about):
    """Return a case that counts the distinct models of one table from different numbers of threads."""

    def measure(peer, *, seed, quick):
        rows = QUICK_ROWS if quick else {"n_rows": 20_000, "n_test": 1000}
        jobs = {
            "classifier": (tables.two_classes(**rows), tables.ten_classes(**rows)),
            "regressor": (tables.friedman(**rows),),
            "stumps": (tables.two_classes(**rows),),
        }
        return {
            "distinct": max(_count_models(peer, kind, split, seed) for kind in jobs for split in jobs[kind])
        }

    return Case(name, about, ("committee",), measure)


def _count_models(peer, kind, split, seed):
    hashes = set()
    for n_threads in THREADS_TO_TRY:
        estimator = peer.model(kind, n_estimators=20, seed=seed).estimator.set_params(n_jobs=n_threads)
        if kind in GRADIENT:
            estimator.set_params(subsample=0.8, colsample_bynode=0.8)
        fitted = estimator.fit(split.X_train, split.y_train).set_params(n_jobs=None)
        hashes.add(hashlib.sha256(pickle.dumps(fitted)).hexdigest())
    return len(hashes)


def _peers_with(kind):
    return tuple(name for name, peer in BOOSTERS.items() if kind in peer.kinds)


def check_targets(readings):
    """Compare the readings with the targets."""
    verdicts = []
    for case, loss in LOSSES.items():
        verdicts.append(ratio_to_good(readings, f"fit: {case}", case, "fit", times=1.5, loss=loss, percent=1))
        verdicts.append(not_above(readings, f"loss: {case}", case, loss, peer=LIGHTGBM, percent=0.5))
    verdicts += [ratio(readings, f"fit: {case}", case, "fit", times=2.5) for case in (CANCER, DIGITS)]
    verdicts += [
        ratio_among(
            readings,
            f"batch predict: {case}",
            case,
            "predict",
            times=1,
            peers=ORDINARY,
            whose=f"the fastest peer with {LEAVES} leaves",
        )
        for case in LOSSES
    ]
    verdicts += [
        at_most(readings, "one row through the estimator", TWO, "one_row", limit=25, unit="us"),
        ratio(readings, f"fit: {ADABOOST}", ADABOOST, "fit", peer=SKLEARN, times=100),
    ]
    verdicts += [
        ratio(readings, f"peak memory of fit: {case}", case, "memory", peer=LIGHTGBM, times=1)
        for case in LOSSES
    ]
    threads = ", ".join(map(str, THREADS_TO_TRY))
    verdicts.append(one_model(readings, f"models of {threads} threads", SAME_MODEL, "distinct"))
    return verdicts


QUESTION = Question(
    name="boosting",
    title="How fast is boosting, how good, how large?",
    about=(
        f"{ROUNDS} rounds at rate {RATE}, {LEAVES} leaves, {BINS} bins, two threads for every library. "
        "*fit* and *predict* are whole calls on arrays (YDF: on a dict of columns); *predict* gives the "
        "probabilities (or the predicted numbers) of all test rows; *one row* is `predict` on one row, the "
        "median of 200 calls; *peak memory* is the rise of the resident memory during the fit. On the two "
        "small tables *fit* is the median of up to 5 fits in one process. CatBoost's trees have the same "
        "split at all nodes of a level, and XGBoost's of depth 6 have up to 64 leaves, so neither counts "
        "in the comparison of predictions with the same number of leaves. YDF is left out if it takes "
        f"minutes. AdaBoost has {STUMPS} stumps. Every repetition has its own seed."
    ),
    cases=(
        large(
            TWO,
            "Two overlapping classes, 28 numeric columns, 50,000 test rows.",
            "classifier",
            tables.two_classes,
            n_calls=200,
        ),
        large(
            HALF_MILLION,
            "The same with more rows and 30 columns.",
            "classifier",
            partial(tables.two_classes, n_rows=500_000, n_columns=30),
            without=("YDF",),
        ),
        large(
            REGRESSION,
            "Friedman's first function with noise of deviation 1, 50,000 test rows.",
            "regressor",
            tables.friedman,
        ),
        large(
            TEN,
            "Ten classes, 50 numeric columns, 10,000 test rows.",
            "classifier",
            tables.ten_classes,
            without=("YDF",),
        ),
        small(CANCER, "379 training rows, 30 columns.", tables.breast_cancer),
        small(DIGITS, "1,198 training rows, 64 columns, 10 classes.", tables.digits),
        stumps(ADABOOST, "The first table.", tables.two_classes),
        same_model(
            SAME_MODEL,
            "20,000 rows of each kind of table, 20 rounds on a share of the rows and columns, and stumps of "
            "AdaBoost: the number of distinct models, byte for byte, from different numbers of threads.",
        ),
    ),
    check_targets=check_targets,
    registry=BOOSTERS,
    plots=(
        Plot("boosting_fit.svg", "Time to fit, as a multiple of committee's", "fit"),
        Plot(
            "boosting_predict.svg", "Time to predict the test rows, as a multiple of committee's", "predict"
        ),
        Plot("boosting_memory.svg", "Peak memory of the fit, as a multiple of committee's", "memory"),
    ),
)

if __name__ == "__main__":
    main(QUESTION)
