"""Test `committee compare`."""

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from committee.cli.console import known_learners
from committee.evaluating import Study
from committee.running.process_runner import ProcessRunner


@pytest.fixture(scope="module", autouse=True)
def shared_workers():
    """Run all studies in the same worker process, because its start takes longer than a study."""
    run = Study.run

    def run_here(study, *, runner, n_jobs, **options):
        assert (runner, n_jobs) == ("processes", 1)
        return run(study, runner=workers, **options)

    with ProcessRunner(1) as workers, pytest.MonkeyPatch.context() as patch:
        patch.setattr(Study, "run", run_here)
        yield


@pytest.fixture
def tables(folder):
    """Write two tables to a folder. The last column of each is its target."""
    place = folder / "tables"
    place.mkdir()
    for number, name in enumerate(("small", "large")):
        X = np.random.default_rng(number).normal(size=(40, 3)).round(3)
        columns = {letter: column for letter, column in zip("abc", X.T, strict=True)}
        columns["kind"] = np.where(X[:, 0] > 0, "yes", "no").tolist()
        pa.csv.write_csv(pa.table(columns), place / f"{name}.csv")
    return place


def start(committee, *more, learners="tree,bayes", out="study"):
    return committee(
        *("compare", "tables", "--learners", learners, "--resamples", "2", "--out", out),
        *("--folds", "0", "--jobs", "1", *more),
    )


def test_a_study_is_run_then_resumed_with_more_learners_then_reported(committee, tables):
    ended = start(committee)
    assert ended.code == 0 and "8 cells are finished. The study is in study." in ended.out
    assert "average rank" in ended.out and "8 of 8 cells" in ended.err

    ended = committee("compare", "--resume", "study", "--learners", "linear", "--jobs", "1", "--json")
    assert ended.code == 0 and ended.json["n_finished"] == 12
    names = [each["name"] for each in ended.json["comparisons"][0]["learners"]]
    assert names == ["tree", "bayes", "linear"]

    ended = committee(
        "compare", "--report", "study", "--scoring", "accuracy,roc_auc_ovr", "--formats", "svg", "--json"
    )
    assert ended.code == 0 and len(ended.json["comparisons"]) == 2
    page = (tables.parent / "study" / "report" / "report.md").read_text(encoding="utf-8")
    assert "## accuracy" in page and "## AUC" in page and "accuracy_ranks_nemenyi.svg" in page


def test_resuming_a_finished_study_returns_the_same_results(committee, tables):
    first = start(committee, "--json")
    second = committee("compare", "--resume", "study", "--jobs", "1", "--json")
    assert first.json == second.json


def test_a_file_adds_a_table_to_a_study(committee, tables):
    start(committee, "--quiet")
    pa.parquet.write_table(pa.csv.read_csv(tables / "small.csv"), tables.parent / "third.parquet")
    ended = committee("compare", "third.parquet", "--resume", "study", "--jobs", "1", "--json")
    assert ended.json["n_finished"] == 12
    assert set(ended.json["comparisons"][0]["tables"]) == {"small", "large", "third"}


def test_a_manifest_names_tables_and_targets(committee, tables):
    (tables / "manifest.csv").write_text("name,target,task\nsmall,b,regression\n")
    ended = start(committee, "--json", learners="tree")
    assert [each["scoring"] for each in ended.json["comparisons"]] == [
        "neg_root_mean_squared_error",
        "neg_mean_absolute_error",
    ]
    assert ended.json["comparisons"][0]["tables"] == ["small"]


def test_a_learner_for_one_task_is_compared_only_on_tables_of_that_task(committee, tables):
    (tables / "manifest.csv").write_text("name,target,task\nsmall,b,regression\nlarge,kind,\n")
    for metrics in ((), ("--scoring", "accuracy,r2")):
        ended = start(committee, "--json", *metrics, learners="bayes", out=f"study{len(metrics)}")
        assert ended.code == 0 and ended.json["n_finished"] == 2
        assert {tuple(each["tables"]) for each in ended.json["comparisons"]} == {("large",)}
        assert ended.json["comparisons"][0]["scoring"] == "accuracy"
    committee("compare", "--report", "study0", "--scoring", "r2").complains(
        3, "No cell of the study in study0 has finished on a table that r2 is for"
    )


def test_a_report_on_learners_for_one_task_omits_metrics_of_the_other_task(committee, tables):
    (tables / "manifest.csv").write_text("name,target,task\nsmall,b,regression\nlarge,kind,\n")
    start(committee, "--quiet")
    both = committee("compare", "--report", "study", "--formats", "svg", "--json")
    assert {"accuracy", "neg_root_mean_squared_error"} <= {
        each["scoring"] for each in both.json["comparisons"]
    }
    one = committee("compare", "--report", "study", "--learners", "bayes", "--formats", "svg", "--json")
    assert one.code == 0 and "neg_root_mean_squared_error" not in {
        each["scoring"] for each in one.json["comparisons"]
    }


def test_the_first_metric_of_each_task_is_shown(committee, tables):
    (tables / "manifest.csv").write_text("name,target,task\nsmall,b,regression\nlarge,kind,\n")
    ended = start(committee, learners="tree")
    assert ended.code == 0 and ended.out.count("All learners have finished 1 table.") == 2
    assert "mean accuracy" in ended.out and "mean RMSE" in ended.out
    assert "AUC" not in ended.out and "absolute" not in ended.out


