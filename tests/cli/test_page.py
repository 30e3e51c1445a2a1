"""Test that the commands of docs/command_line.md print the output that is shown there."""

import io
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from committee.cli.main import run

PAGE = Path(__file__).parents[2] / "docs" / "command_line.md"
BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)
# The progress of a fit, which is printed only if the fit takes long, and a note that depends on the members.
SOMETIMES = re.compile(r"committee: .*\d+ of .*, [\d.]+ s|The model was loaded with scikit-learn")
FEW = "petal_width,petal_length,sepal_width,sepal_length\n0.2,1.4,3.1,4.9\n2.1,5.6,2.8,6.4\n"


def commands_of_page():
    """Return the commands of the page, each with the output below it."""
    commands = []
    for block in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        for line in block.splitlines():
            if line.startswith("$ "):
                commands.append((line.removeprefix("$ "), []))
            else:
                commands[-1][1].append(line)
    return commands


def without_numbers(lines):
    """Replace numbers and spaces in lines, because these differ between machines."""
    kept = [line for line in lines if line.strip(" ─") and not SOMETIMES.match(line)]
    return sorted(re.sub(r"\s+", " ", re.sub(r"-?\d+(\.\d+)?(e-?\d+)?", "0", line)).strip() for line in kept)


def output_of(command, monkeypatch, capfd):
    """Run a command, and return its lines on stdout and stderr."""
    words = shlex.split(command)
    if words[0] == "python":
        subprocess.run([sys.executable, *words[1:]], check=True)
        return []
    assert words[0] == "committee"
    source, target = None, None
    if "<" in words:
        words, (source,) = words[: words.index("<")], words[words.index("<") + 1 :]
    if ">" in words:
        words, (target,) = words[: words.index(">")], words[words.index(">") + 1 :]
    with monkeypatch.context() as changed:
        if source is not None:
            changed.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(Path(source).read_bytes())))
        run(words[1:])
    sys.stdout.flush()
    out, err = capfd.readouterr()
    if target is not None:
        Path(target).write_bytes(out)
        out = b""
    return (out + err).decode().splitlines()


def test_the_page_shows_every_command():
    commands = {
        shlex.split(command)[1] for command, _ in commands_of_page() if command.startswith("committee")
    }
    expected = {
        "fit",
        "predict",
        "evaluate",
        "leaderboard",
        "inspect",
        "verify",
        "shrink",
        "members",
        "rules",
        "compare",
    }
    assert commands == expected
    assert "`committee demo`" in PAGE.read_text(encoding="utf-8")


@pytest.mark.filterwarnings("default")
def test_the_commands_of_the_page_print_the_output_of_the_page(tmp_path, monkeypatch, capfdbinary):
    monkeypatch.chdir(tmp_path)
    Path("few.csv").write_text(FEW)
    for command, lines in commands_of_page():
        capfdbinary.readouterr()
        found, expected = (
            without_numbers(each) for each in (output_of(command, monkeypatch, capfdbinary), lines)
        )
        if "..." in expected:
            assert {*expected} - {"..."} <= {*found}, command
        else:
            assert found == expected, command
