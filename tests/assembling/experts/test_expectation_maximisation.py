"""EM for mixtures of experts: every step follows the formulas, and the likelihood never falls."""

import numpy as np
import pytest
from mixture_problems import both, problem, quarters, two_lines
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression, Ridge

from committee import MixtureOfExpertsClassifier, MixtureOfExpertsRegressor
from committee.assembling.experts import expectation_maximisation
from committee.assembling.experts.expectation_maximisation import (
    EMSettings,
    Mixture,
    Rows,
    expect,
    joint_logs,
    maximise,
)
from committee.assembling.experts.softmax import fit_softmax
from committee.saving.plain_models.mixture_models import Branches, SoftmaxModel
from committee.task import Classification, Regression


@both
@pytest.mark.parametrize("assignment", ["soft", "hard"])
@pytest.mark.parametrize("branching", [None, 2])
def test_the_log_likelihood_never_falls(mixture_type, assignment, branching, monkeypatch):
    # EM undoes a step that lowers the likelihood, which would hide an error. So count the steps.
    steps = []
    monkeypatch.setattr(
        expectation_maximisation, "maximise", lambda *all_of: steps.append(0) or maximise(*all_of)
    )
    X, y = problem(mixture_type)
    weights = np.random.default_rng(5).integers(0, 4, len(y))
    fitted = mixture_type(
        assignment=assignment, branching=branching, n_init=1, tol=0.0, max_iter=15, random_state=1
    ).fit(X, y, sample_weight=weights)
    gains = np.diff(fitted.log_likelihoods_)
    assert len(steps) == fitted.n_iter_ == len(gains) + 1 > 2
    assert (gains >= 0).all()
    assert fitted.converged_ == (gains[-1] == 0)


def small_rows(task):
    """Return twelve weighted rows of two columns."""
    rng = np.random.default_rng(2)
    matrix, weights = rng.normal(size=(12, 2)), rng.integers(1, 4, 12).astype(float)
    y = rng.integers(0, 3, 12) if isinstance(task, Classification) else rng.normal(size=12)
    return Rows(matrix, y, weights, task, 0.0, 1.0)


def plan_of(**more):
    usual = {"tree": Branches.of(2, None), "estimator": None, "gate_estimator": None, "is_hard": False}
    return EMSettings(name="", **usual | more, alpha=0.3, tol=0.0, max_iter=1, seed=0)


def slow_softmax(matrix, targets, alpha):
    """Fit a softmax regression on soft targets with scipy and numerical gradients."""
    design = np.column_stack([matrix, np.ones(len(matrix))])
    penalties = np.array([alpha] * matrix.shape[1] + [alpha / 1000])[:, None]

    def loss(flat):
        coefficients = flat.reshape(design.shape[1], -1)
        logs = log_softmax(design @ coefficients, axis=1)
        return 0.5 * (penalties * coefficients**2).sum() - (targets * logs).sum()

    start = np.zeros(design.shape[1] * targets.shape[1])
    found = minimize(loss, start, method="BFGS", options={"gtol": 1e-6}).x.reshape(design.shape[1], -1)
    return softmax(design @ found, axis=1), 0.5 * (penalties * found**2).sum()


@pytest.mark.parametrize("task", [Classification(np.array([3, 5, 7])), Regression()])
def test_a_step_of_em_matches_plain_numpy(task):
    rows, plan = small_rows(task), plan_of()
    shares = np.random.default_rng(3).dirichlet([1, 1], 12)
    found = Mixture([None], [None, None], np.empty(0), False)
    for _ in range(30 if isinstance(task, Classification) else 1):
        # Twenty steps of the solver need not reach the maximum.
        gates, experts = maximise(rows, plan, shares, found, (0,))
        found = Mixture(gates, experts, np.empty(0), False)
    value, new_shares = expect(joint_logs(rows, plan, gates, experts), rows.weights, is_hard=False)

    matrix, y, weights = rows.matrix, rows.y, rows.weights
    of_gate, _ = slow_softmax(matrix, shares * weights[:, None], 0.3)
    densities = []
    for k in range(2):
        own = weights * shares[:, k]
        if isinstance(task, Classification):
            votes, _ = slow_softmax(matrix, np.eye(3)[y] * own[:, None], 0.3)
            densities.append(votes[np.arange(12), y])
        else:
            design = np.column_stack([matrix, np.ones(12)])
            squares = design.T @ (own[:, None] * design) + np.diag([0.3, 0.3, 0.0])
            line = design @ np.linalg.solve(squares, design.T @ (own * y))
            deviation = np.sqrt((own * (y - line) ** 2).sum() / own.sum())
            densities.append(norm.pdf(y, line, deviation))
    joint = of_gate * np.column_stack(densities)
    np.testing.assert_allclose(new_shares, joint / joint.sum(axis=1, keepdims=True), atol=2e-3)
    assert value == pytest.approx((weights * np.log(joint.sum(axis=1))).sum(), abs=2e-3)


