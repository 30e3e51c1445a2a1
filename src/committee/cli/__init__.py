"""The command line: `committee fit train.csv --target y`.

Thin: options in, a job of `jobs`, its result as text for people or JSON for programs. Nothing that learns is
imported before a command needs it, so that help comes at once.
"""

import sys

__all__ = ["main"]

INTERRUPTED = 130


def main() -> None:
    """Run the command of the process, and end the process with its code."""
    try:
        try:
            import typer  # noqa: F401 - its absence is told in one line
        except ModuleNotFoundError:
            sys.exit("committee: the command line needs typer, rich and pyarrow. Install committee[cli].")
        from committee.cli.main import run

        sys.exit(run(sys.argv[1:]))
    except KeyboardInterrupt:
        print("committee: interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)
