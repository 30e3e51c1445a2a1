"""Committees refuse impossible rules and members before any work, and repeat random draws."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import VotingClassifier as SoftVoting
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import committee
from committee import VotingClassifier, rules
from committee.assembling import Bank

IRIS, SPECIES = load_iris(return_X_y=True)
X = np.arange(40.0).reshape(20, 2) % 7
CLASSES = np.arange(20) % 3
NUMBERS = np.sin(np.arange(20.0))


class NeverFitted(GaussianNB):
    """A member that must not be fitted."""

    def fit(self, X, y, sample_weight=None):
        raise AssertionError("fitted before the rule was checked")


class NeverFittedLine(LinearRegression):
    """A regressor that must not be fitted."""

    def fit(self, X, y, sample_weight=None):
        raise AssertionError("fitted before the rule was checked")


@pytest.mark.parametrize(
    ("kind", "parameters", "message"),
    [
        ("StackingClassifier", {"final_estimator": "bogus"}, "final_estimator for classes must be one of"),
        ("StackingClassifier", {"final_estimator": "ridge"}, "final_estimator for classes must be one of"),
        ("StackingClassifier", {"final_estimator": LinearRegression()}, "must be a classifier or one of"),
        ("StackingClassifier", {"final_estimator": "convex", "passthrough": True}, "cannot use passthrough"),
        (
            "StackingClassifier",
            {"final_estimator": KNeighborsClassifier()},
            "sample_weight. Fit without weights",
        ),
        ("EnsembleSelectionClassifier", {"scoring": "bogus"}, "There is no metric 'bogus'"),
        ("EnsembleSelectionClassifier", {"scoring": "r2"}, "The metric 'r2' is for regression"),
        ("BayesianAveragingClassifier", {"prior": [1, 2, 3]}, "prior must be one number for each of 1"),
        ("VotingClassifier", {"rule": rules.AdjustedRule("bogus")}, "There is no rule 'bogus'"),
        ("VotingClassifier", {"rule": rules.AdjustedRule(rules.CAWPERule(alpha=-1))}, "alpha must be"),
        ("VotingClassifier", {"rule": rules.AdjustedRule(scoring="bogus")}, "There is no metric 'bogus'"),
        ("VotingRegressor", {"rule": rules.BestMemberRule(scoring="accuracy")}, "'accuracy' is for classif"),
        ("VotingRegressor", {"rule": rules.AccuracyWeightedRule(score="accuracy")}, "needs votes for cl"),
        (
            "VotingRegressor",
            {"rule": rules.RegionRule(scoring="neg_log_loss")},
            "'neg_log_loss' is for",
        ),
        ("DynamicSelectionRegressor", {"method": "lca"}, "method='lca' does not support regression"),
    ],
)
def test_a_rule_that_cannot_decide_is_refused_before_members_are_fitted(kind, parameters, message):
    are_classes = kind.endswith("Classifier")
    members = [("never", NeverFitted() if are_classes else NeverFittedLine())]
    made = getattr(committee, kind)(members, runner="serial", **parameters)
    with pytest.raises(ValueError, match=message) as caught:
        made.fit(X, CLASSES if are_classes else NUMBERS, sample_weight=np.arange(20) + 1.0)
    assert "\n" not in str(caught.value)


MEMBERS = [("bayes", GaussianNB()), ("near", KNeighborsClassifier(3))]


@pytest.mark.parametrize("rule", ["bayesian_combination", "region"])
def test_with_an_integer_seed_another_rule_equals_that_of_a_new_fit(rule, tmp_path):
    voting = VotingClassifier(MEMBERS, cv=3, keep="all", random_state=0).fit(IRIS, SPECIES)
    once, again = (voting.recombine(rule, X=IRIS) for _ in range(2))
    direct = VotingClassifier(MEMBERS, cv=3, rule=rule, random_state=0).fit(IRIS, SPECIES)
    for another in (again, direct):
        assert np.array_equal(another.predict_proba(IRIS), once.predict_proba(IRIS))
    voting.save(tmp_path / "voting.committee")
    loaded = committee.load(tmp_path / "voting.committee").recombine(rule, X=IRIS)
    assert np.array_equal(loaded.predict_proba(IRIS), once.predict_proba(IRIS))
    boards = [list(voting.leaderboard([rule], X=IRIS, scoring="neg_log_loss")) for _ in range(2)]
    assert boards[0] == boards[1]


def test_a_bank_gives_the_same_answer_twice():
    bank = Bank(IRIS, SPECIES, cv=3)
    bank.collect(MEMBERS)
    rules_made = [bank.fit_rule("bayesian_combination") for _ in range(2)]
    assert np.array_equal(rules_made[0].weights_, rules_made[1].weights_)
    boards = [list(bank.leaderboard(["bayesian_combination"], scoring="neg_log_loss")) for _ in range(2)]
    assert boards[0] == boards[1]


class UnnormalisedBayes(GaussianNB):
    """A member whose probabilities sum to ten."""

    def predict_proba(self, X):
        return np.full((len(X), 3), 10 / 3)


class Negative(GaussianNB):
    """A member with a negative probability."""

    def predict_proba(self, X):
        return np.tile([1.5, -0.5, 0.0], (len(X), 1))


def test_probabilities_that_do_not_sum_to_one_are_rescaled():
    members = [("loud", UnnormalisedBayes()), *MEMBERS]
    chosen = committee.EnsembleSelectionClassifier(members, cv=3).fit(IRIS, SPECIES)
    assert chosen.weights_[0] == 0
    assert np.allclose(chosen.votes(IRIS[:2])[0], 1 / 3)
    with pytest.raises(ValueError, match=r"'negative'.* votes with a negative probability"):
        VotingClassifier([("negative", Negative())], cv=3, runner="serial").fit(IRIS, SPECIES)


def test_with_one_class_the_rule_is_not_fitted():
    made = committee.DynamicSelectionClassifier(MEMBERS).fit(IRIS[:50], SPECIES[:50])
    assert (made.predict(IRIS[:2]) == 0).all()
    with pytest.raises(ValueError, match=r"^y had one class, so there is nothing to decide\.$"):
        made.selected(IRIS[:2])


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            [True, False, True, False],
            "has True, which is not a column of X. Pass names or positions from 0 to 3",
        ),
        (np.array([False, True]), "has False, which is not a column of X"),
        ([1.0], "has 1.0, which is not a column of X"),
        ([0, 0], "has the column 0 twice. Remove one."),
        ([4], "has 4, which is not a column of X"),
    ],
)
def test_columns_are_distinct_names_or_positions(columns, message):
    with pytest.raises(ValueError, match=message):
        VotingClassifier(MEMBERS, columns={"near": columns}).fit(IRIS, SPECIES)


class Untagged:
    """A classifier that does not inherit from scikit-learn's BaseEstimator."""

    def fit(self, X, y):
        return self

    def get_params(self, deep=True):
        return {}

    def predict(self, X):
        return np.zeros(len(X))


