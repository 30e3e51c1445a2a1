"""The parameters of all boosting in rounds: declared once for gradient boosting and LogitBoost."""

from __future__ import annotations

from typing import Any

from committee import _engine
from committee.boosting.additive import AdditiveTrees
from committee.learners.training import NO_LIMIT, Training
from committee.learners.tree_parameters import ANY_SIZE, CATEGORICAL_FEATURES, N_JOBS
from committee.parameters import (
    anything,
    declared,
    either,
    integer,
    is_boolean,
    number,
    one_of,
    optional,
    parameter,
    share,
)
from committee.table.binning import MAX_BINS

# Leaves of so many rows need no bins of fewer rows than these. Beyond so many bins exactness was asked for.
LARGE_LEAF, ROWS_OF_A_BIN, MOST_COARSE_BINS = 18, 3, 255


def is_rate(value: Any) -> bool:
    """Whether a value is a finite number above 0."""
    return number(0)(value) and value > 0


@declared
class RoundParameters(AdditiveTrees):
    """The rounds, the trees of a round, and when to stop."""

    n_estimators: int | str = parameter(
        100,
        "an integer >= 1",
        integer(1),
        "The number of rounds. Early stopping may end them before.",
        kw_only=False,
    )
    learning_rate: float | str = parameter(
        0.1, "a finite number > 0", is_rate, "What the values of the leaves are multiplied by."
    )
    max_leaf_nodes: int | None = parameter(
        31,
        "an integer >= 2 or None",
        optional(integer(2, ANY_SIZE)),
        "How many leaves a tree may have. None sets no limit.",
    )
    max_depth: int | None = parameter(
        None,
        "an integer >= 1 or None",
        optional(integer(1, ANY_SIZE)),
        "How many splits there may be between the root and a leaf. None sets no limit.",
    )
    min_samples_leaf: int = parameter(
        1,
        "an integer >= 1",
        integer(1, ANY_SIZE),
        "How many rows a leaf must have, whatever they weigh.",
    )
    max_bins: int = parameter(
        255,
        f"an integer in [2, {MAX_BINS}]",
        integer(2, MAX_BINS),
        "How many bins a column of numbers is cut into. With at least as many as the column has distinct "
        "values, every threshold is tried. Above 255 the codes take twice the memory; up to 255, bins hold "
        "three rows on average at least where leaves must have 18, as finer ones cost time and gain "
        "nothing. A `BinnedTable` has its own bins.",
    )
    categorical_features: Any = parameter("from_dtype", *CATEGORICAL_FEATURES)
    max_native_categories: int | None = parameter(
        32,
        "an integer >= 0 or None",
        optional(integer(0, ANY_SIZE)),
        "Columns of at most so many categories are split into sets of categories. Those of more are "
        "replaced by ordered target statistics: the mean of the target in the category, of the rows before "
        "a row in a random order, with one statistic for each of more than two classes. None replaces "
        "none. The categories of a `BinnedTable` are never replaced.",
    )
    early_stopping: bool | str = parameter(
        "auto",
        'True, False or "auto"',
        either(is_boolean, one_of("auto")),
        "Whether to stop when the loss on validation rows has not improved for `n_iter_no_change` rounds, "
        'and to keep the rounds up to the best one. "auto" does so if `fit` is given X_val.',
    )
    validation_fraction: float = parameter(
        0.1,
        "a float in (0, 1)",
        share(whole=False),
        "The share of the rows of each class to validate by, if early_stopping=True and `fit` is given no "
        "X_val.",
    )
    n_iter_no_change: int = parameter(
        10, "an integer >= 1", integer(1), "How many rounds may pass without an improvement."
    )
    tol: float = parameter(
        1e-7, "a number >= 0", number(0), "By how much the loss must fall to count as an improvement."
    )
    warm_start: bool = parameter(
        False,
        "True or False",
        is_boolean,
        "Whether `fit` adds rounds to those of the fit before, up to `n_estimators`. A fit that is "
        "interrupted (Ctrl-C) keeps the rounds that are done, and the next one goes on; with False, it "
        "leaves the estimator as it was.",
    )
    random_state: Any = parameter(
        None,
        "an integer, a RandomState or None",
        anything,
        "The seed of what is drawn: rows, columns, validation rows, and the order of target statistics. "
        "The same seed gives the same model on any number of threads.",
    )
    n_jobs: int | None = parameter(None, *N_JOBS)
    verbose: int = parameter(
        0,
        "an integer >= 0 or a boolean",
        either(integer(0), is_boolean),
        "Whether to show how many rounds are done: as a bar in terminals and notebooks if rich is installed, "
        "else on stderr.",
    )

    def _boost_parameters(self, training: Training) -> _engine.BoostParameters:
        """Return the parameters as the engine takes them."""
        parameters = _engine.BoostParameters()
        tree = parameters.tree
        tree.max_leaf_nodes = min(int(self.max_leaf_nodes or 0), NO_LIMIT)
        if self.max_depth is not None:
            tree.max_depth = min(int(self.max_depth), NO_LIMIT)
        tree.min_samples_leaf = min(int(self.min_samples_leaf), NO_LIMIT)
        parameters.tol = float(self.tol)
        return parameters

    def _most_bins(self, n_rows: int) -> int:
        """How many bins a column of numbers of a table of so many rows may have."""
        if self.min_samples_leaf < LARGE_LEAF or self.max_bins > MOST_COARSE_BINS:
            return int(self.max_bins)
        return max(2, min(int(self.max_bins), n_rows // ROWS_OF_A_BIN))
