"""Control groups as files, for the tests of what they allow."""

import pytest


@pytest.fixture
def control_groups(tmp_path):
    """Writes the files of some groups; the process is in /job/step. Gives their folder and the list."""

    def write(files):
        for name, text in files.items():
            path = tmp_path / "groups" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        own = tmp_path / "own"
        own.write_text("0::/job/step\n")
        return tmp_path / "groups", own

    return write
