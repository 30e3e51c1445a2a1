"""Copies of boosters as scikit-learn's histogram gradient boosting give the same predictions."""

import numpy as np
import pandas as pd
import pytest
from every_estimator import mixed_frame
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris

import committee


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber", "poisson", "gamma", "tweedie"])
def test_a_copied_regressor_predicts_the_same(loss):
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    booster = committee.GradientBoostingRegressor(10, loss=loss, random_state=0).fit(X, y)
    copy = booster.to_sklearn()
    assert copy.n_iter_ == 10
    np.testing.assert_allclose(copy.predict(X), booster.predict(X), rtol=1e-13)
    np.testing.assert_array_equal(copy.train_score_, booster.train_score_)


@pytest.mark.parametrize("load", [load_breast_cancer, load_iris])
@pytest.mark.parametrize(
    "booster",
    [
        committee.GradientBoostingClassifier(5, random_state=0),
        committee.GradientBoostingClassifier(5, multi_strategy="multi_output_tree", random_state=0),
        committee.LogitBoostClassifier(5, random_state=0),
    ],
    ids=["trees", "multi_output", "logitboost"],
)
def test_a_copied_classifier_predicts_the_same(booster, load):
    X, y = load(return_X_y=True)
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    y = np.array(["a", "b", "c"])[y]
    copy = booster.fit(X, y).to_sklearn()
    np.testing.assert_allclose(copy.predict_proba(X), booster.predict_proba(X), rtol=1e-12)
    assert (copy.predict(X) == booster.predict(X)).all()


def test_the_exponential_loss_can_be_copied():
    X, y = load_breast_cancer(return_X_y=True)
    booster = committee.GradientBoostingClassifier(5, loss="exponential", random_state=0).fit(X, y)
    np.testing.assert_allclose(booster.to_sklearn().predict_proba(X), booster.predict_proba(X), rtol=1e-12)


@pytest.mark.parametrize("named", [True, False])
def test_categories_stay_categories(named):
    frame, y = mixed_frame(300)
    unseen = frame.assign(city=frame["city"].astype(object).mask(frame["count"] == 3, "Paris"))
    booster = committee.GradientBoostingRegressor(10, random_state=0)
    if not named:
        codes = pd.Categorical(frame["city"]).codes.astype(float)
        frame = np.column_stack([frame["number"], codes, frame["count"]])
        unseen = np.vstack([frame, [[0.5, 9.0, 1.0]]])
        booster.set_params(categorical_features=[1])
    booster.fit(frame, y)
    copy = booster.to_sklearn()
    for rows in (frame, unseen):
        np.testing.assert_allclose(copy.predict(rows), booster.predict(rows), rtol=1e-12)
    assert hasattr(copy, "feature_names_in_") == named
    assert copy.is_categorical_.sum() == 1


def test_what_scikit_learn_cannot_hold_is_an_error():
    rng = np.random.default_rng(0)
    y = rng.normal(size=600)
    many = pd.DataFrame({"shop": pd.Categorical(np.arange(600) % 300)})
    with pytest.raises(ValueError, match=r"scikit-learn('s boosting holds at most 255| cannot). Merge"):
        committee.GradientBoostingRegressor(2).fit(many, y).to_sklearn()
    days = pd.DataFrame({"day": pd.date_range("2020-01-01", periods=600)})
    with pytest.raises(ValueError, match=r"Column 'day' has times.*Convert it to seconds"):
        committee.GradientBoostingRegressor(2).fit(days, y).to_sklearn()


def test_one_class_against_the_others_is_an_error():
    X, y = load_iris(return_X_y=True)
    booster = committee.LogitBoostClassifier(2, one_versus_all=True).fit(X, y)
    with pytest.raises(ValueError, match=r"separate logistic functions. Set one_versus_all=False"):
        booster.to_sklearn()
