"""The commands together, and how each of them ends: with a code, and one line if something is wrong."""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from typing import Any

import typer

from committee.cli import INTERRUPTED, compare_command, fit_command, query_commands
from committee.parameters import RENAMED

DONE, BUG, USAGE, BAD_INPUT, BAD_MODEL, NO_FILE = range(6)
# Both of its own click and of another one, whichever Typer is built on.
UsageError: Any = typer.BadParameter.__bases__[0]

app = typer.Typer(
    name="committee",
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Ensemble learning for tables: members vote, a rule decides.",
    epilog="Exit codes: 0 done; 1 an error of committee itself; 2 the command cannot be understood; 3 the "
    "table or a value does not fit; 4 the model is damaged or not trusted; 5 a file cannot be read or "
    "written; 130 interrupted. TABLE is CSV, Parquet, Arrow, Feather, JSON lines or ARFF, packed or not, "
    "or - for the standard input. With COMMITTEE_TRACEBACK=1, errors tell where they come from.",
)
for command in (
    fit_command.fit,
    query_commands.predict,
    query_commands.evaluate,
    query_commands.leaderboard,
    query_commands.inspect,
    query_commands.verify,
    compare_command.compare,
    fit_command.demo,
    query_commands.members,
    query_commands.rules,
    query_commands.learners,
):
    app.command()(command)


def run(arguments: list[str]) -> int:
    """Run a command.

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
        new = RENAMED.get(getattr(error, "option_name", "").lstrip("-"))
        hint = "" if new is None else f" Use --{new.replace('_', '-')}, its name now."
        return complain(error.format_message() + hint, USAGE)
    except (KeyboardInterrupt, typer.Abort):
        return complain("interrupted", INTERRUPTED)
    except BrokenPipeError:
        # Whoever read the output has had enough of it.
        give_output_up()
        return NO_FILE
    except Exception as error:
        give_output_up()
        return complain(message_of(error), code_of(error))


def give_output_up() -> None:
    """Let go what could not be written, or Python would try again at its end, and complain at length."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def code_of(error: Exception) -> int:
    """The exit code of an error."""
    from committee.saving import DamagedFile, UntrustedMember

    if isinstance(error, DamagedFile | UntrustedMember):
        return BAD_MODEL
    if isinstance(error, OSError | MemoryError):
        return NO_FILE
    if isinstance(error, ValueError | TypeError | ImportError):
        return BAD_INPUT
    return BUG


def message_of(error: Exception) -> str:
    """An error as one line; what may be an error of our own tells more if the environment asks for it."""
    if os.environ.get("COMMITTEE_TRACEBACK"):
        traceback.print_exception(error)
    if isinstance(error, MemoryError):
        return "out of memory"
    text = " ".join(str(error).split())
    if isinstance(error, OSError) and error.strerror:
        return error.strerror if error.filename is None else f"{error.filename}: {error.strerror}"
    if type(error).__name__ == "UntrustedMember":
        return f"{text} On the command line, that is --trust for each of them."
    return text if text and code_of(error) != BUG else f"{type(error).__name__}: {text}"


def complain(message: str, code: int) -> int:
    """Say in one line on stderr what is wrong."""
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
    """A warning as one line on stderr."""
    print(f"committee: {' '.join(str(message).split())}", file=sys.stderr)
