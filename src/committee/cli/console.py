"""What the commands share: their options, where a model goes, and how results are shown.

Results are tables and short lines for people, on a console of rich, or JSON for programs.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import math
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import typer

from committee.automatic.automatic_parameters import PRESETS, AutomaticParameters
from committee.parameters import declarations

if TYPE_CHECKING:
    from committee.automatic.automatic_committee import AutomaticCommittee
    from committee.files import CSVForm

STANDARD = "-"
LARGEST_SEED = 2**32 - 1
# The width where no terminal tells its own, and how many names stand in a line.
WIDTH, MOST_NAMES = 160, 12
Command = TypeVar("Command", bound=Callable[..., Any])

Table = Annotated[str, typer.Argument(metavar="TABLE", help="A file with a table, or -.", show_default=False)]
Model = Annotated[str, typer.Argument(metavar="MODEL", help="A saved model, or -.", show_default=False)]
Json = Annotated[bool, typer.Option("--json", help="Write JSON for programs.")]
Target = Annotated[str | None, typer.Option(help="The column with the answers; else that of the fit.")]
Scoring = Annotated[
    str | None,
    typer.Option(
        help="A metric by scikit-learn's name: accuracy, neg_log_loss, roc_auc, f1_macro; "
        "neg_root_mean_squared_error, r2; and so on.",
        autocompletion=lambda incomplete: known_metrics(incomplete),
    ),
]
Trust = Annotated[
    list[str] | None, typer.Option(help="A type of another library that the model may hold; repeat it.")
]
IgnoreExtra = Annotated[bool, typer.Option(help="Leave columns out that the fit has not seen.")]
Encoding = Annotated[str | None, typer.Option(help="Of CSV, such as utf-8 or latin-1; else it is found.")]
Delimiter = Annotated[str | None, typer.Option(help="Between the values of CSV; else it is found.")]
Header = Annotated[
    bool | None, typer.Option("--header/--no-header", help="Whether CSV begins with names; else it is found.")
]
Decimal = Annotated[
    Literal[".", ",", "auto"],
    typer.Option(help="What stands before the decimals in CSV; auto finds it."),
]


def committee_option(name: str, kind: Any, *flags: str, more: str = "", **settings: Any) -> inspect.Parameter:
    """Make an option of a declared parameter of the committee.

    Parameters
    ----------
    name : str
        The declaration says the default and, in its first sentence, the help.
    kind : type
        What typer reads the text as.
    *flags : str
        What the option is called, if not by the name of the parameter.
    more : str, default=""
        Added to the help.
    **settings : object
        For typer.

    Returns
    -------
    inspect.Parameter
    """
    field, declaration = next(each for each in declarations(AutomaticParameters) if each[0].name == name)
    first_sentence = declaration["meaning"].partition(". ")[0].replace("`", "")
    text = f"{first_sentence.removesuffix('.')}. {more}".strip()
    default = settings.pop("default", None if field.default == "auto" else field.default)
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=typer.Option(default, *flags, help=text, **settings),
        annotation=kind if default is not None else kind | None,
    )


def with_committee_options(command: Command) -> Command:
    """Let `**parameters` of a command be those of the committee that a shell can give, after `scoring`."""
    signature = inspect.signature(command, eval_str=True)
    own = [each.replace(kind=each.KEYWORD_ONLY) for each in signature.parameters.values()]
    place = list(signature.parameters).index("scoring") + 1
    command.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[
            *own[:place],
            committee_option("time_limit", str, more="Also 90s, 10m, 1h30m."),
            committee_option("memory_limit", str, more="Also 500MB, 4GB."),
            committee_option("preset", Literal[tuple(PRESETS)]),
            committee_option("tune_threshold", bool, "--tune-threshold"),
            committee_option(
                "estimators",
                list[str],
                more="Names with commas; auto, which may be one, is those that suit the table.",
                autocompletion=known_members,
            ),
            committee_option("rule", str, more="Else the best is found.", autocompletion=known_rules),
            committee_option("cv", int, "--folds", more="The number of folds.", min=2),
            committee_option("n_jobs", int, "--jobs", more="Else as many as there are cores."),
            committee_option(
                "random_state",
                int,
                "--seed",
                more="The same seed gives the same model, without a time limit.",
                default=0,
                min=0,
                max=LARGEST_SEED,
            ),
            committee_option("run_folder", str),
            *own[place:-1],
        ]
    )
    return command


def csv_form(
    encoding: str | None, delimiter: str | None, header: bool | None, decimal: str | None
) -> CSVForm:
    """Return what options say of how CSV is written."""
    from committee.files import CSVForm

    if delimiter is not None:
        delimiter = {"\\t": "\t", "tab": "\t"}.get(delimiter, delimiter)
        if len(delimiter) != 1:
            raise typer.BadParameter(f"A delimiter is one character, or tab. Got {delimiter!r}.")
    return CSVForm(encoding, delimiter, header, None if decimal == "auto" else decimal)


def pairs(given: Iterable[str] | None) -> dict[str, str]:
    """Types as options give them: `--types age=number,zip=category`. Names may have commas in them.

    Examples
    --------
    >>> pairs(["age=number,zip=category", "a=b=id", "height, cm=number"])
    {'age': 'number', 'zip': 'category', 'a=b': 'id', 'height, cm': 'number'}
    """
    found = {}
    for text in given or ():
        begun: list[str] = []
        for part in text.split(","):
            begun.append(part)
            name, sign, kind = ",".join(begun).rpartition("=")
            if sign and name and kind:
                found[name] = kind
                begun = []
        if begun:
            raise typer.BadParameter(f"A type is given as COLUMN=TYPE, such as zip=category. Got {text!r}.")
    return found


def words(given: Iterable[str] | None) -> list[str]:
    """Names as options give them, with commas or one by one.

    Examples
    --------
    >>> words(["forest,linear", "c45"])
    ['forest', 'linear', 'c45']
    """
    found = [word.strip() for text in given or () for word in text.split(",") if word.strip()]
    if given and not found:
        raise typer.BadParameter("A list of names is empty. Name something, or leave the option out.")
    return found


def known_members(incomplete: str) -> list[str]:
    """The members that a shell may offer."""
    from committee.automatic.portfolio import NAMED_ONLY, CANDIDATES

    return completed(incomplete, ["auto", *CANDIDATES, *NAMED_ONLY])


def known_learners(incomplete: str) -> list[str]:
    """The learners that a shell may offer."""
    from committee.evaluating import known_learners as lines_of_learners

    return completed(incomplete, lines_of_learners())


def known_rules(incomplete: str) -> list[str]:
    """The rules that a shell may offer."""
    from committee.combining.rule_registry import rule_names

    return completed(incomplete, rule_names())


def known_metrics(incomplete: str) -> list[str]:
    """The metrics that a shell may offer."""
    from committee.metrics.metric_table import METRICS

    return completed(incomplete, METRICS)


def completed(incomplete: str, names: Iterable[str]) -> list[str]:
    """Names that end what was begun, after those that stand before a comma.

    Examples
    --------
    >>> completed("linear,bo", ["booster", "linear", "borda"])
    ['linear,booster', 'linear,borda']
    """
    before, comma, begun = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in names if name.startswith(begun)]


def check_place(place: str | os.PathLike[str], *inputs: str | os.PathLike[str]) -> None:
    """Raise if an output cannot be written to a place, or would replace an input, before any work is done.

    Parameters
    ----------
    place : str or path
        `-` is the standard output.
    *inputs : str or path
        The files that the command reads. `-` is the standard input, which may be a file too.

    Examples
    --------
    >>> check_place("no/such/folder/m.committee")
    Traceback (most recent call last):
    FileNotFoundError: There is no folder no/such/folder to save in. Make it first.
    """
    if os.fspath(place) == STANDARD:
        return
    path = Path(place)
    for given in inputs:
        if is_same_file(path, given):
            name = "standard input" if os.fspath(given) == STANDARD else f"input {given}"
            raise ValueError(f"{path} is the {name} itself. Give the output another name.")
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder. Give the file a name in it.")
    if path.exists() and not path.is_file():
        raise OSError(f"{path} is not a file but a device or the like, which cannot be replaced.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {path.parent} to save in. Make it first.")
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise type(error)(f"Cannot save in {path.parent}: {error.strerror}.") from error


def is_same_file(path: Path, given: str | os.PathLike[str]) -> bool:
    """Whether a path leads to the file of an input, perhaps by a link."""
    try:
        status = os.fstat(sys.stdin.fileno()) if os.fspath(given) == STANDARD else os.stat(given)
        return os.path.samestat(status, path.stat())
    except (OSError, ValueError):  # one of them does not exist, or the standard input is not a file
        return False


def check_run(run: str | None, resume: bool) -> None:
    """Raise if a run would go on with another by accident, or has nothing to go on with.

    Parameters
    ----------
    run : str or None
        The folder of the run.
    resume : bool
        Whether to go on with what is in it.

    Examples
    --------
    >>> check_run(None, resume=True)
    Traceback (most recent call last):
    ValueError: --resume needs the folder of the run to go on with: --run-folder DIR.
    """
    if run is None:
        if resume:
            raise ValueError("--resume needs the folder of the run to go on with: --run-folder DIR.")
        return
    folder = Path(run)
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"{run} is a file. Name a folder with --run-folder.")
    is_begun = folder.is_dir() and any(folder.iterdir())
    if is_begun and not resume:
        raise ValueError(
            f"The folder {run} has a run in it. Pass --resume to go on with it, or name another."
        )
    if resume and not is_begun:
        raise ValueError(f"There is no run in the folder {run}. Leave --resume out to begin one.")


def keep(model: AutomaticCommittee, place: str | os.PathLike[str]) -> int:
    """Save a model in a place.

    Parameters
    ----------
    model : estimator
    place : str or path
        `-` is the standard output.

    Returns
    -------
    int
        The size of the file.
    """
    if os.fspath(place) != STANDARD:
        model.save(place)
        return Path(place).stat().st_size
    with tempfile.TemporaryDirectory(prefix="committee-") as folder:
        path = Path(folder, "model.committee")
        model.save(path)
        with path.open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer)
        sys.stdout.flush()
        return path.stat().st_size


def show_json(value: object) -> None:
    """Write a value as JSON."""
    print(json.dumps(plain(value), indent=2, ensure_ascii=False))


def plain(value: object) -> object:
    """A value as JSON has it: what it has no word for is null, as NaN, or text.

    Examples
    --------
    >>> plain({"score": float("nan"), "names": ("a", "b"), 3: 1.5})
    {'score': None, 'names': ['a', 'b'], '3': 1.5}
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = dataclasses.asdict(value)
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(name): plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, bool | int | float | str | None) else str(value)


