"""Test that one line reports a missing library of the extra `cli`."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("library", "command"), [("pyarrow", "fit"), ("typer", "fit"), ("pyarrow", "predict")]
)
def test_a_missing_library_is_reported_in_one_line(library, command, tmp_path):
    for name in "ab":
        (tmp_path / name).write_text("x,y\n1,2\n")
    code = (
        f"import sys\nsys.modules[{library!r}] = None\nsys.argv = ['committee', {command!r}, 'a', 'b']\n"
        "if sys.argv[1] == 'fit': sys.argv[3:] = ['--target', 'y']\n"
        "from committee.cli import main\nmain()"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert ended.returncode != 0 and ended.stdout == ""
    assert ended.stderr.count("\n") == 1 and "Install committee[cli]" in ended.stderr
