"""Test `committee fit` and `committee demo`: they write one model file, or report an error in one line."""

import errno
import io
import json

import pytest

import committee as package
from committee.automatic.portfolio import ORDERS
from committee.cli.main import run

FAST = ("--estimators", "linear,c45", "--folds", "2", "--keep", "all", "--quiet")


def test_fit_saves_a_committee_with_the_name_of_its_target(committee, folder):
    ended = committee("fit", "flowers.csv", "--target", "kind", *FAST)
    assert (ended.code, ended.err) == (0, "")
    assert len(ended.out.splitlines()) == 1 and "The model is in model.committee" in ended.out
    assert list(package.load("model.committee").named_estimators_) == ["linear", "c45"]
    assert committee("evaluate", "model.committee", "flowers.csv", "--json").json["target"] == "kind"
    assert committee("predict", "model.committee", "flowers.csv").code == 0


def test_fit_prints_the_types_of_columns_and_the_scores_of_members(committee):
    ended = committee("fit", "flowers.csv", "--target", "kind", *FAST[:-1])
    assert "60 rows, 2 columns; target 'kind': classification, 2 classes." in ended.err
    assert "category (1): colour" in ended.err
    assert "Column 'row' is left out: it counts the rows." in ended.err
    assert "log loss" in ended.out and "model.committee" in ended.out


def test_fit_prints_its_result_as_json(committee):
    found = committee("fit", "flowers.csv", "--target", "kind", *FAST, "--json", "--out", "m.committee").json
    assert found["out"] == "m.committee" and found["task"] == "classification"
    assert found["types"] == {"row": "id", "size": "number", "colour": "category"}
    assert {each["name"] for each in found["leaderboard"]} > {"linear", "c45"}


@pytest.mark.parametrize("rule", ["dynamic", "region"])
def test_fit_scores_a_rule_that_looks_at_the_rows(committee, rule):
    ended = committee("fit", "flowers.csv", "--target", "kind", *FAST, "--rule", rule, "--json")
    assert ended.code == 0 and ended.json["rule"].startswith(rule), ended


def test_after_a_time_limit_members_and_rule_are_scored_on_some_rows(committee, monkeypatch):
    fit = ("fit", "flowers.csv", "--target", "kind", *FAST, "--rule", "greedy")
    assert committee(*fit, "--time-limit", "10m", "--json").json["n_scored"] == 60
    # Two members vote for two classes: 25 rows have 100 votes.
    monkeypatch.setattr("committee.automatic.recorded_fit.QUICK_VOTES", 100)
    assert committee(*fit, "--json").json["n_scored"] == 60
    found = committee(*fit, "--time-limit", "10m", "--json").json
    assert found["n_scored"] == 25
    kinds = [each["kind"] for each in found["leaderboard"]]
    assert kinds == ["committee", "member", "member", "baseline"]
    printed = committee(*(each for each in fit if each != "--quiet"), "--time-limit", "10m").out
    assert f"Scored on {found['n_scored']} of the 60 rows." in printed
    every = committee("leaderboard", "model.committee", "--rule", "greedy", "--json").json
    assert every["n_scored"] == 60


def test_auto_may_be_one_of_the_members(committee, monkeypatch):
    monkeypatch.setitem(ORDERS, "classification", ("linear", "c45", "bayes"))
    fit = ("fit", "flowers.csv", "--target", "kind", *FAST[2:], "--estimators")
    for text, expected in (("auto", ["linear", "c45", "bayes"]), ("bayes,auto", ["bayes", "linear", "c45"])):
        assert committee(*fit, text).code == 0
        assert list(package.load("model.committee").named_estimators_) == expected


def test_fit_prints_the_trust_option_that_the_model_needs(committee, monkeypatch):
    fit = ("fit", "flowers.csv", "--target", "kind", *FAST)
    assert committee(*fit, "--json").json["trust"] == []
    monkeypatch.setattr("committee.jobs.model_description.libraries_of", lambda model: ["lightgbm"])
    assert committee(*fit, "--json").json["trust"] == ["lightgbm"]
    assert "To open this model with other commands, pass --trust lightgbm.\n" in committee(*fit[:-1]).err


