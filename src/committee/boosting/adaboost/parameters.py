"""The parameters of the four AdaBoosts, declared once."""

from __future__ import annotations

from typing import Any

from committee.boosting.gradient.additive_trees import Staged
from committee.learners.tree_parameters import CATEGORICAL_FEATURES, N_JOBS, RUNNER, VERBOSE
from committee.members.member_kinds import is_member
from committee.parameters import (
    anything,
    choice,
    count,
    declared,
    either,
    flag,
    integer,
    is_boolean,
    one_of,
    optional,
    parameter,
    share,
)
from committee.table.binning import MAX_BINS


@declared
class Adaptive(Staged):
    """The parameters of AdaBoost."""

    estimator: Any = parameter(
        None,
        "an estimator with fit and predict, or None",
        optional(is_member),
        "The member, cloned for every round. None is a stump for two classes, a tree of depth 1 + "
        "ceil(log2(n_classes)) for more and one of depth 3 for numbers. The engine makes all rounds for "
        "`DecisionStump`, `DecisionTree`, `RandomTree` and `C45Classifier` members without `class_weight`; "
        "others are fitted by the runner, one after the other, with weights of a mean of 1.",
        kw_only=False,
    )
    n_estimators: int = count(
        50,
        "The most members that are made.",
    )
    weighting: str = choice(
        "reweight",
        ("reweight", "resample"),
        '"reweight" gives the weights to the member. "resample" draws as many rows as there are, with '
        "replacement, in proportion to their weights, whatever the order of the table: for members that fit "
        "the weighted rows without error, "
        "such as full trees, which would end the run at once. A member that takes no `sample_weight` at its "
        "`fit`, or is made of one that takes none, is always resampled. Where a member refuses drawn rows of "
        "one class, scikit-learn's `DummyClassifier` votes for it.",
    )
    max_bins: int = parameter(
        255,
        f"an integer in [2, {MAX_BINS}]",
        integer(2, MAX_BINS),
        "How many bins a column of numbers may have, for members of the engine. Columns of no more distinct "
        "values are split exactly, others at quantiles. More than 255 take twice the memory.",
    )
    early_stopping: Any = parameter(
        False,
        'True, False or "out_of_fold"',
        either(is_boolean, one_of("out_of_fold")),
        "True stops when the error on `X_val`, or on held-out rows if it is not given, has not fallen for "
        '`n_iter_no_change` rounds, and keeps the members up to the lowest error. "out_of_fold" looks for '
        "the number of members of the lowest error in 5-fold cross-validation, and then makes as many from "
        "all rows; the runner takes several folds at a time. The error is the misclassified share or the "
        "mean absolute error.",
    )
    validation_fraction: float = parameter(
        0.1,
        "a float in (0, 1)",
        share(whole=False),
        "The share of the rows that early_stopping=True holds out if there is no `X_val`.",
    )
    n_iter_no_change: int = count(
        10,
        "How many rounds early_stopping=True waits for a lower error.",
    )
    store_weights: bool = flag(
        False,
        "Whether to keep the weights of the rows in every round, as `row_weights_`.",
    )
    warm_start: bool = flag(
        False,
        "Whether `fit` adds members to those of the fit before, up to `n_estimators`. The rows must be "
        "the same, and their weights go on from where they were: `sample_weight` counts in the first fit. A "
        "fit that is interrupted (Ctrl-C) keeps the members that are made, and the next one goes on; with "
        "False, it leaves the estimator as it was.",
    )
    categorical_features: Any = parameter("from_dtype", *CATEGORICAL_FEATURES)
    runner: Any = parameter("threads", *RUNNER)
    n_jobs: int | None = parameter(None, *N_JOBS)
    verbose: int = parameter(0, *VERBOSE)
    random_state: Any = parameter(
        None,
        "an integer, a RandomState or None",
        anything,
        "The seed of drawn rows, held-out rows and members that draw. The same seed gives the same "
        "members on any number of threads and with any runner.",
    )
