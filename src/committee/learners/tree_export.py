"""Write trees as text and as graphs.

In: the root `TreeNode` of any tree of this package. Out: indented text in the layout of Weka's J48, or
Graphviz's DOT language. The conditions on the branches are written here too, so they look the same for all
trees.
"""

from __future__ import annotations

import contextlib
import datetime
import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

from committee.table import Column, Kind


@dataclass(frozen=True, eq=False)
class TreeNode:
    """A node of any tree, as text.

    Parameters
    ----------
    condition : str
        The condition on the branch from the parent: "width <= 0.6", "outlook = sunny" or
        "city in {Bonn, Oslo}". Empty at the root.
    prediction : str
        The prediction for a row that ends in this node: a class, or a number.
    weight : float
        The weight of the training rows in the node: their number unless they have weights. NaN if unknown.
    errors : float, default=0.0
        The weight of the training rows for which `prediction` is wrong. 0 in regression.
    children : tuple of TreeNode, default=()
        In the order of the branches. Empty for a leaf.

    Examples
    --------
    >>> leaf = TreeNode("x <= 2", "yes", weight=4, errors=1)
    >>> leaf.children
    ()
    """

    condition: str
    prediction: str
    weight: float
    errors: float = 0.0
    children: tuple[TreeNode, ...] = ()


def to_text(root: TreeNode) -> str:
    """Write a tree as indented lines.

    A leaf shows its prediction, the weight of its training rows and, after a slash, the weight of the
    misclassified ones.

    Parameters
    ----------
    root : TreeNode

    Returns
    -------
    str

    Examples
    --------
    >>> yes = TreeNode("x <= 2", "yes", 4, errors=1)
    >>> no = TreeNode("x > 2", "no", 3)
    >>> print(to_text(TreeNode("", "no", 7, errors=3, children=(yes, no))))
    x <= 2: yes (4/1)
    x > 2: no (3)
    """
    if not root.children:
        return f": {describe(root)}"
    lines = []
    for node, depth in walk(root):
        if node is root:
            continue
        end = "" if node.children else f": {describe(node)}"
        lines.append(f"{'|   ' * (depth - 1)}{node.condition}{end}")
    return "\n".join(lines)


def to_graph(root: TreeNode) -> str:
    """Write a tree as a graph in Graphviz's DOT language.

    Parameters
    ----------
    root : TreeNode

    Returns
    -------
    str
        Input of `dot -Tsvg`, or of any viewer of DOT files.

    Examples
    --------
    >>> yes = TreeNode("x <= 2", "yes", 4, errors=1)
    >>> no = TreeNode("x > 2", "no", 3)
    >>> print(to_graph(TreeNode("", "no", 7, errors=3, children=(yes, no))))
    digraph tree {
    node [shape=box, fontname="sans-serif"]
    edge [fontname="sans-serif"]
    0 [label="no (7/3)"]
    1 [label="yes (4/1)", style=rounded]
    0 -> 1 [label="x <= 2"]
    2 [label="no (3)", style=rounded]
    0 -> 2 [label="x > 2"]
    }
    """
    lines = ['node [shape=box, fontname="sans-serif"]', 'edge [fontname="sans-serif"]']
    path: list[int] = []
    for number, (node, depth) in enumerate(walk(root)):
        style = "" if node.children else ", style=rounded"
        lines.append(f"{number} [label={quote(describe(node))}{style}]")
        if depth > 0:
            lines.append(f"{path[depth - 1]} -> {number} [label={quote(node.condition)}]")
        path[depth:] = [number]
    return "\n".join(["digraph tree {", *lines, "}"])