def test_classes_with_one_row_are_reported(committee, folder):
    rows = "".join(f"{i % 7},{i},{'often' if i < 20 else f'once {i}'}\n" for i in range(30))
    (folder / "t.csv").write_text("a,b,y\n" + rows)
    found = committee("fit", "t.csv", "--target", "y", *FAST, "--json").json
    assert found["notes"][0].startswith("10 of the 11 classes of 'y' have one row each, so members")


def test_a_model_that_cannot_be_scored_is_saved_with_a_note(committee, monkeypatch):
    def refuse(*arguments, **given):
        raise ValueError("There are no two rows of a class.")

    monkeypatch.setattr("committee.automatic.recorded_fit.leaderboard_of", refuse)
    fit = ("fit", "flowers.csv", "--target", "kind", *FAST[:-1])
    ended = committee(*fit)
    assert ended.code == 0 and "The model is in model.committee" in ended.out
    assert "Members and rule cannot be scored: There are no two rows of a class.\n" in ended.err
    found = committee(*fit, "--quiet", "--json").json
    assert found["leaderboard"] == [] and found["n_scored"] == 0
    assert package.verify("model.committee").is_fitted


def test_a_metric_that_only_committee_has_is_accepted(committee):
    ended = committee(
        "fit", "flowers.csv", "--target", "kind", *FAST, "--scoring", "neg_brier_score", "--json"
    )
    assert ended.code == 0 and ended.json["scoring"] == "neg_brier_score"


def test_the_same_seed_gives_the_same_model_as_python(committee, folder):
    committee("fit", "flowers.csv", "--target", "kind", *FAST, "--seed", "3")
    with pytest.warns(UserWarning, match="'row' is left out"):
        model = package.fit(
            "flowers.csv", "kind", estimators=["linear", "c45"], cv=2, random_state=3, keep="all"
        )
    model.save("python.committee")
    first, second = (
        committee("predict", name, "flowers.csv", "--proba").out
        for name in ("model.committee", "python.committee")
    )
    assert first == second


def test_fit_writes_a_model_to_the_standard_output(folder, capfdbinary):
    assert run(["fit", "flowers.csv", "--target", "kind", *FAST, "--out", "-"]) == 0
    (folder / "piped.committee").write_bytes(capfdbinary.readouterr().out)
    assert package.verify("piped.committee").is_fitted


def test_fit_reads_the_standard_input(committee, folder, monkeypatch):
    content = (folder / "flowers.csv").read_bytes()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
    assert committee("fit", "-", "--target", "kind", *FAST).code == 0


def test_a_target_of_numbers_is_a_regression(committee):
    ended = committee(
        "fit", "flowers.csv", "--target", "size", "--estimators", "linear", "--folds", "2", "--json"
    )
    assert ended.json["task"] == "regression" and ended.json["scoring"] == "neg_root_mean_squared_error"


def test_fit_accepts_types_task_metric_rule_groups_and_weights(committee, folder):
    rows = "".join(f"{i % 4},{i % 7},{i % 5},{1 + i % 2},{i % 3}\n" for i in range(60))
    (folder / "t.csv").write_text("zip,b,g,w,y\n" + rows)
    ended = committee(
        "fit", "t.csv", "--target", "y", "--types", "zip=category,b=number", "--task", "classification",
        "--scoring", "accuracy", "--rule", "mean", "--groups", "g", "--weights", "w", *FAST, "--json",
    )  # fmt: skip
    assert ended.json["types"] == {"zip": "category", "b": "number"}
    assert ended.json["rule"] == "mean" and ended.json["scoring"] == "accuracy"
    assert package.load("model.committee")._origin.left_out == ("g", "w")


def test_the_model_stores_the_decimal_sign(committee, folder):
    rows = "".join(f"{i},{125 + i};{'ab'[i > 4]}\n" for i in range(1, 9))
    (folder / "prices.csv").write_text(f"price;kind\n{rows * 3}")
    fit = ("fit", "prices.csv", "--target", "kind", *FAST, "--json")
    guessed = committee(*fit)
    assert "such as 1,126 in 'price', which are read as 1.126" in guessed.json["notes"][0]
    assert "pass --decimal . if that is wrong" in guessed.json["notes"][0]
    assert committee(*fit, "--decimal", ".").json["notes"] == []
    assert package.load("model.committee")._origin.decimal == "."
    (folder / "more.csv").write_text("price;kind\n1,126;a\n8,133;b\n")
    read = committee("predict", "model.committee", "more.csv")
    assert read.out.split() == ['"prediction"', '"a"', '"b"'] and "1.126" not in read.err
    assert committee(*fit, "--decimal", ";").code == 2


