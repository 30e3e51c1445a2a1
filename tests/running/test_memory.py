"""The memory that the process may use."""

import math
import platform
import subprocess
import sys

import pytest

from committee.running import available_bytes, resources


def test_this_process_may_use_some_memory():
    assert available_bytes() > 0


def test_free_memory_is_read_in_kilobytes(tmp_path):
    (tmp_path / "meminfo").write_text("MemTotal:  9 kB\nMemAvailable:   2 kB\n")
    assert resources.machine_bytes(tmp_path / "meminfo") == 2048


def test_unknown_memory_counts_as_infinite(tmp_path, monkeypatch):
    monkeypatch.setattr(resources.os, "sysconf_names", {})
    assert resources.machine_bytes(tmp_path / "nothing") == math.inf


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"memory.max": "1000", "memory.current": "400"}, 600),
        ({"memory.max": "1000", "memory.current": "1400"}, 0),
        ({"memory.max": "max", "memory.current": "400"}, math.inf),
        ({"job/memory.max": "1000", "job/memory.current": "400"}, 600),
        (
            {
                "job/step/memory.max": "900",
                "job/step/memory.current": "100",
                "job/memory.max": "700",
                "job/memory.current": "100",
            },
            600,
        ),
        ({"memory/memory.limit_in_bytes": "1000", "memory/memory.usage_in_bytes": "1"}, 999),
        ({}, math.inf),
    ],
)
def test_control_groups_limit_the_memory(control_groups, files, expected):
    assert resources.allowed_bytes(*control_groups(files)) == expected


KEPT = """
import numpy as np
from committee.running.resources import give_back_at_once

def resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * 4096

give_back_at_once()
np.ones(10**6)  # glibc raises its threshold when such a piece is freed
pieces = [np.ones(10**6) for _ in range(20)]
last = np.ones(10**5)  # is above them, unless each is mapped separately
before = resident()
del pieces
print(before - resident() > 100e6)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="an option of glibc")
def test_large_pieces_of_memory_are_returned_at_once():
    found = subprocess.run(
        [sys.executable, "-c", KEPT, "at once"], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "True"
