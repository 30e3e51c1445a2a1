"""Reference implementations of the fixed rules in plain Python, for one row at a time."""

import math


def rescaled(support):
    total = sum(support)
    return [each / total if total else 1 / len(support) for each in support]


def repeated(row, weights):
    """Repeat the vote of each member by its integer weight."""
    return [vote for vote, weight in zip(row, weights, strict=True) for _ in range(weight)]


def column(row, j):
    return sorted(vote[j] for vote in row)


def mean(row):
    return [sum(column(row, j)) / len(row) for j in range(len(row[0]))]


def median(row):
    n = len(row)
    return [(column(row, j)[(n - 1) // 2] + column(row, j)[n // 2]) / 2 for j in range(len(row[0]))]


def trimmed_mean(row):
    """Trim a fifth of the votes at each end. Each vote is ten parts, so that this is an integer."""
    cut = 2 * len(row)
    parts = [[each for each in column(row, j) for _ in range(10)] for j in range(len(row[0]))]
    return [sum(each[cut : len(each) - cut]) / (len(each) - 2 * cut) for each in parts]


def minimum(row):
    return [min(column(row, j)) for j in range(len(row[0]))]


def maximum(row):
    return [max(column(row, j)) for j in range(len(row[0]))]


def product(row):
    """Treat zeros as the same number, which is so small that one of them outweighs all other votes."""
    logarithms = [
        sum(math.log(each) if each else -1e6 for each in column(row, j)) for j in range(len(row[0]))
    ]
    return [math.exp(each - max(logarithms)) for each in logarithms]


def geometric_mean(row):
    return [each ** (1 / len(row)) for each in product(row)]


def labels(row):
    return [list(vote).index(max(vote)) for vote in row]


def majority(row):
    return [labels(row).count(j) / len(row) for j in range(len(row[0]))]


def plurality(row):
    counts = majority(row)
    return [float(each == max(counts)) for each in counts]


def borda(row):
    points = [0.0] * len(row[0])
    for vote in row:
        for j, mine in enumerate(vote):
            for k, other in enumerate(vote):
                points[j] += 0 if j == k else 1 if mine > other else 0.5 if mine == other else 0
    return points
