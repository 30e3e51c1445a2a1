"""Test help, exit codes, interruption and completion of the command line."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import committee as package
from committee import load

FULL_DISK = Path("/dev/full")
COMMANDS = [
    "fit", "predict", "evaluate", "leaderboard", "inspect", "verify", "shrink", "compare", "demo", "members",
    "rules", "learners",
]  # fmt: skip


def process(*arguments, **given):
    command = [sys.executable, "-c", "from committee.cli import main; main()", *arguments]
    given = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True} | given
    return subprocess.run(command, timeout=120, check=False, **given)


def test_help_lists_all_commands_and_exit_codes(committee):
    ended = committee("--help")
    assert ended.code == 0
    for name in COMMANDS:
        assert f"\n  {name} " in ended.out
    assert "Exit codes: 0 done" in ended.out


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_and_json(committee, command):
    ended = committee(command, "--help")
    assert ended.code == 0 and "--json" in ended.out


def test_without_a_command_help_is_printed(committee):
    assert "Usage: committee" in committee().out


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["fti"], "fti"),
        (["predict"], "Missing argument"),
        (["fit", "t.csv"], "--target"),
        (["rules", "--fast"], "--fast"),
        (["fit", "t.csv", "--target", "y", "--estimators", " , "], "A list of names is empty"),
    ],
)
def test_wrong_usage_is_reported_in_one_line(committee, arguments, word):
    committee(*arguments).complains(2, word)


def test_rules_are_listed_with_their_descriptions(committee):
    found = committee("rules", "--json").json
    (borda,) = [each["meaning"] for each in found if each["rule"] == "borda"]
    assert "many classes" in borda
    assert "borda" in committee("rules").out


def test_the_version_is_printed(committee):
    ended = committee("--version")
    assert (ended.code, ended.out) == (0, f"committee {package.__version__}\n")


def test_messages_contain_no_words_for_programmers(committee):
    committee("fit", "t.csv", "--target", "y", "--preset", "high").complains(
        2, "'--preset': 'high' is not one"
    )
    committee("fit", "t.csv", "--target", "y", "--folds", "1").complains(2, "it should be greater than or")


def test_a_device_is_not_a_regular_file(committee, model):
    for command in (("inspect", "/dev/null"), ("verify", "/dev/null"), ("predict", model, "/dev/null")):
        committee(*command).complains(5, "/dev/null is not a regular file.")


def test_help_imports_no_heavy_library():
    code = (
        "import sys\nfrom committee.cli.main import run\nrun(['--help'])\n"
        "heavy = {'numpy', 'sklearn', 'pyarrow', 'rich', 'committee._engine'} & set(sys.modules)\n"
        "print(heavy, file=sys.stderr)\nsys.exit(len(heavy))"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr


def test_a_process_ends_with_the_code_and_one_line():
    ended = process("verify", "nothing.committee")
    assert (ended.returncode, ended.stdout) == (5, "")
    assert ended.stderr.splitlines() == ["committee: There is no file nothing.committee."]


@pytest.mark.skipif(not FULL_DISK.exists(), reason="needs a disk that is always full")
def test_a_full_disk_is_reported_in_one_line():
    with FULL_DISK.open("wb") as full:
        ended = process("rules", "--json", stdout=full)
    assert ended.returncode == 5
    assert ended.stderr.splitlines() == ["committee: No space left on device"]


def test_a_closed_pipe_ends_a_command_without_a_message():
    reading, writing = os.pipe()
    os.close(reading)
    ended = process("rules", "--json", stdout=writing)
    os.close(writing)
    assert ended.returncode != 0 and ended.stderr == ""


@pytest.mark.parametrize(
    ("words", "completions"),
    [
        ("committee lead", ["leaderboard"]),
        ("committee fit --rule ma", ["maximum", "majority"]),
        ("committee evaluate --scoring neg_l", ["neg_log_loss"]),
        ("committee fit --preset b", ["balanced", "best"]),
        ("committee fit --estimators linear,c4", ["linear,c45"]),
    ],
)
def test_the_shell_completes_words(words, completions):
    request = {
        "_COMMITTEE_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(words.count(" ")),
    }
    assert process(env=os.environ | request).stdout.split() == completions


def test_an_internal_error_has_its_own_exit_code(committee, monkeypatch):
    def fail(*arguments, **given):
        raise RuntimeError("a wire is loose")

    monkeypatch.setattr("committee.combining.rule_registry.rule_lines", fail)
    committee("rules").complains(1, "RuntimeError: a wire is loose")


def test_ctrl_c_during_the_imports_has_the_same_exit_code():
    start = "import sys; from committee.cli import main; sys.meta_path.insert(0, Interrupting()); main()"
    finder = "class Interrupting:\n    def find_spec(self, *_):\n        raise KeyboardInterrupt\n"
    ended = subprocess.run(
        [sys.executable, "-c", finder + start], timeout=120, check=False, capture_output=True, text=True
    )
    assert (ended.returncode, ended.stderr) == (130, "committee: interrupted\n")


def test_ctrl_c_has_its_own_exit_code(committee, monkeypatch):
    def stop(*arguments, **given):
        raise KeyboardInterrupt

    monkeypatch.setattr("committee.combining.rule_registry.rule_lines", stop)
    committee("rules").complains(130, "interrupted")


SIGNALLED = """
import os, signal, sys
from committee.cli.main import run
from committee.running import receiving

