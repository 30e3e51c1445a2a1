"""Mixtures of experts divide the rows, accept members of any kind, and report bad input in one line."""

import threading

import numpy as np
import pandas as pd
import pytest
import sklearn
from every_estimator import mixed_frame, name_of, votes_of
from mixture_problems import BOTH, both, problem, quarters, two_lines
from sklearn.base import is_classifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import committee
from committee import MixtureOfExpertsClassifier, MixtureOfExpertsRegressor
from committee.members import TableEncoder
from committee.running import receiving, stopped_by
from committee.running.deadline import ended_after
from committee.saving.format.file_errors import DamagedFile
from committee.saving.plain_models.mixture_models import Branches
from committee.table.column_summaries import mean_and_deviation


def test_two_experts_learn_two_lines():
    X, y = two_lines()
    one = MixtureOfExpertsRegressor(n_experts=1).fit(X, y)
    two = MixtureOfExpertsRegressor(n_experts=2, random_state=0).fit(X, y)
    assert two.score(X, y) > 0.99 > 0.1 > one.score(X, y)
    np.testing.assert_allclose(two.noise_deviations_, 0.05, rtol=0.3)
    left, right = two.gate([[-2.0], [2.0]])
    assert left.max() > 0.99 and right.max() > 0.99
    assert left.argmax() != right.argmax()
    slopes = sorted(expert.coefficients[0, 0] * y.std() / X.std() for expert in two.estimators_)
    np.testing.assert_allclose(slopes, [-1, 1], atol=0.05)


def test_two_experts_learn_classes_of_two_regions():
    X, y = quarters()
    one = MixtureOfExpertsClassifier(n_experts=1).fit(X, y)
    two = MixtureOfExpertsClassifier(n_experts=2, random_state=0).fit(X, y)
    assert two.score(X, y) > 0.97 > 0.7 > one.score(X, y)
    new_X, new_y = quarters(n_rows=1000, seed=1)
    assert two.score(new_X, new_y) > 0.93


@both
def test_a_tree_of_one_level_equals_one_gate(mixture_type):
    X, y = problem(mixture_type)
    usual = {"n_experts": 3, "n_init": 1, "max_iter": 8, "random_state": 0}
    flat, tree = (mixture_type(branching=each, **usual).fit(X, y) for each in (None, 3))
    np.testing.assert_array_equal(votes_of(flat, X), votes_of(tree, X))
    np.testing.assert_array_equal(flat.log_likelihoods_, tree.log_likelihoods_)


@both
def test_one_expert_works_with_any_branching(mixture_type, tmp_path):
    X, y = problem(mixture_type)
    flat, tree = (mixture_type(n_experts=1, branching=each).fit(X, y) for each in (None, 2))
    np.testing.assert_array_equal(votes_of(flat, X), votes_of(tree, X))
    tree.save(tmp_path / "tree.committee")
    np.testing.assert_array_equal(votes_of(committee.load(tmp_path / "tree.committee"), X), votes_of(tree, X))


def test_a_tree_of_gates_multiplies_weights_along_paths():
    tree = Branches.of(4, 2)
    top, left, right = (np.array([[p, 1 - p]]) for p in (0.6, 0.1, 0.5))
    shares = np.exp(tree.join([np.log(each) for each in (top, left, right)]))
    np.testing.assert_allclose(shares, [[0.06, 0.54, 0.2, 0.2]])
    np.testing.assert_allclose(tree.split(shares)[0], top)
    np.testing.assert_allclose(tree.split(shares)[1], left * 0.6)
    X, y = quarters()
    fitted = MixtureOfExpertsClassifier(branching=2, random_state=0).fit(X, y)
    assert len(fitted.gates_) == 3 and len(fitted.estimators_) == 4
    assert fitted.score(X, y) > 0.97
    top, left, right = (gate.predict_proba(fitted._encoder.transform(X)) for gate in fitted.gates_)
    nested = np.column_stack([top[:, :1] * left, top[:, 1:] * right])
    np.testing.assert_allclose(fitted.gate(X), nested, rtol=1e-9)


