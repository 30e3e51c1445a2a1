"""The methods of dynamic selection: how competent each member is near a row, and which members decide.

A method is a function from what is known and a question to competences of shape (n_rows, n_members), and a
function from those to the say of each member, of the same shape. Where no member has a say, all members
decide. Formulas and defaults are those of DESlib (Cruz et al. 2020).

META-DES (Cruz et al. 2015) learns its competence from five kinds of features of a member and a row: whether
it is right on each neighbour; its vote for the class of each neighbour; the share of neighbours it is right
on; whether it is right on each of the rows with the most similar votes; its highest vote. As in DESlib, a
feature counts in tenths, rounded down, and multinomial naive Bayes learns from them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import expit
from sklearn.naive_bayes import MultinomialNB

from committee._engine import local_sums
from committee.combining.selection.competence_data import Known, Question, in_tenths
from committee.running import n_threads

# What DESlib and the papers set: members this close are equivalent; neighbours this similar count for MCB;
# the shares of members that are accurate, and of those that are diverse, in DES-kNN.
EQUIVALENT = 0.1
SIMILAR = 0.7
MOST_ACCURATE = 0.5
MOST_DIVERSE = 0.3
NEARLY_ZERO = 1e-10
# Fewer rows are not worth a second thread.
ROWS_OF_A_THREAD = 1024
# The number of rows with similar votes that META-DES asks.
N_ALIKE = 5
# Log-odds of this size leave no doubt.
SURE = 1e4

Competence = Callable[[Known, Question], np.ndarray]
Selection = Callable[[np.ndarray, Known, Question], np.ndarray]


@dataclass(frozen=True)
class Method:
    """A method for classes and, if it has a meaning there, for regression.

    Parameters
    ----------
    competence : callable or None
        None if it is learnt at fit (META-DES).
    select : callable
    regression : callable or None
        The say of each member from local squared errors.
    by_distance : bool
        Whether the errors of near neighbours count more in regression.
    source : str or None
        The source of competence to compute at fit.
    looks_at_X : bool
        Whether neighbours are looked for among the rows.
    looks_at_votes : bool
        Whether neighbours are looked for among the votes.
    """

    competence: Competence | None
    select: Selection
    regression: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None
    by_distance: bool = False
    source: str | None = None
    looks_at_X: bool = True
    looks_at_votes: bool = False


def local_sum(facts: np.ndarray, neighbours: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the weighted sum over neighbours of what is known.

    Parameters
    ----------
    facts : ndarray of float64 or bool of shape (n_known, n_members)
    neighbours, weights : ndarray of shape (n_rows, n_neighbours)

    Returns
    -------
    ndarray of shape (n_rows, n_members)
    """
    known = facts.view(np.uint8) if facts.dtype == bool else facts
    threads = 1 if len(neighbours) <= ROWS_OF_A_THREAD else n_threads(None)
    return local_sums(known, neighbours, weights, threads)


def local_mean(
    facts: np.ndarray,
    neighbours: np.ndarray,
    weights: np.ndarray,
    own: np.ndarray | None = None,
    without: float = 0.0,
) -> np.ndarray:
    """Return the weighted mean of the same, over those neighbours that a member has voted on.

    Parameters
    ----------
    facts : ndarray of float64 or bool of shape (n_known, n_members)
        0 where a member has not voted.
    neighbours, weights : ndarray of shape (n_rows, n_neighbours)
    own : ndarray of bool of shape (n_known, n_members), default=None
        Where members have voted; None if all have everywhere.
    without : float, default=0.0
        The mean of a member that has voted on none of them.

    Returns
    -------
    ndarray of shape (n_rows, n_members)
    """
    total = local_sum(facts, neighbours, weights)
    if own is not None:
        return divided(total, local_sum(own, neighbours, weights), without)
    total /= weights.sum(axis=1, keepdims=True)
    return total


def divided(total: np.ndarray, size: np.ndarray, without: float = 0.0) -> np.ndarray:
    """Divide sums by their sizes; return another number where the size is 0."""
    return np.divide(total, size, out=np.full_like(size, without), where=size > 0)


def among_class(facts: np.ndarray, weights: np.ndarray, known: Known, question: Question) -> np.ndarray:
    """Return the weighted mean over neighbours of the class that a member votes for; 0 without any."""
    are_of_class = known.y[question.neighbours][:, :, None] == question.labels[:, None, :]
    if known.own is not None:
        are_of_class &= known.own[question.neighbours]
    counted = weights[:, :, None] * are_of_class
    return divided((facts * counted).sum(axis=1), counted.sum(axis=1))


