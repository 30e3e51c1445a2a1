"""Define the commands that fit a committee: `fit` and `demo`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from committee import jobs
from committee.cli import console
from committee.cli.console import (
    STANDARD,
    Json,
    Table,
    save_model,
    say,
    show_board,
    show_json,
)
from committee.cli.places import URL, check_input, check_output, check_run, time_of
from committee.jobs.limit_amounts import OWN_BYTES, bytes_of, seconds_of
from committee.printing import size_of, some

if TYPE_CHECKING:
    from committee.jobs import Fitted
    from committee.jobs.training_table import TrainingTable

Task = Literal["classification", "regression"]


@console.with_committee_options
def fit(
    table: Table,
    target: Annotated[str, typer.Option(help="The column to predict.", show_default=False)],
    out: Annotated[
        str, typer.Option(help="The file for the model; - is the standard output.")
    ] = "model.committee",
    task: Annotated[
        Task | None,
        typer.Option(help="The task (default: inferred from the target).", show_default=False),
    ] = None,
    scoring: console.Scoring = None,
    groups: Annotated[
        str | None, typer.Option(help="A column of groups. Rows of a group are held out together.")
    ] = None,
    weights: Annotated[str | None, typer.Option(help="A column of row weights.")] = None,
    types: Annotated[
        list[str] | None,
        typer.Option(
            help="The types of columns if the inferred types are wrong: age=number,zip=category. A type is "
            "number, category, boolean, date, text, id or ignore. Numbers and dates may have a format: "
            "day=date:%m/%d/%Y."
        ),
    ] = None,
    max_size: Annotated[
        str | None, typer.Option(help="The largest size of the model's file, with a unit: 500kB, 5MB.")
    ] = None,
    max_latency: Annotated[
        str | None, typer.Option(help="The longest time to predict a row on this machine: 500us, 2ms.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Resume the run in the folder of --run-folder.")
    ] = False,
    encoding: console.Encoding = None,
    delimiter: console.Delimiter = None,
    header: console.Header = None,
    decimal: console.Decimal = "auto",
    missing: console.Missing = None,
    force: console.Force = False,
    quiet: console.Quiet = False,
    json: Json = False,
    **parameters: Any,
) -> None:
    """Fit a committee to a table, and save it in one file.

    The best members and rule for the table are chosen, within --time-limit and --memory-limit. The types of
    columns are inferred and reported. --types overrides them. Dates become seconds since 1970. Text that
    differs in most rows, and columns that count or identify the rows, are left out with a warning. Rows
    without a target are left out and counted.
    """
    check_standard_output(out, json)
    given_types, estimators = console.pairs(types), console.words(parameters["estimators"])
    check_limits(parameters["time_limit"], parameters["memory_limit"])
    bytes_of(max_size), seconds_of(max_latency)
    check_input(table)
    check_run(parameters["run_folder"], resume)
    note = check_model_output(out, table, force=force)
    from committee.files import keep_nothing_freed
    from committee.running.resources import give_back_at_once

    keep_nothing_freed()
    give_back_at_once()
    parameters |= {
        "scoring": scoring,
        "estimators": estimators or None,
        "costs": console.costs_of(parameters["costs"]) or None,
        "verbose": 0 if quiet else 1,
    }
    done = jobs.fit_table(
        table,
        target,
        task=task,
        types=given_types,
        groups=groups,
        weights=weights,
        max_size=max_size,
        max_latency=max_latency,
        form=console.csv_form(encoding, delimiter, header, decimal, missing),
        parameters={name: value for name, value in parameters.items() if value is not None},
        report=lambda training: show_start(training, note, is_quiet=quiet or json),
    )
    n_bytes = save_model(done.model, out)
    if json:
        show_json(report(done, out, n_bytes))
    elif quiet:
        show_last_line(out, n_bytes)
    else:
        show_report(done, out, n_bytes)


def demo(
    out: Annotated[
        str, typer.Option(help="The file for the model; - is the standard output.")
    ] = "demo.committee",
    time_limit: Annotated[str, typer.Option(help="The time limit of the fit.")] = "30s",
    force: console.Force = False,
    json: Json = False,
) -> None:
    """Fit, score and save a committee for a bundled table.

    The score is that of held-out rows. No network is needed.
    """
    check_standard_output(out, json)
    check_limits(time_limit, None)
    note = check_model_output(out, force=force)
    from committee.jobs.table_fit import demo_tables
    from committee.metrics import shown

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
        report=lambda training: show_start(training, note, is_quiet=json),
    )
    evaluation = jobs.evaluate(done.model, held_out)
    n_bytes = save_model(done.model, out)
    if json:
        show_json(report(done, out, n_bytes) | {"held_out": evaluation})
        return
    show_report(done, out, n_bytes)
    numbers = (shown(*each) for each in evaluation.scores.items())
    scores = ", ".join(f"{name} {number:.4g}" for name, number in numbers)
    say(f"On {evaluation.n_rows} held-out rows: {scores}.", on_stderr=out == STANDARD)


def check_standard_output(out: str, as_json: bool) -> None:
    """Raise if both JSON and the model would go to the standard output."""
    if as_json and out == STANDARD:
        raise typer.BadParameter("Only one of --json and the model can go to the standard output.")


def check_limits(time_limit: str | None, memory_limit: str | None) -> None:
    """Raise for limits that no fit can keep."""
    seconds_of(time_limit)
    n_bytes = bytes_of(memory_limit)
    if n_bytes is not None and n_bytes < OWN_BYTES:
        raise ValueError(
            f"committee itself needs about {size_of(OWN_BYTES)} of memory, but --memory-limit is "
            f"{memory_limit}. Raise it."
        )


def check_model_output(out: str, *inputs: str, force: bool) -> str:
    """Check the file for a model. Return a note if a model is replaced without --force."""
    from committee.saving.format.container import is_container

    check_output(out, *inputs, holds="a model", is_replaceable=is_container, force=force)
    path = Path(out)
    if force or out == STANDARD or URL in out or not path.exists() or not path.stat().st_size:
        return ""
    return f"{out} replaces the model of {time_of(path)}, {size_of(path.stat().st_size)}."


def show_place(out: str, n_bytes: int) -> None:
    """Print the file of a model, on stderr if the model goes to the standard output."""
    place = "the standard output" if out == STANDARD else out
    say(f"The model is in {place} ({size_of(n_bytes)}).", on_stderr=out == STANDARD)


def show_start(training: TrainingTable, note: str, *, is_quiet: bool) -> None:
    """Print the training table, unless the output is to be quiet, and which model will be replaced."""
    if not is_quiet:
        show_training_table(training)
    if note:
        say(note, on_stderr=True)


def report(done: Fitted, out: str, n_bytes: int) -> dict[str, Any]:
    """Return the result of a fit as plain values."""
    from committee.combining.rule_registry import title_of
    from committee.jobs.model_description import libraries_of, plain_board

    record = done.model._record
    board = {"scoring": done.model._usual_scoring(), "n_scored": 0, "standings": []}
    if record.leaderboard is not None:
        board = plain_board(record.leaderboard)
    problem = [f"Members and rule cannot be scored: {record.problem}"] if record.problem else []
    return {
        "out": out,
        "n_bytes": n_bytes,
        "task": done.task,
        "target": done.target,
        "n_rows": done.n_rows,
        "n_columns": done.n_columns,
        "n_dropped": done.n_dropped,
        "types": {each.name: each.kind.value for each in done.guesses},
        "notes": [*done.notes, *problem],
        "trust": libraries_of(done.model),
        "without_predictor": done.model.members_without_predictor_,
        "rule": title_of(done.model.rule_),
        "scoring": board["scoring"],
        "n_scored": board["n_scored"],
        "leaderboard": board["standings"],
        "skipped": record.skipped,
        "n_folds": record.n_folds,
        "date": record.date,
        "seconds": round(done.seconds, 3),
    }


def show_training_table(training: TrainingTable) -> None:
    """Print the size of the table, the task and the inferred types, before the fit."""
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


def show_report(done: Fitted, out: str, n_bytes: int) -> None:
    """Print the result of a fit, on stderr if the model goes to the standard output."""
    from committee.combining.rule_registry import title_of
    from committee.jobs.fit_report import sentences
    from committee.jobs.model_description import libraries_of

    on_stderr, record = out == STANDARD, done.model._record
    trust = " ".join(f"--trust {library}" for library in libraries_of(done.model))
    if trust:
        say(f"To open this model with other commands, pass {trust}.", on_stderr=True)
    if done.model.members_without_predictor_:
        names = some(done.model.members_without_predictor_)
        say(f"committee.predictor cannot answer for {names}; committee.load can.", on_stderr=True)
    if record.problem:
        say(f"Members and rule cannot be scored: {record.problem}", on_stderr=True)
    if record.leaderboard is not None:
        show_board(record.leaderboard, on_stderr=on_stderr)
        say("", on_stderr=on_stderr)
        if record.leaderboard.n_rows < done.n_rows:
            say(f"Scored on {record.leaderboard.n_rows} of the {done.n_rows} rows.", on_stderr=on_stderr)
    for sentence in sentences(record, title_of(done.model.rule_)):
        say(sentence, on_stderr=on_stderr)
    show_last_line(out, n_bytes)
    if not on_stderr:
        name = shlex.quote(out)
        say("Next, with TABLE for a file of new rows:")
        for command in (
            f"evaluate {name} TABLE",
            f"predict {name} TABLE --out answers.csv",
            f"inspect {name}",
        ):
            say(f"  committee {command}")


def show_last_line(out: str, n_bytes: int) -> None:
    """Print where the model is, on stderr if that is the standard output."""
    on_stderr = out == STANDARD
    place = "the standard output" if on_stderr else out
    say(f"The model is in {place} ({size_of(n_bytes)}).", on_stderr=on_stderr)
