"""Translate old names of parameters and metrics in files of format 1 to the current names."""

from __future__ import annotations

from collections.abc import Container, Mapping

from committee.parameters import RENAMED

OLD_METRICS: Mapping[str, str] = {
    "error": "accuracy",
    "balanced_error": "balanced_accuracy",
    "auc": "roc_auc_ovr_weighted",
    "log_loss": "neg_log_loss",
    "brier": "neg_brier_score",
    "calibration_error": "neg_calibration_error",
    "squared_error": "neg_mean_squared_error",
    "rmse": "neg_root_mean_squared_error",
    "mae": "neg_mean_absolute_error",
}


# The behaviour of estimators in files without a parameter that was added later.
OLD_BEHAVIOUR: Mapping[str, Mapping[str, object]] = {
    "RandomTreeClassifier": {"categories": "binary"},
    "RandomTreeRegressor": {"categories": "binary"},
}


def respelt(parameters: dict[str, object], known: Container[str]) -> dict[str, object]:
    """Return the parameters of an estimator by their current names.

    Examples
    --------
    >>> respelt({"metric": "rmse", "n_steps": 9}, known=["scoring", "n_steps"])
    {'scoring': 'neg_root_mean_squared_error', 'n_steps': 9}
    """
    found = {}
    for name, value in parameters.items():
        is_renamed = name not in known and RENAMED.get(name) in known
        if is_renamed and name == "metric" and isinstance(value, str):
            value = OLD_METRICS.get(value, value)
        found[RENAMED[name] if is_renamed else name] = value
    return found
