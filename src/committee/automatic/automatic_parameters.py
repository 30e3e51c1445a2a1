"""The parameters of the automatic committee: declared for its classes, `committee.fit` and the command.

The first sentence of a meaning is the help of the command's option. Nothing that learns is imported here, so
that help comes at once.
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
# How many members of the portfolio a preset takes, if time allows, and how often folds are repeated.
PRESETS = {"fast": (5, 1), "balanced": (12, 1), "best": (None, 3)}


def is_folding(value: object) -> bool:
    """Whether a value says which rows are held out."""
    can_split = hasattr(value, "split") or isinstance(value, Iterable)
    return integer(2)(value) or (can_split and not isinstance(value, str))


def is_positive(value: Any) -> bool:
    """Whether a value is a finite number above 0."""
    return is_number(value) and 0 < value < float("inf")


def is_runner(value: object) -> bool:
    """Whether a value is a runner."""
    from committee.running import Runner

    return isinstance(value, Runner)


@declared
class AutomaticParameters:
    """The parameters of the automatic committee."""

    estimators: str | Sequence[object] = parameter(
        "auto",
        Constraint('"auto", or a list of names of the portfolio and of (name, estimator) pairs'),
        'The members. "auto" takes those of the portfolio that suit the table, in its order, and may stand '
        'in a list among others: ["auto", "lightgbm"]. A member that fails is dropped with a warning.',
        kw_only=False,
    )
    rule: object = parameter(
        "auto",
        Constraint('"auto", the name of a rule, a function of votes or a rule'),
        'The rule that decides. "auto" compares rules on honest votes, each on rows that it has not learnt '
        "from: for classes the best member, the mean, CAWPE, greedy selection, calibrated or not, stacking "
        "with convex weights and, on log-probabilities, the logarithmic pool; for numbers the best member, "
        "the mean, greedy selection and shrunken stacking; for both dynamic selection, on tables of at most "
        '5,000 rows if there is time to find neighbours: about two seconds, longer with preset="best", and '
        'never with "fast". The logarithmic pool and shrunken stacking decide unless another is better by '
        "more than two standard errors; with a metric other than log loss and squared error, the best "
        "decides, dynamic selection if it is surely so.",
    )
    time_limit: float | None = parameter(
        None,
        optional(number(0, closed="neither")),
        "The time that the fit may take, in seconds. Each member gets its share: forests and boosters end "
        "with the trees they have by then, others are not begun if time is too short. When it is over, what "
        "is finished decides. None fits all members of the preset.",
    )
    memory_limit: float | None = parameter(
        None,
        Constraint("a number of bytes > 0, such as 4e9, or None", optional(number(0, closed="neither"))),
        "The memory that the fits may take besides the table, in bytes. What a member takes is measured in "
        "its first fit, which runs alone. Members that need more than there is are skipped with a warning. "
        'None is what is free if "auto" is among the members, and no limit if all are named.',
    )
    scoring: object = parameter(
        None,
        Constraint(
            "the name of a metric, a scorer made by make_scorer, a function or None",
            lambda value: value is None or isinstance(value, str) or callable(value),
        ),
        "What is maximised: a metric by scikit-learn's name, a scorer, or a function of y, the decision of "
        "shape (n_rows, n_outputs) and the weights of the rows, of which more is better. None is "
        "neg_log_loss for classes and neg_mean_squared_error for numbers. Scorers see labels; functions see "
        "the numbers of the classes.",
    )
    tune_threshold: bool = parameter(
        False,
        boolean,
        "Whether to decide by thresholds that suit `scoring`, such as balanced_accuracy or f1. Probabilities "
        "are shifted so that the highest is that of the class decided on; see `AdjustedRule`. For the log "
        "loss and the Brier score they are calibrated. For classes only.",
    )
    cv: Any = parameter(
        "auto",
        Constraint(
            '"auto", an integer >= 2, a splitter or an iterable of (train, test) rows',
            lambda value: one_of("auto")(value) or is_folding(value),
        ),
        "Which rows are held out together, for honest votes. An integer makes so many folds of rows in a "
        "random order, stratified for classes, and keeps `groups` together. The models of the folds stay: a "
        'member\'s vote is the mean of theirs. "auto" makes 8 folds of small tables, where a model gains '
        "much from each row more, and 5 of others. Small are 4,000 rows, or 150 for each second of "
        '`time_limit` unless a run in `run_folder` may resume with another; no table is with preset="fast".',
    )
    preset: str = parameter(
        "balanced",
        one_of(*PRESETS),
        'How much is tried, if time allows. "fast" has few members, "best" all, in folds that are repeated '
        "unless `cv` gives them.",
    )
    runner: str | Runner = parameter(
        "auto",
        either(one_of("auto", "serial", "threads", "processes"), Constraint("a Runner", is_runner)),
        'Where members are fitted. It changes nothing but the time. "auto" is threads: processes take a '
        "second or two to begin, and the members of the portfolio hold the interpreter's lock for a small "
        "part of their time only. Processes pay for members of your own that are written in Python. A serial "
        "runner cannot leave a member of another library in the midst of its fit when time is up.",
    )
    n_jobs: int | None = parameter(
        None,
        Constraint(
            "an integer other than 0, or None",
            lambda value: value is None or (is_integer(value) and value != 0),
        ),
        "How many fits run at the same time. None is as many as there are cores (it is one in scikit-learn), "
        "or one, on all cores, if each of them takes more than 128 MB. -1 is as many as there are cores, -2 "
        "is one fewer.",
    )
    random_state: RandomState = parameter(
        None,
        RANDOM_STATE,
        "The seed of the folds, and of members and rules that have none. An integer makes fits without a "
        "`time_limit` repeatable.",
    )
    run_folder: str | os.PathLike[str] | None = parameter(
        None,
        Constraint(
            "the name of a folder, or None",
            lambda value: value is None or isinstance(value, str | os.PathLike),
        ),
        "A folder that keeps every finished fit. The same call after a crash, or after `kill -9`, resumes "
        "the run and gives the same model as if it had never stopped, unless there is a `time_limit`. "
        "Members that were skipped for want of memory stay out. It needs an integer `random_state`. A run on "
        "another table is refused, and fits that the time limit has cut short are done again. The folder is "
        "a `Bank` of votes too.",
    )
    verbose: int = parameter(
        0,
        either(integer(0), Constraint("a boolean", is_boolean)),
        "Whether to show which fits are done, the best score so far and the time left.",
    )

    def _kind_of_runner(self) -> str | Runner:
        """The runner, or its name."""
        return "threads" if isinstance(self.runner, str) and self.runner == "auto" else self.runner
