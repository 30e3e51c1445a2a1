"""Mixture densities and Bayesian model averaging against scikit-learn and the formulas."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm
from sklearn.datasets import load_iris
from sklearn.mixture import GaussianMixture

from committee.evaluating import combine_densities

ROWS = load_iris().data


def test_responsibilities_equal_those_of_scikit_learns_mixture():
    mixture = GaussianMixture(3, random_state=0).fit(ROWS)
    parts = zip(mixture.means_, mixture.covariances_, strict=True)
    logs = np.array([multivariate_normal(*part).logpdf(ROWS) for part in parts])
    found = combine_densities(logs, mixture.weights_)
    np.testing.assert_allclose(found.log_densities, mixture.score_samples(ROWS))
    np.testing.assert_allclose(found.responsibilities.T, mixture.predict_proba(ROWS), atol=1e-12)
    assert found.log_likelihood == pytest.approx(mixture.score(ROWS) * len(ROWS))


def test_the_posterior_of_averaging_follows_the_formula_of_bayes():
    rows, prior = np.array([0.2, 0.4, 1.1]), np.array([0.3, 0.7])
    models = norm(0, 1), norm(1, 2)
    found = combine_densities([model.logpdf(rows) for model in models], prior)
    likelihoods = np.array([model.pdf(rows).prod() for model in models])
    np.testing.assert_allclose(found.posterior, prior * likelihoods / (prior @ likelihoods))
    assert found.average_log_likelihood == pytest.approx(np.log(prior @ likelihoods))


def test_averaging_narrows_to_one_model_and_the_mixture_does_not():
    rng = np.random.default_rng(0)
    rows = np.where(rng.random(2000) < 0.4, rng.normal(-2, 1, 2000), rng.normal(2, 1, 2000))
    logs = np.array([norm(-2, 1).logpdf(rows), norm(2, 1).logpdf(rows)])
    shares = [combine_densities(logs[:, :n]).posterior.max() for n in (1, 2000)]
    found = combine_densities(logs)
    assert shares[1] > 1 - 1e-9 and found.posterior.argmax() == 1
    assert 0.35 < found.responsibilities[0].mean() < 0.45


def test_one_row_has_the_same_density_in_both_and_a_model_of_weight_0_none():
    logs = [[-1.0], [-2.0], [-0.5]]
    found = combine_densities(logs, [1, 3, 0])
    assert found.log_likelihood == pytest.approx(found.average_log_likelihood)
    np.testing.assert_allclose(found.posterior, found.responsibilities[:, 0])
    assert found.posterior[2] == 0


@pytest.mark.parametrize("wrong", [[1.0], [[np.nan]], [[np.inf]], np.empty((2, 0))])
def test_wrong_densities_are_named(wrong):
    with pytest.raises(ValueError, match="log_densities must have the shape"):
        combine_densities(wrong)
    with pytest.raises(ValueError, match="density 0 under every model"):
        combine_densities([[-np.inf], [-np.inf]])
