"""The runners that the shared tests check."""

from committee.running import runner

# A new runner is tested by adding it here.
RUNNERS = {
    "serial": lambda: runner("serial"),
    "threads": lambda: runner("threads", n_workers=2),
    "processes": lambda: runner("processes", n_workers=2),
}
PARALLEL = [name for name in RUNNERS if name != "serial"]
IN_OTHER_PROCESSES = [name for name in RUNNERS if name not in ("serial", "threads")]
