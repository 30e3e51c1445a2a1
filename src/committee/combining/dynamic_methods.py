"""The methods of dynamic selection: how competent is each member near a row, and who decides.

A method is a function from what is known and a question to competences of shape (n_rows, n_members), and a
function from those to the say of each member, of the same shape. No say is left to nobody: where all say is
0, all members decide. Formulas and defaults are those of DESlib (Cruz et al. 2020).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from committee._engine import local_sums
from committee.combining.dynamic_known import Known, Question
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
    """The weighted sum over neighbours of what is known.

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
    """The weighted mean of the same, over those neighbours that a member has voted on.

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
    """Sums by what they are sums of, and another number where that is nothing."""
    return np.divide(total, size, out=np.full_like(size, without), where=size > 0)


def among_class(facts: np.ndarray, weights: np.ndarray, known: Known, question: Question) -> np.ndarray:
    """The weighted mean over those neighbours that are of the class a member votes for; 0 without any."""
    are_of_class = known.y[question.neighbours][:, :, None] == question.labels[:, None, :]
    if known.own is not None:
        are_of_class &= known.own[question.neighbours]
    counted = weights[:, :, None] * are_of_class
    return divided((facts * counted).sum(axis=1), counted.sum(axis=1))


def weights_of(known: Known, question: Question) -> np.ndarray:
    """The weights of the neighbours as rows."""
    return known.weights[question.neighbours]


def weights_by_distance(known: Known, question: Question) -> np.ndarray:
    """The weights of the neighbours, divided by their distances."""
    return known.weights[question.neighbours] / np.maximum(question.distances, NEARLY_ZERO)


def local_accuracy(known: Known, question: Question) -> np.ndarray:
    """OLA and DES-P: the share of neighbours that a member is right on."""
    return local_mean(known.correct, question.neighbours, weights_of(known, question), known.own)


def local_class_accuracy(known: Known, question: Question) -> np.ndarray:
    """LCA: the share of the neighbours of the class it votes for that a member is right on."""
    return among_class(known.correct[question.neighbours], weights_of(known, question), known, question)


def behaviour(known: Known, question: Question) -> np.ndarray:
    """MCB: local accuracy over the neighbours on which more than 70 % of members vote as here."""
    is_same = known.labels[question.neighbours] == question.labels[:, None, :]
    if known.own is None:
        agreement = is_same.mean(axis=2)
    else:
        agreement = is_same.sum(axis=2) / known.own[question.neighbours].sum(axis=2).clip(1)
    is_similar = agreement > SIMILAR
    is_similar[~is_similar.any(axis=1)] = True
    weights = weights_of(known, question) * is_similar
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
        # What a member has not voted on is no fault, and makes no run longer.
        is_unbroken &= is_right if known.own is None else is_right | ~known.own[neighbour]
        run += is_unbroken & is_right
    return run


def right_neighbours(known: Known, question: Question) -> np.ndarray:
    """KNORA-U: the weight of the neighbours that a member is right on."""
    return right_weight(known, question.neighbours)


def right_among_alike(known: Known, question: Question) -> np.ndarray:
    """KNOP: the same over the rows with the most similar votes."""
    return right_weight(known, question.alike)


def right_weight(known: Known, rows: np.ndarray) -> np.ndarray:
    """The weight of the rows that a member is right on, if it is as good on the others as on its own."""
    weights = known.weights[rows]
    right = local_sum(known.correct, rows, weights)
    if known.own is None:
        return right
    return divided(right * weights.sum(axis=1, keepdims=True), local_sum(known.own, rows, weights))


def potential(known: Known, question: Question) -> np.ndarray:
    """DES-RRC and DES-KL: the mean source of competence, a neighbour at distance d counting exp(-d^2)."""
    squares = np.square(question.distances)
    # The nearest counts 1, so that not all count 0 where all are far; this changes no mean.
    weights = np.exp(squares.min(axis=1, keepdims=True) - squares) * weights_of(known, question)
    if not question.everywhere:
        return local_mean(known.source, question.neighbours, weights, known.own)
    total: np.ndarray = weights @ known.source
    if known.own is not None:
        return divided(total, weights @ known.own)
    total /= weights.sum(axis=1, keepdims=True)
    return total


def best(competence: np.ndarray, known: Known, question: Question) -> np.ndarray:
    """The most competent member, the first of equal ones."""
    say = np.zeros_like(competence)
    say[np.arange(len(say)), competence.argmax(axis=1)] = 1.0
    return say


def equivalent(competence: np.ndarray, known: Known, question: Question) -> np.ndarray:
    """The most competent member with all that come closer to it than 0.1.

    The papers draw one of them at random; here they decide together.
    """
    return (competence.max(axis=1, keepdims=True) - competence < EQUIVALENT).astype(np.float64)


def longest(competence: np.ndarray, known: Known, question: Question) -> np.ndarray:
    """All members of the highest competence."""
    highest = competence.max(axis=1, keepdims=True)
    return ((competence == highest) & (highest > 0)).astype(np.float64)


def in_proportion(competence: np.ndarray, known: Known, question: Question) -> np.ndarray:
    """Every member, as far as it is competent."""
    return competence.copy()


def better_than_chance(competence: np.ndarray, known: Known, question: Question) -> np.ndarray:
    """Members that are right more often than one in n_classes."""
    return (competence > 1 / known.n_outputs).astype(np.float64)


def better_than_nothing(competence: np.ndarray, known: Known, question: Question) -> np.ndarray:
    """Members whose competence is above 0."""
    return (competence > 0).astype(np.float64)


def more_likely_than_not(competence: np.ndarray, known: Known, question: Question) -> np.ndarray:
    """Members that are more probably right than wrong."""
    return (competence > 0.5).astype(np.float64)


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
    """The weight of the neighbours on which something is true of a member and of another, over all others."""
    true = facts[question.neighbours]
    others = true.sum(axis=2, keepdims=True) - 1
    shared: np.ndarray = np.matmul(weights_of(known, question)[:, None, :], (true * others).astype(float))
    return shared[:, 0]


def lowest_error(errors: np.ndarray, constant: np.ndarray) -> np.ndarray:
    """The member of the lowest local error, the first of equal ones; nobody where nobody has voted."""
    say = np.zeros_like(errors)
    say[np.arange(len(say)), errors.argmin(axis=1)] = np.isfinite(errors.min(axis=1))
    return say


def nearly_lowest_error(errors: np.ndarray, constant: np.ndarray) -> np.ndarray:
    """The members whose local error is at most a tenth above the lowest."""
    return (errors <= (1 + EQUIVALENT) * errors.min(axis=1, keepdims=True)).astype(np.float64)


def by_inverse_error(errors: np.ndarray, constant: np.ndarray) -> np.ndarray:
    """Every member by the inverse of its local error (dynamic weighting, Rooney et al. 2004)."""
    lowest = errors.min(axis=1, keepdims=True)
    return np.divide(lowest, errors, out=np.ones_like(errors), where=errors > lowest)


def better_than_constant(errors: np.ndarray, constant: np.ndarray) -> np.ndarray:
    """The members whose local error is below that of the mean of y."""
    return (errors < constant).astype(np.float64)


def answer_by_errors(method: Method, known: Known, question: Question) -> tuple[np.ndarray, np.ndarray]:
    """The say of each member in a regression, and its competence: the negative local squared error."""
    rows = question.neighbours if method.looks_at_X else question.alike
    weights = weights_by_distance(known, question) if method.by_distance else known.weights[rows]
    errors = local_mean(known.support, rows, weights, known.own, without=np.inf)
    from_mean = np.square(known.y - np.average(known.y, weights=known.weights))[:, None]
    # On the same rows as the errors.
    constant = local_mean(from_mean if known.own is None else from_mean * known.own, rows, weights, known.own)
    assert method.regression is not None
    return method.regression(errors, constant), -errors


METHODS: Mapping[str, Method] = {
    "ola": Method(local_accuracy, best, regression=lowest_error),
    "lca": Method(local_class_accuracy, best),
    "mcb": Method(behaviour, equivalent),
    "a_priori": Method(a_priori, equivalent, regression=nearly_lowest_error, by_distance=True),
    "a_posteriori": Method(a_posteriori, equivalent),
    "knora_e": Method(unbroken_run, longest),
    "knora_u": Method(right_neighbours, in_proportion, regression=by_inverse_error),
    "des_p": Method(local_accuracy, better_than_chance, regression=better_than_constant),
    "des_rrc": Method(potential, better_than_chance, source="randomised_reference"),
    "des_kl": Method(potential, better_than_nothing, source="divergence_from_chance"),
    "knop": Method(
        right_among_alike, in_proportion, regression=by_inverse_error, looks_at_X=False, looks_at_votes=True
    ),
    "des_knn": Method(local_accuracy, accurate_then_diverse),
    "meta_des": Method(None, more_likely_than_not, looks_at_votes=True),
}
REGRESSION_METHODS = tuple(name for name, method in METHODS.items() if method.regression is not None)
