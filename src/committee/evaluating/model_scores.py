"""Fitted models judged as scikit-learn judges them: by scorers that are called with an estimator, X and y.

In: what scikit-learn takes as `scoring`, and an estimator on bags. Out: estimates of its score on new rows. A
model is asked where it is fitted, and not kept: an interval fits it again, to the same model.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from sklearn.metrics import get_scorer

from committee.combining.losses import NoValueError, is_made_scorer, name_of_function, takes_arguments
from committee.combining.scorers import is_scorer, name_of_scorer, task_of_scorer
from committee.evaluating.bags import Bagged
from committee.evaluating.bootstrap import some_rows
from committee.evaluating.estimates import Parts, drawn_answers, mean_known
from committee.evaluating.intervals import Draws, Interval, bounds_of, check_interval
from committee.members.failing import naming
from committee.task import are_repetitions


@dataclass(frozen=True, eq=False)
class Scorer:
    """What judges a model, and the rows that it judges it on.

    Parameters
    ----------
    name : str
    ask : callable
        From a fitted estimator, X and y to a number, of which more is better.
    X : table
    y : series or ndarray of shape (n_rows,)
        Labels or numbers. A series is one of the user's, with the index that it has.
    """

    name: str
    ask: Callable[..., Any]
    X: Any
    y: Any

    @classmethod
    def of(cls, scoring: Any, bagged: Bagged, y: Any) -> Scorer:
        """Check what scikit-learn takes as `scoring`, and whether it can judge these rows."""
        lesson = bagged.lesson
        task = "classification" if lesson.are_classes else "regression"
        check_scoring(scoring, task)
        ask = get_scorer(scoring)
        is_plain = callable(scoring) and not is_made_scorer(scoring)
        name = name_of_function(scoring) if is_plain else name_of_scorer(scoring)
        if is_plain and not are_repetitions(bagged.weights) and not takes_arguments(ask, 3, "sample_weight"):
            raise ValueError(
                f"scoring={name} takes no sample_weight, and only small whole weights are rows that many "
                "times. Pass such weights, none, or another scorer."
            )
        return cls(name, ask, lesson.X, y if nw.dependencies.is_into_series(y) else lesson.answers)

    def value(self, model: Any, weights: np.ndarray, answers: np.ndarray | None = None) -> float:
        """The score of a model.

        Small whole weights are rows that many times, and equal ones are none, as every scorer takes them.

        Parameters
        ----------
        model : estimator
        weights : ndarray of shape (n_rows,)
        answers : ndarray of int of shape (n_rows,), default=None
            The row that each row has its answer from; None: itself.

        Returns
        -------
        float
            If the scorer raises a ValueError or gives NaN, that is a `NoValueError`.
        """
        is_repeated, given = are_repetitions(weights), {}
        rows = np.repeat(np.arange(len(weights)), weights.astype(np.intp) if is_repeated else weights > 0)
        if not is_repeated and (weights[rows] != weights[rows[0]]).any():
            given["sample_weight"] = weights[rows]
        y = some_rows(self.y, rows) if answers is None else self._other_answers(rows, answers[rows])
        X = self.X if (weights == 1).all() else some_rows(self.X, rows)
        try:
            number = self.ask(model, X, y, **given)
        except ValueError as error:
            raise NoValueError(" ".join(str(error).split())) from error
        return as_score(number)

    def _other_answers(self, rows: np.ndarray, others: np.ndarray) -> Any:
        """The answers to other rows. In pandas they are called by the rows, or they would find their own."""
        y = some_rows(self.y, others)
        return y.set_axis(some_rows(self.y, rows).index) if hasattr(y, "set_axis") else y


def check_scoring(scoring: Any, task: str) -> None:
    """Raise unless something is a scorer of one number.

    Examples
    --------
    >>> check_scoring(["f1", "accuracy"], "classification")
    Traceback (most recent call last):
    ValueError: scoring must be a name of scikit-learn's scorers, a scorer or a function of a fitted \
estimator, X and y. Got ['f1', 'accuracy']. Ask for several one after the other.
    >>> check_scoring("r2", "classification")
    Traceback (most recent call last):
    ValueError: The scorer 'r2' is for regression, and the estimator is for classification.
    """
    if not isinstance(scoring, str) and not callable(scoring):
        raise ValueError(
            "scoring must be a name of scikit-learn's scorers, a scorer or a function of a fitted estimator, "
            f"X and y. Got {scoring!r}. Ask for several one after the other."
        )
    if callable(scoring):
        if not takes_arguments(scoring, 3):
            raise ValueError(
                f"scoring={name_of_function(scoring)} cannot be called with a fitted estimator, X and y. Of "
                "a function of answers and predictions, scikit-learn's make_scorer makes a scorer."
            )
        return
    if not is_scorer(scoring):
        raise ValueError(
            f"scikit-learn has no scorer {scoring!r}. Take one of sklearn.metrics.get_scorer_names(), or "
            "metric= for one of ours."
        )
    if task_of_scorer(scoring) != task:
        raise ValueError(
            f"The scorer {scoring!r} is for {task_of_scorer(scoring)}, and the estimator is for {task}."
        )


def as_score(value: Any) -> float:
    """What a scorer gives, if it is a number.

    Examples
    --------
    >>> as_score(np.float32(0.5))
    0.5
    >>> as_score({"f1": 0.5})
    Traceback (most recent call last):
    TypeError: A scorer must give one number. Got {'f1': 0.5}.
    """
    array = np.asarray(value)
    if array.ndim > 0 or array.dtype.kind not in "biuf":
        raise TypeError(f"A scorer must give one number. Got {value!r:.100}.")
    number = float(array)
    if np.isnan(number):
        raise NoValueError("The score is NaN.")
    if np.isinf(number):
        raise OverflowError(f"A scorer must give a finite number, or NaN where it has none. Got {number}.")
    return number


@dataclass(frozen=True, eq=False)
class OnRows:
    """What is made of a model by its scores: on all rows, and on those that its bag does not have.

    Parameters
    ----------
    scorer : Scorer
    bagged : Bagged
    """

    scorer: Scorer
    bagged: Bagged

    def __call__(self, number: int, model: Any) -> tuple[float, float, str]:
        """Both scores, and why one has no value; of the fit on all rows, that without information second."""
        weights = self.bagged.weights
        with naming(self.bagged.called(number), f"be judged by {self.scorer.name}"):
            if number == 0:
                apparent = self.scorer.value(model, weights)
                drawn = drawn_answers(self.bagged)
                return apparent, mean_known([self._tried(model, weights, rows)[0] for rows in drawn]), ""
            whole, why = self._tried(model, weights)
            outside = weights * self.bagged.is_outside_of(number)
            rest, why_rest = self._tried(model, outside) if outside.any() else (float("nan"), "")
            return whole, rest, why or why_rest

    def _tried(self, model: Any, weights: np.ndarray, answers: np.ndarray | None = None) -> tuple[float, str]:
        """A score, or NaN and why it has no value."""
        try:
            return self.scorer.value(model, weights, answers), ""
        except NoValueError as error:
            return float("nan"), str(error)


@dataclass(frozen=True, eq=False)
class OnRowsAgain:
    """What is made of a model by its scores on rows drawn again.

    Parameters
    ----------
    judge : OnRows
    draws : Draws
    n_draws, n_left_out : int
        How many drawings there are, and how many times something is left out.
    is_plain : bool
        Whether all rows count, and not only those that a bag does not have.
    """

    judge: OnRows
    draws: Draws
    n_draws: int
    n_left_out: int
    is_plain: bool

    def __call__(self, number: int, model: Any) -> list[float]:
        """The score of each drawing, then of the rows without some."""
        bagged = self.judge.bagged
        everywhere = number == 0 or self.is_plain
        counted = np.ones(bagged.lesson.n_rows) if everywhere else bagged.is_outside_of(number)
        # One after the other: all of them together may take more memory than the table.
        drawn = chain(
            map(self.draws.row_weights, range(self.n_draws)),
            map(self.draws.row_weights_left, range(self.n_left_out)),
        )
        with naming(bagged.called(number), f"be judged by {self.judge.scorer.name}"):
            return [
                self.judge._tried(model, weights)[0] if weights.any() else float("nan")
                for weights in (each * counted for each in drawn)
            ]


@dataclass(frozen=True, eq=False)
class ModelEstimates:
    """The estimates of each kind from scores of models.

    Parameters
    ----------
    judge : OnRows
    scores : ndarray of shape (1 + n_bags, 2)
        Of the fit on all rows: the apparent score, and that without information. Of each bag: its score on
        all rows, and on those that it does not have. NaN where there is none.
    """

    judge: OnRows
    scores: np.ndarray

    @classmethod
    def of(cls, scorer: Scorer, bagged: Bagged, **where: Any) -> ModelEstimates:
        """Fit on the bags, and judge the models."""
        judge = OnRows(scorer, bagged)
        found = bagged.asked(judge, **where)
        reasons = [why for _, _, why in found if why]
        if reasons:
            warnings.warn(
                f"{scorer.name} has no value on {len(reasons)} of {bagged.n_bags} bags, which are left out. "
                f"The first: {reasons[0]}",
                stacklevel=3,
            )
        return cls(judge, np.array([scores[:2] for scores in found]))

    def parts(self) -> Parts:
        """What all estimates are made of, on the rows as they are."""
        (apparent, no_information), of_bags = self.scores[0], self.scores[1:]
        plain, out_of_bag = (mean_known(each.tolist()) for each in of_bags.T)
        return Parts(plain, out_of_bag, float(apparent), float(no_information), more_is_better=True)

    def interval(
        self, of: str, random_state: Any, *, kind: str, level: float, n_draws: int, **where: Any
    ) -> Interval:
        """How sure one of the estimates is. Each model is fitted again, and judged on all drawings."""
        check_interval(kind, level, n_draws)
        bagged, parts = self.judge.bagged, self.parts()
        draws = Draws.of(bagged.weights, random_state)
        n_left_out = draws.n_left_out if kind == "bca" else 0
        again = OnRowsAgain(self.judge, draws, n_draws, n_left_out, of == "plain")
        is_mixed = of in (".632", ".632+")
        scores = np.array(bagged.asked(again, first=0 if is_mixed else 1, **where))
        apparent, of_bags = (scores[0], scores[1:]) if is_mixed else (scores[0], scores)
        means = [mean_known(each.tolist()) for each in of_bags.T]
        made = np.array(
            [
                Parts(mean, mean, float(all_rows), parts.no_information, more_is_better=True).value(of)
                for mean, all_rows in zip(means, apparent, strict=True)
            ]
        )
        return bounds_of(parts.value(of), made[:n_draws], made[n_draws:], kind=kind, level=level)
