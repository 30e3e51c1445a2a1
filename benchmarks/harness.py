"""Run the cases of a question and write its result file: the harness of all benchmarks.

A question has cases, and a case measures one peer. `main` runs each pair of case and peer in a fresh process
and writes the result in the format of `results.py`. The peers take turns within each repetition, so that a
slow minute of the machine affects all of them. The worker is the file of the question, called with
`--worker`. It prints its readings as JSON on the last line of stdout.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

import results
from peers import PEERS, THREADS, Peer

TIMEOUT_SECONDS = 1800


@dataclass(frozen=True)
class Metric:
    """The name and unit of a number. With `ratio`, it is a cost that is compared by division."""

    label: str
    unit: str
    ratio: bool


METRICS = {
    "fit": Metric("fit", "s", True),
    "predict": Metric("predict", "s", True),
    "one_row": Metric("one row", "us", True),
    "prepared_row": Metric("prepared row", "us", True),
    "memory": Metric("peak memory", "MB", True),
    "size": Metric("model", "MB", True),
    "turns": Metric("interleaved", "", False),
    "save": Metric("save", "s", True),
    "load": Metric("load", "s", True),
    "file": Metric("file", "MB", True),
    "time": Metric("time", "s", True),
    "first": Metric("first row", "s", True),
    "files": Metric("files", "files", False),
    "failures": Metric("failures", "files", False),
    "processor": Metric("processor time", "s", True),
    "same": Metric("same members", "", False),
    "but_for_ties": Metric("same except for ties", "", False),
    "accuracy": Metric("accuracy", "", False),
    "log_loss": Metric("log loss", "", False),
    "rmse": Metric("RMSE", "", False),
    "distinct": Metric("distinct models", "", False),
    "explain": Metric("explain", "s", True),
    "difference": Metric("difference to shap", "", False),
}


@dataclass(frozen=True)
class Case:
    """One measurement that several peers can make."""

    name: str
    about: str
    peers: tuple[str, ...]
    measure: Callable  # (peer, *, seed, quick) -> readings by metric
    axis: str | None = None
    at: float | None = None


@dataclass(frozen=True)
class Plot:
    """A picture of one metric, or of its growth along an axis."""

    file: str
    title: str
    metric: str
    axis: str | None = None


@dataclass(frozen=True)
class Question:
    """The cases and targets of a benchmark file."""

    name: str
    title: str
    about: str
    cases: tuple[Case, ...]
    check_targets: Callable  # Readings -> list of verdicts
    registry: Mapping[str, Peer] = field(default_factory=lambda: PEERS)
    plots: tuple[Plot, ...] = ()


def main(question):
    """Run the benchmark of a question from the command line, as the driver or as one worker."""
    arguments = _parse(question)
    if arguments.worker:
        return _work(question, **json.loads(arguments.worker))
    cases = [case for case in question.cases if case.name in arguments.cases]
    _check_installed(arguments.peers, question.registry)
    values, failures = _run(cases, arguments, question.registry)
    result = _result(question, cases, arguments, values, failures)
    _print(result)
    everything = arguments.cases == _names(question) and arguments.peers == _peers(question)
    path = results.write(result, complete=everything and not arguments.quick and not failures)
    print(f"\nWrote {path.relative_to(Path(__file__).parent.parent)}")
    return sys.exit(1 if failures else 0)


def _parse(question):
    parser = argparse.ArgumentParser(description=question.title)
    parser.add_argument(
        "--quick", action="store_true", help="small sizes and one repetition, to check all cases"
    )
    parser.add_argument("--cases", nargs="+", choices=_names(question), default=_names(question))
    parser.add_argument("--peers", nargs="+", choices=_peers(question), default=_peers(question))
    parser.add_argument("--repeats", type=int, help="fresh processes per case and peer (5; quick 1)")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.repeats is None:
        arguments.repeats = 1 if arguments.quick else 5
    if arguments.repeats < 1:
        parser.error(f"--repeats must be an integer >= 1. Got {arguments.repeats}.")
    return arguments


def _names(question):
    return [case.name for case in question.cases]


def _peers(question):
    taking_part = {peer for case in question.cases for peer in case.peers}
    return [name for name in question.registry if name in taking_part]


def _check_installed(peers, registry):
    missing = []
    for name in peers:
        try:
            registry[name].version()
        except ModuleNotFoundError:
            missing.append(name)
    if missing:
        sys.exit(f"Not installed: {', '.join(missing)}. Run `make bench`, or choose others with --peers.")


def _run(cases, arguments, registry):
    """Return the readings of all runs by (case, peer, metric), and the failures."""
    values, failures = {}, []
    for repeat in range(arguments.repeats):
        for case in cases:
            peers = [name for name in arguments.peers if name in case.peers]
            turn = repeat % len(peers) if peers else 0
            for peer in peers[turn:] + peers[:turn]:
                job = {"case": case.name, "peer": peer, "seed": repeat, "quick": arguments.quick}
                try:
                    readings = _in_fresh_process(job, registry[peer].python)
                except RuntimeError as error:
                    failures.append({"case": case.name, "peer": peer, "message": str(error)})
                    print(f"{case.name}, {peer}: FAILED: {error}", file=sys.stderr)
                    continue
                for metric, value in readings.items():
                    values.setdefault((case.name, peer, metric), []).append(value)
                shown = ", ".join(f"{metric} {value:.4g}" for metric, value in readings.items())
                print(f"[{repeat + 1}/{arguments.repeats}] {case.name}, {peer}: {shown}", file=sys.stderr)
    return values, failures


def _in_fresh_process(job, python):
    threads = dict.fromkeys(
        ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"), str(THREADS)
    )
    command = [python, sys.argv[0], "--worker", json.dumps(job)]
    try:
        done = subprocess.run(
            command, env=os.environ | threads, capture_output=True, text=True, timeout=TIMEOUT_SECONDS
        )
    except subprocess.TimeoutExpired as error:
        raise RuntimeError(f"no result within {TIMEOUT_SECONDS} s") from error
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise RuntimeError(lines[-1])
    return json.loads(done.stdout.splitlines()[-1])


def _work(question, *, case, peer, seed, quick):
    chosen = next(c for c in question.cases if c.name == case)
    print(json.dumps(chosen.measure(question.registry[peer], seed=seed, quick=quick)))


def _result(question, cases, arguments, values, failures):
    measurements = [
        {"case": case, "peer": peer, "metric": metric, "values": numbers}
        for (case, peer, metric), numbers in values.items()
    ]
    measured = {m["metric"] for m in measurements}
    return {
        "name": question.name,
        "title": question.title,
        "about": question.about,
        "rerun": f"python benchmarks/{question.name}.py",
        "quick": arguments.quick,
        "date": results.today(),
        "machine": results.machine(),
        "peers": {
            name: {"version": question.registry[name].version(), "settings": question.registry[name].settings}
            for name in arguments.peers
        },
        "metrics": {name: asdict(metric) for name, metric in METRICS.items() if name in measured},
        "cases": [{"name": c.name, "about": c.about, "axis": c.axis, "at": c.at} for c in cases],
        "measurements": measurements,
        "targets": [] if arguments.quick else question.check_targets(results.Readings(measurements)),
        "plots": [asdict(plot) for plot in question.plots],
        "failures": failures,
    }


def _print(result):
    for header, rows in results.tables(result):
        print("\n" + results.markdown(header, rows))
    if result["quick"]:
        print("\nThis is a quick run with small sizes, so it is not compared with the targets.")
    else:
        print("\n" + results.markdown(*results.verdict_table(result)))
    for failure in result["failures"]:
        print(f"FAILED {failure['case']}, {failure['peer']}: {failure['message']}")
