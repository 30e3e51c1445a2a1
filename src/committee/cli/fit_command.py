"""The commands that fit: fit and demo."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from committee.cli import console
from committee.cli.console import (
    STANDARD,
    Json,
    Table,
    check_place,
    check_run,
    keep,
    say,
    show_json,
    show_standings,
    size_of,
    some,
)

if TYPE_CHECKING:
    from committee.jobs import Fitted
    from committee.jobs.training_table import TrainingTable

Task = Literal["classification", "regression"]
# By how many votes a fit with a time limit is judged after it: in less than half a second.
QUICKLY_JUDGED = 100_000


@console.with_committee_options
def fit(
    table: Table,
    target: Annotated[str, typer.Option(help="The column to be predicted.", show_default=False)],
    out: Annotated[
        str, typer.Option(help="Where the model is saved; - is the standard output.")
    ] = "model.committee",
    task: Annotated[
        Task | None, typer.Option(help="What is learnt; else it is found.", show_default=False)
    ] = None,
    scoring: console.Scoring = None,
    groups: Annotated[
        str | None, typer.Option(help="A column: rows of one group are held out together.")
    ] = None,
    weights: Annotated[str | None, typer.Option(help="A column with the weights of the rows.")] = None,
    types: Annotated[
        list[str] | None,
        typer.Option(help="What columns are: age=number,zip=category; boolean, date, text, id, ignore."),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Resume the run in the folder of --run-folder.")
    ] = False,
    encoding: console.Encoding = None,
    delimiter: console.Delimiter = None,
    header: console.Header = None,
    decimal: console.Decimal = "auto",
    quiet: Annotated[bool, typer.Option("--quiet", help="Do not show how far it is.")] = False,
    json: Json = False,
    **parameters: Any,
) -> None:
    """Turn a table into the best committee that time and memory allow, in one file.

    What columns are is guessed, told, and can be overruled by --types. Dates are taken as seconds since 1970.
    Text that is different in most rows, and columns that number or name the rows, are left out, with a word.
    Rows without a target are left out and counted.
    """
    from committee.files import keep_nothing_freed
    from committee.jobs import fit_table
    from committee.running.resources import give_back_at_once

    check_standard_output(out, json)
    check_place(out, table)
    check_run(parameters["run_folder"], resume)
    keep_nothing_freed()
    give_back_at_once()
    parameters |= {
        "scoring": scoring,
        "estimators": console.words(parameters["estimators"]) or None,
        "verbose": 0 if quiet else 1,
    }
    done = fit_table(
        table,
        target,
        task=task,
        types=console.pairs(types),
        groups=groups,
        weights=weights,
        form=console.csv_form(encoding, delimiter, header, decimal),
        parameters={name: value for name, value in parameters.items() if value is not None},
        tell=None if json or quiet else show_training_table,
    )
    n_bytes = keep(done.model, out)
    if json:
        show_json(report(done, out, n_bytes))
    elif not quiet:
        show_report(report(done, out, n_bytes))


def demo(
    out: Annotated[
        str, typer.Option(help="Where the model is saved; - is the standard output.")
    ] = "demo.committee",
    time_limit: Annotated[str, typer.Option(help="How long the fit may take.")] = "30s",
    json: Json = False,
) -> None:
    """Do the main job on a bundled table: fit, judge on rows that were held out, save. Needs no network."""
    from committee import jobs
    from committee.jobs.table_fit import demo_tables
    from committee.metrics import shown

    check_standard_output(out, json)
    check_place(out)
    train, held_out, target, about = demo_tables()
    if not json:
        say(about, on_stderr=out == STANDARD)
    done = jobs.fit_table(
        train,
        target,
        parameters={
            "time_limit": time_limit,
            "random_state": 0,
            "verbose": 0 if json else 1,
        },
        tell=None if json else show_training_table,
    )
    judged = jobs.evaluate(done.model, held_out)
    n_bytes = keep(done.model, out)
    found = report(done, out, n_bytes) | {"held_out": judged}
    if json:
        show_json(found)
        return
    show_report(found)
    numbers = (shown(*each) for each in judged.scores.items())
    scores = ", ".join(f"{name} {number:.4g}" for name, number in numbers)
    say(f"On {judged.n_rows} rows that were held out: {scores}.", on_stderr=out == STANDARD)


def check_standard_output(out: str, as_json: bool) -> None:
    """Raise if two things are to go to the standard output."""
    if as_json and out == STANDARD:
        raise typer.BadParameter("Only one of --json and the model can go to the standard output.")


def report(done: Fitted, out: str, n_bytes: int) -> dict[str, Any]:
    """What a fit has done, as plain values."""
    from committee.jobs.model_description import decided, libraries_of, standings, title_of

    n_votes = None if done.model.time_limit is None else QUICKLY_JUDGED
    notes = list(done.notes)
    try:
        found = standings(done.model, None, decided(done.model), done.X, n_votes)
    except ValueError as error:
        # The model is there all the same, and saved.
        notes.append(f"Members and rule cannot be judged: {error}")
        rule = title_of(done.model.rule_)
        found = {"rule": rule, "scoring": done.model._usual_scoring(), "n_judged": 0, "standings": []}
    return {
        "out": out,
        "n_bytes": n_bytes,
        "task": done.task,
        "target": done.target,
        "n_rows": done.n_rows,
        "n_columns": done.n_columns,
        "n_dropped": done.n_dropped,
        "types": {each.name: each.kind.value for each in done.guesses},
        "notes": notes,
        "trust": libraries_of(done.model),
        "rule": found["rule"],
        "scoring": found["scoring"],
        "n_judged": found["n_judged"],
        "leaderboard": found["standings"],
        "seconds": round(done.seconds, 3),
    }


def show_training_table(training: TrainingTable) -> None:
    """Show what will be learnt from, before the fit."""
    n_rows, n_columns = training.X.num_rows, training.X.num_columns
    what = f"{len(set(training.y.tolist()))} classes" if training.task == "classification" else "numbers"
    say(
        f"{n_rows} rows, {n_columns} columns; target {training.origin.target!r}: {training.task}, {what}.",
        on_stderr=True,
    )
    for kind in sorted({each.kind.value for each in training.guesses}):
        names = [each.name for each in training.guesses if each.kind.value == kind]
        say(f"  {kind} ({len(names)}): {some(names)}", on_stderr=True)
    for note in training.notes:
        say(f"  {note}", on_stderr=True)


def show_report(found: dict[str, Any]) -> None:
    """Show what a fit has done: on stderr if the model itself goes to the standard output."""
    on_stderr = found["out"] == STANDARD
    if found["trust"]:
        options_needed = " ".join(f"--trust {library}" for library in found["trust"])
        say(f"Other commands open this model with {options_needed}.", on_stderr=True)
    if not found["n_judged"]:
        say(found["notes"][-1], on_stderr=True)
    else:
        show_standings(found | {"standings": found["leaderboard"]}, on_stderr=on_stderr)
    if 0 < found["n_judged"] < found["n_rows"]:
        say(f"Judged on {found['n_judged']} of the {found['n_rows']} rows.", on_stderr=on_stderr)
    place = "the standard output" if on_stderr else found["out"]
    size, seconds = size_of(found["n_bytes"]), f"{found['seconds']:.1f} s"
    say(f"Rule: {found['rule']}. {seconds}. The model is in {place} ({size}).", on_stderr=on_stderr)
