"""Test ranks, tests and cliques against Demsar's example, scipy and scikit-posthocs, and in edge cases."""

import numpy as np
import pytest
import scikit_posthocs
from demsar_table import AREAS, LEARNERS
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from committee.evaluating import Comparison, significance_tests
from committee.evaluating.significance_tests import cliques_of, rank_tables


@pytest.fixture
def demsar():
    return Comparison.of(list(AREAS.values()), LEARNERS, AREAS, metric="auc", more_is_better=True)


def losses_of(seed, n_tables=20, n_learners=5):
    return np.random.default_rng(seed).normal(np.arange(n_learners) / 3, size=(n_tables, n_learners))


def test_demsars_example_has_the_published_ranks_statistics_and_critical_difference(demsar):
    assert demsar.mean_ranks.round(3).tolist() == [3.143, 2.0, 2.893, 1.964]
    found = demsar.friedman()
    assert round(found.statistic, 2) == 9.28
    assert round(found.f_statistic, 2) == 3.69
    assert found.degrees == (3, 39)
    assert 0.01 < found.f_p_value < 0.05
    assert round(demsar.nemenyi().critical_difference, 2) == 1.25
    assert round(demsar.nemenyi(alpha=0.1).critical_difference, 2) == 1.12


def test_at_ten_percent_demsar_distinguishes_c45_from_the_two_with_m(demsar):
    found = demsar.nemenyi(alpha=0.1)
    apart = {tuple(np.array(LEARNERS)[[i, j]]) for i, j in np.argwhere(np.triu(found.p_values < 0.1))}
    assert apart == {("C4.5", "C4.5+m"), ("C4.5", "C4.5+m+cf")}


@pytest.mark.parametrize("seed", range(3))
def test_p_values_of_pairs_equal_those_of_scikit_posthocs(seed):
    losses = losses_of(seed)
    np.testing.assert_allclose(
        significance_tests.nemenyi(losses), scikit_posthocs.posthoc_nemenyi_friedman(losses)
    )
    corrected = scikit_posthocs.posthoc_wilcoxon(losses.T.tolist(), p_adjust="holm")
    np.testing.assert_allclose(significance_tests.wilcoxon_holm(losses), corrected)


@pytest.mark.parametrize("seed", range(3))
def test_without_ties_or_for_two_learners_results_equal_those_of_scipy(seed):
    losses = losses_of(seed)
    statistic, p_value = stats.friedmanchisquare(*losses.T)
    found = significance_tests.friedman(losses)
    np.testing.assert_allclose([found.statistic, found.p_value], [statistic, p_value])
    of_pair = stats.wilcoxon(losses[:, 0], losses[:, 1]).pvalue
    np.testing.assert_allclose(significance_tests.wilcoxon_holm(losses[:, :2])[0, 1], of_pair)


def test_learners_that_are_equal_on_every_table_do_not_differ():
    losses = np.column_stack([losses_of(0, n_learners=2)] * 2)
    found = Comparison.of(losses, "abcd").wilcoxon_holm()
    assert found.p_values[0, 2] == found.p_values[1, 3] == 1.0


def test_tables_that_agree_on_all_ranks_have_an_infinite_f():
    found = significance_tests.friedman(np.tile([0.1, 0.2, 0.3], (5, 1)))
    assert found.statistic == 10.0 and found.f_statistic == np.inf and found.f_p_value == 0.0


def test_more_is_better_reverses_the_ranks(demsar):
    worse = Comparison.of(demsar.scores, LEARNERS)
    np.testing.assert_allclose(worse.mean_ranks, 5 - demsar.mean_ranks)


def test_numbers_that_differ_in_their_last_digits_are_equal():
    assert rank_tables(np.array([[0.1 + 0.2, 0.3]])).tolist() == [[1.5, 1.5]]


def test_wins_ties_and_losses_of_a_pair_sum_to_the_tables(demsar):
    assert demsar.wins.of_pair("C4.5", "C4.5+m") == (2, 2, 10)
    assert (demsar.wins.wins + demsar.wins.ties + demsar.wins.losses == len(AREAS)).all()


@given(st.integers(0, 10_000))
def test_cliques_by_nemenyi_never_contradict_the_ranks(seed):
    assert not Comparison.of(losses_of(seed, 8, 6), "abcdef").nemenyi().contradictions()


@given(st.integers(0, 10_000))
def test_cliques_are_maximal_and_cover_every_pair_without_a_significant_difference(seed):
    rng = np.random.default_rng(seed)
    apart = np.triu(rng.random((6, 6)) < 0.5, 1)
    apart |= apart.T
    ranks = rng.permutation(6) + 1.0
    cliques = [set(each.members) for each in cliques_of(ranks, apart)]
    for each in cliques:
        assert not apart[np.ix_(list(each), list(each))].any()
        assert all(apart[other, list(each)].any() for other in set(range(6)) - each)
    for first, second in np.argwhere(np.triu(~apart, 1)):
        assert any({first, second} <= each for each in cliques)