def weights_by_distance(known: Known, question: Question) -> np.ndarray:
    """Return the weights of the neighbours, divided by their distances."""
    return known.weights[question.neighbours] / np.maximum(question.distances, NEARLY_ZERO)


def local_accuracy(known: Known, question: Question) -> np.ndarray:
    """OLA and DES-P: the share of neighbours that a member is right on."""
    return local_mean(known.correct, question.neighbours, known.weights[question.neighbours], known.own)


def local_class_accuracy(known: Known, question: Question) -> np.ndarray:
    """LCA: the share of the neighbours of the class it votes for that a member is right on."""
    return among_class(
        known.correct[question.neighbours], known.weights[question.neighbours], known, question
    )


def behaviour(known: Known, question: Question) -> np.ndarray:
    """MCB: local accuracy over the neighbours on which more than 70 % of members vote as here."""
    is_same = known.labels[question.neighbours] == question.labels[:, None, :]
    if known.own is None:
        agreement = is_same.mean(axis=2)
    else:
        agreement = is_same.sum(axis=2) / known.own[question.neighbours].sum(axis=2).clip(1)
    is_similar = agreement > SIMILAR
    is_similar[~is_similar.any(axis=1)] = True
    weights = known.weights[question.neighbours] * is_similar
    return local_mean(known.correct, question.neighbours, weights, known.own)


def a_priori(known: Known, question: Question) -> np.ndarray:
    """A-priori: the mean vote for the class of each neighbour, near ones counting more."""
    return local_mean(known.support, question.neighbours, weights_by_distance(known, question), known.own)


def a_posteriori(known: Known, question: Question) -> np.ndarray:
    """A-posteriori: the same over the neighbours of the class that the member votes for."""
    weights = weights_by_distance(known, question)
    return among_class(known.support[question.neighbours], weights, known, question)


def unbroken_run(known: Known, question: Question) -> np.ndarray:
    """KNORA-E: how many of the nearest neighbours a member is right on before its first fault."""
    is_unbroken = np.ones(question.labels.shape, dtype=bool)
    run = np.zeros(question.labels.shape)
    for neighbour in question.neighbours.T:
        is_right = known.correct[neighbour]
        # A row that a member has not voted on is not a fault, and makes no run longer.
        is_unbroken &= is_right if known.own is None else is_right | ~known.own[neighbour]
        run += is_unbroken & is_right
    return run


def right_weight(known: Known, rows: np.ndarray) -> np.ndarray:
    """KNORA-U and KNOP: the weight of the rows that a member is right on, as if it had voted on all."""
    weights = known.weights[rows]
    right = local_sum(known.correct, rows, weights)
    if known.own is None:
        return right
    return divided(right * weights.sum(axis=1, keepdims=True), local_sum(known.own, rows, weights))


def potential(known: Known, question: Question) -> np.ndarray:
    """DES-RRC and DES-KL: the mean source of competence, a neighbour at distance d counting exp(-d^2)."""
    squares = np.square(question.distances)
    # The nearest counts 1, so that not all count 0 where all are far; this changes no mean.
    weights = np.exp(squares.min(axis=1, keepdims=True) - squares) * known.weights[question.neighbours]
    if not question.everywhere:
        return local_mean(known.source, question.neighbours, weights, known.own)
    total: np.ndarray = weights @ known.source
    if known.own is not None:
        return divided(total, weights @ known.own)
    total /= weights.sum(axis=1, keepdims=True)
    return total


def best(competence: np.ndarray, known: Known, question: Question) -> np.ndarray:
    """Select the most competent member, the first of equal ones."""
    say = np.zeros_like(competence)
    say[np.arange(len(say)), competence.argmax(axis=1)] = 1.0
    return say


def equivalent(competence: np.ndarray, known: Known, question: Question) -> np.ndarray:
    """Select the most competent member with all that are closer to it than 0.1.

    The papers draw one of them at random; here they decide together.
    """
    return (competence.max(axis=1, keepdims=True) - competence < EQUIVALENT).astype(np.float64)


def longest(competence: np.ndarray, known: Known, question: Question) -> np.ndarray:
    """Select all members of the highest competence."""
    highest = competence.max(axis=1, keepdims=True)
    return ((competence == highest) & (highest > 0)).astype(np.float64)


