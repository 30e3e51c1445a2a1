"""Test the aggregates of a fit against scikit-learn and formulas, their size, and their files."""

import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.linear_model import LinearRegression
from sklearn.metrics import cohen_kappa_score, confusion_matrix
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import OneHotEncoder

import committee
from committee import CommitteeClassifier, CommitteeRegressor, DecisionTreeClassifier, VotingClassifier
from committee.assembling.fit_summary import (
    FINE,
    LEVELS,
    MOST_SCORES,
    DecisionSummary,
    FitSummary,
    TableSummary,
    ValueScores,
    bins_of,
    explained,
)
from committee.combining.rule_registry import as_rule
from committee.saving import DamagedFile, Fields
from committee.table import read
from committee.votes.honest_votes import HonestVotes

CELLS, KINDS = load_breast_cancer(return_X_y=True)
X, Y = load_iris(return_X_y=True)
MEMBERS = [("bayes", GaussianNB()), ("stump", DecisionTreeClassifier(max_depth=1))]
MEAN = as_rule("mean")


def summarised(votes, y, **given):
    honest = HonestVotes.of(votes, y, **given)
    return DecisionSummary.of(honest, MEAN.combine(honest.votes), MEAN)


@pytest.fixture(scope="module")
def cells():
    return CommitteeClassifier(["linear", "c45"], random_state=0, keep="all").fit(CELLS, KINDS)


def test_counts_of_two_classes_equal_those_of_scikit_learn():
    voting = VotingClassifier(MEMBERS, cv=5, random_state=0).fit(CELLS, KINDS)
    found = voting.fit_summary_.decisions.by_class
    shares = voting.honest_votes_.astype(float).mean(axis=0)[:, 1]
    np.testing.assert_array_equal(found.confusion(2), confusion_matrix(KINDS, shares > 0.5))
    for threshold in FINE:
        nearest, counts = found.at_threshold(threshold)
        assert nearest == threshold
        np.testing.assert_array_equal(counts, confusion_matrix(KINDS, shares >= threshold))
    nearest, counts = found.at_threshold(0.4312)
    assert nearest == 0.43
    means, rates, weights = found.calibration(1).T
    assert weights.sum() == len(KINDS)
    assert means @ weights == pytest.approx(shares.sum(), rel=1e-5)
    assert rates @ weights == pytest.approx(KINDS.sum())


def test_agreement_is_the_kappa_of_labels_or_the_correlation_of_errors():
    voting = VotingClassifier(MEMBERS, cv=5, random_state=0).fit(X, Y)
    labels = voting.honest_votes_.argmax(axis=2)
    decisions = voting.fit_summary_.decisions
    np.testing.assert_allclose(decisions.agreement[0, 1], cohen_kappa_score(*labels), rtol=1e-6)
    assert decisions.by_class.codes.tolist() == [0, 1, 2]
    rng = np.random.default_rng(0)
    y, votes = rng.normal(size=300), rng.normal(size=(3, 300, 1))
    expected = np.corrcoef(votes[:, :, 0] - y)
    np.testing.assert_allclose(summarised(votes, y).agreement, expected, rtol=1e-5)


def test_sets_by_the_adaptive_scores_cover_as_asked():
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.ones(4), 20_000)
    y = np.array([rng.choice(4, p=each) for each in shares])
    scores = summarised(shares[None, :10_000], y[:10_000]).conformity.sum(axis=1)
    assert len(scores) == MOST_SCORES and (np.diff(scores) >= -1e-6).all()
    limit = np.quantile(scores, 0.9, method="higher")
    order = np.argsort(-shares[10_000:], axis=1)
    sums = np.take_along_axis(shares[10_000:], order, axis=1).cumsum(axis=1)
    rank = (order == y[10_000:, None]).argmax(axis=1)
    assert (sums[np.arange(10_000), rank] <= limit).mean() == pytest.approx(0.9, abs=0.01)


def test_quantiles_of_stored_residuals_are_those_of_all_residuals():
    rng = np.random.default_rng(0)
    y = rng.gamma(2.0, size=30_000)
    votes = np.zeros((2, 30_000, 1))
    votes[1] = 1.0
    found = summarised(votes, y)
    levels = np.array([0.05, 0.5, 0.95])
    np.testing.assert_allclose(
        np.quantile(found.conformity[:, 0], levels), np.quantile(y - 0.5, levels), atol=0.01
    )
    assert (found.conformity[:, 1] == 0.5).all() and found.by_number.counts.sum() == 30_000


