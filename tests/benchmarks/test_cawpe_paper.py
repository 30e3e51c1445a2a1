"""The CAWPE paper's experiment: tables, members, scores and report, on generated rows."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from sklearn.datasets import load_iris, make_classification
from sklearn.linear_model import LinearRegression
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

import cawpe_paper
import cawpe_report
import paper_members
from weka_logistic import WekaLogistic
from weka_perceptron import WekaPerceptron


def rows_of(n_classes, n_rows=60):
    return make_classification(n_rows, 5, n_informative=4, n_redundant=0, n_classes=n_classes, random_state=0)


def test_every_class_is_split_into_two_disjoint_halves():
    y = np.repeat([0, 1, 2], [20, 7, 2])
    train, test = cawpe_paper.halves(y, seed=3)
    assert sorted([*train, *test]) == list(range(29))
    assert np.bincount(y[train]).tolist() == [10, 4, 1]
    assert not np.array_equal(train, cawpe_paper.halves(y, seed=4)[0])


def test_categories_are_numbered_in_order_of_appearance_and_missing_ones_are_0():
    frame = pd.DataFrame({"size": ["small", None, "big"], "same": [1, 1, 1], "rank": ["10", "2", None]})
    X = paper_members.coded(frame, "any")
    assert X.shape == (3, 2)
    assert np.allclose(X[:, 0], np.array([0, -1, 1]) * np.sqrt(1.5))
    assert X[:, 1].argsort().tolist() == [2, 1, 0]


@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_pairwise_machine_mostly_decides_like_its_binary_machines(n_classes):
    X, y = rows_of(n_classes)
    machine = paper_members.PairwiseSVM().fit(X, y)
    votes = machine.predict_proba(X)
    assert np.allclose(votes.sum(axis=1), 1)
    assert (machine.predict(X) == SVC(kernel="linear").fit(X, y).predict(X)).mean() >= 0.9


def test_coupling_recovers_the_class_probabilities_from_pairs():
    p = np.array([[0.6, 0.3, 0.1], [0.2, 0.2, 0.6]])
    first_wins = p[:, :, None] / (p[:, :, None] + p[:, None, :])
    counts = np.array([[0, 5, 7], [5, 0, 9], [7, 9, 0]])
    assert np.allclose(paper_members.coupled(first_wins, counts), p, atol=1e-3)


def test_the_number_of_neighbours_is_chosen_by_leave_one_out():
    X, y = rows_of(3, n_rows=12)
    chosen = paper_members.ChoosingNeighbours().fit(X, y)
    right = np.zeros(11)
    for row in range(12):
        others = np.delete(np.arange(12), row)
        near = others[np.linalg.norm(X[others] - X[row], axis=1).argsort()]
        right += [np.bincount(y[near[:k]]).argmax() == y[row] for k in range(1, 12)]
    assert chosen.n_neighbors_ == np.argmax(right) + 1
    assert (chosen.predict(X) == KNeighborsClassifier(chosen.n_neighbors_).fit(X, y).predict(X)).mean() > 0.9


def test_the_perceptron_learns_a_nonlinear_problem_reproducibly():
    X = np.array([[0.0, 0.0], [0.0, 9.0], [5.0, 0.0], [5.0, 9.0]] * 10)
    y = (X[:, 0] > 0) ^ (X[:, 1] > 0)
    votes = WekaPerceptron(4, random_state=1).fit(X, y).predict_proba(X)
    assert np.allclose(votes.sum(axis=1), 1)
    assert (votes.argmax(axis=1) == y).all()
    assert np.array_equal(WekaPerceptron(4, random_state=1).fit(X, y).predict_proba(X), votes)


def test_the_perceptron_follows_its_update_formula():
    """Train one hidden unit row by row with numpy."""
    X, y = rows_of(2, n_rows=12)
    fitted = WekaPerceptron(1, random_state=3).fit(X, y)
    rng = np.random.default_rng(3)
    order = rng.permutation(12)
    layers = [rng.uniform(-0.05, 0.05, shape) for shape in ((6, 1), (2, 2))]
    changes = [np.zeros_like(layer) for layer in layers]
    low, high = X.min(axis=0), X.max(axis=0)
    scaled = (X - (low + high) / 2) / ((high - low) / 2)
    for row in np.tile(order, 500):
        hidden = expit(layers[0][0] + scaled[row] @ layers[0][1:])
        output = expit(layers[1][0] + hidden @ layers[1][1:])
        slope = (np.eye(2)[y[row]] - output) * output * (1 - output)
        slope_before = layers[1][1:] @ slope * hidden * (1 - hidden)
        steps = np.outer([1, *scaled[row]], slope_before), np.outer([1, *hidden], slope)
        changes = [0.3 * step + 0.2 * change for step, change in zip(steps, changes, strict=True)]
        layers = [layer + change for layer, change in zip(layers, changes, strict=True)]
    assert np.allclose(fitted.hidden_, layers[0], rtol=1e-6)
    assert np.allclose(fitted.output_, layers[1], rtol=1e-6)


def test_the_logistic_regression_has_the_coefficients_of_weka():
    X, y = load_iris(return_X_y=True)
    X[34, 3], X[37, 1], X[37, 2] = 0.1, 3.1, 1.5  # the values in Weka's example table
    fitted = WekaLogistic().fit(X, y)
    slopes = fitted.coef_[1:] / fitted.deviation_[:, None]
    printed = [[21.8065, 2.4652], [4.5648, 6.6809], [-26.3083, -9.4293], [-43.887, -18.2859]]
    assert slopes == pytest.approx(np.array(printed), abs=6e-5)
    assert fitted.coef_[0] - fitted.mean_ @ slopes == pytest.approx([8.1743, 42.637], abs=6e-5)


def test_the_logistic_regression_ends_on_separable_classes():
    X, y = load_iris(return_X_y=True)
    fitted = WekaLogistic().fit(X[:100], y[:100])
    assert (fitted.predict(X[:100]) == y[:100]).all()
    assert np.isfinite(fitted.coef_).all()
    assert WekaLogistic().fit(X[:50], y[:50]).predict_proba(X[:2]).tolist() == [[1.0], [1.0]]


def test_the_papers_meta_learner_is_non_negative_least_squares():
    X, y = rows_of(3)
    regression = LinearRegression().fit(X, np.eye(3)[y]).predict(X).clip(0)
    votes = paper_members.MultiResponseRegression().fit(X, y).predict_proba(X)
    assert np.allclose(votes, regression / regression.sum(axis=1, keepdims=True), atol=1e-6)


def test_the_area_under_the_curve_matches_scikit_learn():
    votes, is_class = np.array([0.3, 0.1, 0.3, 0.8, 0.8, 0.2]), np.array([0, 0, 1, 1, 0, 1]) == 1
    assert cawpe_paper.area(votes, is_class) == pytest.approx(roc_auc_score(is_class, votes))


def test_scores_follow_the_formulas_of_the_paper():
    votes = np.array([[0.6, 0.4], [0.4, 0.6], [0.3, 0.7], [1.0, 0.0]])
    scores = cawpe_paper.score(votes, np.array([0, 0, 0, 1]))
    assert scores["error"] == 0.75
    assert scores["balanced_error"] == pytest.approx((2 / 3 + 1) / 2, abs=1e-6)
    assert scores["auc"] == 0
    # The probability of the last row is raised to 0.01.
    assert scores["nll"] == pytest.approx(-np.log2([0.6, 0.4, 0.3, 0.01]).mean(), abs=1e-6)


def test_one_run_scores_every_member_and_every_rule():
    X, y = rows_of(2, n_rows=30)
    run = cawpe_paper.measure(cawpe_paper.PAPER, "any", 0, pd.DataFrame(X), y)
    assert set(run["scores"]) == {*cawpe_report.COLUMNS, cawpe_report.BY_CLASS}


def make_runs(table, n_resamples, *, worse):
    """Return runs in which CAWPE has an error of a tenth and every other learner a little more."""
    return [
        {
            "members": cawpe_report.PAPER,
            "table": table,
            "resample": resample,
            "scores": {
                name: {
                    "error": 0.1 + worse * place,
                    "balanced_error": 0.1,
                    "auc": 0.9 - worse * place,
                    "nll": 1.0,
                }
                for place, name in enumerate([*cawpe_report.COLUMNS, cawpe_report.BY_CLASS])
            },
        }
        for resample in range(n_resamples)
    ]


def summary_of(runs):
    tables = pd.DataFrame({"cawpe_name": ["one", "two", "three"]}, index=["a", "b", "c"])
    means = pd.DataFrame(0.1, index=["one", "two", "three"], columns=list(cawpe_report.COLUMNS.values()))
    return cawpe_report.summarise(runs, tables, dict.fromkeys(cawpe_report.METRICS, means), 3)


def test_incomplete_tables_are_left_out_and_counted():
    runs = [
        *make_runs("a", 3, worse=0.001),
        *make_runs("b", 2, worse=0.5),
        *make_runs("elsewhere", 3, worse=0.5),
    ]
    summary = summary_of(runs)
    assert summary.tables == ["a"]
    assert "on 1 of the 3 open tables" in cawpe_report.scope(summary)


def test_targets_are_met_if_cawpe_is_best_and_means_are_close():
    runs = make_runs("a", 3, worse=0.0005) + make_runs("b", 3, worse=0.0005)
    verdicts = cawpe_report.verdicts_on(summary_of(runs))
    assert all(verdict["met"] for verdict in verdicts)
    assert len(verdicts) == 8


def test_a_mean_far_from_the_published_one_misses_its_target():
    verdicts = cawpe_report.verdicts_on(summary_of(make_runs("a", 3, worse=0.05)))
    assert [verdict["met"] for verdict in verdicts] == [True, True, True, *[False] * 5]


def test_the_page_explains_every_deviation():
    why = {"members": "", "means": "", "defaults": "", "tables": {"a": "Other rows."}}
    summary = summary_of(make_runs("a", 3, worse=0.05) + make_runs("b", 3, worse=0.05))
    page = cawpe_report.page_of(summary, why)
    assert "- **a**: logistic -0.300" in page
    assert "Other rows." in page
    assert page.count("Not explained yet.") == 1