def test_a_metric_is_applied_to_the_tables_of_its_task(committee, tables):
    (tables / "manifest.csv").write_text("name,target,task\nsmall,b,regression\nlarge,kind,\n")
    ended = start(committee, "--scoring", "f1_macro", learners="tree")
    assert ended.code == 0 and "finished 1 table" in ended.out and "mean f1 macro" in ended.out
    assert "not compared, because no metric applies to them: small" in ended.err
    ended = committee("compare", "--report", "study", "--scoring", "r2", "--formats", "svg", "--json")
    assert [(each["scoring"], each["tables"]) for each in ended.json["comparisons"]] == [("r2", ["small"])]
    assert ended.json["without_metric"] == ["large"]


def test_a_report_uses_the_metrics_of_the_study_by_default(committee, tables):
    start(committee, "--quiet", "--scoring", "neg_brier_score")
    ended = committee("compare", "--report", "study", "--formats", "svg", "--json")
    assert [each["scoring"] for each in ended.json["comparisons"]] == ["neg_brier_score"]


def test_a_quiet_report_prints_one_line(committee, tables):
    start(committee, "--quiet")
    ended = committee("compare", "--report", "study", "--scoring", "accuracy", "--formats", "svg", "--quiet")
    assert (ended.code, ended.err) == (0, "")
    assert len(ended.out.splitlines()) == 1 and "The report is in study/report/report.md" in ended.out


def test_the_shell_completes_names_of_learners():
    assert "tree,bayes" in known_learners("tree,ba")


def test_python_opens_a_study_of_the_command(committee, tables):
    start(committee, "--quiet")
    with Study.open(tables.parent / "study") as study:
        assert study.compare("accuracy").learners == ("tree", "bayes")


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("tables",), 2, ("one of --out DIR",)),
        (("tables", "--out", "a", "--resume", "b"), 2, ("one of --out DIR",)),
        (("tables", "--out", "new"), 3, ("A study needs tables and learners",)),
        (("--learners", "tree", "--out", "new"), 3, ("A study needs tables and learners",)),
        (("tables", "--learners", "trea", "--out", "new"), 3, ("no learner 'trea'",)),
        (("nowhere", "--learners", "tree", "--out", "new"), 5, ("no file or folder nowhere",)),
        (("--resume", "nowhere"), 5, ("no study in the folder nowhere",)),
        (("--report", "nowhere"), 5, ("no study in the folder nowhere",)),
        (("tables", "--report", "study"), 2, ("Add them to the study with --resume",)),
        (("tables", "--learners", "tree", "--target", "kin", "--out", "new"), 3, ("no column 'kin'", "kind")),
        (("tables", "--learners", "tree", "--scoring", "eror", "--out", "new"), 3, ("no metric 'eror'",)),
        (("tables", "--learners", "tree", "--scoring", "accuracy,r2", "--out", "new"), 3, ("metric 'r2'",)),
        (
            ("tables", "--learners", "tree", "--scoring", "r2", "--out", "new"),
            3,
            ("No table suits the metric 'r2'",),
        ),
        (("tables", "--learners", "tree", "--time-limit", "0", "--out", "new"), 3, ("time limit",)),
        (("tables", "--out", "new", "--formats", "svg"), 2, ("--formats works only with --report DIR",)),
        (("tables", "--out", "new", "--retry-failed"), 2, ("--retry-failed works only with --resume DIR",)),
        (("--resume", "study", "--target", "kind"), 2, ("--target has no effect without tables",)),
        (("--report", "study", "--resamples", "3"), 2, ("--resamples has no effect with --report",)),
        (("--report", "study", "--target", "kind"), 2, ("--target has no effect with --report",)),
        (("--report", "study", "--test-size", "0.3"), 2, ("--test-size has no effect with --report",)),
        (("--report", "study", "--folds", "0"), 2, ("--folds has no effect with --report",)),
        (("--report", "study", "--time-limit", "9s"), 2, ("--time-limit has no effect with --report",)),
        (("--report", "study", "--jobs", "1"), 2, ("--jobs has no effect with --report",)),
        (("--report", "study", "--retry-failed"), 2, ("--retry-failed has no effect with --report",)),
        (("--report", "study", "--formats", "svg,bmp"), 2, ("svg, png, pdf, html", "'bmp'")),
    ],
)
def test_wrong_input_is_reported_in_one_line_before_any_work(committee, tables, arguments, code, words):
    committee("compare", *arguments).complains(code, *words)
    assert not (tables.parent / "new").exists()


def test_a_folder_with_a_study_is_refused_for_a_new_study(committee, tables):
    start(committee, "--quiet")
    start(committee).complains(3, "There is a study in study", "--resume")


def test_a_folder_with_an_empty_study_is_accepted_for_a_new_study(committee, tables):
    Study(cv=None, folder=tables.parent / "study").close()
    assert start(committee, "--quiet").code == 0


def test_failures_are_reported_and_stored(committee, tables):
    few = (tables / "small.csv").read_text(encoding="utf-8").splitlines()[:13]
    (tables / "few.csv").write_text("\n".join(few), encoding="utf-8")
    # Half of 12 rows are too few for 15 neighbours.
    ended = committee(
        *("compare", "tables/few.csv", "--learners", "knn", "--resamples", "1", "--out", "study"),
        *("--folds", "0", "--jobs", "1", "--json"),
    )
    assert ended.code == 3 and "No cell has finished" in ended.err
    assert ended.json["n_failed"] == 1 and "n_neighbors" in str(ended.json["failures"])


def test_learners_are_listed(committee):
    names = [each["learner"] for each in committee("learners", "--json").json]
    assert "rf" in names and "cawpe" in names
