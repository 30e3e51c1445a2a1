"""Copy trees and forests into fitted estimators of scikit-learn.

In: fitted estimators whose trees split numbers. Out: estimators of scikit-learn with the same trees, which
round X to float32 before they compare it with a threshold.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn import ensemble, tree
from sklearn.base import BaseEstimator
from sklearn.tree._tree import Tree
from sklearn.utils._param_validation import InvalidParameterError

from committee.learners.tree_arrays import TreeArrays
from committee.table import Kind, Schema, Table
from committee.table.schema import PLAIN
from committee.task import Classification


def to_scikit_learn_tree(model: Any, rows: Table | None) -> BaseEstimator:
    """Return a fitted tree as one of scikit-learn.

    Parameters
    ----------
    model : SingleTree
    rows : Table, or None
        Rows that must keep their leaves.
    """
    check_columns(model.schema_)
    is_classifier = isinstance(model._task, Classification)
    usual = tree.DecisionTreeClassifier if is_classifier else tree.DecisionTreeRegressor
    copy = copy_parameters(model, getattr(tree, type(model).__name__, usual))
    if is_classifier:
        copy.classes_, copy.n_classes_ = model.classes_, model.n_classes_
    keep_columns(copy, model)
    copy.max_features_ = getattr(model, "max_features_", model.n_features_in_)
    copy.tree_ = scikit_learn_nodes(model.tree_, model.schema_, rows)
    return copy


def to_scikit_learn_forest(model: Any, rows: Table | None) -> BaseEstimator:
    """Return a fitted forest as one of scikit-learn, whose rule is the mean.

    Parameters
    ----------
    model : Forest
    rows : Table, or None
        Rows that must keep their leaves.
    """
    if not model._is_plain():
        raise ValueError(f'Forests of scikit-learn average their trees. Got rule={model.rule!r}. Use "mean".')
    copy = copy_parameters(model, getattr(ensemble, type(model).__name__))
    members = [to_scikit_learn_tree(member, rows) for member in model.estimators_]
    copy.estimator_, copy.estimators_ = members[0].__class__(), members
    if isinstance(model._task, Classification):
        copy.classes_, copy.n_classes_ = model.classes_, model.n_classes_
        for member in members:
            # The trees of a forest predict codes of classes.
            member.classes_ = np.arange(model.n_classes_)
    keep_columns(copy, model)
    for member in members:
        # A forest passes matrices without names to its trees.
        vars(member).pop("feature_names_in_", None)
    return copy.set_params(n_estimators=len(members))


def copy_parameters(model: Any, kind: type[Any]) -> Any:
    """Make an estimator of scikit-learn with those parameters of a model that it accepts."""
    copy = kind()
    for name in copy.get_params(deep=False).keys() & model.get_params(deep=False).keys():
        default, value = getattr(copy, name), getattr(model, name)
        # With these, scikit-learn does not predict for missing values.
        if name == "monotonic_cst" or (value == "absolute_error" and model._has_missing.any()):
            continue
        copy.set_params(**{name: value})
        try:
            copy._validate_params()
        except InvalidParameterError:
            copy.set_params(**{name: default})
    return copy


def keep_columns(copy: Any, model: Any) -> None:
    """Give an estimator of scikit-learn the columns of a model."""
    copy.n_outputs_, copy.n_features_in_ = 1, model.n_features_in_
    if hasattr(model, "feature_names_in_"):
        copy.feature_names_in_ = model.feature_names_in_


def check_columns(schema: Schema) -> None:
    """Raise if the trees of scikit-learn cannot read a column."""
    for column in schema.columns:
        if column.kind in PLAIN:
            continue
        what = "categories" if column.kind is Kind.CATEGORY else f"{column.kind.value}s"
        way_out = "Encode it as numbers before the fit"
        if column.kind is Kind.CATEGORY:
            way_out += ", or use gradient boosting, whose copies hold categories"
        raise ValueError(
            f"Column {column.name!r} has {what}, and trees of scikit-learn need numbers. {way_out}."
        )


def scikit_learn_nodes(arrays: TreeArrays, schema: Schema, rows: Table | None) -> Tree:
    """Return the nodes of a tree as scikit-learn stores them."""
    threshold, merged = arrays.threshold, None
    if rows is not None:
        threshold, merged = rounded_thresholds(arrays, rows)
    copy = Tree(arrays.n_features, arrays.n_classes.astype(np.intp), arrays.n_outputs)
    nodes = np.zeros(arrays.node_count, dtype=copy.__getstate__()["nodes"].dtype)
    nodes["left_child"], nodes["right_child"] = arrays.children_left, arrays.children_right
    nodes["feature"], nodes["threshold"] = arrays.feature, threshold
    for name in ("impurity", "n_node_samples", "weighted_n_node_samples", "missing_go_to_left"):
        nodes[name] = getattr(arrays, name)
    copy.__setstate__(
        {
            "max_depth": arrays.max_depth,
            "node_count": arrays.node_count,
            "nodes": nodes,
            "values": arrays.value.copy(),
        }
    )
    if rows is not None and merged is not None:
        matrix = rows.as_matrix(slice(None))
        if (copy.apply(matrix.astype(np.float32)) != arrays.apply(matrix)).any():
            column, below, above = merged
            raise ValueError(
                f"scikit-learn rounds X to float32, which makes {below!r} and {above!r} equal in column "
                f"{schema.columns[column].name!r}, and a split separates them. Rescale or round the column "
                "before the fit."
            )
    return copy


def rounded_thresholds(arrays: TreeArrays, rows: Table) -> tuple[np.ndarray, tuple[int, float, float] | None]:
    """Move thresholds between the values of rows that are rounded to float32.

    Returns
    -------
    threshold : ndarray of shape (node_count,)
    merged : tuple of int, float, float, or None
        A column and two values on different sides of a threshold that are equal after rounding, if any.
    """
    threshold, merged = arrays.threshold.copy(), None
    is_number = ~arrays.is_leaf & np.isfinite(arrays.threshold)
    for column in np.unique(arrays.feature[is_number]):
        nodes = np.flatnonzero(is_number & (arrays.feature == column))
        # Sorted, with missing values at the end.
        values = np.unique(rows.columns[column].astype(np.float64))
        values = values[~np.isnan(values)]
        above = np.searchsorted(values, threshold[nodes], side="right")
        has_both = (above > 0) & (above < len(values))
        nodes, above = nodes[has_both], above[has_both]
        lower, upper = (values[place].astype(np.float32) for place in (above - 1, above))
        if (lower == upper).any():
            first = above[lower == upper][0]
            merged = int(column), float(values[first - 1]), float(values[first])
        highest = np.nextafter(upper, np.float32(-np.inf)).astype(np.float64)
        threshold[nodes] = np.maximum(np.where(threshold[nodes] < upper, threshold[nodes], highest), lower)
    return threshold, merged