def in_proportion(competence: np.ndarray, known: Known, question: Question) -> np.ndarray:
    """Let every member have the say of its competence."""
    return competence.copy()


def better_than_chance(competence: np.ndarray, known: Known, question: Question) -> np.ndarray:
    """Select members that are right more often than one in n_classes."""
    return (competence > 1 / known.n_outputs).astype(np.float64)


def above(least: float) -> Selection:
    """Select members whose competence is above a number."""
    return lambda competence, known, question: (competence > least).astype(np.float64)


def accurate_then_diverse(competence: np.ndarray, known: Known, question: Question) -> np.ndarray:
    """DES-kNN: of the more accurate half, those that are least often wrong together with other members."""
    n_members = competence.shape[1]
    n_accurate = max(1, int(MOST_ACCURATE * n_members))
    n_diverse = min(n_accurate, int(np.ceil(MOST_DIVERSE * n_members)))
    double_faults = in_common(known.wrong, known, question)
    if known.own is not None:
        # A member that has voted together with nobody comes last.
        double_faults = divided(double_faults, in_common(known.own, known, question), without=1.0)
    accurate = np.argsort(-competence, axis=1, kind="stable")[:, :n_accurate]
    order = np.argsort(np.take_along_axis(double_faults, accurate, axis=1), axis=1, kind="stable")
    say = np.zeros_like(competence)
    np.put_along_axis(say, np.take_along_axis(accurate, order[:, :n_diverse], axis=1), 1.0, axis=1)
    return say


def in_common(facts: np.ndarray, known: Known, question: Question) -> np.ndarray:
    """Sum, over other members, the weight of the neighbours on which a fact is true of both members."""
    true = facts[question.neighbours]
    others = true.sum(axis=2, keepdims=True) - 1
    shared: np.ndarray = np.matmul(
        known.weights[question.neighbours][:, None, :], (true * others).astype(float)
    )
    return shared[:, 0]


def lowest_error(errors: np.ndarray, constant: np.ndarray) -> np.ndarray:
    """Select the member of the lowest local error, the first of equal ones; none where none has voted."""
    say = np.zeros_like(errors)
    say[np.arange(len(say)), errors.argmin(axis=1)] = np.isfinite(errors.min(axis=1))
    return say


def nearly_lowest_error(errors: np.ndarray, constant: np.ndarray) -> np.ndarray:
    """Select the members whose local error is at most a tenth above the lowest."""
    return (errors <= (1 + EQUIVALENT) * errors.min(axis=1, keepdims=True)).astype(np.float64)


def by_inverse_error(errors: np.ndarray, constant: np.ndarray) -> np.ndarray:
    """Weigh every member by the inverse of its local error (dynamic weighting, Rooney et al. 2004)."""
    lowest = errors.min(axis=1, keepdims=True)
    return np.divide(lowest, errors, out=np.ones_like(errors), where=errors > lowest)


def better_than_constant(errors: np.ndarray, constant: np.ndarray) -> np.ndarray:
    """Select the members whose local error is below that of the mean of y."""
    return (errors < constant).astype(np.float64)


def answer_by_errors(method: Method, known: Known, question: Question) -> tuple[np.ndarray, np.ndarray]:
    """Return the say of each member in a regression, and its competence: minus its local squared error."""
    rows = question.neighbours if method.looks_at_X else question.alike
    weights = weights_by_distance(known, question) if method.by_distance else known.weights[rows]
    errors = local_mean(known.support, rows, weights, known.own, without=np.inf)
    from_mean = np.square(known.y - np.average(known.y, weights=known.weights))[:, None]
    # On the same rows as the errors.
    constant = local_mean(from_mean if known.own is None else from_mean * known.own, rows, weights, known.own)
    assert method.regression is not None
    return method.regression(errors, constant), -errors