@both
def test_soft_gating_averages_votes_and_hard_gating_takes_one_vote(mixture_type):
    X, y = problem(mixture_type)
    fitted = mixture_type(random_state=0, n_init=1, max_iter=8).fit(X, y)
    gate, votes = fitted.gate(X), fitted.votes(X)
    assert gate.shape == (len(X), 4) and votes.shape[:2] == (4, len(X))
    np.testing.assert_allclose(gate.sum(axis=1), 1, rtol=1e-12)
    answer = votes_of(fitted, X).reshape(len(X), -1)
    np.testing.assert_allclose(answer, np.einsum("nk,knc->nc", gate, votes), rtol=1e-9, atol=1e-12)
    fitted.set_params(gating="hard")
    chosen = votes[gate.argmax(axis=1), np.arange(len(X))]
    np.testing.assert_allclose(votes_of(fitted, X).reshape(len(X), -1), chosen, rtol=1e-12)


@both
def test_hard_assignment_learns_the_problem(mixture_type):
    X, y = problem(mixture_type)
    fitted = mixture_type(n_experts=2, assignment="hard", n_init=5, random_state=0).fit(X, y)
    assert fitted.score(X, y) > 0.95


@both
def test_more_restarts_are_never_worse(mixture_type):
    X, y = problem(mixture_type)
    one, two, four = (mixture_type(n_init=n, max_iter=8, random_state=0).fit(X, y) for n in (1, 2, 4))
    last = [fitted.log_likelihoods_[-1] for fitted in (one, two, four)]
    assert last == sorted(last)
    assert last[2] == four.restart_log_likelihoods_.max()
    np.testing.assert_array_equal(four.restart_log_likelihoods_[:2], two.restart_log_likelihoods_)


@both
def test_any_runner_gives_the_same_bits(mixture_type):
    X, y = problem(mixture_type, n_rows=80)
    kinds = [{"runner": "serial"}, {"n_jobs": 1}, {"n_jobs": 2}, {"runner": "processes", "n_jobs": 2}]
    fitted = [mixture_type(n_init=2, max_iter=5, random_state=0, **kind).fit(X, y) for kind in kinds]
    assert len({votes_of(each, X).tobytes() for each in fitted}) == 1
    assert len({each.log_likelihoods_.tobytes() for each in fitted}) == 1


EXPERTS = [
    LogisticRegression(),
    make_pipeline(StandardScaler(), GaussianNB()),
    committee.DecisionTreeClassifier(max_depth=2),
    Ridge(),
    committee.DecisionTreeRegressor(max_depth=2),
]
GATES = [None, GaussianNB(), committee.DecisionTreeClassifier(max_depth=2)]


