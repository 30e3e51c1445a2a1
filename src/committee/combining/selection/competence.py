"""The methods of dynamic selection, which estimate the competence of members near a row and select members.

A method consists of two functions. The first computes competences of shape (n_rows, n_members) from the known
rows and a query. The second computes the weights of the members from these, in the same shape. If all weights
of a row are 0, all members decide. Formulas and defaults are those of DESlib (Cruz et al. 2020).

META-DES (Cruz et al. 2015) predicts the competence from five kinds of features of a member and a row: whether
the member is correct on each neighbour, its vote for the class of each neighbour, the share of neighbours on
which it is correct, whether it is correct on each of the rows with the most similar votes, and its highest
vote. As in DESlib, features are rounded down to tenths, and the model is multinomial naive Bayes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from committee._engine import local_sums
from committee.combining.selection.competence_data import Known, Query, in_tenths
from committee.running import n_threads
from committee.saving.predictors.probabilities import logistic

# Constants of DESlib and the papers: the largest difference of equivalent members, the smallest similarity of
# neighbours in MCB, and the shares of accurate members and of diverse members in DES-kNN.
EQUIVALENT = 0.1
SIMILAR = 0.7
MOST_ACCURATE = 0.5
MOST_DIVERSE = 0.3
NEARLY_ZERO = 1e-10
# With fewer rows, a second thread is slower.
ROWS_OF_A_THREAD = 1024
# The number of rows with similar votes in META-DES.
N_ALIKE = 5
# The logarithms of prior probabilities are clipped at minus this number, so that they are finite.
SURE = 1e4

Competence = Callable[[Known, Query], np.ndarray]
Selection = Callable[[np.ndarray, Known, Query], np.ndarray]


@dataclass(frozen=True)
class Method:
    """A method for classification, and for regression if it supports that.

    Parameters
    ----------
    competence : callable or None
        None for META-DES, whose competence is predicted by a fitted model.
    select : callable
    regression : callable or None
        A function that computes the weights of the members from local squared errors.
    by_distance : bool
        Whether the errors on neighbours are divided by their distances in regression.
    source : str or None
        The source of competence that `fit` computes.
    looks_at_X : bool
        Whether the method uses the nearest rows.
    looks_at_votes : bool
        Whether the method uses rows with similar votes.
    """

    competence: Competence | None
    select: Selection
    regression: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None
    by_distance: bool = False
    source: str | None = None
    looks_at_X: bool = True
    looks_at_votes: bool = False


def local_sum(facts: np.ndarray, neighbours: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the weighted sums of facts about members over neighbours.

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
    """Return the weighted mean of a fact about each member over the neighbours that the member has voted on.

    Parameters
    ----------
    facts : ndarray of float64 or bool of shape (n_known, n_members)
        0 where a member has not voted.
    neighbours, weights : ndarray of shape (n_rows, n_neighbours)
    own : ndarray of bool of shape (n_known, n_members), default=None
        Whether a member has voted on a row. None if all members have voted on all rows.
    without : float, default=0.0
        The mean of members that have voted on no neighbour.

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
    """Divide sums by their sizes, and return another number where the size is 0."""
    return np.divide(total, size, out=np.full_like(size, without), where=size > 0)


def among_class(facts: np.ndarray, weights: np.ndarray, known: Known, query: Query) -> np.ndarray:
    """Return the weighted means over the neighbours of the class that a member predicts; 0 without any."""
    are_of_class = known.y[query.neighbours][:, :, None] == query.labels[:, None, :]
    if known.own is not None:
        are_of_class &= known.own[query.neighbours]
    counted = weights[:, :, None] * are_of_class
    return divided((facts * counted).sum(axis=1), counted.sum(axis=1))


def weights_by_distance(known: Known, query: Query) -> np.ndarray:
    """Return the weights of the neighbours, divided by their distances."""
    return known.weights[query.neighbours] / np.maximum(query.distances, NEARLY_ZERO)


def local_accuracy(known: Known, query: Query) -> np.ndarray:
    """Return the share of neighbours on which a member is correct (OLA and DES-P)."""
    return local_mean(known.correct, query.neighbours, known.weights[query.neighbours], known.own)


