"""A naive truth for AdaBoost: the algorithms of the lecture notes as they are printed, in loops."""

import math

import numpy as np


def fit_member(make, X, y, weights):
    return make().fit(X, y, sample_weight=weights * len(y))


def beta_weighting(weights, wrong, error):
    """Freund and Schapire: what is right is multiplied by beta. The vote is log(1 / beta)."""
    beta = error / (1 - error)
    weights = np.where(wrong, weights, weights * beta)
    return weights / weights.sum(), math.log(1 / beta)


def exp_alpha_weighting(weights, wrong, error):
    """Bishop, and Hastie, Tibshirani and Friedman: what is wrong is multiplied by exp(alpha)."""
    alpha = math.log((1 - error) / error)
    weights = np.where(wrong, weights * math.exp(alpha), weights)
    return weights / weights.sum(), alpha


def half_log_weighting(weights, wrong, error):
    """Half the logarithm, and both sides are multiplied."""
    alpha = 0.5 * math.log((1 - error) / error)
    weights = weights * np.where(wrong, math.exp(alpha), math.exp(-alpha))
    return weights / weights.sum(), alpha


def m1(make, X, y, n_rounds, weighting=beta_weighting):
    """AdaBoost.M1 on labels 0, 1, ...: members, votes, errors and the distributions that they saw."""
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
    """argmax over y of the sum of the votes of the members that say y."""
    support = np.zeros((len(X), n_classes))
    for member, vote in zip(members, votes, strict=True):
        support[np.arange(len(X)), member.predict(X)] += vote
    return support.argmax(axis=1)


def m2(make, X, y, n_rounds):
    """AdaBoost.M2 pair by pair: members, votes, pseudo-losses, distributions over (row, wrong label)."""
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
    """argmax over y of the sum of log(1 / beta) h(x, y)."""
    return sum(vote * member.predict_proba(X) for member, vote in zip(members, votes, strict=True)).argmax(
        axis=1
    )


def r2(make, X, y, n_rounds, loss):
    """AdaBoost.R2, by weights instead of drawn rows: members, votes, mean losses."""
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
    """The smallest prediction such that the votes up to it are half of all votes."""
    answers = []
    for row in X:
        said = sorted((member.predict([row])[0], vote) for member, vote in zip(members, votes, strict=True))
        reached = 0.0
        for number, vote in said:
            reached += vote
            if reached >= 0.5 * votes.sum():
                answers.append(number)
                break
    return np.array(answers)
