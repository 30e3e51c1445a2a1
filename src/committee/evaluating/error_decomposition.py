"""Decompose the error of a committee into the average error of its members and the ambiguity.

Each term is a weighted mean over rows, or is computed from such means. So a bootstrap sample only needs new
row weights: the losses of each row are computed once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from committee.combining.fixed_rules import majority, mean
from committee.evaluating.majority_vote import majority_vote_accuracy
from committee.evaluating.resampling.confidence_intervals import (
    Draws,
    Interval,
    bounds_of,
    check_interval,
    resampled,
)
from committee.evaluating.vote_scores import Given, read_votes
from committee.extensions import extension, picture
from committee.metrics.row_losses import SMALLEST, NoValueError, errors, learnt_log_losses, residuals
from committee.printing import brief
from committee.table.input_types import ArrayLike, RandomState
from committee.table.result_frame import Tabulated
from committee.votes.honest_votes import HonestVotes
from committee.votes.vote_arrays import shares_of, weighted_sum

# The rules with a decomposition of each loss. The first one is the default.
RULES: Mapping[str, tuple[str, ...]] = {
    "squared_error": ("mean",),
    "brier": ("mean",),
    "log_loss": ("geometric_mean", "mean"),
    "error": ("majority", "mean"),
}


@brief
@dataclass(frozen=True)
class Decomposition(Tabulated):
    """A decomposition of the error of a committee: e_com = e_av - ambiguity.

    Parameters
    ----------
    loss, rule : str
    n_members : int
    e_av : float
        The weighted average of the members' errors.
    e_com : float
        The error of the committee.
    ambiguity : float
        The reduction of the error by combining.
    bound : float
        The largest possible `e_com`, given `e_av`.
    limit : float or None
        The value of `e_com` if the members' errors were uncorrelated and, for squared errors, zero on
        average. With equal weights this is `e_av` / n_members; for "error", it is the error of the majority
        of independent members. None if it is not defined.
    correlation : float or None
        The correlation between the errors of two members, averaged over all pairs. None if it is not defined.
    good_diversity, bad_diversity : float or None
        For "error": the share of votes against a right decision, and the share of right votes against a wrong
        decision.
    """

    loss: str
    rule: str
    n_members: int
    e_av: float
    e_com: float
    ambiguity: float
    bound: float
    limit: float | None = None
    correlation: float | None = None
    good_diversity: float | None = None
    bad_diversity: float | None = None

    plot = extension(picture("error_decomposition"), extra="plot")


def decompose(
    votes: ArrayLike,
    y: ArrayLike,
    loss: str | None = None,
    *,
    rule: str | None = None,
    weights: ArrayLike | None = None,
    sample_weight: Given = None,
    classes: Given = None,
) -> Decomposition:
    """Decompose the error of a committee into the average error of its members and the ambiguity.

    The ambiguity is the reduction of the error by combining: e_com = e_av - ambiguity. Let w[i] be the
    weights of the members, which sum to one, f[i] their votes, and E the mean over rows. For each loss:

    - "squared_error" (numbers) and "brier" (probabilities), combined by the mean f: the ambiguity is
      E sum w[i] (f[i] - f)^2 (Krogh and Vedelsby). It is not negative, so e_com <= e_av. If the errors are
      uncorrelated and zero on average, e_com = e_av / n_members.
    - "log_loss", combined by the rescaled "geometric_mean" g: the ambiguity is E sum w[i] KL(g || f[i]). It
      does not depend on y (Wood et al. call g the centroid of the loss). Combined by the "mean" m, the
      ambiguity is E log(m[y]) - sum w[i] log(f[i, y]), which depends on y. Neither is negative, so
      e_com <= e_av.
    - "error", combined by "majority" or by the highest "mean": the ambiguity is good diversity minus bad
      diversity (Brown and Kuncheva). It may be negative. Good diversity is the share of votes against the
      decision, on rows where the decision is right. Bad diversity is the share of right votes, on rows where
      the decision is wrong; with two classes, these are all votes against the decision. If a majority is
      wrong, at least half of its votes are wrong, so e_com <= 2 e_av. For the mean, the only bound is 1.

    Parameters
    ----------
    votes : array-like of shape (n_members, n_rows, n_outputs) or (n_members, n_rows)
        Votes for classes, labels, or numbers.
    y : array-like of shape (n_rows,)
        The true values: class codes from 0 on, labels if the votes are labels, or numbers.
    loss : {"squared_error", "brier", "log_loss", "error"}, default=None
        None means "squared_error" for numbers and "error" for classes.
    rule : {"mean", "geometric_mean", "majority"}, default=None
        How votes are combined. None means the first rule that is listed above for the loss.
    weights : array-like of shape (n_members,), default=None
        Member weights. None gives every member the same weight.
    sample_weight : array-like of shape (n_rows,), default=None
        Row weights. None gives every row the weight 1.
    classes : array-like of shape (n_outputs,), default=None
        The labels of the outputs, such as `classes_` of an estimator. If given, y has labels.

    Returns
    -------
    Decomposition
        With `e_av`, `e_com`, `ambiguity`, `bound`, `limit`, `correlation`, `good_diversity`, `bad_diversity`.

    References
    ----------
    A. Krogh, J. Vedelsby, "Neural network ensembles, cross validation, and active learning". NIPS 1994.
    G. Brown, L. I. Kuncheva, "'Good' and 'bad' diversity in majority vote ensembles". Multiple Classifier
    Systems 2010.
    D. Wood et al., "A unified theory of diversity in ensemble learning". Journal of Machine Learning Research
    24, 2023.

    Examples
    --------
    >>> found = decompose([[1.0, 4.0], [3.0, 2.0]], [2.0, 2.5])
    >>> found.e_av, found.e_com, found.ambiguity, found.limit
    (1.125, 0.125, 1.0, 0.5625)
    >>> found = decompose([[0, 0], [0, 0], [1, 0]], [0, 1])
    >>> round(found.e_av, 3), found.e_com, round(found.good_diversity, 3), found.bad_diversity
    (0.667, 0.5, 0.167, 0.0)
    """
    parts = Parts.of(votes, y, loss, rule, weights, sample_weight=sample_weight, classes=classes)
    return Decomposition(parts.loss, parts.rule, len(parts.of_members), **parts.terms(parts.row_weights))


def decompose_intervals(
    votes: ArrayLike,
    y: ArrayLike,
    loss: str | None = None,
    *,
    rule: str | None = None,
    weights: ArrayLike | None = None,
    sample_weight: Given = None,
    classes: Given = None,
    kind: str = "percentile",
    level: float = 0.95,
    B: int = 1000,
    random_state: RandomState = None,
) -> dict[str, Interval]:
    """Compute a confidence interval for each term of a decomposition, by the bootstrap over rows.

    Parameters
    ----------
    votes, y, loss, rule, weights, sample_weight, classes : see `decompose`
    kind : {"percentile", "bca"}, default="percentile"
        Quantiles of the terms on resampled rows, or these quantiles corrected for bias and skewness (BCa).
    level : float in (0, 1), default=0.95
        The probability with which an interval should contain the true value.
    B : int, default=1000
        The number of bootstrap samples.
    random_state : int, RandomState or None, default=None

    Returns
    -------
    dict of str to Interval
        The interval of each numeric term of the decomposition. Its bounds are NaN if the term is undefined on
        most bootstrap samples, such as the correlation of very few errors.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> found = decompose_intervals(rng.normal(size=(5, 200)), np.zeros(200), random_state=0)
    >>> print(found["e_com"])
    0.2155 [0.1721, 0.2618]
    """
    parts = Parts.of(votes, y, loss, rule, weights, sample_weight=sample_weight, classes=classes)
    names = [name for name, value in parts.terms(parts.row_weights).items() if value is not None]

    def numbers(row_weights: np.ndarray) -> np.ndarray:
        terms = parts.terms(row_weights)
        return np.array([terms[name] for name in names], dtype=np.float64)

    check_interval(kind, level, B)
    value, drawn, left_out = resampled(numbers, Draws.of(parts.row_weights, random_state), kind, B)
    found = {}
    for at, name in enumerate(names):
        try:
            found[name] = bounds_of(value[at], drawn[:, at], left_out[:, at], kind=kind, level=level)
        except NoValueError:
            found[name] = Interval(float(value[at]), np.nan, np.nan, level, kind)
    return found


@dataclass(frozen=True, eq=False)
class Parts:
    """The losses and ambiguities of single rows, from which a decomposition is computed.

    Parameters
    ----------
    loss, rule : str
    shares : ndarray of shape (n_members,)
        The weights of the members.
    row_weights : ndarray of shape (n_rows,)
    of_members : ndarray of shape (n_members, n_rows)
        The losses of the members.
    of_committee : ndarray of shape (n_rows,)
        The losses of the committee.
    ambiguities : ndarray of shape (n_rows,)
    deviations : ndarray of shape (n_members, n_rows, n_deviations)
        The errors of the members, for their correlation.
    """

    loss: str
    rule: str
    shares: np.ndarray
    row_weights: np.ndarray
    of_members: np.ndarray
    of_committee: np.ndarray
    ambiguities: np.ndarray
    deviations: np.ndarray

    @classmethod
    def of(
        cls,
        votes: ArrayLike,
        y: ArrayLike,
        loss: str | None,
        rule: str | None,
        weights: ArrayLike | None,
        **labelled: Any,
    ) -> Parts:
        """Read votes, and compute the losses of members and committee for each row."""
        if loss is not None and loss not in RULES:
            raise ValueError(
                'loss must be "error", "log_loss" or "brier" for classes, or "squared_error" for numbers. '
                f"Got {loss!r}."
            )
        task = "regression" if loss == "squared_error" else "classification"
        honest = read_votes(votes, y, task=None if loss is None else task, **labelled)
        loss, rule = check_loss(loss, rule, honest)
        shares = shares_of(weights, honest.n_members)
        measure = {"log_loss": log_parts, "error": error_parts}.get(loss, square_parts)
        return cls(loss, rule, shares, honest.weights, *measure(honest, rule, shares))

    def terms(self, row_weights: np.ndarray) -> dict[str, Any]:
        """Compute the terms of the decomposition for given row weights."""
        row_weights = row_weights / row_weights.sum()
        each = self.of_members @ row_weights
        e_av = float(self.shares @ each)
        terms = {
            "e_av": e_av,
            "e_com": float(self.of_committee @ row_weights),
            "ambiguity": float(self.ambiguities @ row_weights),
            "bound": e_av,
            "correlation": mean_correlation(self.deviations, row_weights),
        }
        if self.loss in ("squared_error", "brier"):
            terms["limit"] = float(np.square(self.shares) @ each)
        if self.loss == "error":
            terms |= self._terms_of_error(each, e_av, row_weights)
        return terms

    def _terms_of_error(self, each: np.ndarray, e_av: float, row_weights: np.ndarray) -> dict[str, Any]:
        has_equal_weights = np.allclose(self.shares, self.shares[0])
        terms = {
            "bound": min(1.0, 2 * e_av) if self.rule == "majority" else 1.0,
            "good_diversity": float(np.maximum(self.ambiguities, 0) @ row_weights),
            "bad_diversity": float(np.maximum(-self.ambiguities, 0) @ row_weights),
        }
        if self.rule == "majority" and has_equal_weights:
            # The vote is wrong if most members are: the formula for accuracies, applied to error rates.
            terms["limit"] = majority_vote_accuracy(len(each), np.clip(each, 0, 1))
        return terms


def square_parts(honest: HonestVotes, rule: str, shares: np.ndarray) -> tuple[np.ndarray, ...]:
    """Compute the parts for squared errors of numbers or probabilities."""
    from_answer = residuals(honest.votes.astype(np.float64), honest.y)
    together = weighted_sum(from_answer, shares)
    spread = np.square(from_answer - together).sum(axis=2)
    of_members = np.square(from_answer).sum(axis=2)
    return of_members, np.square(together).sum(axis=1), shares @ spread, from_answer


def log_parts(honest: HonestVotes, rule: str, shares: np.ndarray) -> tuple[np.ndarray, ...]:
    """Compute the parts for log loss. Probabilities are clipped at 1e-15."""
    votes = np.maximum(honest.votes.astype(np.float64), SMALLEST)
    of_members = learnt_log_losses(votes, honest.y)
    if rule == "mean":
        of_committee = learnt_log_losses(weighted_sum(votes, shares)[None], honest.y)[0]
        ambiguities = shares @ of_members - of_committee
    else:
        # The geometric mean is divided by its sum. The ambiguity is minus the logarithm of this sum.
        ambiguities = -np.log(np.exp(weighted_sum(np.log(votes), shares)).sum(axis=1))
        of_committee = shares @ of_members - ambiguities
    return of_members, of_committee, ambiguities, of_members[:, :, None]


def error_parts(honest: HonestVotes, rule: str, shares: np.ndarray) -> tuple[np.ndarray, ...]:
    """Compute the parts for errors of decisions.

    The ambiguity of a row is its good diversity if the decision is right, else minus its bad diversity.
    """
    of_members = errors(honest.votes, honest.y)
    decision = (majority if rule == "majority" else mean)(honest.votes, shares)
    of_committee = errors(decision[None], honest.y)[0]
    wrong = shares @ of_members
    ambiguities = np.where(of_committee == 0, wrong, wrong - 1)
    return of_members, of_committee, ambiguities, of_members[:, :, None]


def mean_correlation(deviations: np.ndarray, row_weights: np.ndarray) -> float | None:
    """Average the correlation of two members' errors over all pairs of members whose errors vary.

    Let z[i] be the standardised errors of member i. The mean of (sum z[i])^2 is the sum of all correlations,
    including those of members with themselves, so a matrix of pairs is not needed.
    """
    of_each = deviations.reshape(len(deviations), -1)
    weights = np.repeat(row_weights, deviations.shape[2]) / deviations.shape[2]
    centres = of_each @ weights
    variances = np.square(of_each) @ weights - np.square(centres)
    varying = variances > 1e-12 * np.maximum(np.square(centres), 1e-300)
    n_varying = int(varying.sum())
    if n_varying < 2:
        return None
    scales = 1 / np.sqrt(variances[varying])
    total = scales @ of_each[varying] - scales @ centres[varying]
    everything = float(np.square(total) @ weights)
    return (everything - n_varying) / (n_varying * (n_varying - 1))


def check_loss(loss: str | None, rule: str | None, honest: HonestVotes) -> tuple[str, str]:
    """Check the loss and the rule, and replace None by the defaults.

    Examples
    --------
    >>> decompose([[[1.0], [2.5]]], [1.0, 2.0], "brier")
    Traceback (most recent call last):
    ValueError: loss must be "squared_error" for numbers. Got 'brier'.
    """
    if loss is None:
        loss = "error" if honest.are_classes else "squared_error"
    if honest.are_classes and loss not in ("error", "log_loss", "brier"):
        raise ValueError(f'loss must be "error", "log_loss" or "brier" for classes. Got {loss!r}.')
    if not honest.are_classes and loss != "squared_error":
        raise ValueError(f'loss must be "squared_error" for numbers. Got {loss!r}.')
    allowed = RULES[loss]
    if rule is not None and rule not in allowed:
        raise ValueError(f"rule must be {' or '.join(map(repr, allowed))} for {loss}. Got {rule!r}.")
    return loss, rule or allowed[0]
