"""Reference implementation of AdaBoost: the algorithms of the lecture notes, written with loops."""

import math

import numpy as np


def fit_member(make, X, y, weights):
    return make().fit(X, y, sample_weight=weights * len(y))


def beta_weighting(weights, wrong, error):
    """Multiply right rows by beta, with the vote log(1 / beta), as Freund and Schapire do."""
    beta = error / (1 - error)
    weights = np.where(wrong, weights, weights * beta)
    return weights / weights.sum(), math.log(1 / beta)


def exp_alpha_weighting(weights, wrong, error):
    """Multiply wrong rows by exp(alpha), as Bishop and as Hastie, Tibshirani and Friedman do."""
    alpha = math.log((1 - error) / error)
    weights = np.where(wrong, weights * math.exp(alpha), weights)
    return weights / weights.sum(), alpha


def half_log_weighting(weights, wrong, error):
    """Multiply wrong rows by exp(alpha) and right rows by exp(-alpha), with half the logarithm as alpha."""
    alpha = 0.5 * math.log((1 - error) / error)
    weights = weights * np.where(wrong, math.exp(alpha), math.exp(-alpha))
    return weights / weights.sum(), alpha


def m1(make, X, y, n_rounds, weighting=beta_weighting):
    """Run AdaBoost.M1 on labels 0, 1, ...; return members, votes, errors and distributions."""
    weights = np.full(len(y), 1 / len(y))
    members, votes, errors, seen = [], [], [], []
    for _ in range(n_rounds):
        member = fit_member(make, X, y, weights)
        wrong = member.predict(X) != y
        error = weights[wrong].sum()
        if error > 0.5 or error == 0:
            break
        seen.append(weights)
        weights, vote = weighting(weights, wrong, error)
        members.append(member)
        votes.append(vote)
        errors.append(error)
    return members, np.array(votes), np.array(errors), np.array(seen)


def decide_by_labels(members, votes, X, n_classes):
    """Predict the class with the largest sum of the votes of members that predict it."""
    support = np.zeros((len(X), n_classes))
    for member, vote in zip(members, votes, strict=True):
        support[np.arange(len(X)), member.predict(X)] += vote
    return support.argmax(axis=1)


def m2(make, X, y, n_rounds):
    """Run AdaBoost.M2; return members, votes, pseudo-losses and distributions over (row, wrong label)."""
    n_rows, n_classes = len(y), len(np.unique(y))
    pairs = [(i, label) for i in range(n_rows) for label in range(n_classes) if label != y[i]]
    distribution = {pair: 1 / len(pairs) for pair in pairs}
    members, votes, losses, seen = [], [], [], []
    for _ in range(n_rounds):
        weights = np.array(
            [
                sum(distribution[i, label] for label in range(n_classes) if label != y[i])
                for i in range(n_rows)
            ]
        )
        member = fit_member(make, X, y, weights)
        h = member.predict_proba(X)
        loss = 0.5 * sum(distribution[i, label] * (1 - h[i, y[i]] + h[i, label]) for i, label in pairs)
        if loss > 0.5 or loss == 0:
            break
        beta = loss / (1 - loss)
        seen.append(distribution)
        distribution = {
            (i, label): distribution[i, label] * beta ** (0.5 * (1 + h[i, y[i]] - h[i, label]))
            for i, label in pairs
        }
        total = sum(distribution.values())
        distribution = {pair: weight / total for pair, weight in distribution.items()}
        members.append(member)
        votes.append(math.log(1 / beta))
        losses.append(loss)
    return members, np.array(votes), np.array(losses), seen


def decide_by_plausibilities(members, votes, X):
    """Predict the class with the largest sum of log(1 / beta) h(x, y)."""
    return sum(vote * member.predict_proba(X) for member, vote in zip(members, votes, strict=True)).argmax(
        axis=1
    )


def r2(make, X, y, n_rounds, loss):
    """Run AdaBoost.R2 with weights instead of resampling; return members, votes and mean losses."""
    weights = np.full(len(y), 1 / len(y))
    members, votes, losses = [], [], []
    for _ in range(n_rounds):
        member = fit_member(make, X, y, weights)
        shares = np.abs(member.predict(X) - y)
        shares = shares / shares.max()
        by_row = {"linear": shares, "square": shares**2, "exponential": 1 - np.exp(-shares)}[loss]
        mean = (weights * by_row).sum()
        if mean >= 0.5:
            break
        beta = mean / (1 - mean)
        weights = weights * beta ** (1 - by_row)
        weights = weights / weights.sum()
        members.append(member)
        votes.append(math.log(1 / beta))
        losses.append(mean)
    return members, np.array(votes), np.array(losses)


def weighted_median(members, votes, X):
    """Return the smallest prediction at which the cumulated votes reach half of all votes."""
    medians = []
    for row in X:
        ordered = sorted(
            (member.predict([row])[0], vote) for member, vote in zip(members, votes, strict=True)
        )
        reached = 0.0
        for number, vote in ordered:
            reached += vote
            if reached >= 0.5 * votes.sum():
                medians.append(number)
                break
    return np.array(medians)
