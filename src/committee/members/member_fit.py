"""Fit a member, with weights and groups if it accepts them, and with numbers if it refuses labels.

On rows of one class, which many classifiers refuse, a constant is fitted instead.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.dummy import DummyClassifier
from sklearn.utils import Tags, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from committee.combining.metadata_routing import arguments, request
from committee.learners.voter import Tabular
from committee.parameters import Constraint, check_parameters, declared, parameter
from committee.saving import Fields, Saveable
from committee.saving.format.file_errors import require
from committee.table.input_types import ArrayLike, TableLike
from committee.task import Classification


def fit_member(
    estimator: BaseEstimator,
    X: TableLike,
    answers: np.ndarray,
    weights: np.ndarray | None,
    groups: np.ndarray | None = None,
    *,
    are_classes: bool,
) -> BaseEstimator:
    """Fit a clone of an estimator. If it refuses labels, it gets their numbers.

    On rows of one class a constant is fitted, unless the estimator is from committee and accepts them: some
    estimators refuse a single class, and others, such as naive Bayes, cannot vote after it.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> fit_member(LogisticRegression(), [[1], [2]], np.array(["a", "a"]), None, are_classes=True)
    DummyClassifier()
    """
    is_one_class = are_classes and bool((answers == answers[0]).all())
    if is_one_class and not isinstance(estimator, Tabular):
        return DummyClassifier().fit(X, answers)
    try:
        return fit_clone(estimator, X, answers, weights, groups)
    except (ValueError, TypeError) as refusal:
        if is_one_class:
            return DummyClassifier().fit(X, answers)
        if not are_classes or are_numbered(answers):
            raise
        try:
            return fit_clone(NumberedLabels(estimator), X, answers, weights, groups)
        except (ValueError, TypeError):
            # The labels were not the reason.
            raise refusal from None


def importances_of(model: BaseEstimator, n_columns: int) -> np.ndarray:
    """Return the importances of the columns to a fitted member; 0 to a constant.

    Examples
    --------
    >>> importances_of(DummyClassifier().fit([[1], [2]], ["a", "a"]), 1)
    array([0.])
    """
    if isinstance(model, DummyClassifier):
        return np.zeros(n_columns)
    own = model.estimator_ if isinstance(model, NumberedLabels) else model
    return np.asarray(own.feature_importances_)


def fit_clone(
    estimator: BaseEstimator,
    X: TableLike,
    answers: np.ndarray,
    weights: np.ndarray | None,
    groups: np.ndarray | None,
) -> BaseEstimator:
    """Fit a clone of an estimator, with weights and groups if it accepts them."""
    model = clone(estimator)
    request(model, "sample_weight", "groups")
    return model.fit(
        X, answers, **arguments(model, "sample_weight", weights), **arguments(model, "groups", groups)
    )


def are_numbered(labels: np.ndarray) -> bool:
    """Return whether classes are the numbers 0, 1, 2 and so on, without a gap.

    Examples
    --------
    >>> are_numbered(np.array([1, 0, 1])), are_numbered(np.array([0, 2])), are_numbered(np.array(["a"]))
    (True, False, False)
    """
    found = np.unique(labels)
    return found.dtype.kind in "iu" and np.array_equal(found, np.arange(len(found)))


def can(method: str) -> Callable[[Callable[..., np.ndarray]], Callable[..., np.ndarray]]:
    """Decorate a method that exists only if the estimator has it."""

    def check(numbered: NumberedLabels) -> bool:
        return hasattr(getattr(numbered, "estimator_", numbered.estimator), method)

    decorate: Callable[[Callable[..., np.ndarray]], Callable[..., np.ndarray]] = available_if(check)
    return decorate


@declared
class NumberedLabels(ClassifierMixin, Saveable, BaseEstimator):
    """A classifier whose estimator sees classes as the numbers 0, 1, 2 and so on.

    Committees use it for a member that refuses the labels of y.

    Attributes
    ----------
    estimator_ : estimator
        The fitted estimator.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from committee.members import NumberedLabels
    >>> numbered = NumberedLabels(GaussianNB()).fit([[1.0], [2.0], [8.0], [9.0]], ["no", "no", "yes", "yes"])
    >>> numbered.estimator_.classes_.tolist(), numbered.predict([[7.5]])
    ([0, 1], array(['yes'], dtype='<U3'))
    """

    estimator: BaseEstimator = parameter(
        None,
        Constraint("a classifier", lambda value: hasattr(value, "fit")),
        "The classifier that is fitted to the numbers.",
        kw_only=False,
    )

    def fit(
        self,
        X: TableLike,
        y: ArrayLike,
        sample_weight: np.ndarray | None = None,
        groups: np.ndarray | None = None,
    ) -> Self:
        """Fit the estimator.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
        y : array-like of shape (n_rows,)
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows, if the estimator accepts them.
        groups : array-like of shape (n_rows,), default=None
            Groups of the rows, if the estimator accepts them.

        Returns
        -------
        self
        """
        check_parameters(self)
        task, codes = Classification.of(y)
        self.estimator_ = fit_clone(self.estimator, X, codes, sample_weight, groups)
        self.classes_ = task.classes
        return self

    def predict(self, X: TableLike) -> np.ndarray:
        """Return the label of each row.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        check_is_fitted(self)
        labels: np.ndarray = self.classes_[np.asarray(self.estimator_.predict(X), dtype=np.int64)]
        return labels

    @can("predict_proba")
    def predict_proba(self, X: TableLike) -> np.ndarray:
        """Return the probabilities of the classes.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
        """
        check_is_fitted(self)
        return np.asarray(self.estimator_.predict_proba(X))

    @can("decision_function")
    def decision_function(self, X: TableLike) -> np.ndarray:
        """Return the scores of the classes.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_classes)
        """
        check_is_fitted(self)
        return np.asarray(self.estimator_.decision_function(X))

    @property
    def n_features_in_(self) -> int:
        """The number of columns that the estimator was fitted on."""
        return int(self.estimator_.n_features_in_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if hasattr(self.estimator, "fit"):
            tags.input_tags = get_tags(self.estimator).input_tags
        return tags

    def _check_parameters(self) -> None:
        check_parameters(self)

    def _has_learnt(self) -> bool:
        return hasattr(self, "estimator_")

    def _learnt(self) -> dict[str, object]:
        return {"estimator": self.estimator_, "task": Classification(self.classes_)}

    def _take_learnt(self, fields: Fields) -> None:
        self.estimator_ = fields.take("estimator", object)
        self.classes_ = fields.take("task", Classification).classes
        known = getattr(self.estimator_, "classes_", ())
        are_numbers = np.array_equal(known, np.arange(len(self.classes_)))
        require(hasattr(self.estimator_, "predict") and are_numbers, "The labels are not numbered")


@declared
class MidpointClassifier(NumberedLabels):
    """A regressor that predicts one of two classes: the side of the midpoint decides.

    The regressor is fitted to 0 for the first class and 1 for the second. Numbers above 0.5 are the second
    class. Committees use it for regressors among the members of a classification.

    Attributes
    ----------
    estimator_ : estimator
        The fitted regressor.
    classes_ : ndarray of shape (2,)
        The labels, sorted.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from committee.members import MidpointClassifier
    >>> line = MidpointClassifier(LinearRegression()).fit([[1.0], [2.0], [8.0], [9.0]], ["a", "a", "b", "b"])
    >>> line.predict([[4.5], [5.5]]), line.decision_function([[5.0]]).round(3)
    (array(['a', 'b'], dtype='<U1'), array([0.]))
    """

    estimator: BaseEstimator = parameter(
        None,
        Constraint("a regressor", lambda value: hasattr(value, "fit")),
        "The regressor that is fitted to 0 and 1.",
        kw_only=False,
    )

    def fit(
        self,
        X: TableLike,
        y: ArrayLike,
        sample_weight: np.ndarray | None = None,
        groups: np.ndarray | None = None,
    ) -> Self:
        """Fit the regressor.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
        y : array-like of shape (n_rows,)
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows, if the regressor accepts them.
        groups : array-like of shape (n_rows,), default=None
            Groups of the rows, if the regressor accepts them.

        Returns
        -------
        self
        """
        check_parameters(self)
        task, codes = Classification.of(y)
        if task.n_outputs != 2:
            raise ValueError(
                f"A regressor votes on two classes, and y has {task.n_outputs}. Use a classifier such as "
                "RidgeClassifier."
            )
        self.estimator_ = fit_clone(self.estimator, X, codes.astype(np.float64), sample_weight, groups)
        self.classes_ = task.classes
        return self

    def predict(self, X: TableLike) -> np.ndarray:
        """Return the label of each row.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        labels: np.ndarray = self.classes_[(self.decision_function(X) > 0).astype(np.intp)]
        return labels

    def decision_function(self, X: TableLike) -> np.ndarray:
        """Return how far the numbers are above the midpoint.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        check_is_fitted(self)
        return np.asarray(self.estimator_.predict(X), dtype=np.float64).reshape(-1) - 0.5

    def _take_learnt(self, fields: Fields) -> None:
        self.estimator_ = fields.take("estimator", object)
        self.classes_ = fields.take("task", Classification).classes
        is_one = hasattr(self.estimator_, "predict") and not hasattr(self.estimator_, "classes_")
        require(is_one and len(self.classes_) == 2, "There must be a regressor and two classes")