def test_a_group_counts_as_one_row():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(30), np.arange(1, 31))
    y = rng.normal(size=len(groups))
    found = summarised(np.zeros((1, len(y), 1)), y, groups=groups)
    assert found.n_units == 30 and found.weights.sum() == pytest.approx(30)
    assert found.weights[found.conformity[:, 0] == np.float32(y[0])] == 1.0


def test_values_of_columns_have_scores_of_their_own():
    rng = np.random.default_rng(0)
    n_rows = 4000
    values, flags = rng.integers(4, size=n_rows), rng.random(n_rows) < 0.3
    X = np.column_stack([values.astype(float), flags, rng.normal(size=n_rows)]).astype(object)
    X[:, 0] = np.array(["a", "b", "c", "d"])[values]
    X[:, 1] = flags
    X[:20, 0] = "rare"
    y = rng.normal(size=n_rows) * (1 + values)
    honest = HonestVotes.of(np.zeros((1, n_rows, 1)), y)
    table = read(X)
    found = ValueScores.of(table, honest, np.zeros((n_rows, 1)))
    names = [table.schema.columns[0].categories[code - 1] for code in found.codes[found.columns == 0]]
    assert names == ["a", "b", "c", "d"] and found.codes[found.columns == 1].tolist() == [1, 2]
    of_d = y[X[:, 0] == "d"]
    assert found.weights[3] == len(of_d) and found.losses[3] == pytest.approx((of_d**2).mean(), rel=1e-5)
    np.testing.assert_allclose(
        np.quantile(found.conformity[3, :, 0], [0.1, 0.5, 0.9]), np.quantile(of_d, [0.1, 0.5, 0.9]), atol=0.35
    )
    assert found.losses[5] == pytest.approx((y[flags] ** 2).mean(), rel=1e-5)


def test_the_association_is_the_share_of_variance_or_impurity_that_bins_explain():
    table, y = load_diabetes(return_X_y=True)
    bins = bins_of(table[:, 2], False)
    assert len(np.unique(bins)) == 10
    encoded = OneHotEncoder().fit_transform(bins[:, None])
    expected = LinearRegression().fit(encoded, y).score(encoded, y)
    assert explained(bins, y, 1) == pytest.approx(expected)
    shares = (
        LinearRegression().fit(encoded, np.eye(2)[(y > 140) * 1]).score(encoded, np.eye(2)[(y > 140) * 1])
    )
    assert explained(bins, (y > 140) * 1, 2) == pytest.approx(shares)


def test_of_a_wide_table_the_first_rows_are_summarised():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3000, 600)), rng.integers(2, size=3000)
    X[2000:] = np.nan
    found = TableSummary.of(read(X), y, 2)
    assert found.n_rows == 1666 and (found.missing == 0).all()
    assert found.association.max() < 0.05


def test_columns_are_summarised_without_rare_values():
    pd = pytest.importorskip("pandas")
    numbers = np.arange(200.0)
    numbers[:50] = np.nan
    names = ["rare"] + ["often"] * 120 + ["rarely"] * 2 + [None] * 77
    frame = pd.DataFrame({"size": numbers, "name": names, "flag": [True, False] * 100})
    y = np.arange(200) % 2
    table = read(frame)
    size, name, flag = FitSummary(table.schema, TableSummary.of(table, y, 2)).columns
    assert (size.name, size.kind, size.missing, size.frequent) == ("size", "number", 0.25, {})
    expected = np.quantile(numbers[50:], LEVELS, method="inverted_cdf")
    np.testing.assert_allclose(size.quantiles, expected, atol=0.1)
    assert name.frequent == {"often": 120, "rarely": 2} and name.quantiles is None
    assert name.missing == pytest.approx(77 / 200)
    assert flag.association == pytest.approx(1.0) and flag.kind == "boolean"


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_a_file_has_the_summary_and_no_honest_votes(task, tmp_path):
    if task == "classification":
        fitted = CommitteeClassifier(["linear", "c45"], random_state=0).fit(X, Y)
    else:
        fitted = CommitteeRegressor(["linear", "booster"], random_state=0).fit(
            *load_diabetes(return_X_y=True)
        )
    fitted.save(tmp_path / "m.committee")
    loaded = committee.load(tmp_path / "m.committee")
    assert loaded._honest is None
    first, second = (texts(each.fit_summary_.fields()) for each in (fitted, loaded))
    assert first == second and fitted.fit_summary_.decisions is not None
    assert [each.name for each in loaded.fit_summary_.columns] == list(loaded.schema_.names)
    loaded.save(tmp_path / "again.committee")
    assert (tmp_path / "again.committee").read_bytes() == (tmp_path / "m.committee").read_bytes()


