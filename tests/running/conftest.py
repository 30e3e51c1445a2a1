"""Fixtures: control groups as files, and shared or new runners."""

import pytest
from every_runner import IN_OTHER_PROCESSES, PARALLEL, RUNNERS

from committee.running import resources


@pytest.fixture
def control_groups(tmp_path):
    """Return a function that writes control groups for a process in /job/step.

    It returns the folder of the groups and the file with the names of the groups of the process.
    """

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
    """Return one runner of each kind, for all tests that do not change it."""
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
    """Return a new runner, for a test that closes it."""
    monkeypatch.setattr(resources, "usable_cores", lambda: 4)
    with RUNNERS[request.param]() as own:
        yield own
