"""Test that studies resume and compare, and that results do not depend on the runner."""

import sqlite3

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.decomposition import PCA
from sklearn.metrics import make_scorer
from study_cases import Failing, Slow, content, small_learners, small_tables

from committee import (
    DecisionStumpRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    RandomForestClassifier,
    rules,
    running,
)
from committee.evaluating import Study, known_learners, score
from committee.evaluating.study.cell import Outcome, StudyCell
from committee.evaluating.study.named_learners import LEARNERS, learner_named, learners_of
from committee.evaluating.study.results import USUAL
from committee.metrics import METRICS
from committee.saving import DamagedFile
from committee.votes.folds import drawn_share


def small_study(folder=None, **given):
    settings = {"learners": small_learners(), "tables": small_tables(), "resamples": 2, "cv": 2}
    return Study(**(settings | given), folder=folder)


def test_all_cells_are_run_and_scored():
    found = small_study().run().results("pandas")
    assert len(found) == 3 * 2 * 2 * 5
    assert set(found["scoring"]) == set(USUAL["classification"])
    assert found["score"].notna().all() and (found["fit_seconds"] > 0).all()


@pytest.mark.parametrize("runner", ["threads", "processes"])
def test_the_store_does_not_depend_on_the_runner(runner):
    assert content(small_study().run(runner=runner, n_jobs=2)) == content(small_study().run())


def test_a_cell_in_a_separate_process_gives_the_same_votes():
    limited = small_study(time_limit=100.0).run()
    assert content(limited) == content(small_study().run())


def test_scores_are_computed_from_the_stored_votes():
    study = small_study().run()
    votes, honest, is_test = study.votes("tree", "three", 1)
    y = small_tables()["three"][1]
    assert votes.shape == (is_test.sum(), 3) and honest.shape == ((~is_test).sum(), 3)
    row = study.results("pandas").query("learner == 'tree' and table == 'three' and resample == 1")
    scores = row.set_index("scoring")["score"]
    for metric in scores.index:
        assert scores[metric] == pytest.approx(score(y[is_test], votes, scoring=metric), rel=1e-6)


def test_votes_come_from_a_fit_on_the_training_rows():
    X, y = small_tables()["two"]
    votes, _, is_test = small_study().run().votes("tree", "two", 0)
    model = DecisionTreeClassifier(max_depth=3).fit(X[~is_test], y[~is_test])
    np.testing.assert_allclose(votes, model.predict_proba(X[is_test]), atol=1e-6)


def test_a_second_run_runs_no_cell(tmp_path):
    small_study(tmp_path).run()
    before = content(small_study(tmp_path))
    events = []
    with running.receiving(events.append):
        small_study(tmp_path).run()
    assert (events[0].n_done, events[0].n_total) == (12, 12)
    assert content(small_study(tmp_path)) == before


def test_learners_tables_and_resamples_can_be_added_later(tmp_path):
    tables = small_tables()
    small_study(tmp_path, learners=["tree"], tables={"two": tables["two"]}, resamples=1).run()
    small_study(tmp_path, learners=["tree", "bayes"], tables=tables, resamples=2).run()
    whole = small_study(learners=["tree", "bayes"], tables=tables, resamples=2).run()
    assert content(Study.open(tmp_path)) == content(whole)


def test_progress_includes_an_estimate_of_the_remaining_time():
    events = []
    with running.receiving(events.append):
        small_study().run()
    cells = [event for event in events if event.what == "cells"]
    assert [event.n_done for event in cells] == [*range(13), 12]
    assert all(event.seconds_left is not None for event in cells[1:-2])
    assert cells[1].part == "stump on two, resample 0"


def test_the_remaining_time_includes_the_folds_of_honest_votes():
    events = []
    with running.receiving(events.append):
        study = small_study(learners={"slow": Slow()}, tables={"two": small_tables()["two"]}, cv=3).run()
    ((fit, predict, whole), _) = (seconds for _, seconds in sorted(study.store.finished().items()))
    first = next(event for event in events if event.what == "cells" and event.n_done == 1)
    # The estimate for the other resample is the time of this one.
    assert first.seconds_left == whole > fit + predict


