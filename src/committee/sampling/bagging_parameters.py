"""The parameters of bagging and of random subspaces, declared once."""

from __future__ import annotations

from typing import Any

from committee.learners.tree_parameters import CATEGORICAL_FEATURES, CLASS_WEIGHT, N_JOBS, RUNNER
from committee.members.kinds import is_member
from committee.parameters import (
    anything,
    declared,
    either,
    integer,
    is_boolean,
    one_of,
    optional,
    parameter,
    share,
)
from committee.sampling.ruled import Ruled

AMOUNT = "an integer >= 1 or a float in (0, 1]"


@declared
class BaggingParameters(Ruled):
    """What can be told a bag of members."""

    estimator: Any = parameter(
        None,
        "an estimator with fit and predict, or None",
        optional(is_member),
        "The member, cloned for each bag, every `random_state` of it drawn anew. None is a full tree. The "
        "engine grows `DecisionTree`, `RandomTree`, `DecisionStump` and `C45Classifier` members itself, in "
        "one call, from a table that is binned once, or sorted for C4.5; they know all classes and "
        "categories of the table. Others are fitted by the runner and see X as it is. Members that take "
        "`sample_weight`, as all inside them do, see the rows of a bag once, with weights; others, and "
        "pipelines, see them as often as they were drawn. Where a member refuses a bag of one class, "
        "scikit-learn's `DummyClassifier` votes for it.",
        kw_only=False,
    )
    n_estimators: int | str = parameter(
        10,
        'an integer >= 1 or "auto"',
        either(integer(1), one_of("auto")),
        'The number of members. "auto" adds members, at most 1000, until the out-of-bag error is flat: its '
        "mean over the last 25 members is not half a percent below that over the 25 before.",
        kw_only=False,
    )
    max_samples: int | float = parameter(
        1.0,
        AMOUNT,
        either(integer(1), share(whole=True)),
        "How many rows (or groups, if `fit` gets some) are drawn for each member; a float is a share of all "
        "that have a weight.",
    )
    max_features: int | float = parameter(
        1.0,
        AMOUNT,
        either(integer(1), share(whole=True)),
        "How many columns are drawn for each member; a float is a share of all.",
    )
    bootstrap: bool = parameter(
        True,
        "True or False",
        is_boolean,
        "Whether rows are drawn with replacement, in proportion to their weights, and then weigh 1. Integer "
        "weights whose mean over the rows that have some is below 4 are repetitions: a row of weight 2 is "
        "the row twice. False is pasting: every row, or every repetition of one, is as likely as any other, "
        "is drawn at most once and keeps its weight.",
    )
    bootstrap_features: bool = parameter(
        False,
        "True or False",
        is_boolean,
        "Whether columns are drawn with replacement. A column that is drawn twice is there once.",
    )
    keep_votes: bool = parameter(
        False,
        "True or False",
        is_boolean,
        "Whether to keep the votes of every member on the rows that it has not seen, for `oob_votes_` and "
        "`recombine`.",
    )
    warm_start: bool = parameter(
        False,
        "True or False",
        is_boolean,
        "Whether `fit` adds members to those of the fit before, up to `n_estimators`. The rows must be the "
        "same. A fit that is interrupted (Ctrl-C) keeps the members that are made, and the next one goes on; "
        "with False, it leaves the estimator as it was.",
    )
    categorical_features: Any = parameter("from_dtype", *CATEGORICAL_FEATURES)
    runner: Any = parameter("threads", *RUNNER)
    n_jobs: int | None = parameter(None, *N_JOBS)
    random_state: Any = parameter(
        None,
        "an integer, a RandomState or None",
        anything,
        "The seed of bags, columns and members. The same seed gives the same members on any number of "
        "threads and with any runner.",
    )
    verbose: int = parameter(
        0,
        "an integer >= 0 or a boolean",
        either(integer(0), is_boolean),
        "Whether to show how many members are made: as a bar in terminals and notebooks if rich is "
        "installed, else on stderr.",
    )


@declared
class ClassBags(BaggingParameters):
    """What classes add to it."""

    sampling: str = parameter(
        "plain",
        '"plain", "stratified" or "balanced"',
        one_of("plain", "stratified", "balanced"),
        '"stratified" draws from each class by itself, so that every bag has the classes in the proportions '
        'of the table. "balanced" draws from each class as many rows as the rarest has: every bag has as '
        "many of each. Groups are then drawn by class, and each must have one class only.",
    )
    class_weight: Any = parameter(
        None,
        CLASS_WEIGHT[0],
        CLASS_WEIGHT[1],
        "Weights of the classes, multiplied with those of the rows: with `bootstrap`, rows are drawn in "
        'proportion to both, as many as without, and `sampling` must be "plain". "balanced" makes them '
        "inverse to the number of rows of each class, whatever `sample_weight` is (rows of weight 0 count "
        "too). A class that the dict leaves out weighs 1. A `class_weight` of the member itself is for the "
        "rows that it has drawn.",
    )
