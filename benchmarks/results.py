"""Read and write the results of benchmarks, in the format that `report.py` reads.

`benchmarks/results/<name>.json` contains one object:

    name          str, the name of the question and of the file
    title         str, the question
    about         str, a paragraph of Markdown that describes the experiment and its tables
    rerun         str, the command
    quick         bool, true if the sizes were small (such results are not reported)
    date          str, "2026-01-31"
    machine       object of str: cpu, cores, memory, system, python; no names of hosts or paths
    peers         object: name -> {"version": str, "settings": str}; the others are compared with the first
    metrics       object: name -> {"label": str, "unit": str, "ratio": bool}; ratio: show other / first peer
    cases         list of {"name": str, "about": str, "axis": str or null, "at": number or null};
                  axis and at are the position of the case in a plot of growth
    measurements  list of {"case": str, "peer": str, "metric": str, "values": list of numbers, one per run}
    targets       list of {"what": str, "target": str, "measured": str, "met": bool, or null if not measured}
    plots         list of {"file": str, "title": str, "metric": str, "axis": str or null};
                  axis null: the ratio of each peer by case; otherwise the metric against `at`, both
                  logarithmic
    failures      list of {"case": str, "peer": str, "message": str}

Integers are shown in full, other numbers with three digits, or with four decimals if they have no unit.
"""

import json
import os
import platform
import statistics
from datetime import date
from pathlib import Path

FOLDER = Path(__file__).parent / "results"
KEYS = {
    "name", "title", "about", "rerun", "quick", "date", "machine",
    "peers", "metrics", "cases", "measurements", "targets", "plots", "failures",
}  # fmt: skip


class Readings:
    """The values by case, peer and metric."""

    def __init__(self, measurements):
        self._values = {(m["case"], m["peer"], m["metric"]): m["values"] for m in measurements}

    def values(self, case, peer, metric):
        """Return the values of all runs, which may be none."""
        return self._values.get((case, peer, metric), [])

    def median(self, case, peer, metric):
        """Return the median over the runs, or None without runs."""
        values = self.values(case, peer, metric)
        return statistics.median(values) if values else None

    def peers(self, case, metric):
        """Return the peers with a value."""
        return [peer for c, peer, m in self._values if c == case and m == metric]

    def metrics(self, case):
        """Return the metrics that at least one peer has in a case."""
        return {m for c, _, m in self._values if c == case}


def stored_runs(path):
    """Return the runs of a file of JSON lines, to which `store_run` appends."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def store_run(path, run):
    """Append a run to a file, so that an interrupted call continues."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.write(json.dumps(run) + "\n")


def machine():
    """Describe the hardware and software of the machine, without its name."""
    return {
        "cpu": _cpu_model(),
        "cores": str(os.cpu_count()),
        "memory": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 1024**3:.0f} GB",
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


def today():
    return date.today().isoformat()


def write(result, *, complete):
    """Write a result and return its path. An incomplete result is stored in `raw/` and not reported."""
    _check(result, result["name"])
    folder = FOLDER if complete else FOLDER / "raw"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{result['name']}.json"
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return path


def load_all():
    """Return all reported results, sorted by name."""
    results = []
    for path in sorted(FOLDER.glob("*.json")):
        result = json.loads(path.read_text(encoding="utf-8"))
        _check(result, path.name)
        results.append(result)
    return results


def tables(result):
    """Return the measurements as tables of text. Cases with the same metrics share a table.

    A case has a line for each peer or, if there is a single metric, a column for each.

    Returns
    -------
    list of (list of str, list of list of str)
        Header and rows.
    """
    readings = Readings(result["measurements"])
    grouped = {}
    for case in result["cases"]:
        shown = tuple(name for name in result["metrics"] if name in readings.metrics(case["name"]))
        if shown:
            grouped.setdefault(shown, []).append(case["name"])
    return [
        _table(result, readings, metrics, cases)
        if len(metrics) > 1
        else _wide_table(result, readings, metrics[0], cases)
        for metrics, cases in grouped.items()
    ]


def verdict_table(result):
    """Return the targets as a table of text: header and rows."""
    words = {True: "met", False: "**missed**", None: "not measured"}
    rows = [[t["what"], t["target"], t["measured"], words[t["met"]]] for t in result["targets"]]
    return ["what", "target", "measured", ""], rows


def markdown(header, rows):
    """Return a Markdown table, padded for reading as plain text."""
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    lines = [[cell.ljust(width) for cell, width in zip(row, widths, strict=True)] for row in [header, *rows]]
    lines.insert(1, ["-" * width for width in widths])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def number(value, unit):
    """Format a number.

    >>> number(0.90912, ""), number(26812.3, "us"), number(3.7, "s"), number(5, "leaves")
    ('0.9091', '26,812', '3.70', '5')
    """
    if isinstance(value, int):
        return f"{value:,}"
    if not unit:
        return f"{value:.4f}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:#.3g}".rstrip(".")


def _table(result, readings, metrics, cases):
    units = {name: result["metrics"][name]["unit"] for name in metrics}
    labels = [f"{result['metrics'][name]['label']} {units[name]}".strip() for name in metrics]
    first = next(iter(result["peers"]))
    rows = []
    for case in cases:
        for peer in result["peers"]:
            cells = [_cell(result, readings, case, peer, first, metric) for metric in metrics]
            if any(cells):
                rows.append([case, peer, *cells])
    return ["table", "peer", *labels], rows


def _wide_table(result, readings, metric, cases):
    """Return a table of one metric: a line for each case, a column for each peer that has a value."""
    about = result["metrics"][metric]
    first = next(iter(result["peers"]))
    peers = [peer for peer in result["peers"] if any(readings.values(case, peer, metric) for case in cases)]
    rows = [[case, *(_cell(result, readings, case, peer, first, metric) for peer in peers)] for case in cases]
    return [f"{about['label']} {about['unit']}".strip(), *peers], rows


def _cell(result, readings, case, peer, first, metric):
    """Format the median, half the range in percent, and the ratio to the first peer's median."""
    values = readings.values(case, peer, metric)
    if not values:
        return ""
    about = result["metrics"][metric]
    median = statistics.median(values)
    text = number(median, about["unit"])
    if about["ratio"] and len(values) > 1 and median:
        text += f" ±{50 * (max(values) - min(values)) / median:.0f}%"
    base = readings.median(case, first, metric)
    if about["ratio"] and base and peer != first:
        text += f", {median / base:.1f}x"
    return text


def _check(result, name):
    missing, unknown = KEYS - result.keys(), result.keys() - KEYS
    if missing or unknown:
        raise ValueError(
            f"Result {name} does not follow the format of benchmarks/results.py: "
            f"missing {sorted(missing)}, unknown {sorted(unknown)}."
        )


def _cpu_model():
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()