def test_an_interrupted_study_keeps_finished_cells_and_resumes(tmp_path):
    def stop(event):
        if event.n_done == 5:
            raise KeyboardInterrupt

    with running.receiving(stop), pytest.raises(KeyboardInterrupt):
        small_study(tmp_path).run()
    study = small_study(tmp_path)
    assert len(study.store.finished()) == 5
    assert content(study.run()) == content(small_study().run())


def test_a_failure_is_stored_with_its_traceback_and_does_not_stop_other_cells():
    study = small_study(learners=small_learners() | {"failing": Failing()}).run()
    assert study.failures("polars").columns == ["learner", "table", "resample", "error"]
    failures = study.failures("polars", traces=True)
    assert failures["error"].unique().to_list() == ["ValueError: I cannot learn this."]
    assert "in fit" in failures["trace"][0]
    assert len(failures) == 4 and len(study.store.finished()) == 12
    assert study.compare("accuracy").learners == ("stump", "tree", "forest")


def test_retry_failed_runs_failed_cells_again(tmp_path):
    small_study(tmp_path, learners={"slow": Slow(), "failing": Failing()}).run()
    study = small_study(tmp_path, learners={"slow": Slow(), "failing": Failing()})
    with running.receiving(lambda event: None):
        assert len(study.run().store.failures()) == 4
    repaired = small_study(tmp_path, learners={"slow": Slow()})
    repaired.store.query("UPDATE cells SET error = 'TimeLimitError: slow', trace = '' WHERE learner = 'slow'")
    assert len(repaired.run().store.failures()) == 8
    assert len(repaired.run(retry_failed=True).store.failures()) == 4


@pytest.mark.parametrize("runner", ["serial", "threads"])
def test_a_cell_that_exceeds_its_time_limit_is_ended_and_the_next_one_runs(runner, tmp_path):
    slow = small_study(tmp_path, learners={"slow": Slow(1000.0)}, resamples=1, cv=None, time_limit=0.1)
    slow.run(runner=runner)
    assert slow.failures("pandas")["error"].str.contains("took longer than 0.1 s").tolist() == [True] * 2
    quick = small_study(
        tmp_path, learners={"slow": Slow(1000.0), "tree": DecisionTreeClassifier()}, resamples=1, cv=None
    )
    assert {cell.learner for cell in quick.run(runner=runner).store.finished()} == {"tree"}


def test_a_rule_can_be_added_without_training():
    study = small_study().run()
    study.add_rule("cawpe", ["stump", "tree", "forest"]).add_rule("mean", ["stump", "tree"], name="mean")
    assert study.compare("accuracy").learners == (*small_learners(), "cawpe(stump+tree+forest)", "mean")
    members = [study.votes(name, "two", 1) for name in small_learners()]
    y, is_test = small_tables()["two"][1], members[0][2]
    honest = np.stack([each[1] for each in members])
    has_vote = np.isfinite(honest).all(axis=(0, 2))
    rule = rules.CAWPERule().fit(honest[:, has_vote], y[~is_test][has_vote])
    expected = rule.combine(np.stack([each[0] for each in members]))
    np.testing.assert_allclose(study.votes("cawpe(stump+tree+forest)", "two", 1)[0], expected, atol=1e-6)


def test_the_fit_time_of_a_rule_that_needs_a_fit_includes_the_folds_of_its_members():
    study = small_study().run()
    study.store.query("UPDATE cells SET fit_seconds = 100, predict_seconds = 10, seconds = 500")
    study.add_rule("cawpe", ["stump", "tree"]).add_rule("mean", ["stump", "tree"])
    seconds = {cell.learner: tuple(map(int, each)) for cell, each in study.store.finished().items()}
    assert seconds["cawpe(stump+tree)"] == (980, 20, 1000)
    assert seconds["mean(stump+tree)"] == (200, 20, 1000)