def test_the_first_log_likelihood_is_that_of_one_regression_line():
    X, y = two_lines(n_rows=12)
    fitted = MixtureOfExpertsRegressor(n_experts=1, n_init=1, max_iter=1).fit(X, y)
    x = (X[:, 0] - X.mean()) / X.std()
    slope = (x * (y - y.mean())).sum() / ((x**2).sum() + 0.01)
    errors = y - y.mean() - slope * x
    np.testing.assert_allclose(fitted.predict(X), y.mean() + slope * x, rtol=1e-12)
    np.testing.assert_allclose(fitted.noise_deviations_, [np.sqrt((errors**2).mean())], rtol=1e-12)
    likelihood = norm.logpdf(errors, scale=fitted.noise_deviations_).sum() - 0.005 * (slope / y.std()) ** 2
    np.testing.assert_allclose(fitted.log_likelihoods_, [likelihood], rtol=1e-12)
    assert not fitted.converged_


def test_the_log_likelihood_follows_from_gate_and_votes():
    X, y = quarters()
    weights = np.random.default_rng(1).integers(0, 3, len(y))
    mixture = MixtureOfExpertsClassifier(alpha=0.2, branching=2, n_init=1, max_iter=9, random_state=0)
    fitted = mixture.fit(X, y, sample_weight=weights)
    right = fitted.votes(X)[:, np.arange(len(y)), (y == "same").astype(int)]
    likelihood = (weights * np.log((fitted.gate(X) * right.T).sum(axis=1))).sum()
    ours = [each.coefficients for each in fitted.gates_ + fitted.estimators_]
    penalty = sum(0.1 * ((each[:-1] ** 2).sum() + (each[-1] ** 2).sum() / 1000) for each in ours)
    assert fitted.log_likelihoods_[-1] == pytest.approx(likelihood - penalty, rel=1e-9)


def test_softmax_regression_matches_scikit_learn():
    rng = np.random.default_rng(0)
    X, y, weights = rng.normal(size=(80, 3)), rng.integers(0, 3, 80), rng.random(80)
    found = np.zeros((4, 3))
    for _ in range(5):
        found = fit_softmax(X, np.eye(3)[y] * weights[:, None], 1.0, found)
    theirs = LogisticRegression(tol=1e-10, max_iter=1000).fit(X, y, sample_weight=weights)
    ours = SoftmaxModel(np.arange(3), found).predict_proba(X)
    np.testing.assert_allclose(ours, theirs.predict_proba(X), atol=2e-3)


class WrongFromThirdFit(Ridge):
    """Ridge regression that predicts nonsense from the third fit on."""

    n_fits = 0

    def fit(self, X, y, sample_weight=None):
        WrongFromThirdFit.n_fits += 1
        return super().fit(X, y if WrongFromThirdFit.n_fits <= 2 else -100 * y, sample_weight)


def test_a_step_that_lowers_the_likelihood_is_undone(monkeypatch):
    monkeypatch.setattr(WrongFromThirdFit, "n_fits", 0)
    X, y = two_lines()
    usual = {"n_experts": 2, "n_init": 1, "random_state": 0}
    fitted = MixtureOfExpertsRegressor(WrongFromThirdFit(), **usual).fit(X, y)
    assert WrongFromThirdFit.n_fits == 4
    assert fitted.n_iter_ == 1 and fitted.converged_
    once = MixtureOfExpertsRegressor(Ridge(), max_iter=1, **usual).fit(X, y)
    np.testing.assert_array_equal(fitted.predict(X), once.predict(X))
