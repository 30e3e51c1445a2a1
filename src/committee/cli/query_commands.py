"""The commands that ask: a saved model, or what can be named.

A model is asked by predict, evaluate, leaderboard, inspect and verify.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

import committee
from committee.cli import console
from committee.cli.console import (
    STANDARD,
    Json,
    Model,
    Table,
    check_place,
    say,
    show_json,
    show_standings,
    show_table,
    size_of,
    some,
)


def predict(
    model: Model,
    table: Table,
    proba: Annotated[bool, typer.Option("--proba", help="Add the probability of each class.")] = False,
    votes: Annotated[bool, typer.Option("--votes", help="Add the votes of the members.")] = False,
    out: Annotated[
        str, typer.Option(help="A file; its suffix says the format. - writes CSV, or JSON lines.")
    ] = "-",
    ignore_extra: console.IgnoreExtra = False,
    trust: console.Trust = None,
    encoding: console.Encoding = None,
    delimiter: console.Delimiter = None,
    header: console.Header = None,
    decimal: console.Decimal = "auto",
    json: Json = False,
) -> None:
    """Answer the rows of a table."""
    from committee import jobs
    from committee.files import check_output, write_file

    check_places(model, table)
    check_output(out)
    check_place(out, table, model)
    form = console.csv_form(encoding, delimiter, header, decimal)
    asked = load_fitted(model, trust)
    answers = jobs.predict(asked, table, proba=proba, votes=votes, ignore_extra=ignore_extra, form=form)
    write_file(answers, out, as_json=json)
    if out == STANDARD:
        return
    if json:
        show_json({"out": out, "n_rows": answers.num_rows, "columns": answers.column_names})
    else:
        say(f"{answers.num_rows} rows are in {out}.", on_stderr=True)


def evaluate(
    model: Model,
    table: Table,
    target: console.Target = None,
    scoring: console.Scoring = None,
    ignore_extra: console.IgnoreExtra = False,
    trust: console.Trust = None,
    encoding: console.Encoding = None,
    delimiter: console.Delimiter = None,
    header: console.Header = None,
    decimal: console.Decimal = "auto",
    json: Json = False,
) -> None:
    """Compare the answers of a model with those of a table."""
    from committee import jobs
    from committee.metrics import shown

    check_places(model, table)
    form = console.csv_form(encoding, delimiter, header, decimal)
    asked = load_fitted(model, trust)
    found = jobs.evaluate(asked, table, target=target, scoring=scoring, ignore_extra=ignore_extra, form=form)
    if json:
        show_json(found)
        return
    dropped = f"; {found.n_dropped} without a value of it are left out" if found.n_dropped else ""
    say(f"{found.n_rows} rows, target {found.target!r}{dropped}.")
    show_table(
        ["metric", "value"],
        [[name, f"{number:.6g}"] for name, number in (shown(*each) for each in found.scores.items())],
        right=[1],
    )


def leaderboard(
    model: Model,
    scoring: console.Scoring = None,
    rule: Annotated[
        list[str] | None, typer.Option(help="Rules to compare; else all that can decide here.")
    ] = None,
    trust: console.Trust = None,
    json: Json = False,
) -> None:
    """Judge every member and every rule by honest votes."""
    from committee.jobs.model_description import standings

    asked = load_fitted(model, trust)
    found = standings(asked, scoring, console.words(rule) or None)
    if json:
        show_json(found)
    else:
        show_standings(found)


def inspect(model: Model, trust: console.Trust = None, json: Json = False) -> None:
    """Tell what is in a saved model."""
    from committee.jobs.model_description import describe

    with opened(model) as path:
        found = describe(load_fitted(path, trust), path)
    if json:
        show_json(found)
    else:
        show_model(found)


def verify(model: Model, json: Json = False) -> None:
    """Check a saved model without making an estimator of it."""
    from committee.jobs.model_description import summarise

    with opened(model) as path:
        found = summarise(committee.verify(path))
    if json:
        show_json(found)
    else:
        say(
            f"{model} is sound: {found['estimator']}, {'' if found['is_fitted'] else 'not '}fitted, "
            f"{size_of(found['n_bytes'])}, format {found['format_version']}."
        )


@contextlib.contextmanager
def opened(model: str) -> Iterator[str]:
    """The path of a model; the standard input and pipes are copied to a temporary file."""
    if model != STANDARD and not Path(model).is_fifo():
        yield model
        return
    from committee.files.opened_file import open_file

    with open_file(model) as file:
        yield str(file.path)


def load_fitted(model: str, trust: list[str] | None) -> Any:
    """A fitted model of ours."""
    from committee.learners.voter import Tabular
    from committee.saving import DamagedFile

    with opened(model) as path:
        asked = committee.load(path, trusted=trust or ())
    if not isinstance(asked, Tabular):
        raise DamagedFile(f"{model} holds a {type(asked).__name__}, which committee.load opens in Python.")
    if not asked._has_learnt():
        raise DamagedFile(f"{model} holds a {type(asked).__name__} that is not fitted.")
    return asked


def check_places(model: str, table: str) -> None:
    """Raise if two things are to come from the standard input."""
    if model == table == STANDARD:
        raise typer.BadParameter("Only one of MODEL and TABLE can be the standard input.")


def show_model(found: dict[str, Any]) -> None:
    """Show what is in a model."""
    say(f"{found['estimator']}, {size_of(found['n_bytes'])}, format {found['format_version']}")
    if found["target"] is not None:
        say(f"target: {found['target']}")
    if "classes" in found:
        say(f"classes ({found['n_classes']}): {some([str(label) for label in found['classes']])}")
    if found["data"] is not None:
        say(f"fitted on {found['data']['n_rows']} rows of {found['data']['n_columns']} columns")
    for kind in sorted({column["kind"] for column in found["columns"]}):
        names = [column["name"] for column in found["columns"] if column["kind"] == kind]
        say(f"columns, {kind} ({len(names)}): {some(names)}")
    if found["left_out"]:
        say(f"columns, left out ({len(found['left_out'])}): {some(found['left_out'])}")
    for name, score in found["scores"].items():
        say(f"{name}: {score:.6g}")
    if found.get("rule"):
        say(f"rule: {found['rule']}")
    if "members" in found:
        rows = [
            [
                member["name"],
                member["estimator"],
                str(member["n_models"]),
                "" if member["weight"] is None else f"{member['weight']:.3f}",
            ]
            for member in found["members"]
        ]
        show_table(["member", "estimator", "models", "weight"], rows, right=[2, 3])
    say("written by " + ", ".join(f"{name} {version}" for name, version in found["versions"].items()))


def members(json: Json = False) -> None:
    """List the members that `fit --estimators` can name, a line for each."""
    from committee.jobs.model_description import member_lines

    show_lines("member", member_lines(), json)


def rules(json: Json = False) -> None:
    """List the rules that `fit --rule` can name, a line for each."""
    from committee.combining.rule_registry import rule_lines

    show_lines("rule", rule_lines(), json)


def learners(json: Json = False) -> None:
    """List the learners that `compare --learners` can name, a line for each."""
    from committee.evaluating import known_learners

    show_lines("learner", known_learners(), json)


def show_lines(what: str, lines: dict[str, str], as_json: bool) -> None:
    """Show names with a line for each."""
    if as_json:
        show_json([{what: name, "meaning": line} for name, line in lines.items()])
    else:
        show_table([what, "what it does"], lines.items())