def test_add_rule_is_reproducible_and_does_not_change_the_rule():
    rule = rules.StackingRule(RandomForestClassifier(n_estimators=3))
    studies = [small_study().run().add_rule(rule, ["stump", "tree"], name="stacked") for _ in range(2)]
    assert not hasattr(rule, "n_members_")
    assert content(studies[0]) == content(studies[1])


def test_a_metric_can_be_added_without_training():
    study = small_study(scoring=["accuracy"]).run()
    assert set(study.results("pandas")["scoring"]) == {"accuracy"}
    assert study.compare("neg_log_loss").metric == "log loss"
    assert study.compare("f1_macro").more_is_better


def test_an_opened_study_has_the_metrics_of_its_last_run(tmp_path):
    small_study(
        tmp_path, scoring=["neg_brier_score", share_of_first, METRICS["roc_auc_ovr_weighted"]]
    ).run().close()
    for _ in range(2):
        with Study.open(tmp_path) as study:
            assert study.scoring == ["neg_brier_score", "roc_auc_ovr_weighted"]
            assert set(study.results("pandas")["scoring"]) == {"neg_brier_score", "roc_auc_ovr_weighted"}
            assert study.compare().scoring == "neg_brier_score"


def share_of_first(y, decision, weights):
    return float(decision[:, 0].mean())


def test_scores_of_a_function_are_not_used_for_another_of_the_same_name(tmp_path):
    small_study(tmp_path, scoring=[share_of_first]).run().close()
    with Study.open(tmp_path) as study:
        assert not study.store.scores()
        zeros = study.compare(lambda y, decision, weights: 0.0).scores
        ones = study.compare(lambda y, decision, weights: 1.0).scores
        assert (zeros == 0).all() and (ones == 1).all()
        found = study.compare(make_scorer(lambda y, answers: 0.5)).scores
        assert (found == 0.5).all()
        # Scores of named metrics are stored.
        study.compare("f1_macro")
        assert {metric for _, metric in study.store.scores()} == {"f1_macro"}


def test_scores_of_functions_are_in_the_results():
    found = small_study(scoring=["accuracy", share_of_first]).run().results("pandas")
    assert set(found["scoring"]) == {"accuracy", "share_of_first"}


def test_a_failing_metric_does_not_lose_cells():
    def failing(y, decision, weights):
        raise ZeroDivisionError("I cannot.")

    study = small_study(scoring=[failing]).run()
    assert len(study.store.finished()) == 12
    with pytest.raises(ValueError, match=r"The metric failing fails\. ZeroDivisionError: I cannot\."):
        study.results()
    assert study.compare("accuracy").scores.shape == (2, 3)


def test_a_later_failure_in_another_process_does_not_replace_a_finished_cell(tmp_path):
    study, late = small_study(tmp_path).run(), Study.open(tmp_path)
    before, cell = content(study), StudyCell(0, "two", "tree")
    late.store.keep(cell, Outcome.failed(ValueError("too late")), [("accuracy", 9.0)], np.dtype("<f4"))
    assert content(study) == before and cell not in study.store.failures()


def test_a_new_failure_replaces_a_failure():
    study = small_study(learners={"failing": Failing()}).run()
    cell = StudyCell(0, "two", "failing")
    study.store.keep(cell, Outcome.failed(ValueError("another reason")), [], np.dtype("<f4"))
    assert "another reason" in study.store.failures()[cell][0]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"tables": small_tables() | {"a": ([[1.0], [2.0]], [0, 1])}}, "Table 'a' has 2 rows"),
        ({"scoring": ["acuracy"]}, "There is no metric 'acuracy'"),
    ],
)
def test_a_study_with_invalid_parameters_creates_no_folder(tmp_path, given, message):
    with pytest.raises(ValueError, match=message):
        small_study(tmp_path / "new", **given)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"learners": {"tree": Slow()}}, "Learner 'tree' of the study is .* Give it another name"),
        ({"tables": {"two": small_tables()["three"]}}, "Table 'two' is not the table of this name"),
        ({"test_size": 0.3}, "has test_size=0.5, and this one 0.3. Pass .* with Study.open"),
    ],
)
def test_resuming_a_study_with_different_settings_raises_an_error(tmp_path, given, message):
    small_study(tmp_path).close()
    with pytest.raises(ValueError, match=message):
        small_study(tmp_path, **given)


