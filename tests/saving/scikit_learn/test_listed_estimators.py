"""What is refused when an estimator of scikit-learn is saved, and what else of it is kept."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from scikit_learn_cases import MIXED, NUMBERS, TARGET, THREE, is_same
from sklearn.ensemble import IsolationForest
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, LabelBinarizer, LabelEncoder, StandardScaler
from sklearn.svm import SVC, SVR

import committee
from committee.saving import scikit_learn
from committee.saving.scikit_learn.listed_estimators import requests_of


def there_and_back(estimator, tmp_path):
    committee.save(estimator, tmp_path / "model")
    return committee.load(tmp_path / "model")


@pytest.mark.parametrize("member", [LogisticRegression(C=0.01), GaussianNB()], ids=str)
@pytest.mark.parametrize("piped", [False, True], ids=["alone", "in a pipeline"])
def test_adaboost_with_members_of_scikit_learn_answers_the_same(member, piped, tmp_path):
    member = make_pipeline(StandardScaler(), member) if piped else member
    booster = committee.AdaBoostClassifier(member, n_estimators=4, random_state=0).fit(NUMBERS, THREE)
    booster.save(tmp_path / "model")
    loaded = committee.load(tmp_path / "model")
    assert len(loaded.estimators_) == len(booster.estimators_)
    assert np.array_equal(loaded.predict_proba(NUMBERS), booster.predict_proba(NUMBERS))


def test_encoders_of_labels_give_the_labels_back(tmp_path):
    words = np.array(["no", "yes", "perhaps", "yes"])
    for encoder in (LabelEncoder(), LabelBinarizer(sparse_output=True)):
        loaded = there_and_back(encoder.fit(words), tmp_path)
        assert np.array_equal(loaded.inverse_transform(loaded.transform(words)), words)


@pytest.mark.parametrize(
    "machine, y", [(SVC(kernel="precomputed"), THREE), (SVR(kernel="precomputed"), TARGET)]
)
def test_a_machine_with_a_kernel_of_your_own_answers_the_same(machine, y, tmp_path):
    gram = rbf_kernel(NUMBERS)
    loaded = there_and_back(machine.fit(gram, y), tmp_path)
    assert np.array_equal(loaded.predict(gram), machine.predict(gram))


def test_training_goes_on_after_loading(tmp_path):
    for estimator in (
        SGDClassifier(random_state=0, average=True),
        GaussianNB(),
        MLPClassifier((3,), max_iter=5),
    ):
        estimator.partial_fit(NUMBERS, THREE, classes=[0, 1, 2])
        loaded = there_and_back(estimator, tmp_path).partial_fit(NUMBERS, THREE)
        assert loaded.predict(NUMBERS).shape == (48,)


def test_the_kind_of_table_that_a_transformer_returns_is_kept(tmp_path):
    frame = pd.DataFrame(NUMBERS, columns=list("abcd"))
    for scaler in (StandardScaler(), StandardScaler().fit(frame)):
        loaded = there_and_back(scaler.set_output(transform="pandas"), tmp_path)
        assert list(loaded.fit(frame).transform(frame).columns) == list("abcd")


def test_what_metadata_an_estimator_asks_for_is_kept(tmp_path):
    with sklearn.config_context(enable_metadata_routing=True):
        asking = LogisticRegression().set_fit_request(sample_weight=True)
    loaded = there_and_back(asking, tmp_path)
    assert requests_of(loaded) == requests_of(asking)
    assert requests_of(loaded)["fit"] == {"sample_weight": True}


def test_columns_may_be_dates_categories_and_words(tmp_path):
    frame = MIXED.assign(city=MIXED["city"].astype("category"))
    encoder = sklearn.preprocessing.OrdinalEncoder().fit(frame[["city", "mood"]])
    loaded = there_and_back(encoder, tmp_path)
    assert is_same(loaded.transform(frame[["city", "mood"]]), encoder.transform(frame[["city", "mood"]]))


@pytest.mark.parametrize(
    "estimator, path",
    [
        (FunctionTransformer(lambda X: X + 1), "func"),
        (make_pipeline(FunctionTransformer(np.add), GaussianNB()), "func"),
        (SVC(kernel=rbf_kernel), "kernel"),
        (KNeighborsClassifier(weights=lambda distances: distances), "weights"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_a_function_is_refused_by_the_name_of_its_parameter(estimator, path, tmp_path):
    with pytest.raises((TypeError, ValueError), match=path):
        committee.save(estimator, tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_an_attribute_of_your_own_is_refused_by_name(tmp_path):
    model = LogisticRegression(C=0.01).fit(NUMBERS, THREE)
    model.note_ = "mine"
    with pytest.raises(TypeError, match="note_"):
        committee.save(model, tmp_path / "model")


def test_a_model_that_would_not_load_is_not_saved(tmp_path):
    model = LogisticRegression(C=0.01).fit(NUMBERS, THREE)
    model.coef_[0, 0] = np.nan
    with pytest.raises(ValueError, match="coef_ holds nan"):
        committee.save(model, tmp_path / "model")


def test_classes_that_are_not_on_the_list_have_no_name():
    assert scikit_learn.name_of(IsolationForest()) is None
    assert "sklearn.ensemble.IsolationForest" not in scikit_learn.LISTED


def test_a_class_of_the_same_name_elsewhere_is_not_on_the_list():
    stranger = type("LogisticRegression", (LogisticRegression,), {})
    assert scikit_learn.name_of(stranger()) is None
