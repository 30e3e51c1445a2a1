"""Rules in committees: what cannot be is told before any member is fitted."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import committee
from committee import rules

X = np.arange(40.0).reshape(20, 2) % 7
CLASSES = np.arange(20) % 3
NUMBERS = np.sin(np.arange(20.0))


class NeverFitted(GaussianNB):
    """A member that nobody should have fitted."""

    def fit(self, X, y, sample_weight=None):
        raise AssertionError("fitted before the rule was checked")


class NeverFittedLine(LinearRegression):
    """The same for numbers."""

    def fit(self, X, y, sample_weight=None):
        raise AssertionError("fitted before the rule was checked")


@pytest.mark.parametrize(
    ("kind", "parameters", "message"),
    [
        ("StackingClassifier", {"final_estimator": "bogus"}, "final_estimator for classes must be one of"),
        ("StackingClassifier", {"final_estimator": "ridge"}, "final_estimator for classes must be one of"),
        ("StackingClassifier", {"final_estimator": LinearRegression()}, "must be a classifier or one of"),
        ("StackingClassifier", {"final_estimator": "convex", "passthrough": True}, "cannot use passthrough"),
        ("StackingClassifier", {"final_estimator": KNeighborsClassifier()}, "takes no sample_weight"),
        ("EnsembleSelectionClassifier", {"metric": "bogus"}, "There is no metric 'bogus' for classes"),
        ("EnsembleSelectionClassifier", {"metric": "r2"}, "metric='r2' is for regression, and there are"),
        ("BayesianAveragingClassifier", {"prior": [1, 2, 3]}, "prior must be one number for each of 1"),
        ("VotingClassifier", {"rule": rules.AdjustedRule("bogus")}, "There is no rule 'bogus'"),
        ("VotingClassifier", {"rule": rules.AdjustedRule(rules.CAWPERule(alpha=-1))}, "alpha must be"),
        ("VotingClassifier", {"rule": rules.AdjustedRule(metric="bogus")}, "There is no metric 'bogus'"),
        ("VotingRegressor", {"rule": rules.BestMemberRule(metric="accuracy")}, "'accuracy' is for classif"),
        ("VotingRegressor", {"rule": rules.AccuracyWeightedRule(score="accuracy")}, "needs votes for cl"),
        ("VotingRegressor", {"rule": rules.RegionRule(metric="log_loss")}, "'log_loss' is no loss for regr"),
        ("DynamicSelectionRegressor", {"method": "lca"}, "method='lca' asks which class is right"),
    ],
)
def test_a_rule_that_cannot_decide_is_refused_before_members_are_fitted(kind, parameters, message):
    are_classes = kind.endswith("Classifier")
    members = [("never", NeverFitted() if are_classes else NeverFittedLine())]
    made = getattr(committee, kind)(members, runner="serial", **parameters)
    with pytest.raises(ValueError, match=message) as caught:
        made.fit(X, CLASSES if are_classes else NUMBERS, sample_weight=np.arange(20) + 1.0)
    assert "\n" not in str(caught.value)
