"""A reference implementation of rotation forests in plain Python, for small tables.

Every random number of the engine depends only on a seed and a purpose, so the draws can be repeated here: the
order of the rows, the bags, the groups, and the classes and rows of their samples. numpy computes the
principal axes, and the single tree of the same kind is fitted on the rotated table.
"""

from dataclasses import dataclass

import numpy as np

from committee import C45Classifier, DecisionTreeClassifier
from committee.learners.tree_parameters import draw_seed

BITS = 2**64 - 1
BOOTSTRAP, GROUPS, CLASSES, SAMPLE = 1, 8, 9, 10


def mix(x):
    x = (x + 0x9E3779B97F4A7C15) & BITS
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & BITS
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & BITS
    return x ^ (x >> 31)


def derive_key(key, part):
    return mix(key ^ mix(part))


class Random:
    def __init__(self, key, purpose):
        self.key, self.count = derive_key(key, purpose), 0

    def next(self):
        self.count += 1
        return mix((self.key + 0x9E3779B97F4A7C15 * self.count) & BITS)

    def below(self, n):
        return (self.next() * n) >> 64


@dataclass
class Member:
    """The matrix from axes to components, the values that replace missing ones, and the tree."""

    matrix: np.ndarray
    fill: np.ndarray
    tree: object

    def vote(self, places):
        return self.tree.predict_proba(rotate(places, self))


def rotate(places, member):
    """Return the rows in components, rounded to a grid that hides rounding errors."""
    filled = np.where(np.isnan(places), member.fill, places)
    return np.round(filled @ member.matrix * 2.0**35) / 2.0**35


def axes_of(X, n_categories):
    """Return a function from a matrix of numbers and codes to the positions of its rows on the axes."""
    parts = []
    for j, n in enumerate(n_categories):
        known = X[:, j][~np.isnan(X[:, j])]
        if n == 0:
            if len(known) and known.min() < known.max():
                low, high = known.min(), known.max()
                parts.append(lambda rows, j=j, low=low, high=high: (rows[:, j] - low) / (high - low))
            continue
        seen = np.unique(known[known > 0])
        for code in seen[1:] if len(seen) == 2 else seen if len(seen) > 2 else ():
            parts.append(
                lambda rows, j=j, code=code: np.where(rows[:, j] > 0, (rows[:, j] == code) * 1.0, np.nan)
            )
    return lambda rows: np.column_stack([part(rows) for part in parts])


def content_hash(row, target):
    found = mix(int(target))
    for value in row:
        bits = int(np.array(value if not np.isnan(value) else np.nan).view(np.uint64))
        found = ((found ^ bits) * 0xFF51AFD7ED558CCD + (found >> 29)) & BITS
    return mix(found)


def principal_axes(sample):
    """Return one column per component, by decreasing variance, with a positive largest coefficient."""
    centred = sample - sample.mean(axis=0)
    vectors = np.linalg.eigh(centred.T @ centred / len(sample))[1][:, ::-1]
    largest = np.abs(vectors).argmax(axis=0)
    return vectors * np.sign(vectors[largest, np.arange(len(largest))])


def draw_matrix(places, labels, units, key, forest):
    """Draw the rotation of one tree.

    Rows are in the engine's order. `units` are the numbers of repetitions of each row.
    """
    random, n_axes = Random(key, GROUPS), places.shape[1]
    axes = list(range(n_axes))
    for i in range(n_axes, 1, -1):
        j = random.below(i)
        axes[i - 1], axes[j] = axes[j], axes[i - 1]
    groups = []
    while axes:
        size = forest.min_group + random.below(forest.max_group - forest.min_group + 1)
        groups.append(axes[:size])
        axes = axes[size:]
    matrix, first = np.zeros((n_axes, n_axes)), 0
    for number, group in enumerate(groups):
        rows = draw_sample(labels, units, derive_key(key, number), forest.remove_proportion)
        matrix[group, first : first + len(group)] = principal_axes(places[rows][:, group])
        first += len(group)
    return matrix


def draw_sample(labels, units, key, remove_proportion):
    """Draw rows of some classes, each as often as it was drawn."""
    random, present = Random(key, CLASSES), np.bincount(labels, weights=units) > 0
    kept = np.zeros(len(present), dtype=bool)
    while not kept.any():
        kept = np.array([len(present) == 1 or random.next() >> 63 == 1 for _ in present]) & present
    rows = np.repeat(np.arange(len(labels)), np.where(kept[labels], units, 0))
    wanted, random, drawn = len(rows) - int(remove_proportion * len(rows)), Random(key, SAMPLE), []
    for position, row in enumerate(rows):
        if wanted > 0 and random.below(len(rows) - position) < wanted:
            drawn.append(row)
            wanted -= 1
    return np.array(drawn)


def members_of(forest, X, y, n_categories=None, units=None):
    """Return the members of an unfitted forest with a seed, and the function that positions rows on axes.

    Classes are numbered from 0. `units` are the numbers of repetitions of each row.
    """
    X, y = np.asarray(X, dtype=float), np.asarray(y)
    units = np.ones(len(y), dtype=int) if units is None else units
    X, y, units = X[units > 0], y[units > 0], units[units > 0]
    place = axes_of(X, [0] * X.shape[1] if n_categories is None else n_categories)
    places = place(X)
    order = sorted(range(len(y)), key=lambda i: (y[i], content_hash(places[i], y[i])))
    places, y, units = places[order], y[order], units[order]
    seed, members = draw_seed(forest.random_state), []
    for number in range(forest.n_estimators):
        key, seen = derive_key(seed, number), units
        if forest.bootstrap:
            random, all_rows = Random(key, BOOTSTRAP), np.repeat(np.arange(len(y)), units)
            drawn = [all_rows[random.below(len(all_rows))] for _ in all_rows]
            seen = np.bincount(drawn, minlength=len(y))
        known = ~np.isnan(places)
        fill = np.nansum(places * seen[:, None], axis=0) / (known * seen[:, None]).sum(axis=0)
        filled = np.where(known, places, fill)
        member = Member(draw_matrix(filled, y, seen, key, forest), fill, tree_of(forest))
        member.tree.fit(rotate(places, member), y, sample_weight=seen)
        members.append(member)
    return members, place


def tree_of(forest):
    if forest.tree == "cart":
        return DecisionTreeClassifier(min_samples_leaf=forest.min_samples_leaf)
    pruning = "pessimistic" if forest.tree == "c45" else None
    return C45Classifier(pruning=pruning, min_samples_leaf=forest.min_samples_leaf)
