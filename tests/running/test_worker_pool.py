"""The number of threads for a value of `n_jobs`."""

import pytest

from committee.running import n_threads, resources


@pytest.fixture
def four_cores(monkeypatch):
    monkeypatch.setattr(resources, "usable_cores", lambda: 4)


@pytest.mark.parametrize(
    ("n_jobs", "expected"), [(None, 4), (-1, 4), (-2, 3), (-9, 1), (1, 1), (16, 16), (2**40, 1024)]
)
def test_n_jobs_counts_from_both_ends(four_cores, n_jobs, expected):
    assert n_threads(n_jobs) == expected


def test_zero_jobs_are_an_error():
    with pytest.raises(ValueError, match="n_jobs must be an integer other than 0, or None"):
        n_threads(0)


@pytest.mark.parametrize(("variable", "expected"), [("1", 1), ("1,4", 1), ("", 8), ("0", 8), ("many", 8)])
def test_the_environment_may_set_fewer_threads(monkeypatch, variable, expected):
    monkeypatch.setattr(resources.os, "sched_getaffinity", lambda process: set(range(8)), raising=False)
    monkeypatch.setattr(resources, "quota", lambda groups, own: 64)
    monkeypatch.setenv("OMP_NUM_THREADS", variable)
    assert n_threads(None) == expected


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"cpu.max": "150000 100000"}, 2),
        ({"cpu.max": "max 100000"}, resources.NO_QUOTA),
        ({"cpu/cpu.cfs_quota_us": "50000", "cpu/cpu.cfs_period_us": "100000"}, 1),
        ({"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, resources.NO_QUOTA),
        ({"job/cpu.max": "300000 100000"}, 3),
        ({"job/step/cpu.max": "max 100000", "job/cpu.max": "200000 100000"}, 2),
        ({}, resources.NO_QUOTA),
    ],
)
def test_control_groups_limit_the_cores(control_groups, files, expected):
    assert resources.quota(*control_groups(files)) == expected