@pytest.mark.parametrize(
    ("member", "message"),
    [
        (
            Untagged(),
            "Member 'odd' is a Untagged, which is not a scikit-learn estimator. Let its class inherit",
        ),
        ("drop", "Member 'odd' is 'drop'. Leave it out of estimators instead."),
    ],
)
def test_an_invalid_member_is_named(member, message):
    with pytest.raises(ValueError, match=message):
        VotingClassifier([*MEMBERS, ("odd", member)]).fit(IRIS, SPECIES)


def test_the_leaderboard_names_rules_that_cannot_be_scored():
    voting = VotingClassifier(MEMBERS, cv=3).fit(IRIS, SPECIES)
    with pytest.raises(
        ValueError, match=r"rules must be a list of rules, or None\. Got 'mean': pass \['mean"
    ):
        voting.leaderboard("mean")
    with pytest.raises(ValueError, match="The metric 'r2' is for regression"):
        voting.leaderboard(["mean"], scoring="r2")


@pytest.mark.parametrize(
    ("rule", "saved"),
    [
        (rules.trimmed_mean, "trimmed_mean"),
        (rules.FixedRule(rule=rules.borda), None),
        (rules.FixedRule(rule="trimmed_mean", trim=0.1), None),
    ],
)
def test_a_committee_whose_rule_is_one_of_our_functions_is_saved(rule, saved, tmp_path):
    voting = VotingClassifier(MEMBERS, rule=rule).fit(IRIS, SPECIES)
    voting.save(tmp_path / "voting.committee")
    loaded = committee.load(tmp_path / "voting.committee")
    assert saved is None or loaded.rule == saved
    assert np.array_equal(loaded.predict_proba(IRIS), voting.predict_proba(IRIS))


def test_ties_are_decided_as_by_scikit_learn():
    rng = np.random.default_rng(0)
    rows, answers = rng.normal(size=(900, 4)), rng.integers(0, 2, 900)
    members = [(f"near {k}", KNeighborsClassifier(k)) for k in (2, 4, 5, 10)]
    ours = VotingClassifier(members).fit(rows[:300], answers[:300])
    theirs = SoftVoting(members, voting="soft").fit(rows[:300], answers[:300])
    expected = theirs.predict_proba(rows)
    is_tie = np.abs(expected[:, 0] - expected[:, 1]) < 1e-12
    assert is_tie.sum() > 10
    assert (ours.predict(rows)[is_tie] == 0).all()
    assert np.array_equal(ours.predict(rows)[~is_tie], theirs.predict(rows)[~is_tie])