def test_a_study_of_both_tasks_runs_each_learner_on_the_tables_of_its_task():
    tables = small_tables() | {"diabetes": load_diabetes(return_X_y=True)}
    tables["diabetes"] = (*tables["diabetes"], "regression")
    study = Study(["tree", "c45"], tables, resamples=1, cv=None).run()
    assert not study.store.failures()
    regression = study.compare("neg_root_mean_squared_error")
    assert regression.tables == ("diabetes",) and regression.learners == ("tree",)
    assert study.compare("accuracy").learners == ("tree", "c45")
    with pytest.raises(ValueError, match="Pass scoring, the name of a metric"):
        study.compare()


def test_regression_scores_are_divided_by_the_standard_deviation_of_y():
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = X[:, 0] + 0.5 * X[:, 1]
    learners = {"stump": DecisionStumpRegressor(), "tree": DecisionTreeRegressor(max_depth=4)}
    scales = {"metres": 1.0, "atoms": 1e-12, "stars": 1e12}
    tables = {name: (X, y * scale, "regression") for name, scale in scales.items()}
    study = Study(learners, tables, resamples=3, cv=None).run()
    for metric, power in (
        ("neg_root_mean_squared_error", 1),
        ("neg_mean_absolute_error", 1),
        ("neg_mean_squared_error", 2),
    ):
        compared = study.compare(metric)
        np.testing.assert_allclose(compared.scales, [(y.std() * each) ** power for each in scales.values()])
        np.testing.assert_allclose(compared.losses, compared.losses[[0, 0, 0]], rtol=1e-9)
        assert compared.ranks.tolist() == [compared.ranks[0].tolist()] * 3 != [[1.5, 1.5]] * 3
        assert compared.bayesian("stump", "tree").second > 0.9
        assert len({round(each.statistic, 6) for each in compared.resampled_t("stump", "tree").values()}) == 1
        assert compared.measure.endswith(" in deviations of y" if power == 1 else " in variances of y")
    assert study.compare("r2").scales == () == study.compare(share_of_first).scales
    assert study.compare("r2").measure == "R2"


def test_compare_without_finished_cells_raises_an_error():
    with pytest.raises(ValueError, match="There is nothing to compare by 'accuracy': no cell of a table"):
        small_study().compare("accuracy")


def test_a_resumed_study_may_have_metrics_for_its_earlier_tables(tmp_path):
    numbers = (*load_diabetes(return_X_y=True), "regression")
    small_study(tmp_path, learners=["tree"], tables={"diabetes": numbers}).close()
    study = small_study(tmp_path, learners=["tree"], scoring=["accuracy", "neg_root_mean_squared_error"])
    assert list(study.store.tables()) == ["diabetes", "two", "three"]


def test_tables_that_a_learner_has_not_finished_are_left_out_with_a_reason():
    study = small_study().run()
    study.store.query("UPDATE cells SET error = 'E: e' WHERE learner = 'tree' AND table_name = 'two'")
    compared = study.compare("accuracy")
    assert compared.tables == ("three",) and compared.left_out == {"two": "not finished by tree"}


def test_tables_of_too_many_classes_for_a_metric_are_left_out_with_a_reason():
    study = small_study().run()
    compared = study.compare("f1")
    assert compared.tables == ("two",)
    assert compared.left_out == {"three": "it has 3 classes, for which there is 'f1_macro'"}
    assert "left out: three" in repr(compared)
    assert [each.tables for each in study.comparisons(["f1"])] == [("two",)]
    alone = small_study(tables={"three": small_tables()["three"]}).run()
    with pytest.raises(ValueError, match=r"No table is left to compare by 'f1'\. three: it has 3 classes"):
        alone.compare("f1")