def learn_meta(
    known: Known, neighbours: np.ndarray, alike: np.ndarray, n_block: int, has_voted: np.ndarray | None = None
) -> tuple[np.ndarray, float]:
    """Learn META-DES from the known rows, each seen as a question with other rows as its neighbours.

    Parameters
    ----------
    known : Known
    neighbours, alike : ndarray of shape (n_rows, n_neighbours)
        Of each known row, without itself.
    n_block : int
        The number of rows to learn from at a time.
    has_voted : ndarray of bool of shape (n_rows, n_members), default=None
        Whether each vote is the member's own; the others are left out. None: all are.

    Returns
    -------
    coefficients : ndarray of shape (n_features,)
    intercept : float
        Of the log-odds that a member is right: naive Bayes is linear in counts.
    """
    classifier = MultinomialNB()
    n_rows, n_members = known.labels.shape
    for start in range(0, n_rows, n_block):
        rows = slice(start, start + n_block)
        question = Question(
            known.labels[rows], known.confidence[rows], neighbours[rows], np.empty((0, 0)), alike[rows]
        )
        own = slice(None) if has_voted is None else has_voted[rows].ravel()
        weights = np.repeat(known.weights[rows], n_members)[own]
        if len(weights) == 0:
            continue
        is_right = known.correct[rows].ravel()[own]
        classifier.partial_fit(meta_features(known, question)[own], is_right, [False, True], weights)
    coefficients = np.diff(classifier.feature_log_prob_, axis=0)[0]
    # Infinite if the members are always right, or never.
    intercept = np.diff(classifier.class_log_prior_.clip(-SURE, None))[0]
    return coefficients, float(intercept)


def meta_competence(
    known: Known, question: Question, coefficients: np.ndarray, intercept: float
) -> np.ndarray:
    """META-DES: how probably each member is right on each row."""
    n_near, n_alike = question.neighbours.shape[1], question.alike.shape[1]
    right, support, accuracy, alike, confidence = np.split(
        coefficients, np.cumsum([n_near, n_near, 1, n_alike])
    )
    log_odds = sum_by_place(known.correct, question.neighbours, 10 * right)
    log_odds += sum_by_place(known.tenths, question.neighbours, support)
    log_odds += sum_by_place(known.correct, question.alike, 10 * alike)
    log_odds += accuracy * in_tenths(share_right(known, question))
    log_odds += confidence * in_tenths(question.confidence)
    return np.asarray(expit(log_odds + intercept))


def meta_features(known: Known, question: Question) -> np.ndarray:
    """Return the features in tenths, of shape (n_rows * n_members, n_features)."""
    features = (
        10 * known.correct[question.neighbours].transpose(0, 2, 1).astype(np.uint8),
        known.tenths[question.neighbours].transpose(0, 2, 1),
        in_tenths(share_right(known, question))[:, :, None],
        10 * known.correct[question.alike].transpose(0, 2, 1).astype(np.uint8),
        in_tenths(question.confidence)[:, :, None],
    )
    together = np.concatenate(features, axis=2)
    return together.reshape(-1, together.shape[2])


def share_right(known: Known, question: Question) -> np.ndarray:
    """Return the share of neighbours that each member is right on, whatever they weigh."""
    n_near = question.neighbours.shape[1]
    return sum_by_place(known.correct, question.neighbours, np.ones(n_near)) / n_near


def sum_by_place(facts: np.ndarray, neighbours: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the sum over neighbours of what is known, the nearest times the first weight."""
    return local_sum(facts, neighbours, np.tile(weights, (len(neighbours), 1)))


METHODS: Mapping[str, Method] = {
    "ola": Method(local_accuracy, best, regression=lowest_error),
    "lca": Method(local_class_accuracy, best),
    "mcb": Method(behaviour, equivalent),
    "a_priori": Method(a_priori, equivalent, regression=nearly_lowest_error, by_distance=True),
    "a_posteriori": Method(a_posteriori, equivalent),
    "knora_e": Method(unbroken_run, longest),
    "knora_u": Method(
        lambda known, question: right_weight(known, question.neighbours),
        in_proportion,
        regression=by_inverse_error,
    ),
    "des_p": Method(local_accuracy, better_than_chance, regression=better_than_constant),
    "des_rrc": Method(potential, better_than_chance, source="randomised_reference"),
    "des_kl": Method(potential, above(0), source="divergence_from_chance"),
    "knop": Method(
        lambda known, question: right_weight(known, question.alike),
        in_proportion,
        regression=by_inverse_error,
        looks_at_X=False,
        looks_at_votes=True,
    ),
    "des_knn": Method(local_accuracy, accurate_then_diverse),
    "meta_des": Method(None, above(0.5), looks_at_votes=True),
}
REGRESSION_METHODS = tuple(name for name, method in METHODS.items() if method.regression is not None)