sent = []

def stop(event):
    if (event.share or 0) > 0.6 and event.name == "CommitteeClassifier" and not sent:
        sent.append(event)
        os.kill(os.getpid(), getattr(signal, sys.argv[1]))

with receiving(stop):
    sys.exit(run(sys.argv[2:]))
"""
FIT = [
    "fit",
    "flowers.csv",
    "--target",
    "kind",
    "--estimators",
    "c45,bayes",
    "--folds",
    "2",
    "--jobs",
    "1",
    "--quiet",
]


def signalled(name, *arguments, folder):
    command = [sys.executable, "-c", SIGNALLED, name, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, cwd=folder)


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_ctrl_c_in_a_fit_saves_a_model_of_the_finished_members(folder):
    ended = signalled("SIGINT", *FIT, folder=folder)
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr == "committee: The fit was interrupted. What is finished is kept.\n"
    assert list(load(folder / "model.committee").named_estimators_) == ["c45"]


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_a_killed_fit_is_resumed_to_the_same_file_except_for_times(committee, folder, monkeypatch):
    for name in ("killed", "whole"):
        (folder / name).mkdir()
        (folder / name / "flowers.csv").write_bytes((folder / "flowers.csv").read_bytes())
    killed = signalled("SIGKILL", *FIT, "--run-folder", "run", folder=folder / "killed")
    assert killed.returncode == -9 and not (folder / "killed" / "model.committee").exists()
    for name, more in (("killed", ["--resume"]), ("whole", [])):
        monkeypatch.chdir(folder / name)
        ended = committee(*FIT, "--run-folder", "run", *more)
        assert (ended.code, ended.err) == (0, "")
    first, second = (folder / name / "model.committee" for name in ("killed", "whole"))
    for path in (first, second):
        model = load(path)
        model._fitted_members = [replace(each, fit_seconds=None) for each in model._fitted_members]
        model._record = replace(model._record, date="", seconds=0.0, leaderboard=None)
        model._forget_leaderboard()
        model.save(path)
    assert first.read_bytes() == second.read_bytes()


FULL = """
import resource, sys
from committee.cli.main import run
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)
sys.exit(run(sys.argv[2:]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit for the size of files")
@pytest.mark.parametrize("more", [[], ["--run-folder", "run"]], ids=["model", "run"])
def test_a_full_disk_leaves_no_incomplete_file(committee, folder, more):
    given = [
        "fit",
        "flowers.csv",
        "--target",
        "kind",
        "--estimators",
        "network_wide",
        "--folds",
        "2",
        "--quiet",
        *more,
    ]
    ended = subprocess.run(
        [sys.executable, "-c", FULL, "20000", *given], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 5, ended.stderr
    assert ended.stderr.count("\n") == 1, ended.stderr
    line = ended.stderr
    assert line.startswith("committee: Cannot save to ") and "File too large" in line
    assert not (folder / "model.committee").exists()
    assert not [*folder.rglob("*.part")]
    assert committee(*given, *(["--resume"] if more else [])).code == 0
    assert (folder / "model.committee").exists()