def test_a_clique_that_contradicts_the_ranks_is_reported_with_the_skipped_learners():
    # b is always slightly worse than a. c is mostly worse than both, but much better on some tables.
    a = np.linspace(0.1, 0.4, 20)
    b = a + np.linspace(0.01, 0.02, 20)
    c = a + np.where(np.arange(20) % 4, 0.1, -0.5) * np.linspace(1, 1.2, 20)
    found = Comparison.of(np.column_stack([a, b, c]), "abc").wilcoxon_holm()
    assert found.contradictions() == [(["a", "c"], ["b"])]


def test_the_bayesian_test_distinguishes_better_and_equal_learners():
    rng = np.random.default_rng(0)
    losses = rng.random(30)
    better = significance_tests.bayesian_signed_rank(losses, losses + 0.05, rope=0.01)
    assert better.first > 0.99 and better.second < 0.01
    equal = significance_tests.bayesian_signed_rank(
        losses, losses + rng.normal(scale=0.001, size=30), rope=0.01
    )
    assert equal.equal > 0.99
    assert np.isclose(better.first + better.equal + better.second, 1.0)
    turned = significance_tests.bayesian_signed_rank(losses + 0.05, losses, rope=0.01)
    assert np.isclose(turned.second, better.first, atol=0.01)


def test_one_table_outweighs_the_pseudo_table_with_the_probability_of_its_prior():
    # The share of the pseudo-table follows Beta(1/2, 1). It wins if the square of its share exceeds 1/2. The
    # probability of this is 1 - 0.5 ** 0.25.
    found = significance_tests.bayesian_signed_rank(np.array([0.3]), np.array([0.2]), rope=0.01)
    assert found.first == 0.0
    np.testing.assert_allclose([found.equal, found.second], [0.1591, 0.8409], atol=0.01)


def test_the_corrected_t_increases_the_variance_by_the_share_of_test_rows():
    rng = np.random.default_rng(0)
    losses, others = rng.random(10), rng.random(10)
    plain = stats.ttest_rel(losses, others)
    uncorrected = significance_tests.corrected_resampled_t(losses, others, test_ratio=0.0)
    np.testing.assert_allclose([uncorrected.statistic, uncorrected.p_value], [plain.statistic, plain.pvalue])
    corrected = significance_tests.corrected_resampled_t(losses, others, test_ratio=1.0)
    np.testing.assert_allclose(corrected.statistic, plain.statistic * np.sqrt(0.1 / 1.1))


def test_resamples_without_any_difference_have_the_p_value_1():
    found = significance_tests.corrected_resampled_t(np.ones(5), np.ones(5), 1.0)
    assert (found.statistic, found.p_value) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Comparison.of([[1.0, 2.0]], "ab").friedman(), "two learners.*Got 2 and 1"),
        (lambda: Comparison.of([[1.0, 2.0]], "abc"), "a column for each of the 3 learners"),
        (lambda: Comparison.of([[1.0, np.nan]], "ab"), "must be finite numbers"),
        (lambda: Comparison.of([[1.0, 2.0]], "aa"), "Two learners of a comparison are named 'a'. Pass uni"),
        (lambda: Comparison.of([[1.0, 2.0]], "ab").only("bb"), "Two learners of a comparison are named 'b'"),
        (lambda: Comparison.of([[1.0, 2.0]], "ab").place("c"), "no learner 'c'. There are a, b"),
        (lambda: Comparison.of([[1.0, 2.0]] * 3, "ab").nemenyi(alpha=5), "alpha must be a number between"),
        (lambda: Comparison.of([[1.0, 2.0]] * 3, "ab").bayesian("a", "b", rope=-1), "rope must be"),
    ],
)
def test_a_comparison_of_invalid_input_raises_an_error(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_the_resampled_t_test_without_resamples_raises_an_error():
    compared = Comparison.of([[0.1, 0.2], [0.3, 0.3]], ["a", "b"])
    with pytest.raises(ValueError, match="test needs the scores of resamples"):
        compared.resampled_t("a", "b")


def test_the_representation_of_a_comparison_is_its_rank_table():
    compared = Comparison.of(list(AREAS.values()), LEARNERS, AREAS, metric="AUC", more_is_better=True)
    lines = repr(compared).splitlines()
    assert lines[0] == f"Comparison: {len(LEARNERS)} learners on {len(AREAS)} tables by AUC"
    order = np.argsort(compared.mean_ranks)
    for line, place in zip(lines[2:], order, strict=True):
        assert line.startswith(compared.learners[place])
        assert f"{compared.mean_ranks[place]:.3f}" in line
    many = Comparison.of(np.arange(200.0).reshape(2, 100), [f"learner {i}" for i in range(100)])
    assert len(repr(many).splitlines()) <= 24 and repr(many).endswith("and 80 more")


def test_short_names_of_added_rules_stay_different():
    names = ["tree", "greedy(a+b+c)", "greedy(a+b+d)", "mean(a+b+c+d)", "mean(a+b)"]
    compared = Comparison.of(np.eye(5), names).with_short_names()
    assert compared.learners == ("tree", *names[1:3], "mean of 4", "mean(a+b)")
