"""The members of a committee: named estimators and the columns that they see.

In: the parameters `estimators` and `columns`. Out: a list of unfitted `Member`s, by default those of the
CAWPE paper.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, is_classifier, is_regressor
from sklearn.compose import TransformedTargetRegressor
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC, LinearSVR

from committee.learners import C45Classifier, DecisionTreeRegressor
from committee.learners.voter import FittedModels
from committee.members.member_fit import MidpointClassifier
from committee.members.member_tasks import naming
from committee.members.member_view import MemberVoter
from committee.members.member_votes import Task, votes_of
from committee.members.seeds import seeded
from committee.members.table_encoder import new_encoder
from committee.parameters import is_integer
from committee.saving.predictors.deciders import folded
from committee.saving.predictors.score_votes import Calibration, folded_scores
from committee.table import Schema
from committee.table.source import Source


@dataclass(frozen=True, eq=False)
class Member:
    """A member of a committee before the fit.

    Parameters
    ----------
    name : str
    estimator : estimator
        It is cloned for every fit. It is fitted only with cv="prefit".
    columns : list of int, or None
        The positions of the columns that the member sees. None means all.
    title : str, default=""
        A readable name. Empty if there is only the identifier.
    """

    name: str
    estimator: BaseEstimator
    columns: list[int] | None = None
    title: str = ""


@dataclass(frozen=True, eq=False)
class FittedMember:
    """A fitted member.

    Parameters
    ----------
    name : str
    models : list of estimators
        One model that was fitted on all rows, or one for each fold, whose votes are averaged.
    columns : list of int, or None
        The positions of the columns that the models see. None means all.
    calibration : Calibration or None
        It turns scores into votes.
    title : str, default=""
        A readable name. Empty if there is only the identifier.
    fit_seconds : float or None, default=None
        The total time of the fits, if it is known.
    own_labels : bool, default=False
        Whether rules that read labels get the predictions of the models, because these may differ from the
        highest votes.
    """

    name: str
    models: list[BaseEstimator]
    columns: list[int] | None = None
    calibration: Calibration | None = None
    title: str = ""
    fit_seconds: float | None = None
    own_labels: bool = False

    @cached_property
    def _voters(self) -> list[MemberVoter]:
        # Made once, because a search for neighbours takes time to prepare.
        return [MemberVoter.of(model) for model in self.models]

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in vars(self).items() if name != "_voters"}

    @property
    def learner(self) -> BaseEstimator:
        """A model of the member's own kind, not the constant for a fold of one class."""
        return next((each for each in self.models if not isinstance(each, DummyClassifier)), self.models[0])

    def known(self) -> dict[str, Any]:
        """Return what leaderboards show about the member besides its score and its weight."""
        return {"title": self.title, "n_models": len(self.models), "fit_seconds": self.fit_seconds}

    def has_predictor(self, models: FittedModels) -> bool:
        """Return whether predictors of all models can be made."""
        try:
            for model in self.models:
                models.predictor(model, "member", as_scores=self.calibration is not None)
        except ValueError:
            return False
        return True

    def votes(self, source: Source, task: Task) -> np.ndarray:
        """Return the votes on a table, of shape (n_rows, n_outputs)."""
        return self.votes_by_fold(source, task, 1)[0]

    def votes_by_fold(
        self, source: Source, task: Task, n_folds: int, *, as_labels: bool = False
    ) -> list[np.ndarray]:
        """Return the votes of the models of each fold. Models cycle through the folds in order.

        With `as_labels`, models with own labels vote for the class that they predict.
        """
        seen = source if self.columns is None else source.select(self.columns)
        as_scores, as_labels = self.calibration is not None, as_labels and self.own_labels
        is_crisp = as_labels and not as_scores
        with naming(f"Member {self.name!r}", "vote"):
            each = [
                votes_of(voter.estimator, voter.table(seen), task, as_scores=as_scores, is_crisp=is_crisp)
                for voter in self._voters
            ]
        if self.calibration is None:
            return folded(each, n_folds)
        return [self.calibration.votes(scores, as_labels) for scores in folded_scores(each, n_folds)]


def seeded_by_name(member: Member, random_state: int) -> Member:
    """Draw the seeds of a member from its name, so that they do not depend on other members."""
    words = np.frombuffer(hashlib.sha256(member.name.encode()).digest(), dtype="<u4")
    rng = np.random.default_rng([random_state, *map(int, words)])
    return replace(member, estimator=seeded(member.estimator, rng))


def members_of(
    estimators: object, columns: object, schema: Schema, is_class_task: bool, n_classes: int = 0
) -> list[Member]:
    """Check the members of a committee and their columns. Regressors may vote on at most two classes.

    Examples
    --------
    >>> from sklearn.linear_model import RidgeCV
    >>> from committee.table import read
    >>> members_of([("a", RidgeCV()), ("a", RidgeCV())], None, read([[1.0]]).schema, is_class_task=False)
    Traceback (most recent call last):
    ValueError: Two members are named 'a'. Give each a different name.
    """
    pairs = default_members(is_class_task) if estimators is None else check_pairs(estimators)
    if 0 < n_classes <= 2:
        pairs = [
            (name, MidpointClassifier(estimator) if is_regressor(estimator) else estimator)
            for name, estimator in pairs
        ]
    for name, estimator in pairs:
        check_kind(name, estimator, is_class_task)
    if columns is None:
        return [Member(name, estimator) for name, estimator in pairs]
    if not isinstance(columns, Mapping):
        raise ValueError(
            f"columns must be a dict from names of members to lists of columns, or None. Got {columns!r}."
        )
    unknown = [name for name in columns if name not in dict(pairs)]
    if unknown:
        raise ValueError(
            f"columns has the unknown member {unknown[0]!r}. The members are {[name for name, _ in pairs]}."
        )
    return [
        Member(name, estimator, positions_of(columns[name], schema, name) if name in columns else None)
        for name, estimator in pairs
    ]