def say(text: str, *, on_stderr: bool = False) -> None:
    """Write a line."""
    print(text, file=sys.stderr if on_stderr else sys.stdout)


def show_table(
    header: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    right: Sequence[int] = (),
    on_stderr: bool = False,
) -> None:
    """Write rows in columns.

    Parameters
    ----------
    header : sequence of str
    rows : iterable of sequences of str
    right : sequence of int, default=()
        The columns of numbers.
    on_stderr : bool, default=False
    """
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    console = Console(stderr=on_stderr, highlight=False)
    if not console.is_terminal:
        console = Console(stderr=on_stderr, highlight=False, width=WIDTH)
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for place, title in enumerate(header):
        table.add_column(title, justify="right" if place in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(text.replace("[", "\\[") for text in row))
    console.print(table)


def show_standings(found: dict[str, Any], *, on_stderr: bool = False) -> None:
    """Show a leaderboard."""
    from committee.metrics import shown

    scoring = found["scoring"]
    rows = [
        [each["kind"], each["name"], f"{shown(scoring, each['score'])[1]:.6g}"] for each in found["standings"]
    ]
    show_table(["", "name", shown(scoring, 0.0)[0]], rows, right=[2], on_stderr=on_stderr)


def some(names: Sequence[str]) -> str:
    """Names for a line, not too many of them.

    Examples
    --------
    >>> some([str(i) for i in range(15)])
    '0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 3 more'
    """
    rest = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {rest} more" if rest > 0 else "")


def size_of(n_bytes: float) -> str:
    """A size for people.

    Examples
    --------
    >>> size_of(512), size_of(2_345_678)
    ('512 bytes', '2.3 MB')
    """
    for unit, amount in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= amount:
            return f"{n_bytes / amount:.1f} {unit}"
    return f"{n_bytes:.0f} bytes"