@pytest.mark.parametrize("gate", GATES, ids=name_of)
@pytest.mark.parametrize("expert", EXPERTS, ids=name_of)
def test_experts_and_gates_can_be_any_estimator(expert, gate, tmp_path):
    mixture_type = BOTH[0] if is_classifier(expert) else BOTH[1]
    X, y = problem(mixture_type)
    mixture = mixture_type(expert, gate_estimator=gate, n_init=1, max_iter=8, random_state=0)
    for branching in (None, 2):
        fitted = mixture.set_params(branching=branching).fit(X, y)
        assert fitted.score(X, y) > 0.8
        assert (np.diff(fitted.log_likelihoods_) >= 0).all()
        np.testing.assert_allclose(fitted.gate(X).sum(axis=1), 1, rtol=1e-9)
        fitted.save(tmp_path / "m.committee")
        loaded = committee.load(tmp_path / "m.committee")
        np.testing.assert_array_equal(votes_of(loaded, X), votes_of(fitted, X))
        np.testing.assert_array_equal(loaded.gate(X), fitted.gate(X))
        if not isinstance(expert, Pipeline):
            for predictor in (committee.predictor(tmp_path / "m.committee"), fitted.predictor()):
                np.testing.assert_allclose(predictor.decide(X), fitted._decide(X), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("routing", [False, True])
def test_experts_and_gates_can_be_searches_and_pipelines(routing):
    X, y = problem(MixtureOfExpertsClassifier)
    with sklearn.config_context(enable_metadata_routing=routing):
        search = GridSearchCV(LogisticRegression(), {"C": [1.0]}, cv=2)
        pipeline = make_pipeline(StandardScaler(), LogisticRegression())
        for expert, gate in ((search, pipeline), (pipeline, search)):
            mixture = MixtureOfExpertsClassifier(
                expert, gate_estimator=gate, n_experts=2, n_init=1, max_iter=3, random_state=0
            )
            assert mixture.fit(X, y).score(X, y) > 0.6


def test_an_expert_that_never_saw_a_class_gives_it_a_vote_of_zero():
    X = np.repeat([[0.0], [1.0], [10.0], [11.0]], 5, axis=0) + np.linspace(0, 0.1, 20)[:, None]
    y = np.repeat(["a", "b", "c", "d"], 5)
    fitted = MixtureOfExpertsClassifier(
        LogisticRegression(C=100), n_experts=2, assignment="hard", random_state=0
    ).fit(X, y)
    votes = fitted.votes(X)
    assert votes.shape == (2, 20, 4)
    np.testing.assert_allclose(votes.sum(axis=2), 1)
    assert (votes == 0).any()
    assert fitted.score(X, y) == 1


def test_a_class_without_weight_gets_no_vote():
    fitted = MixtureOfExpertsClassifier(random_state=0)
    fitted.fit([[0.0], [1.0], [2.0]], ["a", "b", "c"], sample_weight=[1, 1, 0])
    assert list(fitted.classes_) == ["a", "b", "c"]
    np.testing.assert_array_equal(fitted.predict_proba([[2.0]])[:, 2], [0.0])


def test_more_experts_than_rows_do_no_harm():
    few = MixtureOfExpertsRegressor(n_experts=8, random_state=0).fit([[0.0], [1.0]], [1.0, 3.0])
    assert np.isfinite(few.predict([[0.0], [5.0]])).all()
    hard = MixtureOfExpertsClassifier(n_experts=8, assignment="hard", random_state=0)
    assert hard.fit([[0.0], [1.0]], ["a", "b"]).predict([[0.0]]) == ["a"]


def test_targets_of_any_magnitude_are_learnt_equally_well():
    X, y = two_lines()
    usual = {"n_experts": 2, "n_init": 1, "max_iter": 8, "random_state": 0}
    expected = MixtureOfExpertsRegressor(**usual).fit(X, y).predict(X)
    for scale in (2.0**-400, 2.0**290):
        far = MixtureOfExpertsRegressor(**usual).fit(X * scale, y * scale)
        np.testing.assert_allclose(far.predict(X * scale) / scale, expected, rtol=1e-9)
        assert np.isfinite(far.predict([[1e308], [-1e308]])).all()


def test_constant_columns_and_targets_are_handled():
    assert mean_and_deviation(np.full(3, 0.1), np.ones(3)) == (0.1, 1.0)
    fitted = MixtureOfExpertsRegressor(random_state=0).fit([[0.1, i] for i in range(9)], np.full(9, 0.7))
    assert (fitted.predict([[0.1, 3], [1e9, -1e9]]) == 0.7).all()


def test_columns_of_any_magnitude_are_scaled():
    tiny = TableEncoder().fit_transform([[1e-200], [3e-200]])
    np.testing.assert_allclose(tiny, [[-1], [1]])
    even = TableEncoder().fit([[0.1]] * 3)
    np.testing.assert_array_equal(even.transform([[0.1], [1.1]]), [[0.0], [1.0]])
    drawn_in = TableEncoder(scaling="robust").fit([[1.0], [2.0], [3.0], [4.0]]).transform([[1e9], [-1e200]])
    np.testing.assert_allclose(drawn_in, [[3], [-3]])


def test_missing_values_and_categories_are_encoded():
    frame, signal = mixed_frame()
    fitted = MixtureOfExpertsRegressor(n_experts=2, random_state=0).fit(frame, signal)
    assert fitted.score(frame, signal) > 0.5
    many = pd.DataFrame({"id": [f"customer {i}" for i in range(100)]})
    fitted = MixtureOfExpertsRegressor(n_init=1, max_iter=2, random_state=0).fit(many, np.arange(100.0))
    assert len(fitted.gates_[0].coefficients) == 33
    marked = MixtureOfExpertsRegressor(n_init=1, max_iter=2, categorical_features=[0], random_state=0)
    assert len(marked.fit([[1], [2], [3]] * 5, np.arange(15.0)).gates_[0].coefficients) == 4


def test_restarts_and_iterations_are_reported():
    X, y = two_lines()
    events = []
    with receiving(events.append):
        fitted = MixtureOfExpertsRegressor(n_init=2, max_iter=3, tol=0.0, runner="serial").fit(X, y)
    assert {event.name for event in events} == {"MixtureOfExpertsRegressor"}
    restarts = [event for event in events if event.what == "restarts"]
    assert [(each.n_done, each.n_total) for each in restarts] == [(0, 2), (1, 2), (2, 2), (2, 2)]
    iterations = [each for each in events if each.what == "iterations" and each.within[-1] == "restart 1"]
    assert [each.n_done for each in iterations] == [0, 1, 2, 3, 3]
    assert iterations[-1].is_over and iterations[-1].is_limit
    # The score is the mean log-likelihood per row of the standardised y.
    last = (fitted.restart_log_likelihoods_ / len(y) + np.log(y.std())).tolist()
    assert iterations[-1].score == pytest.approx(last[1])


@pytest.mark.parametrize("runner", ["serial", "threads"])
def test_an_interrupted_fit_leaves_the_estimator_unchanged(runner):
    X, y = two_lines()
    fitted = MixtureOfExpertsRegressor(n_init=2, max_iter=3, random_state=0, runner=runner).fit(X, y)
    before = fitted.predict(X)

    def interrupt(event):
        if event.what == "restarts" and event.n_done == 1:
            raise KeyboardInterrupt

    with receiving(interrupt), pytest.raises(KeyboardInterrupt):
        fitted.fit(X, -y)
    np.testing.assert_array_equal(fitted.predict(X), before)


@pytest.mark.parametrize("runner", ["serial", "threads"])
def test_another_thread_can_stop_a_fit(runner):
    stop = threading.Event()
    stop.set()
    mixture = MixtureOfExpertsRegressor(runner=runner)
    with stopped_by(stop), pytest.raises(KeyboardInterrupt):
        mixture.fit(*two_lines())
    with pytest.raises(NotFittedError):
        mixture.gate([[1.0]])


def test_a_time_limit_ends_a_fit_with_the_best_model_so_far():
    with ended_after(0.0):
        fitted = MixtureOfExpertsRegressor(n_init=2).fit(*two_lines())
    assert fitted.n_iter_ == 1 and not fitted.converged_


def test_a_failing_expert_is_named_with_its_restart():
    class Failing(Ridge):
        """Ridge regression that cannot be fitted."""

        def fit(self, X, y, sample_weight=None):
            raise ValueError("Not today.")

    message = r"^Task 0, 'restart 0', failed. Expert 0, Failing, cannot be fitted. ValueError: Not today.$"
    with pytest.raises(ValueError, match=message):
        MixtureOfExpertsRegressor(Failing(), n_init=2).fit(*two_lines())


def test_a_failing_gate_and_a_failing_vote_are_named():
    class Silent(GaussianNB):
        """Naive Bayes that can be fitted but cannot predict."""

        def predict_proba(self, X):
            raise KeyError("column 3")

    X, y = two_lines()
    with pytest.raises(KeyError, match=r"restart 0', failed. Gate 0, Silent, cannot vote. KeyError: 'col"):
        MixtureOfExpertsRegressor(gate_estimator=Silent()).fit(X, y)
    with pytest.raises(KeyError, match=r"restart 0', failed. Expert 0, Silent, cannot vote. KeyError: '"):
        MixtureOfExpertsClassifier(Silent()).fit(X, y > np.median(y))


@pytest.mark.parametrize(
    ("mixture", "message"),
    [
        (
            MixtureOfExpertsClassifier(KNeighborsClassifier()),
            "The expert KNeighborsClassifier does not support sample_weight in fit, but EM weights rows. Use "
            "one that does, such as LogisticRegression.",
        ),
        (
            MixtureOfExpertsRegressor(KNeighborsRegressor()),
            "The expert KNeighborsRegressor does not support sample_weight in fit, but EM weights rows. Use "
            "one that does, such as Ridge.",
        ),
        (
            MixtureOfExpertsClassifier(make_pipeline(StandardScaler(), KNeighborsClassifier())),
            "The expert Pipeline does not support sample_weight in fit, but EM weights rows. Use one that "
            "does, such as LogisticRegression.",
        ),
        (
            MixtureOfExpertsRegressor(gate_estimator=LinearSVC()),
            "The gate LinearSVC has no predict_proba, but EM needs probabilities. Use one that has it, such "
            "as LogisticRegression.",
        ),
        (
            MixtureOfExpertsClassifier(gate_estimator=Ridge()),
            "The gate Ridge is not a classifier. Use one, such as LogisticRegression.",
        ),
        (
            MixtureOfExpertsRegressor(RandomForestClassifier()),
            "The expert RandomForestClassifier is not a regressor. Use one, such as Ridge.",
        ),
        (
            MixtureOfExpertsClassifier("logistic"),
            "estimator must be an estimator with fit and predict, or None. Got 'logistic'.",
        ),
        (MixtureOfExpertsClassifier(n_experts=0), "n_experts must be an integer >= 1. Got 0."),
        (
            MixtureOfExpertsClassifier(n_experts=6, branching=2),
            "n_experts must be a power of branching=2. Got 6. Set branching=None for one gate.",
        ),
        (MixtureOfExpertsClassifier(branching=1), "branching must be an integer >= 2 or None. Got 1."),
        (MixtureOfExpertsClassifier(gating="firm"), 'gating must be "soft" or "hard". Got \'firm\'.'),
        (MixtureOfExpertsClassifier(alpha=0), "alpha must be a number > 0. Got 0."),
    ],
)
def test_bad_parameters_raise_one_line_errors(mixture, message):
    with pytest.raises(ValueError) as caught:
        mixture.fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
    assert str(caught.value) == message


def test_huge_targets_and_bins_are_refused():
    with pytest.raises(ValueError, match=r"^y must be between .* Got 1e\+305\. Scale it\.$"):
        MixtureOfExpertsRegressor().fit([[0.0], [1.0]], [1e305, 0.0])
    with pytest.raises(TypeError, match="not on bins"):
        MixtureOfExpertsRegressor().fit(committee.table.bin_table([[0.0], [1.0]]), [0.0, 1.0])


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda mixture: mixture.estimators_.pop(), "gates do not lead to the experts"),
        (lambda mixture: mixture.gates_.clear(), "gates do not lead to the experts"),
        (
            lambda mixture: mixture.gates_[0].coefficients.fill(np.nan),
            "is not a finite number",
        ),
        (
            lambda mixture: mixture.estimators_.__setitem__(0, Ridge()),
            "a gate or an expert has no predict_proba",
        ),
        (
            lambda mixture: mixture.gates_[0].classes_.fill(9),
            "(?i)a gate or an expert was fitted on other classes",
        ),
        (
            lambda mixture: mixture.gates_[0].classes_.fill(1),
            "(?i)a gate or an expert was fitted on other classes",
        ),
        (lambda mixture: np.copyto(mixture.gates_[0].classes_, [1, 0, 2, 3]), "A gate leaves out a branch"),
        (lambda mixture: mixture.gates_[0].coefficients.fill(1e300), "A coefficient is too large"),
        (lambda mixture: setattr(mixture, "_branches", Branches(4, 3)), "gates do not lead to the experts"),
        (lambda mixture: setattr(mixture, "_encoder", TableEncoder()), "other columns"),
    ],
)
def test_a_damaged_file_is_refused(damage, message, tmp_path):
    X, y = quarters(n_rows=40)
    mixture = MixtureOfExpertsClassifier(n_init=1, max_iter=2, random_state=0).fit(X, y)
    damage(mixture)
    mixture.save(tmp_path / "m.committee")
    with pytest.raises(DamagedFile, match=message):
        committee.load(tmp_path / "m.committee")
    if message != "a gate or an expert has no predict_proba":
        with pytest.raises(DamagedFile):
            committee.predictor(tmp_path / "m.committee")
