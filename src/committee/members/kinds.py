"""Whether an estimator can be a member of its committee."""

from __future__ import annotations

from typing import Any

from sklearn.base import is_classifier, is_regressor

from committee.parameters import check_parameters


def is_member(value: Any) -> bool:
    """Whether a value can be fitted and asked."""
    is_made = not isinstance(value, type)
    return is_made and callable(getattr(value, "fit", None)) and callable(getattr(value, "predict", None))


def check_estimator(estimator: Any, *, are_classes: bool) -> None:
    """Raise unless the `estimator` of an ensemble is for its task.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> check_estimator(LinearRegression(), are_classes=True)
    Traceback (most recent call last):
    ValueError: estimator must be a classifier. Got LinearRegression().
    """
    is_kind, kind = (is_classifier, "classifier") if are_classes else (is_regressor, "regressor")
    if not is_kind(estimator):
        raise ValueError(f"estimator must be a {kind}. Got {estimator!r}.")


def check_engine_member(estimator: Any, ensemble: str) -> None:
    """Check the parameters of a member that the engine makes itself, for a "booster" or another ensemble."""
    check_parameters(estimator)
    marks = estimator.categorical_features
    if not (isinstance(marks, str) and marks == "from_dtype"):
        raise ValueError(
            f"The table is read once for all members. Set categorical_features of the {ensemble}, not of its "
            "estimator."
        )