def test_rows_without_a_target_are_left_out_and_counted(committee, folder):
    lines = (folder / "flowers.csv").read_text().splitlines()
    lines[1:4] = [",".join([*line.split(",")[:3], ""]) for line in lines[1:4]]
    (folder / "gaps.csv").write_text("\n".join(lines) + "\n")
    found = committee("fit", "gaps.csv", "--target", "kind", *FAST, "--json").json
    assert (found["n_rows"], found["n_dropped"]) == (57, 3)
    assert "3 rows are left out: no value of 'kind'." in found["notes"]


def test_integer_classes_stay_integers_if_some_are_missing(committee, folder):
    rows = "".join(f"{i * 7 % 13},{'' if i % 5 == 0 else i % 2}\n" for i in range(40))
    (folder / "t.csv").write_text("a,y\n" + rows)
    found = committee("fit", "t.csv", "--target", "y", *FAST, "--json").json
    assert found["n_dropped"] == 8
    assert committee("inspect", found["out"], "--json").json["classes"] == [0, 1]


@pytest.mark.parametrize(
    ("text", "arguments", "code", "word"),
    [
        ("a,y\n1,x\n2,z\n", ["--target", "Y "], 3, "Did you mean 'y'?"),
        ("a,y\n1,x\n2,x\n", ["--target", "y"], 3, "has one value, 'x'"),
        ("a,y\n1,\n2,\n", ["--target", "y"], 3, "'y' has no value in any row"),
        ("a,y\n1,p\n2,q\n3,r\n", ["--target", "y"], 3, "a different value in every row, such as 'p'"),
        (
            "a,y\n1,.5\n2,.7\n",
            ["--target", "y", "--scoring", "roc_auc_ovr_weighted"],
            3,
            "The metric 'roc_auc_ovr_weighted' is for classification",
        ),
        ("y\nx\nz\n", ["--target", "y"], 3, "no column to learn from"),
        ("a,a,y\n1,2,x\n", ["--target", "y"], 3, "t.csv has two columns called 'a'"),
        ("", ["--target", "y"], 3, "t.csv is empty"),
        ("PAR1", ["--target", "y"], 3, "cannot be read as Parquet"),
        ("a,y\n1,x\n2,z\n", ["--target", "y", "--time-limit", "0"], 3, "more than 0 seconds"),
        ("a,y\n1,x\n2,z\n", ["--target", "y", "--time-limit", "soon"], 3, "90s, 10m or 1h30m"),
        ("a,y\n1,x\n2,z\n", ["--target", "y", "--memory-limit", "lots"], 3, "500MB or 4GB"),
        ("a,y\n1,x\n2,z\n", ["--target", "y", "--memory-limit", "1MB"], 3, "itself needs about 250.0 MB"),
        ("a,y\n1,x\n2,z\n", ["--target", "y", "--types", "a"], 2, "COLUMN=TYPE"),
        ("a,y\n1,x\n2,z\n", ["--target", "y", "--types", "a=float"], 3, "one of number, category"),
        ("a,y\n1,x\n2,z\n", ["--target", "y", "--types", "b=number"], 3, "no column 'b'"),
        ("a,y\n1,x\n2,z\n", ["--target", "y", "--groups", "y"], 3, "cannot be two of target, groups"),
        ("a,g,y\n1,,x\n2,1,z\n", ["--target", "y", "--groups", "g"], 3, "1 row has no value"),
        ("a,w,y\n1,p,x\n2,q,z\n", ["--target", "y", "--weights", "w"], 3, "contains text, such as 'p'"),
        ("a,y\n1,x\n2,z\n", ["--target", "y", "--task", "regression"], 3, "regression needs numbers"),
        ("a,y\n1,x\n2,z\n", ["--target", "y", "--task", "guess"], 2, "'classification', 'regression'"),
        ("a,y\n1,x\n2,z\n", ["--target", "y", "--scoring", "speed"], 3, "no metric 'speed'"),
        ("a,y\n1,x\n2,z\n", ["--target", "y", "--estimators", "forrest"], 3, "no member 'forrest'"),
        ("a,y\n1,x\n2,z\n", ["--target", "y", "--rule", "coin"], 3, "no rule 'coin'"),
        ("a,y\n1,x\n2,z\n", ["--target", "y", "--preset", "slow"], 2, "'fast', 'balanced', 'best'"),
        ("a,y\n1,x\n2,z\n", ["--target", "y", "--folds", "1"], 2, "--folds"),
        ("a,y\n1,x\n2,z\n", ["--target", "y", "--seed", "-1"], 2, "--seed"),
        ("a,y\n1,x\n2,z\n", ["--target", "y", "--jobs", "0"], 3, "n_jobs must be"),
        ("a,y\n1,x\n2,z\n", ["--target", "y", "--out", "no/m.committee"], 5, "no folder no"),
        ("a,y\n1,x\n2,z\n", ["--target", "y", "--resume"], 3, "--run-folder DIR"),
        ("a,y\n1,x\n2,z\n", ["--target", "y", "--delimiter", ",,"], 2, "one character"),
    ],
)
def test_wrong_input_gives_one_line_an_exit_code_and_no_file(committee, folder, text, arguments, code, word):
    (folder / "t.csv").write_text(text)
    before = sorted(each.name for each in folder.iterdir())
    committee("fit", "t.csv", "--quiet", *arguments).complains(code, word)
    assert sorted(each.name for each in folder.iterdir()) == before


