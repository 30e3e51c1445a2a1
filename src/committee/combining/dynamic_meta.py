"""META-DES (Cruz et al. 2015): a classifier learns, from five kinds of features, whether a member is right.

For a member and a row: whether it is right on each neighbour; its vote for the class of each neighbour; the
share of neighbours it is right on; whether it is right on each of the rows with the most similar votes; its
highest vote. As in DESlib, a feature counts in tenths, rounded down, and multinomial naive Bayes learns from
them.
"""

from __future__ import annotations

import numpy as np
from sklearn.naive_bayes import MultinomialNB

from committee.combining.dynamic_known import Known, Question

# So many rows of similar votes are looked at.
N_ALIKE = 5
TENTHS = np.linspace(0.1, 1.0, 10)


def fit_meta_learner(known: Known, neighbours: np.ndarray, alike: np.ndarray, n_block: int) -> MultinomialNB:
    """Learn from the known rows, each seen as a question with other rows as its neighbours.

    Parameters
    ----------
    known : Known
    neighbours, alike : ndarray of shape (n_rows, n_neighbours)
        Of each known row, without itself.
    n_block : int
        How many rows to learn from at a time.
    """
    n_rows, n_members = known.labels.shape
    confidence = known.profiles.reshape(n_rows, n_members, -1).max(axis=2)
    learner = MultinomialNB()
    for start in range(0, n_rows, n_block):
        rows = slice(start, start + n_block)
        question = Question(
            known.labels[rows], confidence[rows], neighbours[rows], np.empty((0, 0)), alike[rows]
        )
        features = features_of(known, question)
        weights = np.repeat(known.weights[rows], n_members)
        learner.partial_fit(
            features.reshape(-1, features.shape[2]), known.correct[rows].ravel(), [False, True], weights
        )
    return learner


def probably_right(learner: MultinomialNB, known: Known, question: Question) -> np.ndarray:
    """How probably each member is right on each row."""
    features = features_of(known, question)
    probabilities: np.ndarray = learner.predict_proba(features.reshape(-1, features.shape[2]))[:, 1]
    return probabilities.reshape(features.shape[:2])


def features_of(known: Known, question: Question) -> np.ndarray:
    """The features in tenths, of shape (n_rows, n_members, n_features)."""
    correct = known.correct[question.neighbours].transpose(0, 2, 1)
    features = (
        correct,
        known.support[question.neighbours].transpose(0, 2, 1),
        correct.mean(axis=2, keepdims=True),
        known.correct[question.alike].transpose(0, 2, 1),
        question.confidence[:, :, None],
    )
    return np.digitize(np.concatenate(features, axis=2), TENTHS)
