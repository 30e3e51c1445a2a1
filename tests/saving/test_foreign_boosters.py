"""Estimators of other boosting libraries are stored in the formats of these libraries."""

import numpy as np
import pandas as pd
import pytest

from committee.saving import UntrustedMember, load, save, verify

RNG = np.random.default_rng(3)
ROWS = pd.DataFrame(RNG.normal(size=(120, 4)), columns=["one", "two", "three", "four"])
CODES = np.digitize(ROWS["one"] + 0.3 * ROWS["two"], [-0.5, 0.5])
WORDS = np.array(["low", "mid", "up"])[CODES]
ESTIMATORS = [
    ("lightgbm", "LGBMClassifier", {"verbose": -1}, WORDS),
    ("lightgbm", "LGBMClassifier", {"verbose": -1}, CODES > 0),
    ("lightgbm", "LGBMRegressor", {"verbose": -1}, ROWS["one"] * 2),
    ("xgboost", "XGBClassifier", {}, CODES),
    ("xgboost", "XGBRegressor", {"max_depth": 2}, ROWS["one"] * 2),
    ("catboost", "CatBoostClassifier", {"verbose": 0, "allow_writing_files": False}, WORDS),
    ("catboost", "CatBoostRegressor", {"verbose": 0, "allow_writing_files": False}, ROWS["one"] * 2),
]
IDS = [f"{cls}-{i}" for i, (_, cls, _, _) in enumerate(ESTIMATORS)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("library, cls, parameters, y", ESTIMATORS, ids=IDS)
def test_a_booster_needs_trust_and_then_predicts_the_same(library, cls, parameters, y, tmp_path):
    made = getattr(pytest.importorskip(library), cls)(n_estimators=7, **parameters)
    estimator = made.fit(ROWS, y)
    save(estimator, tmp_path / "model")
    with pytest.raises(UntrustedMember, match=rf"trusted=\['{library}'\]"):
        load(tmp_path / "model")
    loaded = load(tmp_path / "model", trusted=[library])
    methods = ["predict", "predict_proba"] if hasattr(estimator, "predict_proba") else ["predict"]
    for method in methods:
        assert np.array_equal(getattr(loaded, method)(ROWS), getattr(estimator, method)(ROWS))
    assert repr(loaded.get_params()) == repr(estimator.get_params())
    if hasattr(estimator, "classes_"):
        assert np.array_equal(loaded.classes_, estimator.classes_)
    names = loaded.feature_names_ if library == "catboost" else loaded.feature_names_in_
    assert list(names) == list(ROWS.columns)
    assert loaded.n_features_in_ == 4
    assert verify(tmp_path / "model").estimator == f"{library}.{cls}"


@pytest.mark.parametrize("library, cls, parameters, y", ESTIMATORS[::2], ids=IDS[::2])
def test_a_booster_that_is_not_fitted_keeps_its_parameters(library, cls, parameters, y, tmp_path):
    made = getattr(pytest.importorskip(library), cls)(n_estimators=7, **parameters)
    save(made, tmp_path / "model")
    assert load(tmp_path / "model", trusted=[library]).get_params()["n_estimators"] == 7
