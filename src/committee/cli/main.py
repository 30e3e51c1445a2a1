"""Run commands, and turn their errors into exit codes and messages of one line."""

from __future__ import annotations

import os
import re
import sys
import traceback
import warnings
from typing import Annotated, Any

import typer

import committee
from committee.cli import INTERRUPTED, compare_command, fit_command, query_commands, shrink_command
from committee.parameters import RENAMED

DONE, BUG, USAGE, BAD_INPUT, BAD_MODEL, NO_FILE = range(6)
# Typer may contain its own click or import it. This is the base class of usage errors in either.
UsageError: Any = typer.BadParameter.__bases__[0]
# Typer passes on messages of pydantic, which are written for the authors of programs.
PYDANTIC = {re.compile(r"Value error, "): "", re.compile(r": Input should be"): ": it should be"}

app = typer.Typer(
    name="committee",
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Ensemble learning for tables: members vote, a rule decides.",
    epilog="Exit codes: 0 done; 1 an internal error of committee; 2 wrong usage; 3 an invalid table or "
    "value; 4 the model is damaged or not trusted; 5 a file cannot be read or written; 130 interrupted. "
    "TABLE is a CSV, Parquet, Arrow, Feather, JSON lines or ARFF file, compressed or not, or - for the "
    "standard input. Set COMMITTEE_TRACEBACK=1 to print the traceback of an error.",
)
for command in (
    fit_command.fit,
    query_commands.predict,
    query_commands.evaluate,
    query_commands.leaderboard,
    query_commands.inspect,
    query_commands.verify,
    shrink_command.shrink,
    compare_command.compare,
    fit_command.demo,
    query_commands.members,
    query_commands.rules,
    query_commands.learners,
):
    app.command()(command)


def show_version(is_wanted: bool) -> None:
    """Print the version, and end the program."""
    if is_wanted:
        print(f"committee {committee.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=show_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    """Define the options of the program itself."""


def run(arguments: list[str]) -> int:
    """Run a command and return its exit code.

    Parameters
    ----------
    arguments : list of str

    Returns
    -------
    int
        The exit code.

    Examples
    --------
    >>> run(["rules", "--json", "--no-such-option"])
    2
    """
    try:
        with warnings.catch_warnings():
            warnings.showwarning = show_warning
            code = app(args=arguments or ["--help"], prog_name="committee", standalone_mode=False)
        sys.stdout.flush()
        if code == INTERRUPTED:
            return complain("interrupted", INTERRUPTED)
        return code if isinstance(code, int) else DONE
    except UsageError as error:
        message = error.format_message()
        for pattern, plain in PYDANTIC.items():
            message = pattern.sub(plain, message)
        new = RENAMED.get(getattr(error, "option_name", "").lstrip("-"))
        hint = "" if new is None else f" It is now called --{new.replace('_', '-')}."
        return complain(message + hint, USAGE)
    except (KeyboardInterrupt, typer.Abort):
        return complain("interrupted", INTERRUPTED)
    except BrokenPipeError:
        # The reader of the output has closed the pipe.
        discard_output()
        return NO_FILE
    except Exception as error:
        discard_output()
        return complain(message_of(error), code_of(error))


def discard_output() -> None:
    """Discard output that cannot be written. Otherwise Python tries again at exit and prints a traceback."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def code_of(error: Exception) -> int:
    """Return the exit code of an error."""
    if isinstance(error, OSError | MemoryError):
        return NO_FILE
    from committee.saving import DamagedFile, UntrustedMember

    if isinstance(error, DamagedFile | UntrustedMember):
        return BAD_MODEL
    if isinstance(error, ValueError | TypeError | ImportError):
        return BAD_INPUT
    return BUG


def message_of(error: Exception) -> str:
    """Return an error as one line. Print its traceback first if COMMITTEE_TRACEBACK is set."""
    if os.environ.get("COMMITTEE_TRACEBACK"):
        traceback.print_exception(error)
    if isinstance(error, MemoryError):
        return "out of memory"
    text = " ".join(str(error).split())
    if isinstance(error, OSError) and error.strerror:
        return error.strerror if error.filename is None else f"{error.filename}: {error.strerror}"
    if type(error).__name__ == "UntrustedMember":
        return f"{text} On the command line, pass --trust for each of these names."
    return text if text and code_of(error) != BUG else f"{type(error).__name__}: {text}"


def complain(message: str, code: int) -> int:
    """Print an error as one line on stderr, and return the exit code."""
    print(f"committee: {message}", file=sys.stderr)
    return code


def show_warning(
    message: object,
    category: object,
    filename: object,
    lineno: object,
    file: object = None,
    line: object = None,
) -> None:
    """Print a warning as one line on stderr."""
    print(f"committee: {' '.join(str(message).split())}", file=sys.stderr)
