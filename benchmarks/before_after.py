"""Compare the speed of two versions of committee in one run, in interleaved pairs.

In: the Python interpreter of an environment with the old version. The interpreter that runs this script has
the new version. Out: for each task, the median ratio of the times, new to old, with its 90 % interval.

    python benchmarks/before_after.py path/to/before/bin/python --pairs 20
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

THREADS = 2


def tables():
    """Return a large table with two targets, and a small table."""
    from sklearn.datasets import load_breast_cancer

    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 20))
    number = X[:, 0] * X[:, 1] + np.abs(X[:, 2]) + rng.normal(size=len(X))
    return X, number, number > 0.7, *load_breast_cancer(return_X_y=True)


def tasks(folder):
    """Return the tasks to time, by name: functions without parameters."""
    import committee

    X, number, label, small_X, small_y = tables()
    few = small_X[:30], small_y[:30]

    def of(kind, n_estimators, **parameters):
        return getattr(committee, kind)(n_estimators, random_state=0, n_jobs=THREADS, **parameters)

    forest, booster = of("RandomForestClassifier", 60), of("GradientBoostingClassifier", 60)
    forest.fit(X, label), booster.fit(X, label)
    saved = Path(folder, "forest.committee")
    forest.save(saved)
    tree = committee.DecisionTreeClassifier(random_state=0)
    row = X[:1]
    return {
        "forest, fit": lambda: of("RandomForestClassifier", 30).fit(X, label),
        "forest, predict": lambda: [forest.predict_proba(X) for _ in range(20)],
        "forest of numbers, fit": lambda: of("RandomForestRegressor", 12).fit(X, number),
        "extra-trees, fit": lambda: of("ExtraTreesClassifier", 30).fit(X, label),
        "boosting, fit": lambda: of("GradientBoostingClassifier", 60).fit(X, label),
        "boosting of numbers, fit": lambda: of("GradientBoostingRegressor", 60).fit(X, number),
        "boosting, predict": lambda: [booster.predict_proba(X) for _ in range(50)],
        "small forests, fit": lambda: [
            of("RandomForestClassifier", 10).fit(small_X, small_y) for _ in range(40)
        ],
        "30 rows, a forest": lambda: [of("RandomForestClassifier", 5).fit(*few) for _ in range(150)],
        "30 rows, a tree": lambda: [tree.fit(*few) for _ in range(300)],
        "30 rows, boosting": lambda: [of("GradientBoostingClassifier", 5).fit(*few) for _ in range(100)],
        "one row, predict": lambda: [forest.predict_proba(row) for _ in range(3_000)],
        "save": lambda: [forest.save(saved) for _ in range(5)],
        "load": lambda: [committee.load(saved) for _ in range(5)],
        "import committee": lambda: run("import committee"),
        "import all names": lambda: run("from committee import *"),
        "predictor, first row": lambda: run(
            f"import committee, numpy; committee.predictor({str(saved)!r}).predict(numpy.zeros((1, 20)))"
        ),
    }


def run(code):
    """Run a line of Python in a new process."""
    subprocess.run([sys.executable, "-c", code], check=True)


def work():
    """Time the tasks that are named on the standard input."""
    with tempfile.TemporaryDirectory() as folder:
        known = tasks(folder)
        print(*known, sep="|", flush=True)
        for line in sys.stdin:
            begin = time.perf_counter()
            known[line.strip()]()
            print(time.perf_counter() - begin, flush=True)


class Worker:
    """A process with one of the versions, which times tasks."""

    def __init__(self, python):
        self.process = subprocess.Popen(
            [python, __file__, "--work"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.names = self.process.stdout.readline().strip().split("|")

    def seconds(self, name):
        """Return the time of a task."""
        self.process.stdin.write(name + "\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())


def compare(before, n_pairs, only):
    """Print the ratio of each task."""
    workers = [Worker(before), Worker(sys.executable)]
    rng = np.random.default_rng(0)
    for name in workers[0].names:
        if only and only not in name:
            continue
        times = np.empty((n_pairs + 1, 2))
        for pair in range(n_pairs + 1):
            for side in (0, 1) if pair % 2 else (1, 0):
                times[pair, side] = workers[side].seconds(name)
        times = times[1:]  # the first pair warms up
        ratios = times[:, 1] / times[:, 0]
        medians = np.median(rng.choice(ratios, (2_000, n_pairs)), axis=1)
        low, high = np.quantile(medians, [0.05, 0.95])
        print(f"{name:26s} {np.median(ratios):6.3f}  [{low:.3f}, {high:.3f}]  {times[:, 1].min():.4f} s")


def main():
    """Run the comparison of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("before", nargs="?", help="the Python interpreter of the old version")
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--only", default="", help="compare only the tasks whose name contains this text")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        work()
    elif given.before:
        compare(given.before, given.pairs, given.only)
    else:
        parser.error("pass the Python interpreter of the old version")


if __name__ == "__main__":
    main()