def local_class_accuracy(known: Known, query: Query) -> np.ndarray:
    """Return the share of correct decisions on the neighbours of the class that a member predicts (LCA)."""
    return among_class(known.correct[query.neighbours], known.weights[query.neighbours], known, query)


def behaviour(known: Known, query: Query) -> np.ndarray:
    """Return the accuracy on neighbours on which more than 70 % of members predict the same as here (MCB)."""
    is_same = known.labels[query.neighbours] == query.labels[:, None, :]
    if known.own is None:
        agreement = is_same.mean(axis=2)
    else:
        agreement = is_same.sum(axis=2) / known.own[query.neighbours].sum(axis=2).clip(1)
    is_similar = agreement > SIMILAR
    is_similar[~is_similar.any(axis=1)] = True
    weights = known.weights[query.neighbours] * is_similar
    return local_mean(known.correct, query.neighbours, weights, known.own)


def a_priori(known: Known, query: Query) -> np.ndarray:
    """Return the mean vote for the true class of the neighbours, weighted by 1 / distance (a priori)."""
    return local_mean(known.support, query.neighbours, weights_by_distance(known, query), known.own)


def a_posteriori(known: Known, query: Query) -> np.ndarray:
    """Return the mean vote over the neighbours of the class that the member predicts (a posteriori)."""
    weights = weights_by_distance(known, query)
    return among_class(known.support[query.neighbours], weights, known, query)


def unbroken_run(known: Known, query: Query) -> np.ndarray:
    """Return the number of nearest neighbours with correct decisions before the first error (KNORA-E)."""
    is_unbroken = np.ones(query.labels.shape, dtype=bool)
    run = np.zeros(query.labels.shape)
    for neighbour in query.neighbours.T:
        is_right = known.correct[neighbour]
        # A row that a member has not voted on neither ends its run nor makes it longer.
        is_unbroken &= is_right if known.own is None else is_right | ~known.own[neighbour]
        run += is_unbroken & is_right
    return run


def right_weight(known: Known, rows: np.ndarray) -> np.ndarray:
    """Return the weight of the rows on which a member is correct, scaled to all rows (KNORA-U and KNOP)."""
    weights = known.weights[rows]
    right = local_sum(known.correct, rows, weights)
    if known.own is None:
        return right
    return divided(right * weights.sum(axis=1, keepdims=True), local_sum(known.own, rows, weights))


def potential(known: Known, query: Query) -> np.ndarray:
    """Return the mean source of competence with the weights exp(-distance^2) (DES-RRC and DES-KL)."""
    squares = np.square(query.distances)
    # The weight of the nearest is scaled to 1, because all weights may underflow. This changes no mean.
    weights = np.exp(squares.min(axis=1, keepdims=True) - squares) * known.weights[query.neighbours]
    if not query.everywhere:
        return local_mean(known.source, query.neighbours, weights, known.own)
    total: np.ndarray = weights @ known.source
    if known.own is not None:
        return divided(total, weights @ known.own)
    total /= weights.sum(axis=1, keepdims=True)
    return total


def best(competence: np.ndarray, known: Known, query: Query) -> np.ndarray:
    """Select the most competent member, or the first of several."""
    weights = np.zeros_like(competence)
    weights[np.arange(len(weights)), competence.argmax(axis=1)] = 1.0
    return weights


def equivalent(competence: np.ndarray, known: Known, query: Query) -> np.ndarray:
    """Select the most competent member and all members within 0.1 of it.

    The papers draw one of them at random. Here all of them decide.
    """
    return (competence.max(axis=1, keepdims=True) - competence < EQUIVALENT).astype(np.float64)


def longest(competence: np.ndarray, known: Known, query: Query) -> np.ndarray:
    """Select all members of the highest competence, if it is positive."""
    highest = competence.max(axis=1, keepdims=True)
    return ((competence == highest) & (highest > 0)).astype(np.float64)


def in_proportion(competence: np.ndarray, known: Known, query: Query) -> np.ndarray:
    """Weigh every member by its competence."""
    return competence.copy()


def better_than_chance(competence: np.ndarray, known: Known, query: Query) -> np.ndarray:
    """Select members with a competence above 1 / n_classes."""
    return (competence > 1 / known.n_outputs).astype(np.float64)