def test_a_metric_for_another_task_is_refused_before_the_fit(committee):
    given = ("fit", "flowers.csv", "--target", "size", "--estimators", "linear", "--quiet", "--scoring")
    committee(*given, "f1_weighted").complains(
        3, "The metric 'f1_weighted' is for classification. For regression use "
    )


def test_a_failed_fit_keeps_an_existing_model(committee, folder):
    (folder / "model.committee").write_text("before")
    committee("fit", "flowers.csv", "--target", "knid", "--quiet", "--force").complains(3, "'kind'")
    assert (folder / "model.committee").read_text() == "before"


def test_a_folder_without_write_permission_is_refused_before_the_fit(committee, model, monkeypatch):
    def refuse(**arguments):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("tempfile.TemporaryFile", refuse)
    committee("fit", "flowers.csv", "--target", "kind").complains(5, "Permission denied")
    committee("predict", model, "flowers.csv", "--out", "p.csv").complains(5, "Permission denied")


def test_json_and_the_model_cannot_both_go_to_the_standard_output(committee):
    committee("fit", "flowers.csv", "--target", "kind", "--out", "-", "--json").complains(
        2, "standard output"
    )


def test_a_run_is_resumed_only_on_request(committee, folder):
    (folder / "run").mkdir()
    (folder / "run" / "journal").write_text("")
    fit = ("fit", "flowers.csv", "--target", "kind", *FAST, "--run-folder", "run")
    committee(*fit).complains(3, "The folder run contains a run", "--resume")
    committee(*fit[:-1], "other", "--resume").complains(3, "no run in the folder other")
    committee(*fit[:-1], "flowers.csv").complains(5, "flowers.csv is a file")


def test_a_resumed_run_gives_the_same_model(committee, folder):
    fit = ("fit", "flowers.csv", "--target", "kind", *FAST)
    assert committee(*fit, "--run-folder", "run").code == 0
    whole = committee("predict", "model.committee", "flowers.csv", "--proba").out
    (folder / "model.committee").unlink()
    for votes in list((folder / "run").glob("c45*")):
        votes.unlink()
    assert committee(*fit, "--run-folder", "run", "--resume").code == 0
    assert committee("predict", "model.committee", "flowers.csv", "--proba").out == whole


def test_members_are_listed_with_their_estimators(committee):
    listed = json.loads(committee("members", "--json").out)
    c45 = next(each for each in listed if each["member"] == "c45")
    assert (c45["title"], c45["settings"], c45["tasks"]) == (
        "C4.5 tree",
        "C45Classifier()",
        ["classification"],
    )
    assert "C45Classifier(); classification only\n" in committee("members").out


