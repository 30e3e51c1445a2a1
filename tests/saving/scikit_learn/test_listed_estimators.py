"""Estimators of scikit-learn: attributes that are saved, and estimators that cannot be saved."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from scikit_learn_cases import MIXED, NUMBERS, TARGET, THREE, is_same
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import IsolationForest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import LabelBinarizer, LabelEncoder, StandardScaler
from sklearn.svm import SVC, SVR

import committee
from committee.saving import scikit_learn
from committee.saving.scikit_learn.listed_estimators import requests_of


def saved_and_loaded(estimator, tmp_path):
    committee.save(estimator, tmp_path / "model")
    return committee.load(tmp_path / "model")


@pytest.mark.parametrize("member", [LogisticRegression(C=0.01), GaussianNB()], ids=str)
@pytest.mark.parametrize("in_pipeline", [False, True], ids=["alone", "in a pipeline"])
def test_a_loaded_adaboost_with_members_of_scikit_learn_predicts_the_same(member, in_pipeline, tmp_path):
    member = make_pipeline(StandardScaler(), member) if in_pipeline else member
    booster = committee.AdaBoostClassifier(member, n_estimators=4, random_state=0).fit(NUMBERS, THREE)
    booster.save(tmp_path / "model")
    loaded = committee.load(tmp_path / "model")
    assert len(loaded.estimators_) == len(booster.estimators_)
    assert np.array_equal(loaded.predict_proba(NUMBERS), booster.predict_proba(NUMBERS))


def test_loaded_encoders_of_labels_restore_the_labels(tmp_path):
    words = np.array(["no", "yes", "perhaps", "yes"])
    for encoder in (LabelEncoder(), LabelBinarizer(sparse_output=True)):
        loaded = saved_and_loaded(encoder.fit(words), tmp_path)
        assert np.array_equal(loaded.inverse_transform(loaded.transform(words)), words)


@pytest.mark.parametrize("svm, y", [(SVC(kernel="precomputed"), THREE), (SVR(kernel="precomputed"), TARGET)])
def test_a_loaded_svm_with_a_precomputed_kernel_predicts_the_same(svm, y, tmp_path):
    gram = rbf_kernel(NUMBERS)
    loaded = saved_and_loaded(svm.fit(gram, y), tmp_path)
    assert np.array_equal(loaded.predict(gram), svm.predict(gram))


def test_training_can_continue_after_loading(tmp_path):
    for estimator in (GaussianNB(), MLPClassifier((3,), max_iter=5)):
        estimator.partial_fit(NUMBERS, THREE, classes=[0, 1, 2])
        loaded = saved_and_loaded(estimator, tmp_path).partial_fit(NUMBERS, THREE)
        assert loaded.predict(NUMBERS).shape == (48,)


def test_the_output_container_of_a_transformer_is_saved(tmp_path):
    frame = pd.DataFrame(NUMBERS, columns=list("abcd"))
    for scaler in (StandardScaler(), StandardScaler().fit(frame)):
        loaded = saved_and_loaded(scaler.set_output(transform="pandas"), tmp_path)
        assert list(loaded.fit(frame).transform(frame).columns) == list("abcd")


def test_metadata_requests_are_saved(tmp_path):
    with sklearn.config_context(enable_metadata_routing=True):
        requesting = LogisticRegression().set_fit_request(sample_weight=True)
    loaded = saved_and_loaded(requesting, tmp_path)
    assert requests_of(loaded) == requests_of(requesting)
    assert requests_of(loaded)["fit"] == {"sample_weight": True}


def test_columns_can_have_categorical_dtypes(tmp_path):
    frame = MIXED.assign(city=MIXED["city"].astype("category"))
    encoder = sklearn.preprocessing.OrdinalEncoder().fit(frame[["city", "mood"]])
    loaded = saved_and_loaded(encoder, tmp_path)
    assert is_same(loaded.transform(frame[["city", "mood"]]), encoder.transform(frame[["city", "mood"]]))


@pytest.mark.parametrize(
    "estimator, path",
    [
        (TransformedTargetRegressor(Ridge(), func=lambda y: y + 1, inverse_func=lambda y: y - 1), "func"),
        (TransformedTargetRegressor(Ridge(), func=np.add, inverse_func=np.subtract), "func"),
        (SVC(kernel=rbf_kernel), "kernel"),
        (KNeighborsClassifier(weights=lambda distances: distances), "weights"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_the_error_of_a_function_names_its_parameter(estimator, path, tmp_path):
    with pytest.raises((TypeError, ValueError), match=path):
        committee.save(estimator, tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_the_error_of_a_user_defined_attribute_names_it(tmp_path):
    model = LogisticRegression(C=0.01).fit(NUMBERS, THREE)
    model.note_ = "mine"
    with pytest.raises(TypeError, match="note_"):
        committee.save(model, tmp_path / "model")


def test_a_model_that_could_not_be_loaded_is_not_saved(tmp_path):
    model = LogisticRegression(C=0.01).fit(NUMBERS, THREE)
    model.coef_[0, 0] = np.nan
    with pytest.raises(ValueError, match="coef_ holds nan"):
        committee.save(model, tmp_path / "model")


def test_classes_that_are_not_on_the_list_have_no_name():
    assert scikit_learn.name_of(IsolationForest()) is None
    assert "sklearn.ensemble.IsolationForest" not in scikit_learn.LISTED


def test_a_class_of_the_same_name_elsewhere_is_not_on_the_list():
    other = type("LogisticRegression", (LogisticRegression,), {})
    assert scikit_learn.name_of(other()) is None
