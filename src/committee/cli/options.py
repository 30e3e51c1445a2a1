"""Options that several commands have."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from committee.jobs.tables import CSVForm

Table = Annotated[str, typer.Argument(metavar="TABLE", help="A file with a table, or -.", show_default=False)]
Model = Annotated[str, typer.Argument(metavar="MODEL", help="A saved model, or -.", show_default=False)]
Json = Annotated[bool, typer.Option("--json", help="Write JSON for programs.")]
Target = Annotated[str | None, typer.Option(help="The column with the answers; else that of the fit.")]
Metric = Annotated[
    str | None,
    typer.Option(
        help="accuracy, balanced_accuracy, log_loss, auc, f1 (the mean over classes, f1_macro); rmse, mae, "
        "r2; or a scorer of scikit-learn.",
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
    typer.Option(help="What stands before the decimals in CSV; auto finds it, column by column."),
]


def csv_form(
    encoding: str | None, delimiter: str | None, header: bool | None, decimal: str | None
) -> CSVForm:
    """How CSV is written, as options tell."""
    from committee.jobs.tables import CSVForm

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
    from committee.automatic.candidates import ASKED_FOR, CANDIDATES

    return completed(incomplete, ["auto", *CANDIDATES, *ASKED_FOR])


def known_learners(incomplete: str) -> list[str]:
    """The learners that a shell may offer."""
    from committee.evaluating import known_learners as lines_of_learners

    return completed(incomplete, lines_of_learners())


def known_rules(incomplete: str) -> list[str]:
    """The rules that a shell may offer."""
    from committee.combining.naming import rule_names

    return completed(incomplete, rule_names())


def known_metrics(incomplete: str) -> list[str]:
    """The metrics that a shell may offer."""
    from committee.jobs.metrics import CLASS_METRICS, NUMBER_METRICS

    return completed(incomplete, [*CLASS_METRICS, *NUMBER_METRICS])


def completed(incomplete: str, names: Iterable[str]) -> list[str]:
    """Names that end what was begun, after those that stand before a comma.

    Examples
    --------
    >>> completed("linear,bo", ["booster", "linear", "borda"])
    ['linear,booster', 'linear,borda']
    """
    before, comma, begun = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in names if name.startswith(begun)]