def above(least: float) -> Selection:
    """Make a function that selects members with a competence above a number."""
    return lambda competence, known, query: (competence > least).astype(np.float64)


def accurate_then_diverse(competence: np.ndarray, known: Known, query: Query) -> np.ndarray:
    """Select members of the more accurate half that are rarely wrong together with others (DES-kNN)."""
    n_members = competence.shape[1]
    n_accurate = max(1, int(MOST_ACCURATE * n_members))
    n_diverse = min(n_accurate, int(np.ceil(MOST_DIVERSE * n_members)))
    common_errors = in_common(known.wrong, known, query)
    if known.own is not None:
        # A member without rows in common with other members comes last.
        common_errors = divided(common_errors, in_common(known.own, known, query), without=1.0)
    accurate = np.argsort(-competence, axis=1, kind="stable")[:, :n_accurate]
    order = np.argsort(np.take_along_axis(common_errors, accurate, axis=1), axis=1, kind="stable")
    weights = np.zeros_like(competence)
    np.put_along_axis(weights, np.take_along_axis(accurate, order[:, :n_diverse], axis=1), 1.0, axis=1)
    return weights


def in_common(facts: np.ndarray, known: Known, query: Query) -> np.ndarray:
    """Sum the weights of the neighbours on which a fact holds for two members, over all other members."""
    true = facts[query.neighbours]
    others = true.sum(axis=2, keepdims=True) - 1
    shared: np.ndarray = np.matmul(known.weights[query.neighbours][:, None, :], (true * others).astype(float))
    return shared[:, 0]


def lowest_error(errors: np.ndarray, constant: np.ndarray) -> np.ndarray:
    """Select the first member of the lowest local error, or no member if none has voted."""
    weights = np.zeros_like(errors)
    weights[np.arange(len(weights)), errors.argmin(axis=1)] = np.isfinite(errors.min(axis=1))
    return weights


def nearly_lowest_error(errors: np.ndarray, constant: np.ndarray) -> np.ndarray:
    """Select the members whose local error is at most 10 % above the lowest."""
    return (errors <= (1 + EQUIVALENT) * errors.min(axis=1, keepdims=True)).astype(np.float64)


def by_inverse_error(errors: np.ndarray, constant: np.ndarray) -> np.ndarray:
    """Weigh every member by the inverse of its local error (dynamic weighting, Rooney et al. 2004)."""
    lowest = errors.min(axis=1, keepdims=True)
    return np.divide(lowest, errors, out=np.ones_like(errors), where=errors > lowest)


def better_than_constant(errors: np.ndarray, constant: np.ndarray) -> np.ndarray:
    """Select the members whose local error is below the error of the mean of y."""
    return (errors < constant).astype(np.float64)


def select_by_errors(method: Method, known: Known, query: Query) -> tuple[np.ndarray, np.ndarray]:
    """Return the weights of the members in regression and their competences: minus local squared errors."""
    rows = query.neighbours if method.looks_at_X else query.alike
    weights = weights_by_distance(known, query) if method.by_distance else known.weights[rows]
    errors = local_mean(known.support, rows, weights, known.own, without=np.inf)
    from_mean = np.square(known.y - np.average(known.y, weights=known.weights))[:, None]
    # The error of the constant is computed on the same rows.
    constant = local_mean(from_mean if known.own is None else from_mean * known.own, rows, weights, known.own)
    assert method.regression is not None
    return method.regression(errors, constant), -errors


