"""A study that is killed goes on: nothing is lost or done twice, and in the end the store is the same.

As a script (`make soak`), with `--kills 200`, it kills more often, by another seed.
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
from pathlib import Path

from study_cases import content, main_study

PLACE = str(Path(__file__).parents[2] / "support")
RUN = "import sys; sys.path.insert(0, sys.argv[1]); import study_cases; study_cases.run(*sys.argv[2:])"
# Long enough that kills meet cells in all states.
SECONDS_OF_SLOW_CELLS = 0.05


def begin(folder):
    """The study in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-c", RUN, PLACE, str(folder), str(SECONDS_OF_SLOW_CELLS)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def kill_when(process, folder, n_cells, seconds):
    """Kill a study some time after it has finished so many cells; False if it has ended before."""
    while process.poll() is None:
        if (folder / "study.sqlite").exists() and n_done(folder) >= n_cells:
            time.sleep(seconds)
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            return True
        time.sleep(0.005)
    return False


def n_done(folder):
    """How many cells have ended, as another process sees it."""
    try:
        with sqlite3.connect(f"file:{folder}/study.sqlite?mode=ro", uri=True, timeout=10) as connection:
            (count,) = connection.execute("SELECT count(*) FROM cells").fetchone()
    except sqlite3.OperationalError:
        # It has only begun to make its tables.
        return 0
    connection.close()
    return count


def when_each_was_done(folder):
    """The seconds of all cells that have ended: a cell that is run again has others."""
    study = main_study(folder, SECONDS_OF_SLOW_CELLS)
    rows = study.store.ask("SELECT learner, table_name, resample, fit_seconds, predict_seconds FROM cells")
    study.close()
    return {row[:3]: row[3:] for row in rows}


def check_killed(folder, n_kills, seed):
    """Kill a study at random moments, let it go on, and compare it with one that was not killed.

    Returns
    -------
    int
        How often it was killed; it may have ended before.
    """
    rng = random.Random(seed)
    done, n_killed = {}, 0
    for _ in range(n_kills):
        process = begin(folder / "killed")
        seconds = rng.uniform(0.0, SECONDS_OF_SLOW_CELLS)
        if not kill_when(process, folder / "killed", len(done) + rng.randrange(3), seconds):
            break
        n_killed += 1
        now = when_each_was_done(folder / "killed")
        assert done.items() <= now.items(), "a finished cell was lost or run again"
        done = now
    with main_study(folder / "killed", SECONDS_OF_SLOW_CELLS) as killed:
        killed.run()
        assert done.items() <= when_each_was_done(folder / "killed").items()
        with main_study(folder / "through", SECONDS_OF_SLOW_CELLS) as through:
            assert content(killed) == content(through.run())
    return n_killed


def test_a_study_that_is_killed_twenty_times_has_the_same_store_in_the_end(tmp_path):
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
