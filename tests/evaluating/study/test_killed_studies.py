"""Test that a killed study resumes without losing or repeating a cell, and ends with the same store.

As a script (`make soak`), `--kills 200` kills more often, with another seed.
"""

import argparse
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

from study_cases import content, main_study

PLACE = str(Path(__file__).parents[2] / "support")
# Runs the study of each line in a fork, so that the modules are imported only once.
FORKS = """
import os, sys
sys.path.insert(0, sys.argv[1])
import study_cases
for line in sys.stdin:
    pid = os.fork()
    if not pid:
        study_cases.run(line.strip(), sys.argv[2])
        os._exit(0)
    print(pid, flush=True)
    os.waitpid(pid, 0)
    print("ended", flush=True)
"""
# This is long enough for kills to occur in all states of a cell.
SECONDS_OF_SLOW_CELLS = 0.05


@contextmanager
def forks():
    """Start a process that runs each study in a fork."""
    command = [sys.executable, "-c", FORKS, PLACE, str(SECONDS_OF_SLOW_CELLS)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        yield server
        server.stdin.close()


def is_running(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def run_and_kill(server, folder, n_cells, seconds):
    """Run a study and kill it shortly after `n_cells` cells have ended. Return False if it ends before."""
    server.stdin.write(f"{folder}\n")
    server.stdin.flush()
    pid = int(server.stdout.readline())
    is_killed = False
    while is_running(pid) and not is_killed:
        if (folder / "study.sqlite").exists() and n_done(folder) >= n_cells:
            time.sleep(seconds)
            is_killed = is_running(pid)
            if is_killed:
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.005)
    assert server.stdout.readline() == "ended\n"
    return is_killed


def n_done(folder):
    """Return the number of ended cells, as another process reads it."""
    try:
        with sqlite3.connect(f"file:{folder}/study.sqlite?mode=ro", uri=True, timeout=10) as connection:
            (count,) = connection.execute("SELECT count(*) FROM cells").fetchone()
    except sqlite3.OperationalError:
        # The study has not created its tables yet.
        return 0
    connection.close()
    return count


def seconds_of_cells(folder):
    """Return the times of all ended cells. The times change if a cell runs again."""
    study = main_study(folder, SECONDS_OF_SLOW_CELLS)
    rows = study.store.query("SELECT learner, table_name, resample, fit_seconds, predict_seconds FROM cells")
    study.close()
    return {row[:3]: row[3:] for row in rows}


def check_killed(folder, n_kills, seed):
    """Kill a study at random moments, resume it, and compare it with one that was not killed.

    Returns
    -------
    int
        The number of kills, which is less than `n_kills` if the study has ended before.
    """
    rng = random.Random(seed)
    done, n_killed = {}, 0
    with forks() as server:
        for _ in range(n_kills):
            seconds = rng.uniform(0.0, SECONDS_OF_SLOW_CELLS)
            if not run_and_kill(server, folder / "killed", len(done) + rng.randrange(3), seconds):
                break
            n_killed += 1
            now = seconds_of_cells(folder / "killed")
            assert done.items() <= now.items(), "a finished cell was lost or run again"
            done = now
    with main_study(folder / "killed", SECONDS_OF_SLOW_CELLS) as killed:
        killed.run()
        assert done.items() <= seconds_of_cells(folder / "killed").items()
        with main_study(folder / "whole", SECONDS_OF_SLOW_CELLS) as whole:
            assert content(killed) == content(whole.run())
    return n_killed


def test_a_study_that_is_killed_twenty_times_ends_with_the_same_store(tmp_path):
    assert check_killed(tmp_path, 20, seed=0) > 10


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="committee-") as folder:
        n_killed = check_killed(Path(folder), arguments.kills, arguments.seed)
    print(f"Killed {n_killed} times: the store is the same.")


if __name__ == "__main__":
    main()
