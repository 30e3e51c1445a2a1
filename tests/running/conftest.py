"""Control groups as files, for the tests of what they allow; and runners, open or made anew."""

import pytest
from every_runner import IN_OTHER_PROCESSES, PARALLEL, RUNNERS

from committee.running import resources


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


@pytest.fixture(scope="module")
def open_runners():
    """One runner of each kind for all tests that leave it as it was."""
    cores, resources.usable_cores = resources.usable_cores, lambda: 4
    runners = {name: make() for name, make in RUNNERS.items()}
    yield runners
    for each in runners.values():
        each.close()
    resources.usable_cores = cores


@pytest.fixture(params=RUNNERS)
def run(request, open_runners):
    return open_runners[request.param]


@pytest.fixture(params=PARALLEL)
def parallel(request, open_runners):
    return open_runners[request.param]


@pytest.fixture(params=IN_OTHER_PROCESSES)
def remote(request, open_runners):
    return open_runners[request.param]


@pytest.fixture(params=RUNNERS)
def fresh(request, monkeypatch):
    """A runner for a test that closes it."""
    monkeypatch.setattr(resources, "usable_cores", lambda: 4)
    with RUNNERS[request.param]() as own:
        yield own
