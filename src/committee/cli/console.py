"""Define the options that commands share, save models and print results.

Results are printed as tables and short lines for people, or as JSON for programs.
"""

from __future__ import annotations

import csv
import dataclasses
import inspect
import json
import math
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TextIO, TypeVar

import typer

from committee.automatic.automatic_parameters import PRESETS, AutomaticParameters
from committee.parameters import declarations
from committee.printing import aligned

if TYPE_CHECKING:
    from committee.assembling import Leaderboard
    from committee.automatic.automatic_committee import AutomaticCommittee
    from committee.files import CSVForm

STANDARD = "-"
LARGEST_SEED = 2**32 - 1
# A type of a column, perhaps with a format, which may contain every sign.
TYPE = re.compile(r"(.+?)=((?:number|date):.*)")
Command = TypeVar("Command", bound=Callable[..., Any])

Table = Annotated[
    str,
    typer.Argument(
        metavar="TABLE",
        help="A file or URL of a table, or - for the standard input.",
        show_default=False,
    ),
]
Model = Annotated[
    str,
    typer.Argument(
        metavar="MODEL", help="A saved model, its URL, or - for the standard input.", show_default=False
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Force = Annotated[
    bool, typer.Option("--force", help="Replace an existing output file, whatever it contains.")
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print only warnings, errors and the last line.")]
Target = Annotated[str | None, typer.Option(help="The target column (default: the target of the fit).")]
Scoring = Annotated[
    str | None,
    typer.Option(
        help="A metric by scikit-learn's name, such as accuracy, neg_log_loss, roc_auc, f1_macro, "
        "neg_root_mean_squared_error or r2.",
        autocompletion=lambda incomplete: known_metrics(incomplete),
    ),
]
Trust = Annotated[
    list[str] | None, typer.Option(help="A library or a type that the model may contain. Can be repeated.")
]
Threshold = Annotated[
    float | None,
    typer.Option(
        help="The probability from which on the second of two classes is predicted (default: as in the fit)."
    ),
]
Rename = Annotated[
    list[str] | None,
    typer.Option(
        help="Columns with another name than in the training table. Comma-separated FITTED=NAME, such as "
        "income=Income."
    ),
]
IgnoreExtra = Annotated[bool, typer.Option(help="Ignore columns that were not in the training table.")]
Encoding = Annotated[str | None, typer.Option(help="Encoding of CSV, such as latin-1 (default: detected).")]
Delimiter = Annotated[str | None, typer.Option(help="Delimiter of CSV (default: detected).")]
Header = Annotated[
    bool | None, typer.Option("--header/--no-header", help="Whether CSV has a header (default: detected).")
]
Decimal = Annotated[
    Literal[".", ",", "auto"],
    typer.Option(help="Decimal sign of CSV; auto detects it."),
]
Missing = Annotated[
    list[str] | None,
    typer.Option(help="More names of missing values, comma-separated: unknown,-999."),
]


def committee_option(name: str, kind: Any, *flags: str, more: str = "", **settings: Any) -> inspect.Parameter:
    """Make an option from a declared parameter of the automatic committee.

    Parameters
    ----------
    name : str
        The name of the parameter. Its declaration has the default value, and the help in its first sentence.
    kind : type
        The type to which typer converts the text.
    *flags : str
        The names of the option, if they differ from the name of the parameter.
    more : str, default=""
        Text to append to the help.
    **settings : object
        Further arguments of `typer.Option`.

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
    """Replace `**parameters` of a command by options for parameters of the committee, after `scoring`."""
    signature = inspect.signature(command, eval_str=True)
    own = [each.replace(kind=each.KEYWORD_ONLY) for each in signature.parameters.values()]
    place = list(signature.parameters).index("scoring") + 1
    command.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[
            *own[:place],
            committee_option("time_limit", str, more="With a unit: 90s, 10m, 1h30m."),
            committee_option("memory_limit", str, more="Here the table counts too. With a unit: 500MB, 4GB."),
            committee_option("preset", Literal[tuple(PRESETS)]),
            committee_option(
                "keep",
                Literal["decision", "all"],
                more="With all, other rules can be tried later, and files are larger.",
            ),
            committee_option("tune_threshold", bool, "--tune-threshold"),
            committee_option("threshold", float),
            committee_option(
                "costs", list[str], more="Comma-separated TRUE:PREDICTED=COST; other errors cost 1."
            ),
            committee_option(
                "estimators",
                list[str],
                more="Comma-separated names; auto adds the default members for the table.",
                autocompletion=known_members,
            ),
            committee_option(
                "rule", str, more="By default, the best rule is chosen.", autocompletion=known_rules
            ),
            committee_option("cv", int, "--folds", more="Specify the number of folds.", min=2),
            committee_option("n_jobs", int, "--jobs", more="By default, one per core."),
            committee_option(
                "random_state",
                int,
                "--seed",
                more="Without a time limit, the same seed gives the same model.",
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
    encoding: str | None,
    delimiter: str | None,
    header: bool | None,
    decimal: str | None,
    missing: Iterable[str] | None = None,
) -> CSVForm:
    """Return the form of CSV and the missing values that the options specify."""
    from committee.files import CSVForm

    if delimiter is not None:
        delimiter = {"\\t": "\t", "tab": "\t"}.get(delimiter, delimiter)
        if len(delimiter) != 1:
            raise typer.BadParameter(f"A delimiter must be one character or tab. Got {delimiter!r}.")
    sign = None if decimal == "auto" else decimal
    return CSVForm(encoding, delimiter, header, sign, missing=tuple(words(missing)))


def pairs(
    given: Iterable[str] | None, form: str = "A type must have the form COLUMN=TYPE, such as zip=category."
) -> dict[str, str]:
    """Parse types of columns, as in `--types age=number,zip=category`, or other pairs.

    Names may contain commas. A format with commas is put in double quotes, with its column.

    Examples
    --------
    >>> pairs(["age=number,zip=category", "a=b=id", "height, cm=number"])
    {'age': 'number', 'zip': 'category', 'a=b': 'id', 'height, cm': 'number'}
    >>> pairs(['"day=date:%b %d, %Y",cost=number:$#'])
    {'day': 'date:%b %d, %Y', 'cost': 'number:$#'}
    """
    found = {}
    for text in given or ():
        begun: list[str] = []
        for part in split_at_commas(text):
            begun.append(part)
            entry = ",".join(begun)
            typed = TYPE.fullmatch(entry)
            name, sign, kind = (typed[1], "=", typed[2]) if typed else entry.rpartition("=")
            if sign and name and kind:
                found[name] = kind
                begun = []
        if begun:
            raise typer.BadParameter(f"{form} Got {text!r}.")
    return found


def renamed_by(given: Iterable[str] | None) -> dict[str, str]:
    """Parse other names of columns: `--rename income=Income,plan=Plan`."""
    return pairs(given, "A column must have the form FITTED=NAME, such as income=Income.")


def words(given: Iterable[str] | None) -> list[str]:
    """Split names that are separated by commas or given in several options. Names in quotes may have commas.

    Examples
    --------
    >>> words(["forest,linear", "c45"]), words(['"height, cm",age'])
    (['forest', 'linear', 'c45'], ['height, cm', 'age'])
    """
    found = [word.strip() for text in given or () for word in split_at_commas(text) if word.strip()]
    if given and not found:
        raise typer.BadParameter("A list of names is empty. Pass at least one name, or omit the option.")
    return found


def split_at_commas(text: str) -> list[str]:
    """Split a text at the commas outside double quotes, as in CSV."""
    return next(csv.reader([text]), [])


def costs_of(given: Iterable[str] | None) -> dict[tuple[str, str], float]:
    """Parse costs of errors: `--costs sick:well=5,well:sick=1`.

    Examples
    --------
    >>> costs_of(["sick:well=5"])
    {('sick', 'well'): 5.0}
    """
    found = {}
    for text in words(given):
        labels, _, cost = text.rpartition("=")
        true, colon, predicted = labels.partition(":")
        try:
            found[true, predicted] = float(cost)
        except ValueError:
            colon = ""
        if not (colon and true and predicted):
            raise typer.BadParameter(
                f"A cost must have the form TRUE:PREDICTED=COST, such as sick:well=5. Got {text!r}."
            )
    return found


def known_members(incomplete: str) -> list[str]:
    """Complete the names of members in a shell."""
    from committee.automatic.portfolio import CANDIDATES, NAMED_ONLY

    return completed(incomplete, ["auto", *CANDIDATES, *NAMED_ONLY])


def known_learners(incomplete: str) -> list[str]:
    """Complete the names of learners in a shell."""
    from committee.evaluating import known_learners as lines_of_learners

    return completed(incomplete, lines_of_learners())


def known_rules(incomplete: str) -> list[str]:
    """Complete the names of rules in a shell."""
    from committee.combining.rule_registry import rule_names

    return completed(incomplete, rule_names())


def known_metrics(incomplete: str) -> list[str]:
    """Complete the names of metrics in a shell."""
    from committee.metrics.metric_table import METRICS

    return completed(incomplete, METRICS)


def completed(incomplete: str, names: Iterable[str]) -> list[str]:
    """Complete the last name of a comma-separated list.

    Examples
    --------
    >>> completed("linear,bo", ["booster", "linear", "borda"])
    ['linear,booster', 'linear,borda']
    """
    before, comma, begun = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in names if name.startswith(begun)]


def save_model(model: AutomaticCommittee, place: str | os.PathLike[str]) -> int:
    """Save a model to a file or to the standard output.

    Parameters
    ----------
    model : estimator
    place : str or path
        `-` is the standard output.

    Returns
    -------
    int
        The size of the file in bytes.
    """
    if "://" in os.fspath(place):
        from committee.files.remote_files import storing

        with storing(os.fspath(place)) as path:
            model.save(path)
            return path.stat().st_size
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
    """Print a value as JSON."""
    print(json.dumps(plain(value), indent=2, ensure_ascii=False))


def plain(value: object) -> object:
    """Convert a value to types of JSON: NaN and infinity to null, objects of other types to text.

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
    """Print a line."""
    print(text, file=sys.stderr if on_stderr else sys.stdout)


def show_table(
    header: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    right: Collection[int] = (),
    on_stderr: bool = False,
) -> None:
    """Print rows as a table. In a narrow terminal, long values are folded.

    Parameters
    ----------
    header : sequence of str
    rows : iterable of sequences of str
    right : collection of int, default=()
        The positions of columns of numbers, which are aligned to the right.
    on_stderr : bool, default=False
    """
    lines = [list(row) for row in rows]
    stream = sys.stderr if on_stderr else sys.stdout
    text = aligned(header, lines, right)
    if width_of(text) <= columns_of(stream):
        print(text, file=stream)
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for place, title in enumerate(header):
        table.add_column(title, justify="right" if place in right else "left", overflow="fold")
    for row in lines:
        table.add_row(*(text.replace("[", "\\[") for text in row))
    Console(stderr=on_stderr, highlight=False).print(table)


def show_board(board: Leaderboard, *, on_stderr: bool = False) -> None:
    """Print a leaderboard. A narrow terminal does not show the last columns."""
    header, rows = board.table()
    stream = sys.stderr if on_stderr else sys.stdout
    while len(header) > 2 and width_of(aligned(header, rows)) > columns_of(stream):
        header, rows = header[:-1], [row[:-1] for row in rows]
    print(aligned(header, rows, range(1, len(header))), file=stream)


def width_of(text: str) -> int:
    """Return the length of the longest line."""
    return max(map(len, text.splitlines()))


def columns_of(stream: TextIO) -> float:
    """Return the width of a terminal, or infinity for other streams, which get whole lines."""
    return shutil.get_terminal_size().columns if stream.isatty() else math.inf