@pytest.fixture
def two_members(monkeypatch):
    """Fit only two quick members in two folds."""
    fit_table = package.jobs.fit_table

    def quick(*given, parameters, **more):
        return fit_table(*given, parameters=parameters | {"estimators": ["linear", "c45"], "cv": 2}, **more)

    monkeypatch.setattr("committee.jobs.fit_table", quick)


def test_the_demonstration_scores_held_out_rows(committee, two_members):
    ended = committee("demo", "--json")
    assert ended.json["held_out"]["scores"]["accuracy"] > 0.9
    assert package.verify(ended.json["out"]).is_fitted


def test_the_demonstration_writes_its_model_to_the_standard_output(folder, two_members, capfdbinary):
    assert run(["demo", "--out", "-"]) == 0
    (folder / "piped.committee").write_bytes(capfdbinary.readouterr().out)
    assert package.verify("piped.committee").is_fitted


def test_a_device_is_refused_before_the_fit(committee, folder):
    (folder / "pipe").symlink_to("/dev/null")
    committee("fit", "flowers.csv", "--target", "kind", "--quiet", "--out", "pipe").complains(5, "a device")


def test_fit_names_the_members_that_need_another_library(committee, monkeypatch):
    fit = ("fit", "flowers.csv", "--target", "kind", *FAST)
    assert committee(*fit, "--json").json["without_predictor"] == []
    names = property(lambda self: ["lightgbm"])
    monkeypatch.setattr(package.CommitteeClassifier, "members_without_predictor_", names)
    printed = committee(*fit[:-1]).err
    assert "committee.predictor cannot answer for lightgbm; committee.load can.\n" in printed


def test_limits_of_size_and_latency_are_kept(committee, folder):
    fit = ("fit", "flowers.csv", "--target", "kind", "--estimators", "linear,forest,c45", "--folds", "2")
    fit += ("--rule", "mean", "--quiet")
    assert committee(*fit).code == 0
    whole = (folder / "model.committee").stat().st_size
    assert committee(*fit, "--max-size", f"{whole // 2}", "--max-latency", "10s").code == 0
    assert (folder / "model.committee").stat().st_size <= whole // 2


@pytest.mark.parametrize("limit", [("--max-size", "1kB"), ("--max-latency", "1us")])
def test_a_limit_that_no_member_keeps_writes_nothing(committee, folder, limit):
    fit = ("fit", "flowers.csv", "--target", "kind", "--estimators", "linear,c45", "--folds", "2", "--quiet")
    committee(*fit, *limit).complains(3, "is too small for any member. The smallest committee, of")
    assert not (folder / "model.committee").exists()


def test_costs_and_thresholds_decide_predictions(committee, folder):
    fit = ("fit", "flowers.csv", "--target", "kind", *FAST)
    assert committee(*fit, "--costs", "rose:lily=1000").code == 0
    careful = committee("predict", "model.committee", "flowers.csv").out.count("rose")
    assert "costs: {('rose', 'lily'): 1000.0}" in committee("inspect", "model.committee").out
    found = committee(
        "evaluate", "model.committee", "flowers.csv", "--confusion", "--intervals", "--json"
    ).json
    (_, as_rose), (as_lily, _) = found["confusion"]["counts"]
    assert found["mean_cost"] == pytest.approx((as_rose + 1000 * as_lily) / found["n_rows"])
    low, high = found["cost_interval"]
    assert low <= found["mean_cost"] <= high
    assert "mean cost" in committee("evaluate", "model.committee", "flowers.csv").out
    assert committee(*fit, "--threshold", "0.99").code == 0
    assert committee("predict", "model.committee", "flowers.csv").out.count("rose") < careful
    assert "threshold: 0.99" in committee("inspect", "model.committee").out
    (folder / "model.committee").unlink()
    committee(*fit, "--costs", "rose=5").complains(2, "TRUE:PREDICTED=COST")
    committee(*fit, "--costs", "tulip:rose=5").complains(3, "'tulip', which is not a class")
