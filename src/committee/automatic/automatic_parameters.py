"""The parameters of the automatic committee, for its classes, `committee.fit` and the command line.

The first sentence of a description is the help of the option. This module imports no learner, so that help is
shown quickly.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from committee.parameters import (
    RANDOM_STATE,
    Constraint,
    boolean,
    declared,
    either,
    integer,
    is_boolean,
    is_integer,
    is_number,
    number,
    one_of,
    optional,
    parameter,
)

if TYPE_CHECKING:
    from committee.running import Runner
    from committee.table.input_types import RandomState

AUTO = "auto"
# For each preset, the number of members of the portfolio (None is all) and, without a time limit, the number
# of repeats of the folds.
PRESETS = {"fast": (5, 1), "balanced": (None, 1), "best": (None, 3)}


def is_folding(value: object) -> bool:
    """Return whether a value specifies held-out rows."""
    can_split = hasattr(value, "split") or isinstance(value, Iterable)
    return integer(2)(value) or (can_split and not isinstance(value, str))


def is_positive(value: Any) -> bool:
    """Return whether a value is a finite number above 0."""
    return is_number(value) and 0 < value < float("inf")


def is_runner(value: object) -> bool:
    """Return whether a value is a runner."""
    from committee.running import Runner

    return isinstance(value, Runner)


@declared
class AutomaticParameters:
    """The parameters of the automatic committee."""

    estimators: str | Sequence[object] = parameter(
        "auto",
        Constraint('"auto", or a list of names of the portfolio and of (name, estimator) pairs'),
        'The members. "auto" takes those of the portfolio that suit the table, in its order. It may also be '
        'an element of a list: ["auto", "lightgbm"]. A member that fails is dropped with a warning.',
        kw_only=False,
    )
    rule: object = parameter(
        "auto",
        Constraint('"auto", the name of a rule, a function of votes or a rule'),
        'The rule that decides. "auto" compares rules by cross-validation on honest votes. For classes these '
        "are the best member, the mean, CAWPE, greedy selection with and without calibration, stacking with "
        "convex weights and the logarithmic pool; for numbers the best member, the mean, greedy selection "
        "and shrunken stacking. Dynamic selection is compared too, on tables of at most 5,000 rows, if the "
        'search of neighbours takes less than about two seconds (longer with preset="best", never with '
        '"fast"). The logarithmic pool and shrunken stacking decide unless another rule is better by more '
        "than two standard errors. With a metric other than log loss and squared error, the best rule "
        "decides; dynamic selection must be significantly better. The constant rule (the shares of the "
        "classes, or the mean of y) and the best single member decide if they are significantly better. "
        "With fewer than 10 rows per class (30 rows with more than three classes, 20 in a regression), the "
        "mean of the members decides, with a warning.",
    )
    time_limit: float | None = parameter(
        None,
        optional(number(0, closed="neither")),
        "The time limit of the fit in seconds. Each member gets a share: forests and boosters end with the "
        "trees that they have by then, others are not started if the time is too short. At the end of the "
        "time, the finished members decide. None fits all members of the preset, however long that takes.",
    )
    memory_limit: float | None = parameter(
        None,
        Constraint("a number of bytes > 0, such as 4e9, or None", optional(number(0, closed="neither"))),
        "The memory limit of the fits in bytes, besides the table. The memory of a member is measured in its "
        "first fit, which runs alone. Members that need more are skipped with a warning. None is the free "
        'memory if "auto" is among the members, and no limit if all are named.',
    )
    scoring: object = parameter(
        None,
        Constraint(
            "the name of a metric, a scorer made by make_scorer, a function or None",
            lambda value: value is None or isinstance(value, str) or callable(value),
        ),
        "The metric to maximise: a metric by scikit-learn's name, a scorer, or a function of y, the decision "
        "of shape (n_rows, n_outputs) and the weights of the rows. None is neg_log_loss for classes and "
        "neg_mean_squared_error for numbers. Scorers get labels; functions get the numbers of the classes.",
    )
    tune_threshold: bool = parameter(
        False,
        boolean,
        "Whether to tune the decision thresholds for `scoring`, such as balanced_accuracy or f1. "
        "Probabilities are shifted so that the highest is that of the predicted class; see `AdjustedRule`. "
        "For the log loss and the Brier score they are calibrated. For classes only.",
    )
    threshold: float | None = parameter(
        None,
        optional(number(0, 1, closed="neither")),
        "The probability from which on the second of two classes is predicted. The classes are sorted, as in "
        "`classes_`. Probabilities are shifted so that the highest is that of the predicted class; see "
        "`CostRule`. The leaderboard has the scores before the shift.",
    )
    costs: object = parameter(
        None,
        Constraint(
            "a mapping from (true class, predicted class) to a cost, a matrix, or None",
            lambda value: value is None or hasattr(value, "__len__"),
        ),
        "The costs of errors, by which classes are predicted. A mapping such as {('sick', 'well'): 5} has "
        "the true class first, and other errors cost 1. A matrix has a row for each true class and a column "
        "for each predicted class, in the order of `classes_`. Probabilities are shifted as by `threshold`.",
    )
    cv: Any = parameter(
        "auto",
        Constraint(
            '"auto", an integer >= 2, a splitter or an iterable of (train, test) rows',
            lambda value: one_of("auto")(value) or is_folding(value),
        ),
        "Which rows are held out together, for honest votes. An integer is the number of folds of rows in "
        "random order, stratified for classes; `groups` stay together. "
        '"auto" makes 8 folds of small tables, where a model gains much '
        "from more rows, and 5 of others. Small tables have at most 4,000 rows, or 150 per second of "
        '`time_limit` without a `run_folder`; with preset="fast" there are always 5 folds.',
    )
    preset: str = parameter(
        "balanced",
        one_of(*PRESETS),
        'How much to try if time allows. "fast" has five members. "balanced" and "best" have all that suit '
        'the table, with and without `time_limit`. Without one, "best" fits them in three repeats of the '
        "folds, so it takes three times as long, unless `cv` is a splitter or an iterable.",
    )
    keep: str = parameter(
        "decision",
        one_of("decision", "all"),
        'What the fitted committee keeps. "decision" keeps the members that the decision needs, each fitted '
        "once on all rows, within limits of size and prediction time that depend on `preset`. A file of the "
        'committee then has no honest votes or targets. "all" keeps every member with the models of all '
        "folds, and the honest votes in the file, so that other rules can be tried after `load`.",
    )
    runner: str | Runner = parameter(
        "auto",
        either(one_of("auto", "serial", "threads", "processes"), Constraint("a Runner", is_runner)),
        'Where members are fitted. It changes only the time. "auto" is threads: processes take a second or '
        "two to start, and the members of the portfolio hold the interpreter's lock only briefly. Processes "
        "pay for members that are written in Python. A serial runner cannot cancel the fit of a member of "
        "another library at the end of the time.",
    )
    n_jobs: int | None = parameter(
        None,
        Constraint(
            "an integer other than 0, or None",
            lambda value: value is None or (is_integer(value) and value != 0),
        ),
        "How many fits run at the same time. None is one per core (it is one in scikit-learn), or one on all "
        "cores if the table has more than 128 MB. -1 is one per core, -2 is one fewer.",
    )
    random_state: RandomState = parameter(
        None,
        RANDOM_STATE,
        "The seed of the folds, and of members and rules without a seed. An integer makes fits without a "
        "`time_limit` repeatable.",
    )
    run_folder: str | os.PathLike[str] | None = parameter(
        None,
        Constraint(
            "the name of a folder, or None",
            lambda value: value is None or isinstance(value, str | os.PathLike),
        ),
        "A folder that stores every finished fit. The same call after a crash, or after `kill -9`, resumes "
        "the run and gives the same model as an uninterrupted run, unless there is a `time_limit`. Members "
        "that were skipped because of memory stay skipped. It needs an integer `random_state`. A run on "
        "another table is an error, and fits that the time limit has cut short are repeated. The folder is "
        "also a `Bank` of votes.",
    )
    verbose: int = parameter(
        0,
        either(integer(0), Constraint("a boolean", is_boolean)),
        "Whether to show the finished fits, the best score so far and the time left.",
    )

    def _kind_of_runner(self) -> str | Runner:
        """Return the runner, or its name."""
        return "threads" if isinstance(self.runner, str) and self.runner == "auto" else self.runner
