"""Measure how the cost of a forest grows with the numbers of rows and columns.

python benchmarks/growth.py [--quick] [--cases ...] [--peers ...] [--repeats 5]
"""

import tables
from harness import Case, Plot, Question, main
from measure import fit_and_score
from verdicts import proportional, ratio

KIND = "forest classifier"
PEERS = ("committee", "scikit-learn-intelex")
ROWS = {f"{n:,} rows": n for n in (50_000, 100_000, 200_000, 400_000)}
COLUMNS = {f"{n} columns": n for n in (10, 20, 50, 100, 200)}


def rows_case(name, n_rows):
    """Return a case with the first rows of one table, so that only the number of rows changes."""

    def measure(peer, *, seed, quick):
        shrink = 50 if quick else 1
        table = tables.two_classes(n_rows=max(ROWS.values()) // shrink, n_test=1000)
        first = slice(n_rows // shrink)
        table = table._replace(X_train=table.X_train[first], y_train=table.y_train[first])
        return _fit(peer, table, seed, quick)

    return Case(name, "", PEERS, measure, axis="rows", at=n_rows)


def columns_case(name, n_columns):
    """Return a case with 50,000 rows and a constant share of informative columns."""

    def measure(peer, *, seed, quick):
        n_rows = 1000 if quick else 50_000
        return _fit(peer, tables.two_classes(n_rows=n_rows, n_test=1000, n_columns=n_columns), seed, quick)

    return Case(name, "", PEERS, measure, axis="columns", at=n_columns)


def _fit(peer, table, seed, quick):
    readings = fit_and_score(peer, KIND, table, n_estimators=20 if quick else 100, seed=seed)
    return {metric: readings[metric] for metric in ("fit", "memory", "accuracy")}


def check_targets(readings):
    """Require a cost of at most 1.2 times proportional on both axes, and the least memory."""
    return [
        proportional(readings, "fit time, rows 50,000 to 400,000", ROWS, "fit", limit=1.2),
        proportional(readings, "fit time, columns 10 to 200", COLUMNS, "fit", limit=1.2),
        *(
            ratio(readings, f"peak memory of fit, {case}", case, "memory", times=1)
            for case in (*ROWS, *COLUMNS)
        ),
    ]


QUESTION = Question(
    name="growth",
    title="How does the cost of a forest grow?",
    about=(
        "100 full trees on two classes, the square root of the columns at every node, two threads. Rows: "
        "the first rows of one table of 28 columns. Columns: tables of 50,000 rows, where three of seven "
        "columns are informative. The dashed line shows a proportional cost. Full trees on more rows are "
        "also deeper."
    ),
    cases=(
        *(rows_case(name, n_rows) for name, n_rows in ROWS.items()),
        *(columns_case(name, n_columns) for name, n_columns in COLUMNS.items()),
    ),
    check_targets=check_targets,
    plots=(
        Plot("growth_rows.svg", "Time to fit by rows (28 columns)", "fit", axis="rows"),
        Plot("growth_columns.svg", "Time to fit by columns (50,000 rows)", "fit", axis="columns"),
    ),
)

if __name__ == "__main__":
    main(QUESTION)
