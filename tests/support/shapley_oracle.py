"""Compute Shapley values from their definition: a sum over all coalitions of columns."""

import itertools
import math

import numpy as np
import pandas as pd

from committee import _engine


def shapley(value, n_columns):
    """Return the Shapley values of a game: value(coalition) is an array for a tuple of columns."""
    columns = range(n_columns)
    coalitions = [each for size in range(n_columns + 1) for each in itertools.combinations(columns, size)]
    values = {each: np.asarray(value(each)) for each in coalitions}
    result = []
    for column in columns:
        total = 0.0
        for each in coalitions:
            if column in each:
                continue
            orders = math.factorial(len(each)) * math.factorial(n_columns - len(each) - 1)
            joined = tuple(sorted((*each, column)))
            total = total + orders / math.factorial(n_columns) * (values[joined] - values[each])
        result.append(total)
    return np.stack(result)


def interventional(decide, row, background):
    """Return the attributions of a row of a frame: other columns get the values of each background row."""

    def value(coalition):
        mixed = background.copy()
        for column in coalition:
            mixed.iloc[:, column] = pd.Series(
                [row.iloc[0, column]] * len(mixed), dtype=mixed.dtypes.iloc[column]
            )
        return decide(mixed).mean(axis=0)

    return shapley(value, row.shape[1])


def path_dependent(forest, row):
    """Return the attributions of a row of numbers: other columns follow the training weights of the nodes."""
    total = 0.0
    for number in range(forest.n_trees):
        nodes, weights = _engine.describe_tree(forest, number), forest.node_weights(number)

        def play(node, coalition, nodes=nodes, weights=weights):
            left = nodes.left[node]
            if left < 0:
                return nodes.value[node]
            column = nodes.column[node]
            if column in coalition:
                is_missing = np.isnan(row[column])
                goes_left = (
                    not nodes.missing_right[node] if is_missing else row[column] <= nodes.threshold[node]
                )
                return play(left if goes_left else left + 1, coalition)
            both = weights[left] + weights[left + 1]
            return sum(weights[child] / both * play(child, coalition) for child in (left, left + 1))

        total = total + shapley(lambda coalition, play=play: play(0, coalition), len(row))
    return total


def c45_path_dependent(tree, row, codes):
    """Return the attributions of a row by a C4.5 tree. codes: the codes of categories by column."""
    arrays, weights = tree.arrays(), tree.node_weights()
    n_categories = arrays["n_categories"]

    def play(node, coalition):
        column = arrays["column"][node]
        if column < 0:
            return arrays["distribution"][node] / weights[node]
        n_branches = 2 if n_categories[column] < 0 else n_categories[column]
        children = arrays["branch"][arrays["first_branch"][node] :][:n_branches]
        if column in coalition:
            if n_categories[column] >= 0:
                branch = codes[column] - 1
            else:
                branch = -1 if np.isnan(row[column]) else int(row[column] > arrays["threshold"][node])
            if branch >= 0:
                child = children[branch]
                return play(child, coalition) if child >= 0 else arrays["distribution"][node] / weights[node]
        return sum(
            weights[child] / weights[node] * play(child, coalition) for child in children if child >= 0
        )

    return shapley(lambda coalition: play(0, coalition), len(row))
