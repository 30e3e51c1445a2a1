"""Test that scikit-learn's scorers get the labels of y in all functions and estimators."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, f1_score, log_loss, make_scorer, recall_score, roc_auc_score
from sklearn.naive_bayes import GaussianNB

import committee
from committee.metrics.scorers import decision_scorer, requires_probabilities
from committee.rules import AdjustedRule, BestMemberRule, GreedyRule

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 3))
CODES = (X[:, 0] + rng.normal(size=120) > 0.8).astype(int)
# Pairs of labels, and the positive one.
LABELS = [(pair, positive) for pair in ([1, 2], [-1, 1], ["no", "yes"]) for positive in pair]
MEMBERS = [("bayes", GaussianNB()), ("logistic", LogisticRegression())]


def recall_of(positive):
    return make_scorer(recall_score, pos_label=positive)


@pytest.fixture(params=LABELS, ids=str)
def labelled(request):
    labels, positive = request.param
    return np.array(labels)[CODES], positive


def test_a_score_is_computed_from_the_labels(labelled):
    y, positive = labelled
    model = GaussianNB().fit(X, y)
    expected = recall_score(y, model.predict(X), pos_label=positive)
    votes = model.predict_proba(X)
    assert committee.score(y, votes, scoring=recall_of(positive), classes=model.classes_) == expected
    assert committee.score(y, model.predict(X), scoring=recall_of(positive)) == expected
    interval = committee.score_interval(y, votes, scoring=recall_of(positive), classes=model.classes_, B=9)
    assert interval.value == expected
    curve = committee.error_curve(votes[None], y, scoring=recall_of(positive), classes=model.classes_)
    assert curve.in_order.tolist() == [expected]


def test_classes_may_be_in_any_order(labelled):
    y, positive = labelled
    model = GaussianNB().fit(X, y)
    votes, reversed_votes = model.predict_proba(X), model.predict_proba(X)[:, ::-1]
    classes = model.classes_[::-1]
    for metric, expected in [
        (recall_of(positive), recall_score(y, model.predict(X), pos_label=positive)),
        ("roc_auc", roc_auc_score(y, votes[:, 1])),
        ("neg_log_loss", -log_loss(y, votes)),
    ]:
        assert committee.score(y, reversed_votes, scoring=metric, classes=classes) == pytest.approx(expected)


def test_a_named_metric_uses_the_label_1_as_the_positive_class_as_in_scikit_learn():
    y = np.array([1, 2])[CODES]
    model = GaussianNB().fit(X, y)
    score = committee.score(y, model.predict_proba(X), scoring="f1", classes=[1, 2])
    assert score == f1_score(y, model.predict(X))


def test_rows_of_a_single_label_are_scored():
    assert committee.score(["yes"] * 3, ["yes"] * 3, scoring=recall_of("yes")) == 1.0


@pytest.mark.parametrize(
    "estimator",
    [
        committee.BaggingClassifier(GaussianNB(), 9, random_state=0),
        committee.RandomForestClassifier(9, random_state=0),
        committee.RotationForestClassifier(9, bootstrap=True, random_state=0),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_the_out_of_bag_score_is_computed_from_the_labels(estimator, labelled):
    y, positive = labelled
    fitted = estimator.set_params(oob_score=recall_of(positive)).fit(X, y)
    votes = fitted.oob_decision_function_
    has_votes = ~np.isnan(votes[:, 0])
    decided = fitted.classes_[votes[has_votes].argmax(axis=1)]
    assert fitted.oob_score_ == recall_score(y[has_votes], decided, pos_label=positive)


@pytest.mark.parametrize("kind", [".632", ".632+"])
def test_the_bootstrap_error_is_computed_from_the_labels(labelled, kind):
    y, positive = labelled
    found = committee.bootstrap_error(
        GaussianNB(), X, y, 5, kind=kind, scoring=recall_of(positive), random_state=0, runner="serial"
    )
    model = GaussianNB().fit(X, y)
    assert found.apparent == recall_score(y, model.predict(X), pos_label=positive)
    assert np.isfinite(found.value)


def recall_by_members(votes, y, positive):
    """Return the recall of each member."""
    classes = np.unique(y)
    return [recall_score(y, classes[each.argmax(axis=1)], pos_label=positive) for each in votes]


@pytest.mark.parametrize("rule", [GreedyRule, BestMemberRule])
def test_a_rule_with_classes_selects_by_labels(labelled, rule):
    y, positive = labelled
    votes = rng.dirichlet([1.0, 1.0], (4, len(y)))
    fitted = rule(scoring=recall_of(positive)).fit(votes, CODES, classes=np.unique(y))
    best = max(recall_by_members(votes, y, positive))
    assert -np.min(fitted.losses_) >= best - 1e-12
    if rule is BestMemberRule:
        assert (-fitted.losses_).tolist() == recall_by_members(votes, y, positive)


def test_a_committee_passes_the_labels_to_its_rule(labelled):
    y, positive = labelled
    scorer = recall_of(positive)
    made = committee.VotingClassifier(MEMBERS, rule=BestMemberRule(scoring=scorer), cv=3).fit(X, y)
    expected = recall_by_members(made.honest_votes_, y[made.honest_rows_], positive)
    assert (-made.rule_.losses_).tolist() == expected
    inside = made.recombine(AdjustedRule(BestMemberRule(scoring=scorer), scoring=scorer)).rule_.rule_
    assert (-inside.losses_).tolist() == expected


@pytest.mark.parametrize(
    "made",
    [
        lambda metric: committee.BaggingClassifier(
            GaussianNB(), 3, rule=BestMemberRule(scoring=metric), random_state=0
        ),
        lambda metric: committee.CommitteeClassifier(
            MEMBERS, scoring=metric, rule=BestMemberRule(scoring=metric), random_state=0
        ),
    ],
    ids=["bagging", "automatic"],
)
def test_losses_do_not_depend_on_the_labels(made):
    known = made(recall_of(0)).fit(X, CODES).rule_.losses_
    for labels in (np.array([1, 2]), np.array(["no", "yes"])):
        assert made(recall_of(labels[0])).fit(X, labels[CODES]).rule_.losses_.tolist() == known.tolist()


@pytest.mark.parametrize("labels", [[0, 1], [1, 2]])
def test_leaderboards_use_the_label_1_as_the_positive_class(labels, tmp_path):
    y = np.array(labels)[CODES]
    made = committee.VotingClassifier(MEMBERS, cv=3, keep="all").fit(X, y)
    made.save(tmp_path / "model")
    recalls = recall_by_members(made.honest_votes_, y[made.honest_rows_], 1)
    expected = dict(zip(["bayes", "logistic"], recalls, strict=True))
    for each in (made, committee.load(tmp_path / "model")):
        for scoring in ("recall", recall_of(1)):
            assert {
                place.name: place.score
                for place in each.leaderboard([], scoring=scoring)
                if place.kind == "member"
            } == expected


def score_without_a_class(scorer):
    decision = np.array([[0.7, 0.2, 0.1], [0.2, 0.3, 0.5]])
    return decision_scorer(scorer, 3, np.array(["c", "a", "b"]))(np.array([0, 2]), decision, np.ones(2))


def test_the_log_loss_can_be_computed_if_a_class_has_no_rows():
    decision = [[0.7, 0.2, 0.1], [0.2, 0.3, 0.5]]
    for y, expected in [(["c", "b"], np.log([0.7, 0.5]).mean()), (["c", "c"], np.log([0.7, 0.2]).mean())]:
        assert committee.score(y, decision, scoring="neg_log_loss", classes=["c", "a", "b"]) == pytest.approx(
            expected
        )


@pytest.mark.parametrize("scorer", ["roc_auc_ovo", make_scorer(log_loss, response_method="predict_proba")])
def test_a_scorer_that_needs_all_classes_suggests_one_that_does_not(scorer):
    with pytest.raises(
        ValueError, match=r"No row is of the class 'a'. 'neg_log_loss' can be used without it\.$"
    ):
        score_without_a_class(scorer)


def test_committees_can_be_scored_by_the_log_loss_if_a_class_has_no_rows():
    y = np.repeat(["a", "b", "c"], 40)
    cv = [(np.arange(0, 120, 2), np.arange(1, 80, 2)), (np.arange(1, 120, 2), np.arange(0, 80, 2))]
    selecting = committee.EnsembleSelectionClassifier(MEMBERS, scoring="neg_log_loss", cv=cv).fit(X, y)
    scores = [each.score for each in selecting.leaderboard(["mean"], scoring="neg_log_loss")]
    assert np.isfinite(scores).all()


def test_a_study_scores_the_labels():
    y = np.array([1, 2])[CODES]
    study = committee.Study({"bayes": GaussianNB()}, {"table": (X, y)}, resamples=1, scoring=["recall"]).run()
    votes, _, is_test = study.votes("bayes", "table", 0)
    decided = np.array([1, 2])[votes.argmax(axis=1)]
    assert study.results("pandas")["score"].tolist() == [recall_score(y[is_test], decided)]


@pytest.mark.parametrize(
    "fit",
    [
        committee.BaggingClassifier(GaussianNB(), 3, oob_score="f1").fit,
        committee.RandomForestClassifier(3, oob_score="f1").fit,
        committee.VotingClassifier(MEMBERS, rule=GreedyRule(scoring="f1")).fit,
        committee.CommitteeClassifier(MEMBERS, scoring="f1").fit,
        lambda X, y: committee.bootstrap_error(GaussianNB(), X, y, 3, scoring="f1"),
    ],
)
def test_a_scorer_of_other_labels_is_refused_before_any_fit(fit):
    with pytest.raises(ValueError, match=r"The scorer f1 has no value here: .*\. (Take|Use) ") as caught:
        fit(X, np.array(["no", "yes"])[CODES])
    assert "\n" not in str(caught.value)


def test_scorers_that_require_probabilities_are_recognised():
    of_probabilities = make_scorer(brier_score_loss, response_method="predict_proba", pos_label="yes")
    of_scores = make_scorer(roc_auc_score, response_method=("decision_function", "predict_proba"))
    assert requires_probabilities(of_probabilities)
    assert not requires_probabilities(of_scores) and not requires_probabilities(recall_of("yes"))


def test_equal_weights_are_ignored_for_a_scorer_without_weights():
    scorer = make_scorer(lambda y, decided: np.mean(y == decided))
    decision, y = [[0.9, 0.1], [0.6, 0.4]], [0, 1]
    assert committee.score(y, decision, scoring=scorer, sample_weight=[2.5, 2.5]) == 0.5
    assert committee.score(y, decision, scoring=scorer, sample_weight=[3, 1]) == 0.75


class Refusing(GaussianNB):
    def fit(self, X, y):
        raise AssertionError("A member was fitted before the metric was refused.")


def right(estimator, X, y):
    return estimator.score(X, y)


@pytest.mark.parametrize("metric", [right, f1_score])
@pytest.mark.parametrize(
    "fit_by",
    [
        lambda metric, y: committee.VotingClassifier(
            [("no", Refusing())], rule=GreedyRule(scoring=metric)
        ).fit(X, y),
        lambda metric, y: committee.EnsembleSelectionClassifier([("no", Refusing())], scoring=metric).fit(
            X, y
        ),
        lambda metric, y: committee.CommitteeClassifier([("no", Refusing())], scoring=metric).fit(X, y),
        lambda metric, y: committee.bootstrap_error(Refusing(), X, y, 3, scoring=metric),
        lambda metric, y: committee.score(y, np.eye(2)[y], scoring=metric),
        lambda metric, y: committee.Study({"no": Refusing()}, {"table": (X, y)}, scoring=[metric]),
    ],
    ids=["rule", "selection", "automatic", "bootstrap", "score", "study"],
)
def test_a_function_of_an_estimator_or_of_predictions_is_refused_before_any_fit(fit_by, metric):
    message = rf"The metric {metric.__name__} fails \(.*\)\. A function gets y, a decision of shape"
    with pytest.raises(ValueError, match=message) as caught:
        fit_by(metric, CODES)
    assert "\n" not in str(caught.value)


def test_a_function_that_works_only_on_the_rows_of_the_fit_is_accepted():
    costs = np.arange(1, 121)

    def cost(y, decision, weights):
        return float((decision.argmax(axis=1) != y) @ costs)

    made = committee.VotingClassifier(MEMBERS, rule=GreedyRule(scoring=cost), cv=3).fit(X, CODES)
    assert made.predict(X).shape == (120,)
