"""Plain models predict as those of scikit-learn, from memory and from files."""

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.compose import TransformedTargetRegressor
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import (
    ElasticNet,
    LogisticRegression,
    LogisticRegressionCV,
    RidgeCV,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR

import committee
from committee.saving import DamagedFile
from committee.saving.plain_models.plain_model import as_plain_model, plain_model
from committee.saving.saved_estimators import Described

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 4)) * [1.0, 3.0, 0.2, 1.0] + [0.0, 50.0, 0.0, -2.0]
OTHERS = RNG.normal(size=(60, 4)) * [1.5, 4.0, 0.3, 1.5] + [0.0, 50.0, 0.0, -2.0]
SIGNAL = X[:, 0] + 0.3 * X[:, 1] + RNG.normal(size=120)
CLASSIFIERS = [
    LogisticRegression(max_iter=500),
    LogisticRegressionCV(
        cv=2, Cs=2, l1_ratios=(0,), use_legacy_attributes=False, scoring="neg_log_loss", max_iter=500
    ),
    LinearSVC(),
    LinearDiscriminantAnalysis(),
    LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.1),
    GaussianNB(),
    KNeighborsClassifier(),
    KNeighborsClassifier(15, weights="distance", algorithm="brute"),
    DummyClassifier(),
    DummyClassifier(strategy="most_frequent"),
    *(SVC(kernel=kernel, C=10.0, coef0=0.5) for kernel in ("linear", "poly", "rbf", "sigmoid")),
    SVC(decision_function_shape="ovo"),
    SVC(break_ties=True, gamma=0.3),
    *(
        MLPClassifier(hidden_layer_sizes=(8, 4), activation=each, max_iter=20)
        for each in ("relu", "tanh", "logistic", "identity")
    ),
]
REGRESSORS = [
    RidgeCV(),
    ElasticNet(),
    LinearSVR(),
    KNeighborsRegressor(),
    KNeighborsRegressor(15, weights="distance"),
    DummyRegressor(),
    *(SVR(kernel=kernel, C=10.0) for kernel in ("linear", "poly", "rbf", "sigmoid")),
    MLPRegressor(hidden_layer_sizes=(8, 4), max_iter=20),
    TransformedTargetRegressor(SVR(), transformer=StandardScaler()),
    TransformedTargetRegressor(RidgeCV(), transformer=StandardScaler(with_mean=False)),
]
WITHOUT_COPY = [
    SVC(kernel=lambda first, second: first @ second.T),
    SVC(kernel="precomputed"),
    DummyClassifier(strategy="uniform"),
    KNeighborsClassifier(metric="manhattan"),
    KNeighborsClassifier(weights=lambda distances: distances),
    TransformedTargetRegressor(RidgeCV(), transformer=MinMaxScaler()),
    OneVsRestClassifier(GaussianNB()),
]


def answers(model, X):
    """Return all answers of a model: those of each of its methods."""
    names = [name for name in ("predict_proba", "decision_function") if hasattr(model, name)]
    return {name: getattr(model, name)(X) for name in names}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=str)
def test_a_classifier_predicts_as_that_of_scikit_learn(estimator, n_classes, tmp_path):
    y = np.array(["a", "b", "c"])[np.digitize(SIGNAL, [15.0, 16.5][: n_classes - 1])]
    fitted = estimator.fit(X, y)
    committee.saving.save(fitted, tmp_path / "model")
    plain, predictor = as_plain_model(fitted), committee.predictor(tmp_path / "model")
    assert type(plain) is not type(fitted)
    found = answers(plain, OTHERS)
    assert found.keys() <= answers(fitted, OTHERS).keys()
    for name, answer in found.items():
        np.testing.assert_allclose(answer, answers(fitted, OTHERS)[name], rtol=0, atol=1e-9)
    for each in (plain, predictor):
        np.testing.assert_array_equal(each.predict(OTHERS), fitted.predict(OTHERS))
        assert hasattr(each, "predict_proba") == hasattr(fitted, "predict_proba")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("estimator", REGRESSORS, ids=str)
def test_a_regressor_predicts_as_that_of_scikit_learn(estimator, tmp_path):
    fitted = estimator.fit(X, SIGNAL)
    committee.saving.save(fitted, tmp_path / "model")
    for each in (as_plain_model(fitted), committee.predictor(tmp_path / "model")):
        assert type(each) is not type(fitted)
        np.testing.assert_allclose(each.predict(OTHERS), fitted.predict(OTHERS), rtol=1e-9)


@pytest.mark.parametrize("estimator", WITHOUT_COPY, ids=lambda each: type(each).__name__)
def test_other_models_are_not_replaced(estimator):
    own = X @ X.T if getattr(estimator, "kernel", None) == "precomputed" else X
    fitted = estimator.fit(own, SIGNAL > 15 if is_classifier(estimator) else SIGNAL)
    assert as_plain_model(fitted) is fitted


def test_naive_bayes_predicts_the_shares_of_the_classes_on_constant_columns(tmp_path):
    model = GaussianNB().fit(np.ones((4, 2)), ["a", "b", "b", "b"])
    committee.saving.save(model, tmp_path / "model")
    loaded = committee.load(tmp_path / "model")
    for each in (as_plain_model(model), as_plain_model(loaded), committee.predictor(tmp_path / "model")):
        np.testing.assert_allclose(each.predict_proba(np.ones((1, 2))), [[0.25, 0.75]])


def test_a_class_without_training_rows_gets_no_probability():
    model = GaussianNB(priors=[1.0, 0.0]).fit(X, SIGNAL > 15)
    np.testing.assert_array_equal(as_plain_model(model).predict_proba(OTHERS)[:, 1], 0.0)


def test_a_model_alone_refuses_missing_numbers(tmp_path):
    committee.saving.save(RidgeCV().fit(X, SIGNAL), tmp_path / "model")
    with pytest.raises(ValueError, match="X contains NaN or infinity"):
        committee.predictor(tmp_path / "model").predict(np.full((1, 4), np.nan))


def test_attributes_that_do_not_fit_each_other_are_refused():
    fitted = vars(SVC().fit(X, SIGNAL > 15)) | {"support_vectors_": np.zeros((3, 4))}
    with pytest.raises(DamagedFile, match="dual_coef_ has shape"):
        plain_model(Described("sklearn.svm.SVC", {}, fitted))
