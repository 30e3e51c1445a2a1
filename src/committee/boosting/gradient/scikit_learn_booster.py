"""Copy boosted trees into scikit-learn's histogram gradient boosting.

In: the engine's trees, whose scores are summed and turned into predictions by a link. Out: an estimator of
scikit-learn with the same trees, initial scores and link. It reads categories as they are in X, and NaN as
missing.
"""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.ensemble._hist_gradient_boosting.common import PREDICTOR_RECORD_DTYPE
from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor

from committee import _engine
from committee.learners.tree_arrays import TreeArrays, tree_arrays
from committee.table import Kind, Schema
from committee.table.schema import PLAIN

# The links of the engine that scikit-learn has, with its loss of the same link.
LOSS_BY_LINK = {1: "squared_error", 2: "poisson", 3: "log_loss", 4: "log_loss"}
MOST_CATEGORIES = 255
# The words of a set of categories in scikit-learn.
N_WORDS = 8


def to_scikit_learn_booster(model: Any, forest: _engine.Forest, trees_per_round: int) -> BaseEstimator:
    """Return a fitted booster as one of scikit-learn.

    Parameters
    ----------
    model : AdditiveTrees
    forest : the engine's Forest
        The trees of the model.
    trees_per_round : int
    """
    check_columns(model.schema_)
    state: Any = forest.__getstate__()
    loss = LOSS_BY_LINK.get(int(state["link"][0]))
    if loss is None:
        raise ValueError(
            "scikit-learn's boosting turns scores into probabilities by softmax, and the "
            "classes of this model have separate logistic functions. Set one_versus_all=False."
        )
    copy = fitted_on_examples(model, loss)
    scale = float(state["scale"][0])
    copy._baseline_prediction = np.asfortranarray(scale * state["start"][np.newaxis])
    positions = positions_after_encoding(model.schema_)
    rounds = []
    for first in range(0, forest.n_trees, trees_per_round):
        trees = [tree_arrays(forest, tree) for tree in range(first, first + trees_per_round)]
        rounds.append(
            [
                predictor_of(tree, output, scale, positions)
                for tree in trees
                for output in range(tree.n_outputs)
            ]
        )
    copy._predictors = rounds
    copy.train_score_, copy.validation_score_ = model.train_score_, model.validation_score_
    copy.do_early_stopping_ = len(model.validation_score_) > 0
    return copy.set_params(max_iter=len(rounds), learning_rate=model.learning_rate_)


def check_columns(schema: Schema) -> None:
    """Raise if scikit-learn's boosting cannot read a column."""
    for column in schema.columns:
        if column.kind is Kind.CATEGORY and len(column.categories) > MOST_CATEGORIES:
            raise ValueError(
                f"Column {column.name!r} has {len(column.categories)} categories, and scikit-learn "
                f"holds at most {MOST_CATEGORIES}. Merge rare categories before the fit."
            )
        if column.kind not in (*PLAIN, Kind.CATEGORY) or column.seconds_of is not None:
            raise ValueError(
                f"Column {column.name!r} has times, which scikit-learn's boosting cannot read. Convert it to "
                "seconds before the fit."
            )


def fitted_on_examples(model: Any, loss: str) -> Any:
    """Fit scikit-learn's boosting for one round on made-up rows with the columns and classes of a model."""
    schema, is_category = model.schema_, model.schema_.is_category
    is_classifier = hasattr(model, "classes_")
    categories = [len(column.categories) for column in schema.columns]
    n_rows = max(4, *categories, 2 * model.n_classes_ if is_classifier else 1)
    X = np.empty((n_rows, schema.n_columns), dtype=object if is_category.any() else np.float64)
    for place, column in enumerate(schema.columns):
        # A category of which all values are missing has no values.
        known: Any = column.categories or ((np.nan,) if is_category[place] else (0.0, 1.0))
        X[:, place] = [known[row % len(known)] for row in range(n_rows)]
    kind = HistGradientBoostingClassifier if is_classifier else HistGradientBoostingRegressor
    y = model.classes_[np.arange(n_rows) % model.n_classes_] if is_classifier else np.arange(n_rows) + 1.0
    marks = is_category if is_category.any() else None
    copy = kind(loss=loss, max_iter=1, early_stopping=False, categorical_features=marks).fit(X, y)
    is_named = hasattr(model, "feature_names_in_")
    if is_named:
        copy.feature_names_in_ = model.feature_names_in_
    if marks is not None:
        encoder = copy._preprocessor.named_transformers_["encoder"]
        # The encoder compares numbers with numbers and texts with objects.
        encoder.categories_ = [
            np.array(column.categories or [np.nan], dtype=None if are_numbers(column.categories) else object)
            for column in schema.columns
            if column.kind is Kind.CATEGORY
        ]
        if is_named:
            copy._preprocessor.feature_names_in_ = model.feature_names_in_
            encoder.feature_names_in_ = model.feature_names_in_[marks]
    return copy


def are_numbers(categories: tuple[Any, ...]) -> bool:
    """Return whether all categories are numbers."""
    return all(isinstance(category, numbers.Real) for category in categories)


def positions_after_encoding(schema: Schema) -> np.ndarray:
    """Return the position of each column after scikit-learn's encoder, which puts categories first."""
    return np.argsort(np.argsort(~schema.is_category, kind="stable"))


def predictor_of(tree: TreeArrays, output: int, scale: float, positions: np.ndarray) -> TreePredictor:
    """Return one output of a tree as scikit-learn stores it."""
    nodes = np.zeros(tree.node_count, dtype=PREDICTOR_RECORD_DTYPE)
    inner = ~tree.is_leaf
    nodes["value"], nodes["is_leaf"] = scale * tree.value[:, output, 0], tree.is_leaf
    nodes["count"] = tree.n_node_samples
    nodes["depth"] = tree.compute_node_depths() - 1
    nodes["left"][inner], nodes["right"][inner] = tree.children_left[inner], tree.children_right[inner]
    nodes["feature_idx"][inner] = positions[tree.feature[inner]]
    nodes["missing_go_to_left"] = tree.missing_go_to_left
    nodes["num_threshold"][inner] = tree.threshold[inner]
    sets = np.zeros((len(tree.left_categories), N_WORDS), dtype=np.uint32)
    for number, (node, codes) in enumerate(tree.left_categories.items()):
        nodes["is_categorical"][node], nodes["bitset_idx"][node] = 1, number
        # The codes of scikit-learn's encoder begin at 0.
        for code in codes - 1:
            sets[number, code >> 5] |= np.uint32(1 << (code & 31))
    return TreePredictor(nodes, sets, sets)
