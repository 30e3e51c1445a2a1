"""Run the command line: `committee fit train.csv --target y`.

A command parses its options, runs a job of `committee.jobs` and prints the result as text or JSON. Libraries
are imported only when a command needs them, so that help is shown quickly.
"""

import sys

__all__ = ["main"]

INTERRUPTED = 130


def main() -> None:
    """Run the command line, and exit with the code of the command."""
    try:
        try:
            import typer  # noqa: F401 - its absence is reported in one line
        except ModuleNotFoundError:
            sys.exit("committee: the command line needs typer, rich and pyarrow. Install committee[cli].")
        from committee.cli.main import run

        sys.exit(run(sys.argv[1:]))
    except KeyboardInterrupt:
        print("committee: interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)
