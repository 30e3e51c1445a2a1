"""Define the command that compares learners on many tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from committee.cli import console
from committee.cli.console import Json, say, show_json, show_table

if TYPE_CHECKING:
    from committee.evaluating import Comparison
    from committee.jobs.study_job import Compared, StudyPlan


def compare(
    places: Annotated[
        list[str] | None,
        typer.Argument(metavar="[DIR_OR_FILES]...", help="Folders and files of tables.", show_default=False),
    ] = None,
    learners: Annotated[
        list[str] | None,
        typer.Option(
            help="Comma-separated learners; `committee learners` lists them.",
            autocompletion=console.known_learners,
        ),
    ] = None,
    resamples: Annotated[
        int | None, typer.Option(help="Number of random splits of each table (default: 30).")
    ] = None,
    out: Annotated[str | None, typer.Option(help="A folder for a new study.")] = None,
    resume: Annotated[str | None, typer.Option(help="The folder of a study to resume.")] = None,
    report: Annotated[str | None, typer.Option(help="The folder of a study to write a report on.")] = None,
    target: Annotated[
        str | None,
        typer.Option(
            help="The target of all tables (default: from manifest.csv in the folder, or the last column)."
        ),
    ] = None,
    scoring: Annotated[
        list[str] | None,
        typer.Option(
            help="Comma-separated metrics by scikit-learn's names, such as accuracy,neg_log_loss. Each is "
            "used for the tables of its task.",
            autocompletion=console.known_metrics,
        ),
    ] = None,
    test_size: Annotated[
        float | None, typer.Option(help="Share of rows in the test set (default: 0.5).")
    ] = None,
    folds: Annotated[
        int | None,
        typer.Option(
            help="Number of folds for votes with which rules can be added later (default: 5; 0: none)."
        ),
    ] = None,
    time_limit: Annotated[str | None, typer.Option(help="Time limit of a cell: 90s, 10m.")] = None,
    jobs: Annotated[
        int | None, typer.Option(help="Number of cells that run in parallel (default: one per core).")
    ] = None,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="With --resume: run failed cells again.")
    ] = False,
    formats: Annotated[
        list[str] | None,
        typer.Option(help="With --report: formats of charts (default: svg,png,pdf,html)."),
    ] = None,
    quiet: console.Quiet = False,
    json: Json = False,
) -> None:
    """Compare learners on resamples of many tables.

    A cell is one learner on one resample of one table. Each finished cell is stored at once in the folder of
    --out. --resume continues a study that was stopped, even by kill -9, and can add tables and learners.
    --report writes diagrams and tables into the folder.
    """
    if sum(each is not None for each in (out, resume, report)) != 1:
        raise typer.BadParameter("Pass one of --out DIR, --resume DIR and --report DIR.")
    run_options = {
        "--resamples": resamples,
        "--target": target,
        "--test-size": test_size,
        "--folds": folds,
        "--time-limit": time_limit,
        "--jobs": jobs,
        "--retry-failed": retry_failed or None,
    }
    if report is not None:
        if places:
            raise typer.BadParameter("--report takes no tables. Add them to the study with --resume.")
        refuse(
            run_options, "has no effect with --report, which trains nothing. Pass it with --out or --resume."
        )
        check_formats(console.words(formats))
        write_report(
            Path(report),
            json=json,
            is_quiet=quiet,
            scoring=console.words(scoring),
            learners=console.words(learners) or None,
            formats=console.words(formats),
        )
        return
    refuse({"--formats": formats}, "works only with --report DIR.")
    if out is not None:
        refuse({"--retry-failed": retry_failed or None}, "works only with --resume DIR.")
    if not places:
        refuse({"--target": target}, "has no effect without tables. Name their folder or files.")
    for place in places or []:
        if not Path(place).exists():
            raise FileNotFoundError(f"There is no file or folder {place}.")
    import committee.jobs.study_job as study_job

    given = {
        "learners": tuple(console.words(learners)),
        "resamples": resamples,
        "scoring": tuple(console.words(scoring)),
        "test_size": test_size,
        "folds": folds,
        "time_limit": time_limit,
    }
    folder = Path(str(out or resume))
    if resume is None:
        study_job.check_new(folder)
    plan: StudyPlan = study_job.new_plan(places or [], target, **given)
    if resume is not None:
        changed = [name for name, value in given.items() if value not in (None, ()) and name != "learners"]
        plan = study_job.extended(study_job.plan_of(folder), plan, changed)
    found = study_job.run_study(
        plan, folder, n_jobs=jobs, retry_failed=retry_failed, verbose=0 if quiet or json else 1
    )
    if json:
        show_json(as_plain(found))
    else:
        show_compared(found, is_quiet=quiet)
        show_last_line(found)
    if not found.n_finished:
        raise ValueError(
            f"No cell has finished. The first failure: {next(iter(found.failures.values()), '')}"
        )


def refuse(given: dict[str, Any], reason: str) -> None:
    """Raise if one of the options is given, because it would have no effect."""
    for name, value in given.items():
        if value is not None:
            raise typer.BadParameter(f"{name} {reason}")


def check_formats(formats: list[str]) -> None:
    """Raise if charts do not support a format."""
    from committee.reporting.chart_files import FORMATS

    for form in formats:
        if form not in FORMATS:
            raise typer.BadParameter(f"--formats takes {', '.join(FORMATS)}. Got {form!r}.")


def write_report(folder: Path, *, json: bool, is_quiet: bool, **given: Any) -> None:
    """Write the report of a study, and print its path."""
    from committee.jobs.study_job import report_study

    found, report = report_study(folder, **given)
    if json:
        show_json(as_plain(found) | {"page": str(report.page), "files": [str(path) for path in report.files]})
        return
    show_compared(found, is_quiet)
    if not is_quiet:
        show_last_line(found)
    say(f"The report is in {report.page} ({len(report.files)} files).")


def show_compared(found: Compared, is_quiet: bool = False) -> None:
    """Print the results of a study: the ranks by the first metric of each task."""
    for comparison in [] if is_quiet else first_of_tasks(found.comparisons):
        if not comparison.tables:
            say(f"No table has been finished by all learners: {', '.join(comparison.learners)}.")
            continue
        means = comparison.mean_scores
        order = comparison.mean_ranks.argsort(kind="stable")
        rows = [
            [comparison.learners[place], f"{comparison.mean_ranks[place]:.3f}", f"{means[place]:.4f}"]
            for place in order
        ]
        show_table(["learner", "average rank", f"mean {comparison.measure}"], rows, right=[1, 2])
        n_tables = len(comparison.tables)
        say(f"All learners have finished {n_tables} table{'' if n_tables == 1 else 's'}.")
    if found.without_metric:
        say(
            f"not compared, because no metric applies to them: {', '.join(found.without_metric)}",
            on_stderr=True,
        )
    for cell, error in found.failures.items():
        say(f"failed: {cell}: {error}", on_stderr=True)
    n_more = found.n_failed - len(found.failures)
    if n_more:
        say(f"failed: {n_more} more", on_stderr=True)


def show_last_line(found: Compared) -> None:
    """Print the number of finished cells and the folder of a study."""
    have = "has" if found.n_failed == 1 else "have"
    failed = f", {found.n_failed} {have} failed" if found.n_failed else ""
    cells = "cell is" if found.n_finished == 1 else "cells are"
    say(f"{found.n_finished} {cells} finished{failed}. The study is in {found.folder}.")


def first_of_tasks(comparisons: list[Comparison]) -> list[Comparison]:
    """Return the first comparison of each task. A metric for all tasks counts only if it is the first."""
    from committee.metrics.scoring import task_of

    by_task: dict[str | None, Comparison] = {}
    for comparison in comparisons:
        task = task_of(comparison.scoring)
        if not by_task or task is not None:
            by_task.setdefault(task, comparison)
    return list(by_task.values())


def as_plain(found: Compared) -> dict[str, Any]:
    """Return the results of a study as plain values."""
    return {
        "folder": found.folder,
        "n_finished": found.n_finished,
        "n_failed": found.n_failed,
        "failures": found.failures,
        "without_metric": found.without_metric,
        "comparisons": [
            {
                "scoring": each.scoring,
                "unit": each.unit,
                "tables": list(each.tables),
                "left_out": dict(each.left_out),
                "learners": [
                    {"name": name, "average_rank": float(rank), "mean": 0.0 - float(loss)}
                    for name, rank, loss in zip(
                        each.learners, each.mean_ranks, each.losses.mean(axis=0), strict=True
                    )
                ]
                if each.tables
                else [],
            }
            for each in found.comparisons
        ],
    }
