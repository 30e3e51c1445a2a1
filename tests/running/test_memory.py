"""How much memory there is to take."""

import math

import pytest

from committee.running import available_bytes, memory


def test_this_process_may_take_some():
    assert available_bytes() > 0


def test_free_memory_is_read_in_kilobytes(tmp_path):
    (tmp_path / "meminfo").write_text("MemTotal:  9 kB\nMemAvailable:   2 kB\n")
    assert memory.machine_bytes(tmp_path / "meminfo") == 2048


def test_a_machine_of_unknown_memory_is_trusted(tmp_path, monkeypatch):
    monkeypatch.setattr(memory.os, "sysconf_names", {})
    assert memory.machine_bytes(tmp_path / "nothing") == math.inf


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
    assert memory.allowed_bytes(*control_groups(files)) == expected
