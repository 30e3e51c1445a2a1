"""Compare the cost of our runners with that of joblib's backends.

python benchmarks/running.py [--quick] [--cases ...] [--peers ...] [--repeats 5]
"""

import operator
import statistics
import time
from contextlib import ExitStack

from harness import Case, Question, main
from measure import seconds
from peers import THREADS, Peer
from small_fits import MEMBERS, fit, table
from verdicts import in_turns

N_FITS = 40
# Rounds of all fits are repeated for this time.
SECONDS = 4.0
KINDS = ("threads", "processes")


class Committee:
    """Tasks in a running runner, which gets the table once."""

    def __init__(self, kind):
        from committee.running import runner

        self.run = runner(kind, n_workers=THREADS)
        self.X, self.y = map(self.run.put, table())

    def all(self, member):
        return self.run.gather([self.run.submit(fit, member, self.X, self.y, seed) for seed in range(N_FITS)])

    def close(self):
        self.run.close()


class Joblib:
    """Calls in a running pool of joblib, with one inner thread each.

    joblib uses memory maps for arrays of more than a megabyte; these are smaller.
    """

    def __init__(self, kind):
        from joblib import Parallel, parallel_config
        from threadpoolctl import threadpool_limits

        self.stack = ExitStack()
        if kind == "threads":
            self.stack.enter_context(threadpool_limits(1))
            self.stack.enter_context(parallel_config("threading"))
        else:
            self.stack.enter_context(parallel_config("loky", inner_max_num_threads=1))
        self.parallel = self.stack.enter_context(Parallel(n_jobs=THREADS))
        self.X, self.y = table()

    def all(self, member):
        from joblib import delayed

        return self.parallel(delayed(fit)(member, self.X, self.y, seed) for seed in range(N_FITS))

    def close(self):
        self.stack.close()


PEERS = {
    "committee": Peer("committee", "committee", "committee.running.runner", KINDS, Committee),
    "joblib": Peer(
        "joblib", "joblib", "Parallel, backends threading and loky, one inner thread", KINDS, Joblib
    ),
}


def case(kind, member):
    """Return a case of all fits of one member on one kind of runner."""

    def measure(peer, *, seed, quick):
        others = [other for other in PEERS.values() if other is not peer]
        pools = [each.model(kind) for each in (peer, *others)]
        for pool in pools:
            pool.all(member)
        rounds, end = [], time.perf_counter() + (0.1 if quick else SECONDS)
        while len(rounds) < 3 or time.perf_counter() < end:
            # The first peer changes in every round.
            turn = 1 if len(rounds) % 2 else -1
            rounds.append([seconds(pool.all, member) for pool in pools[::turn]][::turn])
        for pool in pools:
            pool.close()
        ours, theirs = zip(*rounds, strict=True)
        return {"fit": min(ours), "turns": statistics.median(map(operator.truediv, ours, theirs))}

    return Case(f"{kind}, {member}", "", tuple(PEERS), measure)


CASES = tuple(case(kind, member) for kind in KINDS for member in MEMBERS)


def check_targets(readings):
    """Require at most 5 % more time than joblib, except for tasks that do nothing."""
    return [
        in_turns(readings, f"{N_FITS} fits: {each.name}", each.name, "turns", peer="joblib", percent=5)
        for each in CASES
        if "nothing" not in each.name
    ]


QUESTION = Question(
    name="running",
    title="What do the runners cost?",
    about=(
        f"{N_FITS} small fits on breast_cancer by two running workers with one thread each. *nothing* is "
        "the same number of tasks that do nothing: the cost of a task. Both are interleaved in one process "
        "for four seconds. A time is that of the shortest round; *interleaved* is the median ratio of "
        "neighbouring times over the rounds."
    ),
    cases=CASES,
    check_targets=check_targets,
    registry=PEERS,
)

if __name__ == "__main__":
    main(QUESTION)
