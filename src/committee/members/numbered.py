"""Labels as the numbers 0, 1, 2 and so on, for classifiers that take nothing else, as XGBoost's do."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from committee.combining.passing import arguments, request
from committee.parameters import check_parameters, declared, parameter
from committee.saving import Fields, Saveable, saved
from committee.saving.errors import require
from committee.task import Classification


def can(method: str) -> Any:
    """Whether the estimator has a method."""

    def check(numbered: Any) -> bool:
        return hasattr(getattr(numbered, "estimator_", numbered.estimator), method)

    return available_if(check)


@saved
@declared
class NumberedLabels(ClassifierMixin, Saveable, BaseEstimator):
    """A classifier whose estimator sees classes as numbers: 0 is the first of those that are there.

    Committees make one of a member that refuses the labels of y.

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

    estimator: Any = parameter(
        None, "a classifier", lambda value: hasattr(value, "fit"), "What is fitted.", kw_only=False
    )

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit the estimator.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
        y : array-like of shape (n_rows,)
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows, if the estimator takes them.
        groups : array-like of shape (n_rows,), default=None
            Groups of the rows, if the estimator takes them.

        Returns
        -------
        self
        """
        check_parameters(self)
        task, codes = Classification.of(y)
        model = clone(self.estimator)
        request(model, "sample_weight", "groups")
        given = arguments(model, "sample_weight", sample_weight) | arguments(model, "groups", groups)
        self.estimator_ = model.fit(X, codes, **given)
        self.classes_ = task.classes
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The label of each row.

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
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the classes.

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
    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of the classes.

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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if hasattr(self.estimator, "fit"):
            tags.input_tags = get_tags(self.estimator).input_tags
        return tags

    def _check_parameters(self) -> None:
        check_parameters(self)

    def _has_learnt(self) -> bool:
        return hasattr(self, "estimator_")

    def _learnt(self) -> dict[str, Any]:
        return {"estimator": self.estimator_, "task": Classification(self.classes_)}

    def _take_learnt(self, fields: Fields) -> None:
        self.estimator_ = fields.take("estimator", object)
        self.classes_ = fields.take("task", Classification).classes
        known = getattr(self.estimator_, "classes_", ())
        are_numbers = np.array_equal(known, np.arange(len(self.classes_)))
        require(hasattr(self.estimator_, "predict") and are_numbers, "The labels are not numbered")
