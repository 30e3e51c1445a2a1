"""Define the commands that use a saved model, and those that list names.

`predict`, `evaluate`, `leaderboard`, `inspect` and `verify` use a model. `members`, `rules` and `learners`
list names for other commands.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import committee
from committee import jobs
from committee.cli import console
from committee.cli.console import (
    STANDARD,
    Json,
    Model,
    Table,
    say,
    show_board,
    show_json,
    show_table,
)
from committee.cli.places import URL, check_input, check_output
from committee.printing import duration, size_of, some

if TYPE_CHECKING:
    from committee.assembling.fit_record import FitRecord
    from committee.jobs.answers import Confusion, Evaluation
    from committee.jobs.unseen_values import UnseenValues

RATIOS = ("recall", "precision", "f1")
# The largest number of classes of a printed confusion matrix.
MOST_CLASSES = 12
# The most important columns that are listed, and the least importance.
MOST_IMPORTANT, LEAST_IMPORTANCE = 10, 0.005
# The most categories of a column that are listed.
MOST_VALUES = 5
# A smaller share of training rows in a table is not reported, since rows may be equal by chance.
SHARE_TO_REPORT = 0.05


def predict(
    model: Model,
    table: Table,
    proba: Annotated[bool, typer.Option("--proba", help="Add the probability of each class.")] = False,
    votes: Annotated[bool, typer.Option("--votes", help="Add the votes of the members.")] = False,
    out: Annotated[
        str,
        typer.Option(
            help="The output file; its suffix sets the format. - prints CSV, or JSON lines with --json."
        ),
    ] = "-",
    keep: Annotated[
        list[str] | None,
        typer.Option(
            help="Comma-separated columns of the table to write before the predictions; all for all columns."
        ),
    ] = None,
    force: console.Force = False,
    threshold: console.Threshold = None,
    rename: console.Rename = None,
    ignore_extra: console.IgnoreExtra = False,
    trust: console.Trust = None,
    encoding: console.Encoding = None,
    delimiter: console.Delimiter = None,
    header: console.Header = None,
    decimal: console.Decimal = "auto",
    missing: console.Missing = None,
    json: Json = False,
) -> None:
    """Predict the rows of a table."""
    check_places(model, table)
    from committee.files import format_of_output, keep_pandas_out, write_file
    from committee.jobs.predictions import (
        MOST_ROWS_OF_PREDICTOR,
        ModelFile,
        contains_predictions,
        predict,
    )

    keep_pandas_out()
    format_of_output(out)
    check_output(out, table, model, holds="predictions", is_replaceable=contains_predictions, force=force)
    form = console.csv_form(encoding, delimiter, header, decimal, missing)
    kept, renamed = console.words(keep), console.renamed_by(rename)
    with opened(model) as path:
        file: Any = ModelFile(path, lambda: load_fitted(path, trust)) if threshold is None else None
        if threshold is not None:
            file = with_threshold(load_fitted(path, trust), threshold)
        found = predict(
            file,
            table,
            proba=proba,
            votes=votes,
            keep=kept,
            renamed=renamed,
            ignore_extra=ignore_extra,
            form=form,
        )
    answers = found.frame
    show_unseen(found.unseen)
    if getattr(file, "why_loaded", "") and answers.num_rows <= MOST_ROWS_OF_PREDICTOR:
        say(f"The model was loaded with scikit-learn, which takes longer. {file.why_loaded}", on_stderr=True)
    write_file(answers, out, as_json=json)
    if out == STANDARD:
        return
    if json:
        show_json(
            {"out": out, "n_rows": answers.num_rows, "columns": answers.column_names, "unseen": found.unseen}
        )
    else:
        say(f"Wrote {answers.num_rows} rows to {out}.", on_stderr=True)


def evaluate(
    model: Model,
    table: Table,
    target: console.Target = None,
    scoring: console.Scoring = None,
    confusion: Annotated[
        bool, typer.Option("--confusion", help="Add the confusion matrix and figures for each class.")
    ] = False,
    intervals: Annotated[
        bool, typer.Option("--intervals", help="Add the interval of 95 % of each score, by the bootstrap.")
    ] = False,
    threshold: console.Threshold = None,
    rename: console.Rename = None,
    ignore_extra: console.IgnoreExtra = False,
    trust: console.Trust = None,
    encoding: console.Encoding = None,
    delimiter: console.Delimiter = None,
    header: console.Header = None,
    decimal: console.Decimal = "auto",
    missing: console.Missing = None,
    json: Json = False,
) -> None:
    """Score a model on a table that contains the target.

    Rows of the fit are recognised by stored hashes, and a line says that scores on them are too good.
    """
    check_places(model, table)
    form = console.csv_form(encoding, delimiter, header, decimal, missing)
    fitted = load_fitted(model, trust)
    if threshold is not None:
        fitted = with_threshold(fitted, threshold)
    found = jobs.evaluate(
        fitted,
        table,
        target=target,
        scoring=scoring,
        intervals=intervals,
        confusion=confusion,
        renamed=console.renamed_by(rename),
        ignore_extra=ignore_extra,
        form=form,
    )
    if found.share_of_fit is not None and found.share_of_fit >= SHARE_TO_REPORT:
        rows = "The" if found.share_of_fit == 1 else f"About {100 * found.share_of_fit:.0f} % of the"
        say(f"{rows} rows of the fit are in this table, so its scores are too good.", on_stderr=True)
    show_unseen(found.unseen)
    if json:
        by_class = {} if found.confusion is None else {"classes": found.confusion.of_classes()}
        known = {name: value for name, value in dataclasses.asdict(found).items() if value is not None}
        show_json(known | by_class)
        return
    dropped = f"; {found.n_dropped} without a value left out" if found.n_dropped else ""
    say(f"{found.n_rows} rows, target {found.target!r}{dropped}.")
    titles = ["metric", "value", *(["95 % interval"] if found.intervals else [])]
    show_table(titles, list(score_rows(found)), right=range(1, len(titles)))
    if found.confusion is not None:
        show_confusion(found.confusion)


def with_threshold(fitted: Any, threshold: float) -> Any:
    """Return a model with another threshold, and print what it means on honest votes."""
    from committee.files import BadTable
    from committee.jobs.answers import Confusion

    if not hasattr(fitted, "with_threshold"):
        raise BadTable(f"{type(fitted).__name__} has no threshold. Omit --threshold.")
    decisions, changed = fitted.fit_summary_.decisions, fitted.with_threshold(threshold)
    if decisions is None or decisions.by_class is None:
        return changed
    nearest, at_threshold = decisions.by_class.at_threshold(threshold)
    labels, texts = tuple(fitted.classes_.tolist()), []
    for counts in (at_threshold, decisions.by_class.confusion(2)):
        figures = Confusion(labels, tuple(map(tuple, counts.tolist()))).of_classes()[1]
        texts.append(" and ".join(f"{name} {ratio_text(figures[name]) or 'unknown'}" for name in RATIOS[:2]))
    say(
        f"Threshold {nearest:g}: {labels[1]!r} has {texts[0]} on rows that the members were not fitted on; "
        f"with the threshold of the fit, {texts[1]}.",
        on_stderr=True,
    )
    return changed


def score_rows(found: Evaluation) -> Iterator[list[str]]:
    """Yield the plain name and the value of each score, and its interval if there are intervals."""
    from committee.metrics import shown

    for name, value in found.scores.items():
        row = [shown(name, value)[0], f"{shown(name, value)[1]:.6g}"]
        if found.intervals is not None:
            bounds = sorted(shown(name, each)[1] for each in found.intervals[name])
            row.append(" to ".join(f"{each:.4g}" for each in bounds))
        yield row
    if found.mean_cost is not None:
        row = ["mean cost", f"{found.mean_cost:.6g}"]
        yield row + (
            []
            if found.cost_interval is None
            else [" to ".join(f"{each:.4g}" for each in found.cost_interval)]
        )


def show_confusion(confusion: Confusion) -> None:
    """Print the figures of each class, and the confusion matrix or, of many classes, the largest errors."""
    say("")
    rows = [
        [str(each["class"]), str(each["n_rows"]), *(ratio_text(each[name]) for name in RATIOS)]
        for each in confusion.of_classes()
    ]
    show_table(["class", "rows", *RATIOS], rows, right=[1, 2, 3, 4])
    say("")
    names = [str(label) for label in confusion.classes]
    if len(names) <= MOST_CLASSES:
        rows = [[name, *map(str, counts)] for name, counts in zip(names, confusion.counts, strict=True)]
        show_table(["true \\ predicted", *names], rows, right=range(1, len(names) + 1))
        return
    errors = sorted(
        (-count, true, predicted)
        for true, counts in zip(names, confusion.counts, strict=True)
        for predicted, count in zip(names, counts, strict=True)
        if count and true != predicted
    )
    rows = [[true, predicted, str(-count)] for count, true, predicted in errors[:MOST_CLASSES]]
    show_table(["true", "predicted", "rows"], rows, right=[2])


def ratio_text(ratio: Any) -> str:
    """Format a ratio, which may have no value."""
    return "" if ratio is None else f"{ratio:.3f}"


def show_unseen(unseen: Sequence[UnseenValues]) -> None:
    """Print the columns with unseen values: one line for each column that mostly has such values."""
    for each in unseen:
        if each.are_most:
            say(f"committee: {each}.", on_stderr=True)
    few = [f"{each.column} {each.n} of {each.n_values}" for each in unseen if not each.are_most]
    if few:
        say(f"Values that were not seen by the fit: {some(few)}.", on_stderr=True)


def leaderboard(
    model: Model,
    scoring: console.Scoring = None,
    rule: Annotated[
        list[str] | None,
        typer.Option(
            help="Comma-separated rules to compare (default: all that do not need the training table)."
        ),
    ] = None,
    trust: console.Trust = None,
    json: Json = False,
) -> None:
    """Score members and rules on their votes for held-out rows."""
    check_input(model)
    from committee.jobs.model_description import leaderboard_of, plain_board

    board = leaderboard_of(load_fitted(model, trust), scoring, console.words(rule) or None)
    if json:
        show_json(plain_board(board))
    else:
        show_board(board)


def inspect(model: Model, trust: console.Trust = None, json: Json = False) -> None:
    """Show the contents of a saved model."""
    check_input(model)
    from committee.jobs.model_description import describe

    with opened(model) as path:
        fitted = load_fitted(path, trust)
        found = describe(fitted, path)
    if json:
        show_json(found)
    else:
        show_model(found, getattr(fitted, "_record", None))


def verify(model: Model, json: Json = False) -> None:
    """Check that a model file is intact, without loading the model."""
    check_input(model)
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
    """Yield the path of a model. Copy the standard input, a pipe or a URL to a temporary file."""
    if model != STANDARD and URL not in model and not Path(model).is_fifo():
        yield model
        return
    from committee.files.opened_file import open_file

    with open_file(model) as file:
        yield str(file.path)


def load_fitted(model: str, trust: list[str] | None) -> Any:
    """Load a fitted model of this library."""
    from committee.learners.voter import Tabular
    from committee.saving import DamagedFile

    with opened(model) as path:
        fitted = committee.load(path, trusted=trust or ())
    if not isinstance(fitted, Tabular):
        raise DamagedFile(
            f"{model} contains a {type(fitted).__name__}. Open it in Python with committee.load."
        )
    if not fitted._has_learnt():
        raise DamagedFile(f"{model} contains a {type(fitted).__name__} that is not fitted.")
    return fitted


def check_places(model: str, table: str) -> None:
    """Raise unless both the model and the table can be read, and not both from the standard input."""
    if model == table == STANDARD:
        raise typer.BadParameter("Only one of MODEL and TABLE can be the standard input.")
    check_input(model)
    check_input(table)


def show_model(found: dict[str, Any], record: FitRecord | None) -> None:
    """Print the description of a model, with the scores that are known since its fit."""
    from committee.saving.stored_rows import StoredRows

    say(f"{found['estimator']}, {size_of(found['n_bytes'])}, format {found['format_version']}")
    if found["target"] is not None:
        say(f"target: {found['target']}")
    if "classes" in found:
        say(f"classes ({found['n_classes']}): {some([str(label) for label in found['classes']])}")
    if found["data"] is not None:
        say(f"fitted on {found['data']['n_rows']} rows of {found['data']['n_columns']} columns")
    say(f"training rows in the file: {StoredRows(**found['stored_rows'])}")
    for kind in sorted({column["kind"] for column in found["columns"]}):
        names = [column["name"] for column in found["columns"] if column["kind"] == kind]
        say(f"columns, {kind} ({len(names)}): {some(names)}")
    if found["left_out"]:
        say(f"columns, left out ({len(found['left_out'])}): {some(found['left_out'])}")
    for name, score in found["scores"].items():
        say(f"{name}: {score:.6g}")
    if found.get("rule"):
        say(f"rule: {found['rule']}")
    for name in ("threshold", "costs"):
        if found["parameters"].get(name) is not None:
            say(f"{name}: {found['parameters'][name]}")
    if "members" in found:
        rows = [
            [
                member["name"],
                member["title"],
                member["estimator"],
                str(member["n_models"]),
                "" if member["weight"] is None else f"{member['weight']:.3f}",
            ]
            for member in found["members"]
        ]
        header = ["member", "title", "estimator", "models", "weight"]
        if not any(member["title"] for member in found["members"]):
            header, rows = [header[0], *header[2:]], [[row[0], *row[2:]] for row in rows]
        show_table(header, rows, right=[len(header) - 2, len(header) - 1])
    if "importances" in found:
        shares = found["importances"].items()
        used = [f"{name} {share:.2f}" for name, share in shares if share >= LEAST_IMPORTANCE]
        say(f"importances of columns: {some(used, MOST_IMPORTANT)}")
    if record is not None:
        say(f"fitted on {record.date}, in {duration(record.seconds)}, in {record.n_folds} folds")
        if record.leaderboard is not None:
            say(f"scores of {record.leaderboard.n_rows} rows that the members were not fitted on:")
            show_board(record.leaderboard)
    if "summary" in found:
        show_summary(found["summary"], found.get("classes", []))
    say("written by " + ", ".join(f"{name} {version}" for name, version in found["versions"].items()))


def show_summary(summary: dict[str, Any], classes: list[Any]) -> None:
    """Print the aggregates of a fit that a file contains."""
    from committee.jobs.answers import Confusion

    if "n_scores" in summary:
        n_rows, n_scores = summary["n_rows"], summary["n_scores"]
        counted = f", counts at {summary['n_edges']} probabilities" if "n_edges" in summary else ""
        say(f"aggregates of {n_rows} of these rows: {n_scores} conformity scores{counted}")
    if "residuals" in summary:
        low, lower, _, upper, high = (f"{each:.4g}" for each in summary["residuals"])
        say(f"residuals: half from {lower} to {upper}, 90 % from {low} to {high}")
    if "confusion" in summary and len(classes) <= MOST_CLASSES:
        counts = tuple(tuple(round(each) for each in row) for row in summary["confusion"])
        show_confusion(Confusion(tuple(classes), counts))
        say("")
    if summary.get("values"):
        highest = sorted(summary["values"], key=lambda each: -each["loss"])
        listed = [f"{each['column']}={each['value']} {each['loss']:.4g}" for each in highest]
        name = "squared error" if "residuals" in summary else "log loss"
        say(f"values of columns with the highest {name}: {some(listed, MOST_VALUES)}")
    if summary["columns"]:
        ordered = sorted(summary["columns"], key=lambda each: -each["association"])
        rows = [
            [each["name"], f"{100 * each['missing']:.0f} %", f"{each['association']:.3f}", values_text(each)]
            for each in ordered[:MOST_IMPORTANT]
        ]
        show_table(["column", "missing", "association", "values"], rows, right=[1, 2])


def values_text(column: dict[str, Any]) -> str:
    """Describe the values of a column: its most frequent categories, or the range of most numbers."""
    if column["frequent"]:
        return some([f"{name} {count}" for name, count in column["frequent"].items()], MOST_VALUES)
    quantiles = column["quantiles"]
    if quantiles is None or math.isnan(quantiles[0]) or column["kind"] == "date":
        return ""
    low, middle, high = (quantiles[place] for place in (1, 10, 19))
    return f"90 % from {low:g} to {high:g}, median {middle:g}"


def members(json: Json = False) -> None:
    """List the members for `fit --estimators`."""
    from committee.jobs.model_description import member_lines

    lines = member_lines()
    if json:
        show_json(lines)
        return
    rows = []
    for each in lines:
        remarks = [] if len(each.tasks) > 1 else [f"{each.tasks[0]} only"]
        remarks += [] if each.is_default else ["not part of auto" if each.is_installed else "not installed"]
        rows.append([each.member, each.title, "; ".join([each.settings, *remarks])])
    show_table(["member", "title", "settings"], rows)


def rules(json: Json = False) -> None:
    """List the rules for `fit --rule`."""
    from committee.combining.rule_registry import rule_lines

    show_lines("rule", "when to choose it", rule_lines(), json)


def learners(json: Json = False) -> None:
    """List the learners for `compare --learners`."""
    from committee.evaluating import known_learners, missing_learners

    missing = {name: f"{line} (not installed)" for name, line in missing_learners().items()}
    show_lines("learner", "what it is", known_learners() | missing, json)


def show_lines(what: str, title: str, lines: dict[str, str], as_json: bool) -> None:
    """Print names, each with a line that describes it."""
    if as_json:
        show_json([{what: name, "meaning": line} for name, line in lines.items()])
    else:
        show_table([what, title], lines.items())
