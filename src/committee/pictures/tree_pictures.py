"""Draw trees without Graphviz: one tree, or the original tree next to trees of bootstrap samples."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone

from committee.charts.canvas import Canvas, width_of
from committee.charts.plots import panels, small_title
from committee.charts.style import GREY, INK, Chart, colour_of, mixed
from committee.evaluating.resampling.confidence_intervals import Draws
from committee.learners.decision_trees import DecisionTreeClassifier, DecisionTreeRegressor
from committee.learners.tree_export import TreeNode, describe, walk
from committee.table.input_types import ArrayLike, RandomState, TableLike
from committee.table.schema import take_rows

# Distances in pixels, and the size of words.
LEVEL, NODE, GAP, FONT_SIZE = 84.0, 28.0, 14.0, 11.5
# A picture shows at most this number of leaves.
MOST_LEAVES = 64


@dataclass(eq=False)
class Placed:
    """A node with its place. The root is at the top, and leaves have equal distances."""

    node: TreeNode
    depth: int
    x: float
    width: float
    children: list[Placed]


def tree(model: Any, *, title: str = "") -> Chart:
    """Draw a fitted tree. Each branch shows its condition, and each node its class and the weights of rows.

    Parameters
    ----------
    model : fitted tree of this package
    title : str, default=""
        Empty describes the tree.

    Returns
    -------
    altair.LayerChart

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from committee import DecisionTreeClassifier, pictures
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> chart = pictures.tree(DecisionTreeClassifier(max_depth=2).fit(X, y))
    """
    root = root_of(model)
    n_leaves = sum(not node.children for node, _ in walk(root))
    counts = "leaf" if n_leaves == 1 else "leaves"
    below = "A node shows its prediction and (its rows / the misclassified ones)"
    return canvas_of(root, classes_of(model)).chart(title or f"A tree of {n_leaves} {counts}", below)


def bootstrap_trees(
    X: TableLike,
    y: ArrayLike,
    *,
    estimator: BaseEstimator | None = None,
    n_trees: int = 3,
    random_state: RandomState = None,
) -> Chart:
    """Draw the tree of all rows next to trees of bootstrap samples, which differ from it.

    Parameters
    ----------
    X : table
    y : array-like of shape (n_rows,)
    estimator : tree of this package, default=None
        None is a CART tree of at most four leaves.
    n_trees : int, default=3
        The number of bootstrap samples.
    random_state : int, RandomState or None, default=None

    Returns
    -------
    altair.ConcatChart

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from committee import pictures
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> chart = pictures.bootstrap_trees(X, y, n_trees=2, random_state=0)
    """
    if estimator is None:
        are_classes = not str(getattr(y, "dtype", "")).startswith("float")
        kind = DecisionTreeClassifier if are_classes else DecisionTreeRegressor
        estimator = kind(max_leaf_nodes=4)
    target = np.asarray(y)
    draws = Draws.of(np.ones(len(target)), random_state)
    bags = [draws.rows(number) for number in range(n_trees)]
    models = [
        clone(estimator).fit(take_rows(X, rows), target[rows]) for rows in (np.arange(len(target)), *bags)
    ]
    names = ["tree of all rows", *(f"tree of bootstrap sample {number + 1}" for number in range(n_trees))]
    charts = [
        canvas_of(root_of(model), classes_of(models[0])).layers().properties(title=small_title(name))
        for name, model in zip(names, models, strict=True)
    ]
    return panels(
        charts,
        2,
        "Trees of bootstrap samples differ from the tree of all rows",
        "A tree is unstable: other rows give other columns, thresholds and leaves",
    )


def classes_of(model: Any) -> list[str]:
    """Return the names of the classes, or nothing for a regression tree."""
    return [str(each) for each in getattr(model, "classes_", ())]


def root_of(model: Any) -> TreeNode:
    """Return the root of a fitted tree of this package as text."""
    if not hasattr(model, "_in_words"):
        raise ValueError(f"The picture needs a fitted tree of committee. Got {type(model).__name__}.")
    root: TreeNode = model._in_words()
    n_leaves = sum(not node.children for node, _ in walk(root))
    if n_leaves > MOST_LEAVES:
        raise ValueError(
            f"A picture shows trees of at most {MOST_LEAVES} leaves. Got {n_leaves}. Limit max_depth or "
            "max_leaf_nodes."
        )
    return root


def lines_of(condition: str) -> list[str]:
    """Write a condition in two lines: the column, and the operator with its value, in five digits.

    Examples
    --------
    >>> lines_of("petal length (cm) <= 2.45"), lines_of("city in {Bonn, Oslo}")
    (['petal length (cm)', '<= 2.45'], ['city', 'in {Bonn, Oslo}'])
    """
    short = re.sub(r"\d+\.\d{5,}", lambda number: f"{float(number[0]):.5g}", condition)
    return [text for text in re.split(r" (?=<=|>|=|in \{)", short, maxsplit=1) if text]


def canvas_of(root: TreeNode, classes: Sequence[str]) -> Canvas:
    """Draw a tree on a canvas. The colour of a leaf is its class, or that of the first class for numbers."""
    nodes = [node for node, _ in walk(root)]
    words = [text for node in nodes for text in (describe(node), *lines_of(node.condition))]
    slot = max(width_of(text, FONT_SIZE) for text in words) + GAP
    placed, n_leaves, depth = place(root, slot)
    canvas = Canvas(slot * n_leaves, LEVEL * depth + NODE + 8)
    draw(canvas, placed, {name: colour_of(number) for number, name in enumerate(classes)})
    return canvas


def place(root: TreeNode, slot: float) -> tuple[Placed, int, int]:
    """Return the placed tree, its number of leaves and its depth."""
    n_leaves, deepest = 0, 0

    def placed(node: TreeNode, depth: int) -> Placed:
        nonlocal n_leaves, deepest
        deepest = max(deepest, depth)
        children = [placed(child, depth + 1) for child in node.children]
        if children:
            x = (children[0].x + children[-1].x) / 2
        else:
            n_leaves, x = n_leaves + 1, slot * (n_leaves + 0.5)
        return Placed(node, depth, x, width_of(describe(node), FONT_SIZE) + 10, children)

    return placed(root, 0), n_leaves, deepest


def draw(canvas: Canvas, placed: Placed, colours: dict[str, str]) -> None:
    """Draw a node, its branches and what is below it."""
    y, node = LEVEL * placed.depth + 4, placed.node
    for child in placed.children:
        below = LEVEL * child.depth + 4
        canvas.line(placed.x, y + NODE, child.x, below, colour=GREY)
        for line, text in enumerate(reversed(lines_of(child.node.condition))):
            canvas.label(child.x, below - 9 - 14 * line, text, size=FONT_SIZE)
        draw(canvas, child, colours)
    colour = "#eef0f2" if node.children else mixed(colours.get(node.prediction, colour_of(0)), 0.35)
    at = placed.x - placed.width / 2, y, placed.width, NODE
    canvas.cell(*at, describe(node), colour=colour, ink=INK, size=FONT_SIZE)