def threshold_conditions(column: Column, threshold: float) -> tuple[str, str]:
    """Return the conditions on the branches of the values up to a threshold, and of those above it.

    Examples
    --------
    >>> threshold_conditions(Column("age", Kind.NUMBER), 17.5)
    ('age <= 17.5', 'age > 17.5')
    >>> threshold_conditions(Column("born", Kind.DATE), 959860800.0)
    ('born <= 2000-06-01T12:00:00', 'born > 2000-06-01T12:00:00')
    >>> threshold_conditions(Column("smokes", Kind.BOOLEAN), 0.5)
    ('smokes = False', 'smokes = True')
    """
    if column.kind is Kind.BOOLEAN:
        return f"{column.name} = False", f"{column.name} = True"
    written = format_threshold(column.kind, threshold)
    return f"{column.name} <= {written}", f"{column.name} > {written}"


def any_of(column: Column, categories: Sequence[Hashable]) -> str:
    """Return the condition on the branch of one or more categories.

    Examples
    --------
    >>> city = Column("city", Kind.CATEGORY, ("Bonn", "Oslo", "Rome"))
    >>> any_of(city, ["Oslo"])
    'city = Oslo'
    >>> any_of(city, ["Bonn", "Rome"])
    'city in {Bonn, Rome}'
    """
    if len(categories) == 1:
        return f"{column.name} = {categories[0]}"
    return f"{column.name} in {{{', '.join(map(str, categories))}}}"


def format_threshold(kind: Kind, threshold: float) -> str:
    """Write a threshold with enough digits to split the rows exactly as the tree does, and dates as dates.

    Examples
    --------
    >>> format_threshold(Kind.NUMBER, 100000.7), format_threshold(Kind.NUMBER, 20240101.0)
    ('100000.7', '20240101')
    >>> format_threshold(Kind.DATE, 86400.0), format_threshold(Kind.DATE, -0.5)
    ('1970-01-02', '1969-12-31T23:59:59.500000')
    >>> format_threshold(Kind.SPAN, 30600.0), format_threshold(Kind.SPAN, 129600.0)
    ('8:30:00', '1 day, 12:00:00')
    """
    threshold = float(threshold)
    # Dates and spans have a resolution of microseconds. Those outside the calendar are written in seconds.
    with contextlib.suppress(OverflowError):
        if kind in (Kind.DATE, Kind.SPAN) and math.isfinite(threshold):
            span = datetime.timedelta(microseconds=math.floor(threshold * 1e6))
            if kind is Kind.SPAN:
                return str(span)
            return (datetime.datetime(1970, 1, 1) + span).isoformat().removesuffix("T00:00:00")
    return str(int(threshold)) if is_short_integer(threshold) else repr(threshold)


def is_short_integer(number: float) -> bool:
    """Return whether a number is an integer with few digits."""
    return number.is_integer() and abs(number) < 1e15


def format_number(number: float) -> str:
    """Write integers in full and other numbers with six digits.

    Examples
    --------
    >>> format_number(1234567.0), format_number(0.123456789)
    ('1234567', '0.123457')
    """
    return str(int(number)) if is_short_integer(float(number)) else f"{number:.6g}"


def walk(root: TreeNode) -> Iterator[tuple[TreeNode, int]]:
    """Yield every node with its depth, parents before children."""
    # Without recursion: a tree may be deeper than the stack.
    waiting = [(root, 0)]
    while waiting:
        node, depth = waiting.pop()
        yield node, depth
        waiting.extend((child, depth + 1) for child in reversed(node.children))


def describe(node: TreeNode) -> str:
    """Return the prediction of a node and, if known, the weights of its rows and of misclassified rows."""
    if math.isnan(node.weight):
        return node.prediction
    # Fractions of rows are rounded, so an error of a millionth of a row is not an error.
    errors = f"/{format_weight(node.errors)}" if node.errors > 1e-6 else ""
    return f"{node.prediction} ({format_weight(node.weight)}{errors})"


def format_weight(weight: float) -> str:
    """Write a weight with at most two decimals."""
    return f"{weight:.2f}".rstrip("0").rstrip(".")


def quote(text: str) -> str:
    """Return a quoted string of the DOT language, with quotes and backslashes escaped."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\r", "").replace("\n", "\\n")
    return f'"{escaped}"'
