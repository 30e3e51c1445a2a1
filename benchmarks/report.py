"""Write docs/benchmarks.md and its pictures from every result in benchmarks/results.

python benchmarks/report.py
"""

from pathlib import Path

import results
from plots import draw

DOCS = Path(__file__).parent.parent / "docs"
PAGE = DOCS / "benchmarks.md"
PICTURES = DOCS / "benchmarks"

HEAD = """# Benchmarks

Written by `python benchmarks/report.py` from `benchmarks/results/*.json`; do not edit.

`make bench` creates the environment of the peers, runs every benchmark that needs no other tables and
writes this page. Benchmarks on a folder of tables that is not part of the project are run by hand; the last
line of each section shows the command (`--data FOLDER`). A value is the median over fresh processes after a
warm-up, with interleaved peers. ±% is half the range of the runs. *3.1x* is the value as a multiple of
committee's: more than one means that committee needs less. Targets are compared with the medians of one
run."""


def write():
    """Write the page."""
    answered = results.load_all()
    page = [HEAD, _summary(answered), *(_section(result) for result in answered)]
    DOCS.mkdir(exist_ok=True)
    PAGE.write_text("\n\n".join(page) + "\n", encoding="utf-8")
    print(f"Wrote {PAGE.relative_to(DOCS.parent)} from {len(answered)} results.")


def _summary(answered):
    rows = []
    for result in answered:
        met = [target["met"] for target in result["targets"]]
        link = f"[{result['title']}](#{_anchor(result['title'])})"
        rows.append([link, str(met.count(True)), str(met.count(False)), str(met.count(None))])
    return "## The targets in short\n\n" + results.markdown(
        ["question", "met", "missed", "not measured"], rows
    )


def _section(result):
    parts = [f"## {result['title']}", result["about"]]
    if result["targets"]:
        parts.append(results.markdown(*results.verdict_table(result)))
    for plot in result["plots"]:
        if draw(result, plot, PICTURES):
            parts.append(f"![{plot['title']}](benchmarks/{plot['file']})")
    parts += [results.markdown(header, rows) for header, rows in results.tables(result)]
    parts += [_cases(result), _peers(result), _failures(result), _machine(result)]
    return "\n\n".join(part for part in parts if part)


def _cases(result):
    return "\n".join(f"- {case['name']}: {case['about']}" for case in result["cases"] if case["about"])


def _peers(result):
    rows = [[name, peer["version"], peer["settings"]] for name, peer in result["peers"].items()]
    return results.markdown(["peer", "version", "settings"], rows)


def _failures(result):
    return "\n".join(f"- **Failed:** {f['case']}, {f['peer']}: {f['message']}" for f in result["failures"])


def _machine(result):
    facts = ", ".join(f"{name} {value}" for name, value in result["machine"].items())
    return f"Measured {result['date']}: {facts}. Again: `{result['rerun']}`."


def _anchor(title):
    """Return the anchor of a heading in rendered Markdown."""
    kept = "".join(letter for letter in title.lower() if letter.isalnum() or letter in " -")
    return kept.replace(" ", "-")


if __name__ == "__main__":
    write()
