"""Committees decide on blocks of rows, and neither the blocks nor the threads change a decision."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier as ForestOfScikitLearn
from sklearn.linear_model import LogisticRegression

from committee import C45Classifier, GradientBoostingClassifier, NetworkClassifier, VotingClassifier
from committee.assembling.named_members import encoded
from committee.saving.predictors import deciders

RNG = np.random.default_rng(3)
FRAME = pd.DataFrame(
    {"number": RNG.normal(size=150), "city": RNG.choice(["Bonn", "Oslo", "Rome"], 150), "count": range(150)}
)
FRAME.loc[::9, "number"] = np.nan
Y = np.where(FRAME["city"] == "Oslo", "yes", np.where(FRAME["count"] > 80, "maybe", "no"))
MEMBERS = [
    ("booster", GradientBoostingClassifier(n_estimators=5, random_state=0)),
    ("network", NetworkClassifier(max_steps=20, random_state=0)),
    ("linear", encoded(LogisticRegression())),
    ("tree", C45Classifier()),
    ("foreign", encoded(ForestOfScikitLearn(5, random_state=0))),
]


@pytest.mark.parametrize("rule", ["mean", "log_pool", "dynamic"])
@pytest.mark.parametrize("refit", [True, False])
def test_blocks_of_rows_change_no_decision(rule, refit, monkeypatch):
    voting = VotingClassifier(MEMBERS, rule=rule, cv=3, refit=refit, random_state=0).fit(FRAME, Y)
    together = voting.predict_proba(FRAME)
    monkeypatch.setattr(deciders, "ROWS_AT_ONCE", 40)
    sizes = []
    decide = VotingClassifier._decide_block
    monkeypatch.setattr(
        VotingClassifier,
        "_decide_block",
        lambda self, source, rule: sizes.append(source.n_rows) or decide(self, source, rule),
    )
    for n_jobs in (1, 2):
        found = voting.set_params(n_jobs=n_jobs).predict_proba(FRAME)
        np.testing.assert_allclose(found, together, rtol=0, atol=1e-12)
    assert sorted(sizes) == [37, 37, 37, 37, 38, 38, 38, 38]


def test_a_predictor_decides_on_the_same_blocks(monkeypatch):
    voting = VotingClassifier(MEMBERS[:4], cv=3, random_state=0).fit(FRAME, Y)
    monkeypatch.setattr(deciders, "ROWS_AT_ONCE", 40)
    rows = FRAME.astype(object).where(FRAME.notna(), None).to_dict("records")
    np.testing.assert_array_equal(voting.predictor().predict_proba(rows), voting.predict_proba(FRAME))


def test_an_error_in_a_block_names_the_member(monkeypatch):
    voting = VotingClassifier(MEMBERS, random_state=0).fit(FRAME, Y)
    monkeypatch.setattr(deciders, "ROWS_AT_ONCE", 40)
    monkeypatch.setattr(ForestOfScikitLearn, "predict_proba", lambda self, X: np.full((len(X), 3), np.nan))
    with pytest.raises(ValueError, match=r"^Member 'foreign' cannot vote\. ValueError: It votes with NaN"):
        voting.predict_proba(FRAME)