def test_an_unknown_metric_of_a_study_of_both_tasks_is_named():
    tables = {"two": small_tables()["two"], "diabetes": (*load_diabetes(return_X_y=True), "regression")}
    study = Study(["tree"], tables, resamples=1, cv=None).run()
    with pytest.raises(ValueError, match="'rmse' is now 'neg_root_mean_squared_error'"):
        study.compare("rmse")


def test_resampled_t_tests_the_resamples_of_each_table():
    compared = small_study(resamples=3).run().compare("neg_log_loss")
    found = compared.resampled_t("stump", "tree")
    assert set(found) == {"two", "three"} and found["two"].n_resamples == 3


@pytest.mark.parametrize(
    ("backend", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame), ("pyarrow", pa.Table)]
)
def test_results_are_a_frame_of_the_requested_library(backend, kind):
    assert isinstance(small_study().run().results(backend), kind)


def test_tables_may_be_frames_with_categories_and_missing_values():
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"size": rng.normal(size=60), "colour": ["red", None, "blue"] * 20})
    y = np.where(frame["size"].to_numpy() > 0, "yes", "no")
    study = Study(["rf", "linear"], {"frame": (frame, y)}, resamples=1, cv=2).run()
    assert not study.store.failures()


@pytest.mark.parametrize("resample", range(3))
def test_a_resample_tests_on_half_of_each_class_and_trains_on_every_class(resample):
    y = np.repeat([0, 1, 2, 3], [10, 7, 2, 1])
    masks = [drawn_share(y, 0.5, np.random.default_rng(seed)) for seed in (resample, resample + 1)]
    assert np.bincount(y, weights=masks[0]).tolist() == [5, 3, 1, 0]
    assert not np.array_equal(*masks)


def test_every_named_learner_can_be_made_for_its_tasks():
    X, y = load_iris(return_X_y=True)
    heavy = {"auto", "catboost", "lightgbm", "xgboost"}
    for name in known_learners().keys() - heavy:
        for task, estimator in learner_named(name).estimators.items():
            assert estimator.get_params() is not None, task
    assert {"rf", "cawpe", "svm"} <= known_learners().keys() <= LEARNERS.keys()
    study = Study(["bayes", "lda", "svm", "knn", "mlp", "linear"], {"iris": (X, y)}, resamples=1, cv=None)
    assert not study.run().store.failures()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"learners": ["forrest"]}, "no learner 'forrest'. There are rf"),
        ({"learners": "rf"}, "must be a list of names"),
        ({"learners": ["rf", "rf"]}, "Two learners are named 'rf'"),
        ({"learners": [("a", 3)]}, "A learner is a short name"),
        ({"tables": {"a": 3}}, "Table 'a': it must be"),
        ({"tables": {"a": ([[1.0]] * 9, [1] * 9)}}, "Table 'a' has one class, 1"),
        ({"tables": {"a": ([[1.0], [2.0]], [0, 1])}}, "2 rows. It needs at least 4"),
        ({"tables": {"a": ([[1.0]], [0, 1])}}, "Table 'a': "),
        ({"tables": [3]}, "tables must be a dict"),
        ({"resamples": 0}, "resamples must be"),
        ({"resamples": [1, 1]}, "resamples must be"),
        ({"test_size": 1.0}, "test_size must be"),
        ({"test_size": "a"}, "test_size must be"),
        ({"scoring": []}, r"scoring must be a list of at least one metric, or None. Got \[\]"),
        ({"scoring": "accuracy"}, "scoring must be a list of at least one metric, or None. Got 'acc"),
        ({"scoring": ["acuracy"]}, "There is no metric 'acuracy'"),
        (
            {"scoring": ["accuracy", "r2"]},
            "No table suits the metric 'r2'. Remove it, or use one of accuracy",
        ),
        ({"scoring": ["error"]}, "'error' is now 'accuracy'"),
        ({"scoring": [lambda *_: 0.0, lambda *_: 1.0]}, "Two metrics are named '<lambda>'"),
        ({"cv": 1}, "cv must be"),
        ({"time_limit": 0}, "time_limit must be"),
        ({"time_limit": "a"}, "time_limit must be"),
    ],
)
def test_invalid_input_raises_an_error_of_one_line_before_any_work(given, message):
    with pytest.raises(ValueError, match=message) as raised:
        small_study(**given)
    assert "\n" not in str(raised.value)


