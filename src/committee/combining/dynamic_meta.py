"""META-DES (Cruz et al. 2015): a classifier learns, from five kinds of features, whether a member is right.

For a member and a row: whether it is right on each neighbour; its vote for the class of each neighbour; the
share of neighbours it is right on; whether it is right on each of the rows with the most similar votes; its
highest vote. As in DESlib, a feature counts in tenths, rounded down, and multinomial naive Bayes learns from
them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit

from committee.combining.dynamic_known import Known, Question
from committee.combining.dynamic_methods import local_sum

# So many rows of similar votes are looked at.
N_ALIKE = 5
# Log-odds of this size leave no doubt.
SURE = 1e4
TENTHS = np.linspace(0.1, 1.0, 10)


@dataclass(frozen=True, eq=False)
class MetaLearner:
    """What has been learnt, and what it is told of the known rows.

    Parameters
    ----------
    correct : ndarray of bool of shape (n_rows, n_members)
        Where the member is right.
    support : ndarray of uint8 of shape (n_rows, n_members)
        Tenths of the vote for the class of the row.
    coefficients : ndarray of shape (n_features,)
    intercept : float
        Of the log-odds that a member is right: naive Bayes is linear in counts.
    """

    correct: np.ndarray
    support: np.ndarray
    coefficients: np.ndarray
    intercept: float

    @classmethod
    def of(cls, known: Known, coefficients: np.ndarray, intercept: float) -> MetaLearner:
        """What has been learnt on known rows."""
        return cls(known.correct, in_tenths(known.support), coefficients, intercept)

    @classmethod
    def learnt(
        cls,
        known: Known,
        neighbours: np.ndarray,
        alike: np.ndarray,
        n_block: int,
        has_voted: np.ndarray | None = None,
    ) -> MetaLearner:
        """Learn from the known rows, each seen as a question with other rows as its neighbours.

        Parameters
        ----------
        known : Known
        neighbours, alike : ndarray of shape (n_rows, n_neighbours)
            Of each known row, without itself.
        n_block : int
            How many rows to learn from at a time.
        has_voted : ndarray of bool of shape (n_rows, n_members), default=None
            Whether each vote is the member's own: of the others nothing is learnt. None: all are.
        """
        from sklearn.naive_bayes import MultinomialNB

        blank = cls.of(known, np.empty(0), 0.0)
        classifier = MultinomialNB()
        n_rows, n_members = known.labels.shape
        for start in range(0, n_rows, n_block):
            rows = slice(start, start + n_block)
            question = Question(
                known.labels[rows], known.confidence[rows], neighbours[rows], np.empty((0, 0)), alike[rows]
            )
            told = slice(None) if has_voted is None else has_voted[rows].ravel()
            weights = np.repeat(known.weights[rows], n_members)[told]
            if len(weights) == 0:
                continue
            is_right = known.correct[rows].ravel()[told]
            classifier.partial_fit(blank.features(question)[told], is_right, [False, True], weights)
        coefficients = np.diff(classifier.feature_log_prob_, axis=0)[0]
        # Infinite if the members are always right, or never.
        intercept = np.diff(classifier.class_log_prior_.clip(-SURE, None))[0]
        return replace(blank, coefficients=coefficients, intercept=float(intercept))

    def competence(self, question: Question) -> np.ndarray:
        """How probably each member is right on each row."""
        n_near, n_alike = question.neighbours.shape[1], question.alike.shape[1]
        right, support, accuracy, alike, confidence = np.split(
            self.coefficients, np.cumsum([n_near, n_near, 1, n_alike])
        )
        log_odds = self._weighed(self.correct, question.neighbours, 10 * right)
        log_odds += self._weighed(self.support, question.neighbours, support)
        log_odds += self._weighed(self.correct, question.alike, 10 * alike)
        log_odds += accuracy * in_tenths(self._accuracy(question))
        log_odds += confidence * in_tenths(question.confidence)
        return np.asarray(expit(log_odds + self.intercept))

    def features(self, question: Question) -> np.ndarray:
        """The features in tenths, of shape (n_rows * n_members, n_features)."""
        features = (
            10 * self.correct[question.neighbours].transpose(0, 2, 1).astype(np.uint8),
            self.support[question.neighbours].transpose(0, 2, 1),
            in_tenths(self._accuracy(question))[:, :, None],
            10 * self.correct[question.alike].transpose(0, 2, 1).astype(np.uint8),
            in_tenths(question.confidence)[:, :, None],
        )
        together = np.concatenate(features, axis=2)
        return together.reshape(-1, together.shape[2])

    def _accuracy(self, question: Question) -> np.ndarray:
        """The share of neighbours that each member is right on."""
        n_near = question.neighbours.shape[1]
        return self._weighed(self.correct, question.neighbours, np.ones(n_near)) / n_near

    @staticmethod
    def _weighed(facts: np.ndarray, neighbours: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """The sum over neighbours, the first by the first weight."""
        return local_sum(facts, neighbours, np.tile(weights, (len(neighbours), 1)))


def in_tenths(shares: np.ndarray) -> np.ndarray:
    """Shares as whole tenths, rounded down."""
    tenths = np.zeros(shares.shape, dtype=np.uint8)
    for least in TENTHS:
        tenths += shares >= least
    return tenths
