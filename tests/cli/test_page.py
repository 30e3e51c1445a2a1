"""What docs/command_line.md prints is what its commands print."""

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
# How far a fit is, which only stands there if it takes long.
PROGRESS = re.compile(r"committee: .*\d+ of .*, [\d.]+ s")
FEW = "petal_width,petal_length,sepal_width,sepal_length\n0.2,1.4,3.1,4.9\n2.1,5.6,2.8,6.4\n"


def printed():
    """The commands of the page, each with the lines below it."""
    commands = []
    for block in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        for line in block.splitlines():
            if line.startswith("$ "):
                commands.append((line.removeprefix("$ "), []))
            else:
                commands[-1][1].append(line)
    return commands


def without_numbers(lines):
    """Lines that can be compared between machines: how they are spaced depends on their numbers."""
    kept = [line for line in lines if line.strip(" ─") and not PROGRESS.match(line)]
    return sorted(re.sub(r"\s+", " ", re.sub(r"-?\d+(\.\d+)?(e-?\d+)?", "0", line)).strip() for line in kept)


def answer(command, monkeypatch, capfd):
    """What a command prints, on both ways."""
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
    if target is not None:
        Path(target).write_bytes(capfd.readouterr().out)
        return []
    out, err = capfd.readouterr()
    return (out + err).decode().splitlines()


def test_the_page_tells_of_every_command():
    commands = {shlex.split(command)[1] for command, _ in printed() if command.startswith("committee")}
    told = {"fit", "predict", "evaluate", "leaderboard", "inspect", "verify", "members", "rules", "compare"}
    assert commands == told
    assert "`committee demo`" in PAGE.read_text(encoding="utf-8")


@pytest.mark.filterwarnings("default")
def test_the_commands_of_the_page_print_what_stands_there(tmp_path, monkeypatch, capfdbinary):
    monkeypatch.chdir(tmp_path)
    Path("few.csv").write_text(FEW)
    for command, lines in printed():
        capfdbinary.readouterr()
        found, told = (without_numbers(each) for each in (answer(command, monkeypatch, capfdbinary), lines))
        if "..." in told:
            assert {*told} - {"..."} <= {*found}, command
        else:
            assert found == told, command