def fit_meta(
    known: Known, neighbours: np.ndarray, alike: np.ndarray, n_block: int, has_voted: np.ndarray | None = None
) -> tuple[np.ndarray, float]:
    """Fit META-DES on the known rows, with other known rows as the neighbours of each.

    Parameters
    ----------
    known : Known
    neighbours, alike : ndarray of shape (n_rows, n_neighbours)
        The neighbours of each known row, and the rows with similar votes, without the row itself.
    n_block : int
        The number of rows to process at a time.
    has_voted : ndarray of bool of shape (n_rows, n_members), default=None
        Whether a member has voted on a row. Other votes are not used for the fit. None uses all.

    Returns
    -------
    coefficients : ndarray of shape (n_features,)
        The log-odds that a member is correct are linear in the features, because the model is naive Bayes.
    intercept : float
    """
    from sklearn.naive_bayes import MultinomialNB

    classifier = MultinomialNB()
    n_rows, n_members = known.labels.shape
    for start in range(0, n_rows, n_block):
        rows = slice(start, start + n_block)
        query = Query(
            known.labels[rows], known.confidence[rows], neighbours[rows], np.empty((0, 0)), alike[rows]
        )
        own = slice(None) if has_voted is None else has_voted[rows].ravel()
        weights = np.repeat(known.weights[rows], n_members)[own]
        if len(weights) == 0:
            continue
        is_right = known.correct[rows].ravel()[own]
        classifier.partial_fit(meta_features(known, query)[own], is_right, [False, True], weights)
    coefficients = np.diff(classifier.feature_log_prob_, axis=0)[0]
    # The intercept would be infinite if the members are always correct, or never.
    intercept = np.diff(classifier.class_log_prior_.clip(-SURE, None))[0]
    return coefficients, float(intercept)


def meta_competence(known: Known, query: Query, coefficients: np.ndarray, intercept: float) -> np.ndarray:
    """Return the probability that each member is correct on each row (META-DES)."""
    n_near, n_alike = query.neighbours.shape[1], query.alike.shape[1]
    right, support, accuracy, alike, confidence = np.split(
        coefficients, np.cumsum([n_near, n_near, 1, n_alike])
    )
    log_odds = sum_by_place(known.correct, query.neighbours, 10 * right)
    log_odds += sum_by_place(known.tenths, query.neighbours, support)
    log_odds += sum_by_place(known.correct, query.alike, 10 * alike)
    log_odds += accuracy * in_tenths(share_right(known, query))
    log_odds += confidence * in_tenths(query.confidence)
    return logistic(log_odds + intercept)


def meta_features(known: Known, query: Query) -> np.ndarray:
    """Return the features in tenths, of shape (n_rows * n_members, n_features)."""
    features = (
        10 * known.correct[query.neighbours].transpose(0, 2, 1).astype(np.uint8),
        known.tenths[query.neighbours].transpose(0, 2, 1),
        in_tenths(share_right(known, query))[:, :, None],
        10 * known.correct[query.alike].transpose(0, 2, 1).astype(np.uint8),
        in_tenths(query.confidence)[:, :, None],
    )
    together = np.concatenate(features, axis=2)
    return together.reshape(-1, together.shape[2])


def share_right(known: Known, query: Query) -> np.ndarray:
    """Return the unweighted share of neighbours on which each member is correct."""
    n_near = query.neighbours.shape[1]
    return sum_by_place(known.correct, query.neighbours, np.ones(n_near)) / n_near


def sum_by_place(facts: np.ndarray, neighbours: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the sums of facts over neighbours, with one weight for each rank of distance."""
    return local_sum(facts, neighbours, np.tile(weights, (len(neighbours), 1)))


METHODS: Mapping[str, Method] = {
    "ola": Method(local_accuracy, best, regression=lowest_error),
    "lca": Method(local_class_accuracy, best),
    "mcb": Method(behaviour, equivalent),
    "a_priori": Method(a_priori, equivalent, regression=nearly_lowest_error, by_distance=True),
    "a_posteriori": Method(a_posteriori, equivalent),
    "knora_e": Method(unbroken_run, longest),
    "knora_u": Method(
        lambda known, query: right_weight(known, query.neighbours),
        in_proportion,
        regression=by_inverse_error,
    ),
    "des_p": Method(local_accuracy, better_than_chance, regression=better_than_constant),
    "des_rrc": Method(potential, better_than_chance, source="randomised_reference"),
    "des_kl": Method(potential, above(0), source="divergence_from_chance"),
    "knop": Method(
        lambda known, query: right_weight(known, query.alike),
        in_proportion,
        regression=by_inverse_error,
        looks_at_X=False,
        looks_at_votes=True,
    ),
    "des_knn": Method(local_accuracy, accurate_then_diverse),
    "meta_des": Method(None, above(0.5), looks_at_votes=True),
}
REGRESSION_METHODS = tuple(name for name, method in METHODS.items() if method.regression is not None)
