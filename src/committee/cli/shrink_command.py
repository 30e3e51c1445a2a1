"""Define the command that makes a committee smaller."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from committee.cli import console
from committee.cli.console import STANDARD, Json, Model, save_model, say, show_json, show_table
from committee.cli.fit_command import check_model_output, check_standard_output, show_last_line
from committee.cli.places import check_input, is_same_file
from committee.cli.query_commands import check_places, load_fitted
from committee.jobs.limit_amounts import bytes_of, seconds_of

if TYPE_CHECKING:
    from committee.automatic.offers import Offer, Offers

Method = Literal["prune", "refit", "distil"]
# The file of a smaller version.
USUAL_OUT = "small.committee"


def shrink(
    model: Model,
    table: Annotated[
        str | None,
        typer.Argument(
            metavar="[TABLE]",
            help="The table of the fit, or new rows; with the target, unless they only serve to distil.",
            show_default=False,
        ),
    ] = None,
    method: Annotated[
        Method | None,
        typer.Option(
            help="prune keeps fewer members, refit replaces fold models by one model of all rows for each "
            "member, distil fits one booster to the decisions.",
            show_default=False,
        ),
    ] = None,
    max_members: Annotated[int | None, typer.Option(help="The number of members to keep.", min=1)] = None,
    max_size: Annotated[
        str | None, typer.Option(help="The largest size of the file, with a unit: 500kB, 5MB.")
    ] = None,
    max_latency: Annotated[
        str | None, typer.Option(help="The longest time to predict a row on this machine: 500us, 2ms.")
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(
            help=f"The file for the smaller model; - is the standard output (default: {USUAL_OUT}).",
            show_default=False,
        ),
    ] = None,
    target: console.Target = None,
    ignore_extra: console.IgnoreExtra = False,
    trust: console.Trust = None,
    encoding: console.Encoding = None,
    delimiter: console.Delimiter = None,
    header: console.Header = None,
    decimal: console.Decimal = "auto",
    missing: console.Missing = None,
    force: console.Force = False,
    quiet: console.Quiet = False,
    json: Json = False,
) -> None:
    """Show smaller versions of a committee with their size, latency and loss, or write one of them.

    Without --method and without a limit, nothing is written. With one of them, the version with the lowest
    loss that keeps the limits is written.
    """
    limits = {"max_bytes": bytes_of(max_size), "max_latency": seconds_of(max_latency)}
    is_chosen = method is not None or max_members is not None or any(limits.values())
    if out is not None and not is_chosen:
        raise typer.BadParameter("--out needs a choice: pass --method, --max-members or a limit too.")
    if table is None:
        check_input(model)
    else:
        check_places(model, table)
    note, place = "", out or USUAL_OUT
    if is_chosen:
        check_standard_output(place, json)
        if not force and place != STANDARD and is_same_file(Path(place), model):
            raise ValueError(
                f"{place} is the model itself. Name another file, or pass --force to replace it."
            )
        note = check_model_output(place, *([] if table is None else [table]), force=force)
    from committee.jobs.shrink_job import shrink

    fitted = load_fitted(model, trust)
    offers = shrink(
        fitted,
        table,
        target=target,
        methods=(method,) if method is not None else ("prune", "refit", "distil"),
        max_members=max_members,
        ignore_extra=ignore_extra,
        form=console.csv_form(encoding, delimiter, header, decimal, missing),
    )
    if not is_chosen:
        if json:
            show_json(report(offers))
        else:
            show_offers(offers)
            show_commands(offers, model, table)
        return
    chosen = offers.best(method, max_members=max_members, **limits)
    if note:
        say(note, on_stderr=True)
    n_bytes = save_model(chosen.model, place)
    if json:
        show_json(report(offers) | {"chosen": plain_offer(chosen), "out": place, "n_bytes": n_bytes})
        return
    if not quiet:
        show_offers(offers, on_stderr=place == STANDARD)
        say(f"Chosen: {chosen.label}.", on_stderr=place == STANDARD)
    show_last_line(place, n_bytes)


def show_offers(offers: Offers, *, on_stderr: bool = False) -> None:
    """Print the versions, and how they were measured."""
    header, rows = offers.table()
    show_table(header, rows, right=range(1, len(header)), on_stderr=on_stderr)
    for remark in offers.remarks():
        say(remark, on_stderr=on_stderr)


def show_commands(offers: Offers, model: str, table: str | None) -> None:
    """Print the commands that write the versions."""
    if len(offers) == 1:
        return
    places = " ".join(shlex.quote(each) for each in (model, table) if each is not None)
    say("To write one of them:")
    for each in offers[1:]:
        members = "" if each.method == "distil" else f" --max-members {each.n_members}"
        say(f"  committee shrink {places} --method {each.method}{members} --out {USUAL_OUT}")


def report(offers: Offers) -> dict[str, Any]:
    """Return versions as plain values. The scores have scikit-learn's sign."""
    return {
        "scoring": offers.scoring,
        "measured_on": offers.measured_on,
        "versions": [plain_offer(each) for each in offers],
        "notes": offers.notes,
    }


def plain_offer(offer: Offer) -> dict[str, Any]:
    """Return a version as plain values."""
    return {name: value for name, value in vars(offer).items() if name != "model"}
