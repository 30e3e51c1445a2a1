"""Measure the speed and quality of bagging and rotation forests, and compare them with targets.

python benchmarks/sampling.py [--quick] [--cases ...] [--peers ...] [--repeats 5]
"""

import os
import time

from threadpoolctl import threadpool_limits

import tables
from harness import Case, Plot, Question, main
from measure import fit_and_score
from sampling_peers import MEMBERS, PEERS, ROTATION, TREES, committee_model, sklearn_model
from verdicts import at_most, in_turns, not_worse_by, ratio

SKLEARN, INTELEX, AEON = "scikit-learn", "scikit-learn-intelex", "aeon"
QUICK_ROWS = {"n_rows": 4000, "n_test": 2000}

BAGGING = "bagging of 50 full trees, 100,000 x 28"
TWO = "rotation forest of 50 trees, 5,000 x 28"
TEN = "rotation forest of 50 trees, 5,000 x 50, 10 classes"
LARGE = "rotation forest of 50 trees, 100,000 x 28"
LARGE_TABLE = 100_000 * 28 * 8 / 2**20
# The number of interleaved fits of each peer, of which the fastest counts.
TURNS = 9


def fit_case(name, about, kind, table, *, n_estimators, peers=tuple(PEERS)):
    """Return a case with one fit per process."""

    def measure(peer, *, seed, quick):
        split = table(**QUICK_ROWS) if quick else table()
        return fit_and_score(peer, kind, split, n_estimators=10 if quick else n_estimators, seed=seed)

    return Case(name, about, tuple(each for each in peers if kind in PEERS[each].kinds), measure)


def rotation(name, about, table, peers=tuple(PEERS)):
    return fit_case(name, about, ROTATION, table, n_estimators=50, peers=peers)


def of_5000(table):
    """Return a function that draws a smaller table of the same kind."""
    return lambda **rows: table(**{"n_rows": 5_000, "n_test": 20_000} | rows)


def interleaved_with_scikit_learn(kind):
    """Return a case with interleaved fits of committee and scikit-learn in one process, on one thread."""

    def measure(peer, *, seed, quick):
        # One thread for our code and for BLAS, because threads that wait for each other would dominate the
        # time.
        os.environ["OMP_NUM_THREADS"] = "1"
        split = tables.two_classes(n_rows=1000 if quick else 5000, n_test=1000)
        ours, theirs = [], []
        with threadpool_limits(1):
            for _ in range(1 + TURNS):
                for make, times in ((sklearn_model, theirs), (committee_model, ours)):
                    model = make(kind, n_estimators=20, seed=seed, n_jobs=1)
                    before = time.process_time()
                    model.fit(split.X_train, split.y_train)
                    times.append(time.process_time() - before)
        accuracy = model.estimator.score(split.X_test, split.y_test)
        # The first fits import modules, so they do not count.
        return {
            "processor": min(ours[1:]),
            "turns": min(ours[1:]) / min(theirs[1:]),
            "accuracy": accuracy,
        }

    about = "5,000 x 28, 20 members, one thread: our processor time, divided by that of scikit-learn."
    return Case(kind, about, ("committee",), measure)


def check_targets(readings):
    """Compare the readings with the targets."""
    return [
        ratio(readings, f"fit: {BAGGING}", BAGGING, "fit", peer=SKLEARN, times=20),
        not_worse_by(readings, f"accuracy: {BAGGING}", BAGGING, "accuracy", peer=SKLEARN, difference=0.002),
        ratio(readings, f"fit: {BAGGING}", BAGGING, "fit", peer=INTELEX, times=1),
        ratio(readings, f"fit: {TWO}", TWO, "fit", peer=AEON, times=10),
        not_worse_by(readings, f"accuracy: {TWO}", TWO, "accuracy", peer=AEON, difference=0.005),
        ratio(readings, f"fit: {TEN}", TEN, "fit", peer=AEON, times=10),
        not_worse_by(readings, f"accuracy: {TEN}", TEN, "accuracy", peer=AEON, difference=0.005),
        at_most(readings, f"memory: {LARGE}", LARGE, "memory", limit=round(10 * LARGE_TABLE), unit="MB"),
        *[in_turns(readings, f"fit: {kind}", kind, "turns", peer=SKLEARN, percent=5) for kind in MEMBERS],
    ]


QUESTION = Question(
    name="sampling",
    title="How fast and how good are bagging and rotation forests?",
    about=(
        "*fit* and *predict* are whole calls on arrays; *predict* gives the probabilities of all test "
        "rows. Two threads for every library, except for members of scikit-learn, which are fitted on one. "
        "For these, *interleaved* is the processor time of the fastest of our nine fits, divided by that "
        "of scikit-learn's fastest, interleaved in one process. Every repetition has its own seed."
    ),
    cases=(
        fit_case(
            BAGGING,
            "Two overlapping classes, 28 numeric columns, 50,000 test rows.",
            TREES,
            tables.two_classes,
            n_estimators=50,
        ),
        *map(interleaved_with_scikit_learn, MEMBERS),
        rotation(TWO, "Two overlapping classes, 28 numeric columns.", of_5000(tables.two_classes)),
        rotation(TEN, "Ten classes, 50 numeric columns.", of_5000(tables.ten_classes)),
        rotation(LARGE, "Two overlapping classes; the table has 21 MB.", tables.two_classes, ("committee",)),
    ),
    check_targets=check_targets,
    registry=PEERS,
    plots=(Plot("sampling_fit.svg", "Time to fit, as a multiple of committee's", "fit"),),
)

if __name__ == "__main__":
    main(QUESTION)
