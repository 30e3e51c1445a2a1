"""Measure the speed, quality and size of forests and extra-trees, and compare them with targets.

python benchmarks/forest.py [--quick] [--cases ...] [--peers ...] [--repeats 5]
"""

import tables
from harness import Case, Plot, Question, main
from measure import fit_and_score
from peers import PEERS
from verdicts import at_most, not_above, not_worse_by, ratio, within_spread

SKLEARN, INTELEX = "scikit-learn", "scikit-learn-intelex"
QUICK_ROWS = {"n_rows": 4000, "n_test": 2000}

FOREST = "forest, 100,000 x 28"
EXTRA = "extra-trees, 100,000 x 28"
TEN = "forest, 20,000 x 50, 10 classes"
REGRESSION = "regression forest, 200,000 x 20"
CANCER = "breast_cancer"
DIGITS = "digits"
LARGE = (FOREST, EXTRA, TEN, REGRESSION)


def large(name, about, kind, table, *, n_calls=0):
    """Return a case with one fit per process."""

    def measure(peer, *, seed, quick):
        split = table(**QUICK_ROWS) if quick else table()
        calls, trees = (min(n_calls, 20), 20) if quick else (n_calls, 100)
        return fit_and_score(peer, kind, split, n_estimators=trees, seed=seed, n_calls=calls)

    return Case(name, about, _peers_with(kind), measure)


def small(name, about, kind, table):
    """Return a case with many short fits per process, without memory and batch prediction."""

    def measure(peer, *, seed, quick):
        fits = 3 if quick else 20
        readings = fit_and_score(peer, kind, table(), n_estimators=100, seed=seed, n_fits=fits)
        return {metric: readings[metric] for metric in ("fit", "accuracy", "log_loss")}

    return Case(name, about, _peers_with(kind), measure)


def _peers_with(kind):
    return tuple(name for name, peer in PEERS.items() if kind in peer.kinds)


def check_targets(readings):
    """Compare the readings with the targets."""
    verdicts = [
        ratio(readings, f"fit: {FOREST}", FOREST, "fit", peer=SKLEARN, times=20),
        ratio(readings, f"fit: {FOREST}", FOREST, "fit", peer=INTELEX, times=3),
        not_worse_by(readings, f"accuracy: {FOREST}", FOREST, "accuracy", peer=SKLEARN, difference=0.002),
        within_spread(readings, f"log loss: {FOREST}", FOREST, "log_loss", peer=SKLEARN),
        ratio(readings, f"fit: {EXTRA}", EXTRA, "fit", peer=SKLEARN, times=4),
        ratio(readings, f"fit: {EXTRA}", EXTRA, "fit", peer=INTELEX, times=4),
        ratio(readings, f"fit: {REGRESSION}", REGRESSION, "fit", peer=INTELEX, times=3),
        not_above(readings, f"RMSE: {REGRESSION}", REGRESSION, "rmse", peer=SKLEARN, percent=1),
        ratio(readings, f"fit: {TEN}", TEN, "fit", peer=SKLEARN, times=10),
        ratio(readings, f"fit: {TEN}", TEN, "fit", peer=INTELEX, times=3),
    ]
    for case in (CANCER, DIGITS):
        verdicts.append(ratio(readings, f"fit: {case}", case, "fit", peer=SKLEARN, times=10))
        verdicts.append(ratio(readings, f"fit: {case}", case, "fit", peer=INTELEX, times=1))
    verdicts += [ratio(readings, f"batch predict: {case}", case, "predict", times=2) for case in LARGE]
    verdicts += [
        at_most(readings, "one row through the estimator", FOREST, "one_row", limit=25, unit="us"),
        at_most(
            readings, "one row through a prepared predictor", FOREST, "prepared_row", limit=10, unit="us"
        ),
    ]
    verdicts += [ratio(readings, f"peak memory of fit: {case}", case, "memory", times=1) for case in LARGE]
    verdicts += [ratio(readings, f"model: {FOREST}", FOREST, "size", peer=SKLEARN, times=3)]
    return verdicts


QUESTION = Question(
    name="forest",
    title="How fast are the forests, how good, how large?",
    about=(
        "100 full trees, the square root of the columns at every node, two threads for every library. "
        "*fit* and *predict* are whole calls on arrays (YDF: on a dict of columns); *predict* gives the "
        "probabilities (or the predicted numbers) of all test rows; *one row* is `predict` on one row, the "
        "median of 200 calls; *peak memory* is the rise of the resident memory during the fit; *model* is "
        "the size of the arrays of nodes and values, for the peers that report it. On the two small tables "
        "*fit* is the median of 20 fits in one process. Every repetition has its own seed."
    ),
    cases=(
        large(
            FOREST,
            "Two overlapping classes, 28 numeric columns, 50,000 test rows.",
            "forest classifier",
            tables.two_classes,
            n_calls=200,
        ),
        large(EXTRA, "The same table.", "extra-trees classifier", tables.two_classes),
        large(
            TEN, "Ten classes, 50 numeric columns, 10,000 test rows.", "forest classifier", tables.ten_classes
        ),
        large(
            REGRESSION,
            "Friedman's first function with noise of deviation 1, 50,000 test rows.",
            "forest regressor",
            tables.friedman,
        ),
        small(CANCER, "379 training rows, 30 columns.", "forest classifier", tables.breast_cancer),
        small(DIGITS, "1,198 training rows, 64 columns, 10 classes.", "forest classifier", tables.digits),
    ),
    check_targets=check_targets,
    plots=(
        Plot("forest_fit.svg", "Time to fit, as a multiple of committee's", "fit"),
        Plot("forest_predict.svg", "Time to predict the test rows, as a multiple of committee's", "predict"),
        Plot("forest_memory.svg", "Peak memory of the fit, as a multiple of committee's", "memory"),
    ),
)

if __name__ == "__main__":
    main(QUESTION)