def test_add_rule_raises_an_error_for_an_unsuitable_rule_or_unknown_members():
    study = small_study(cv=None).run()
    for rule, message in (("cawpe", "its cv is None"), ("dynamic", "uses the columns of X")):
        with pytest.raises(ValueError, match=message):
            study.add_rule(rule, ["stump", "tree"])
    with pytest.raises(ValueError, match="no learner 'oak'"):
        study.add_rule("mean", ["oak"])
    with pytest.raises(ValueError, match="members must be at least one learner"):
        study.add_rule("mean", [])


@pytest.mark.parametrize("learners", [[], ["tree", "tree"]])
def test_compare_raises_an_error_for_no_learners_or_repeated_learners(learners):
    with pytest.raises(ValueError, match="learners must be names without repetition, or None"):
        small_study(cv=None).run().compare("accuracy", learners=learners)


def test_opening_a_folder_or_file_that_is_not_a_study_raises_an_error(tmp_path):
    with pytest.raises(FileNotFoundError, match="no study in the folder"):
        Study.open(tmp_path)
    (tmp_path / "study.sqlite").write_bytes(b"something else" * 100)
    with pytest.raises(DamagedFile, match="is not a study"):
        Study.open(tmp_path)


def test_a_store_of_a_newer_version_raises_an_error(tmp_path):
    small_study(tmp_path).close()
    with sqlite3.connect(tmp_path / "study.sqlite") as connection:
        connection.execute("UPDATE facts SET value = '99' WHERE name = 'version'")
    connection.close()
    with pytest.raises(DamagedFile, match="version 99"):
        Study.open(tmp_path)


def test_a_full_disk_raises_an_error_and_loses_nothing(tmp_path):
    study = small_study(tmp_path).run()
    before = content(study)
    study.store.query("PRAGMA max_page_count = 1")
    with pytest.raises(OSError, match="disk is full"):
        study.store.set_fact("note", "x" * 1_000_000)
    assert content(study) == before


def test_a_learner_that_is_neither_classifier_nor_regressor_raises_an_error():
    with pytest.raises(ValueError, match="neither a classifier nor a regressor"):
        learners_of([("axes", PCA())])


def test_the_task_of_a_table_is_inferred_as_by_fit_and_printed(capfd):
    X, y = load_diabetes(return_X_y=True)
    tables = {
        "diabetes": (X, y),
        "iris": load_iris(return_X_y=True),
        "forced": (X, y > 150, "classification"),
    }
    study = Study(["tree"], tables, resamples=1, cv=None)
    assert study.tasks == {"diabetes": "regression", "iris": "classification", "forced": "classification"}
    study.run(verbose=1)
    assert (
        "committee: tables for classification: iris, forced; for regression: diabetes\n"
        in capfd.readouterr().err
    )
    assert study.compare("neg_root_mean_squared_error").tables == ("diabetes",)


def test_the_representation_of_a_study_counts_its_cells(tmp_path):
    study = small_study()
    n_cells = len(study._cells())
    assert repr(study).endswith(f"0 of {n_cells} cells, in memory)")
    study.run()
    assert f"{n_cells} of {n_cells} cells" in repr(study) and len(repr(study)) < 100


def test_a_metric_without_a_value_on_any_table_is_an_error_with_the_reasons():
    X, y = load_iris(return_X_y=True)
    table = X[y < 2], np.array(["no", "yes"])[y[y < 2]]
    study = Study(["tree", "bayes"], {"two": table}, resamples=1, cv=None).run()
    with pytest.raises(
        ValueError, match=r"No table is left to compare by 'f1'.+two: the metric has no value"
    ):
        study.compare("f1")
    assert study.compare("f1_macro").tables == ("two",)