def texts(fields):
    return json.dumps(fields, default=lambda array: [str(array.dtype), array.tolist()])


def test_the_summary_of_a_large_table_is_small():
    rng = np.random.default_rng(0)
    y = rng.integers(200, size=20_000)
    decisions = summarised(rng.dirichlet(np.ones(200), (2, 20_000)).astype(np.float32), y)
    table = TableSummary.of(read(rng.normal(size=(300, 2000))), y[:300], 200)
    codes = np.array(list("abcdefghij"), dtype=object)[rng.integers(10, size=(20_000, 20))]
    honest = HonestVotes.of(np.full((1, 20_000, 200), 0.005), y)
    values = ValueScores.of(read(codes), honest, honest.votes[0])
    assert len(values.codes) == 64
    given = FitSummary(None, table, replace(decisions, by_value=values)).fields()
    assert sum(array.nbytes for array in arrays_in(given)) < 120_000


def arrays_in(values):
    for each in values.values():
        if isinstance(each, dict):
            yield from arrays_in(each)
        elif isinstance(each, np.ndarray):
            yield each


def test_another_threshold_needs_no_fit(cells, tmp_path):
    cells.save(tmp_path / "m.committee")
    loaded = committee.load(tmp_path / "m.committee")
    loaded._honest = None
    shares = loaded.predict_proba(CELLS)[:, 1]
    careful = loaded.with_threshold(0.9)
    np.testing.assert_array_equal(careful.predict(CELLS), shares >= 0.9)
    np.testing.assert_array_equal(careful.with_threshold(0.2).predict(CELLS), shares >= 0.2)
    _, expected = cells.fit_summary_.decisions.by_class.at_threshold(0.9)
    np.testing.assert_array_equal(careful.fit_summary_.decisions.by_class.confusion(2), expected)
    careful.save(tmp_path / "careful.committee")
    again = committee.predictor(tmp_path / "careful.committee")
    np.testing.assert_allclose(again.predict_proba(CELLS[:5]), careful.predict_proba(CELLS[:5]), rtol=1e-6)
    assert loaded.threshold is None and careful.threshold == 0.9


def test_a_threshold_is_for_two_classes_that_are_not_tuned():
    flowers = CommitteeClassifier(["c45"], random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match="threshold is for two classes"):
        flowers.with_threshold(0.3)
    tuned = CommitteeClassifier(["c45"], scoring="f1_macro", tune_threshold=True, random_state=0)
    with pytest.raises(ValueError, match="were tuned for its metric"):
        tuned.fit(CELLS, KINDS).with_threshold(0.3)


def test_costs_decide_the_confusion_matrix_and_not_the_probabilities(cells):
    costly = CommitteeClassifier(["linear", "c45"], costs=[[0, 9], [1, 0]], random_state=0).fit(CELLS, KINDS)
    counts, plain = (each.fit_summary_.decisions.by_class for each in (costly, cells))
    np.testing.assert_allclose(counts.counts, plain.counts, atol=3)
    np.testing.assert_array_equal(counts.confusion(2), counts.at_threshold(0.9)[1])


def test_another_rule_has_another_summary(cells):
    other = cells.recombine("majority")
    shares = other.fit_summary_.decisions.by_class.counts.sum(axis=(0, 1))
    assert (
        np.count_nonzero(shares)
        <= 3
        < np.count_nonzero(cells.fit_summary_.decisions.by_class.counts.sum(axis=(0, 1)))
    )
    assert other.fit_summary_.table is cells.fit_summary_.table


@pytest.mark.parametrize(
    ("part", "name", "value"),
    [
        ("decisions", "agreement", np.zeros((3, 3), np.float32)),
        ("decisions", "by_class", None),
        ("table", "missing", np.zeros(1, np.float32)),
        ("table", "with_quantiles", np.full(30, 30, np.int32)),
    ],
)
def test_a_damaged_summary_is_refused(cells, part, name, value):
    given = cells.fit_summary_.fields()
    given[part] |= {name: value}
    with pytest.raises(DamagedFile):
        FitSummary.take(Fields(given, "summary"), cells.schema_, 2, 2)