def check_pairs(estimators: object) -> list[tuple[str, BaseEstimator]]:
    """Return the pairs of names and estimators; raise unless each name is unique text without '__'."""
    expected = "estimators must be a list of (name, estimator) pairs, or None."
    if isinstance(estimators, str) or not isinstance(estimators, Sequence) or len(estimators) == 0:
        raise ValueError(f"{expected} Got {estimators!r}.")
    for pair in estimators:
        is_pair = isinstance(pair, tuple | list) and len(pair) == 2 and isinstance(pair[0], str)
        if is_pair and isinstance(pair[1], str) and pair[1] == "drop":
            raise ValueError(f"Member {pair[0]!r} is 'drop'. Leave it out of estimators instead.")
        if not is_pair or not hasattr(pair[1], "fit") or isinstance(pair[1], type):
            raise ValueError(f"{expected} Got {pair!r} in it.")
    names = [name for name, _ in estimators]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"Two members are named {name!r}. Give each a different name.")
        if not name or "__" in name:
            raise ValueError(f"The name of a member must be text without '__'. Got {name!r}.")
    return [(name, estimator) for name, estimator in estimators]


def check_kind(name: str, estimator: BaseEstimator, is_class_task: bool) -> None:
    """Raise if a member is a regressor in a classification, or the reverse."""
    wrong, wanted = (is_regressor, "classifier") if is_class_task else (is_classifier, "regressor")
    if not hasattr(estimator, "__sklearn_tags__"):
        raise ValueError(
            f"Member {name!r} is a {type(estimator).__name__}, which is not a scikit-learn estimator. Let "
            "its class inherit from sklearn.base.BaseEstimator."
        )
    if wrong(estimator):
        way_out = " Use a classifier such as RidgeClassifier." if is_class_task else ""
        raise ValueError(f"Member {name!r} must be a {wanted}. Got {type(estimator).__name__}.{way_out}")


def default_members(is_class_task: bool) -> list[tuple[str, BaseEstimator]]:
    """Return the members of the CAWPE paper, or similar ones for a regression.

    They are a linear model, a tree, a linear support vector machine, nearest neighbours and a perceptron with
    one hidden layer. All but the tree see the table as a matrix from `TableEncoder`. Regressors whose
    penalties depend on the unit of y see y scaled.
    """
    c45: Any = C45Classifier
    tree: Any = DecisionTreeRegressor
    if is_class_task:
        return [
            ("logistic", encoded(LogisticRegression(max_iter=1000))),
            ("c45", c45()),
            ("svm", encoded(LinearSVC(max_iter=10_000))),
            ("neighbours", encoded(KNeighborsClassifier())),
            ("perceptron", encoded(MLPClassifier(max_iter=1000, tol=1e-3))),
        ]
    return [
        ("ridge", encoded(RidgeCV())),
        ("tree", tree(min_samples_leaf=5)),
        ("svm", encoded(with_scaled_target(LinearSVR(max_iter=10_000)))),
        ("neighbours", encoded(KNeighborsRegressor())),
        ("perceptron", encoded(with_scaled_target(MLPRegressor(max_iter=1000, tol=1e-3)))),
    ]


def encoded(estimator: BaseEstimator, **parameters: object) -> Pipeline:
    """Return a pipeline of a table encoder with some parameters and an estimator."""
    return Pipeline([("encoder", new_encoder(**parameters)), ("model", estimator)])


def with_scaled_target(regressor: BaseEstimator) -> BaseEstimator:
    """Return a regressor that is fitted on y scaled to mean 0 and standard deviation 1."""
    return TransformedTargetRegressor(regressor, transformer=StandardScaler())


def positions_of(wanted: object, schema: Schema, name: str) -> list[int]:
    """Return the positions of columns given by name or position. Raise if a column occurs twice.

    Examples
    --------
    >>> from committee.table import read
    >>> positions_of([True, False], read([[1.0, 2.0]]).schema, "tree")
    Traceback (most recent call last):
    ValueError: columns['tree'] has True, which is not a column of X. Pass names or positions from 0 to 1.
    """
    if isinstance(wanted, str) or not isinstance(wanted, Iterable):
        raise ValueError(f"columns[{name!r}] must be a list of columns. Got {wanted!r}.")
    positions = []
    for column in wanted:
        if isinstance(column, str) and column in schema.names:
            positions.append(schema.names.index(column))
        elif is_integer(column) and column in range(schema.n_columns):
            positions.append(int(column))
        else:
            shown = column.item() if isinstance(column, np.generic) else column
            raise ValueError(
                f"columns[{name!r}] has {shown!r}, which is not a column of X. Pass names or positions from "
                f"0 to {schema.n_columns - 1}."
            )
        if positions[-1] in positions[:-1]:
            raise ValueError(f"columns[{name!r}] has the column {column!r} twice. Remove one.")
    if not positions:
        raise ValueError(f"columns[{name!r}] is empty. Pass at least one column.")
    return positions
