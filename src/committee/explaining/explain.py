"""The method `explain` of all estimators."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from committee.explaining.exact_attributions import Additive, NotAdditive, Request, attribute, scale_of
from committee.explaining.explanation import Explanation
from committee.explaining.permutation_sampling import sample_attributions
from committee.parameters import is_integer
from committee.task import Classification


def explain(
    model: Any,
    X: Any,
    background: Any = None,
    *,
    interactions: bool = False,
    scale: str = "auto",
    n_permutations: int = 64,
    random_state: int = 0,
) -> Explanation:
    """Attribute the decision on each row to the columns.

    Attributions are Shapley values. They and the base value sum to the decision. They are exact on a scale
    on which the model is a sum of trees: probabilities for trees and forests, log-odds for gradient boosting
    and LogitBoost, the decision function for AdaBoost, and numbers for regressors. Committees and bagging are
    exact if their rule is a weighted sum of such votes of their members. Other models need background rows,
    and the attributions of their probabilities or numbers are estimated. Categories, missing values and
    columns that the model encodes are attributed to the column of the table.

    Parameters
    ----------
    X : table of shape (n_rows, n_columns)
    background : table, default=None
        Rows whose values replace those of the columns outside of a coalition (interventional Shapley values).
        The time is proportional to their number; 100 rows are usually enough. None uses the shares of the
        training rows in each node instead (path-dependent Shapley values). Estimates need these rows, for
        example some training rows.
    interactions : bool, default=False
        Whether to compute the exact interaction values of all pairs of columns as well. The attributions
        must be exact.
    scale : {"auto", "prediction"}, default="auto"
        "auto" is the scale of exact attributions, if the model has one. "prediction" is always the
        probabilities, or the predicted number.
    n_permutations : int, default=64
        The number of permutations of the columns for an estimate, at least 4 and even. The standard errors
        decrease with its square root, and the time is proportional to it and to the number of columns.
    random_state : int, default=0
        The seed of the permutations.

    Returns
    -------
    Explanation

    References
    ----------
    S. M. Lundberg et al., "From local explanations to global understanding with explainable AI for trees".
    Nature Machine Intelligence 2, 2020.

    Examples
    --------
    >>> from committee import GradientBoostingClassifier
    >>> X, y = [[age, 0] for age in range(40)], [age > 20 for age in range(40)]
    >>> booster = GradientBoostingClassifier(10, random_state=0).fit(X, y)
    >>> explanation = booster.explain(X)
    >>> explanation.scale, np.allclose(explanation.sums, booster.decision_function(X))
    ('log_odds', True)
    >>> explanation.attributions[[0, -1]].round(1) + 0.0
    array([[-0.8,  0. ],
           [ 0.8,  0. ]])
    """
    check_is_fitted(model)
    check_choices(scale, n_permutations, random_state)
    reason = ""
    try:
        found = attribute(model, X, Request(background, bool(interactions)))
        if scale == "auto" or found.scale == scale_of(model):
            return explained(model, found, X, "path_dependent" if background is None else "interventional")
        reason = f"it is a sum of trees in {found.scale}"
    except NotAdditive as error:
        reason = str(error)
    if interactions:
        raise ValueError(
            f"There are no exact interactions for this {type(model).__name__}: {reason}. Set "
            "interactions=False."
        )
    if background is None:
        raise ValueError(
            f"There are no exact attributions for this {type(model).__name__}: {reason}. Pass background, "
            "for example 100 rows of the training table, to estimate them."
        )
    # The models check both tables.
    model._read(background)
    estimated, errors = sample_attributions(
        lambda table: np.asarray(model._decide(table), dtype=np.float64),
        X,
        background,
        n_permutations,
        random_state,
        scale_of(model),
    )
    return explained(model, estimated, X, "sampling", errors)


def check_choices(scale: str, n_permutations: int, random_state: int) -> None:
    """Raise if an argument is not valid."""
    if scale not in ("auto", "prediction"):
        raise ValueError(f'scale must be "auto" or "prediction". Got {scale!r}.')
    if not is_integer(n_permutations) or n_permutations < 4 or n_permutations % 2:
        raise ValueError(f"n_permutations must be an even integer >= 4. Got {n_permutations!r}.")
    if not is_integer(random_state) or random_state < 0:
        raise ValueError(f"random_state must be an integer >= 0. Got {random_state!r}.")


def explained(
    model: Any, found: Additive, X: Any, method: str, errors: np.ndarray | None = None
) -> Explanation:
    """Return attributions in the shape in which users see them."""
    has_one_output = found.attributions.shape[2] == 1 and (
        found.scale != "probability" or not isinstance(model._task, Classification)
    )
    return Explanation(
        found.attributions[:, :, 0] if has_one_output else found.attributions,
        float(found.base[0]) if has_one_output else found.base,
        found.scale,
        method,
        model.schema_.names,
        model._task.classes,
        errors[:, :, 0] if has_one_output and errors is not None else errors,
        None if found.pairs is None else with_main_effects(found, has_one_output),
        data=X,
    )


def with_main_effects(found: Additive, has_one_output: bool) -> np.ndarray:
    """Return the interactions, with what is left of the attribution of each column on the diagonal."""
    assert found.pairs is not None
    pairs = found.pairs.copy()
    diagonal = np.arange(pairs.shape[1])
    pairs[:, diagonal, diagonal] = found.attributions - found.pairs.sum(axis=2)
    return pairs[:, :, :, 0] if has_one_output else pairs
