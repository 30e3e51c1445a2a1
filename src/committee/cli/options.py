"""Options that several commands have."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import typer

from committee.automatic.parameters import PRESETS, AutomaticParameters
from committee.parameters import declarations

if TYPE_CHECKING:
    from committee.files import CSVForm

LARGEST_SEED = 2**32 - 1
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
                "members",
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
            committee_option("run", str),
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
    from committee.automatic.portfolio import ASKED_FOR, CANDIDATES

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
    from committee.metrics.names import METRICS

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
