"""Write the report of a study: a folder of charts and tables, and a page that shows them."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from committee.charts.style import Chart
from committee.evaluating.comparison import Comparison
from committee.evaluating.study.study import Study
from committee.reporting.chart_files import FORMATS, require_renderer, save_picture
from committee.reporting.pair_charts import comparison_matrix, pairwise_scatter
from committee.reporting.rank_charts import critical_difference_diagram, rank_boxes
from committee.reporting.text_tables import p_value_table, rank_table, score_table, wins_table
from committee.reporting.time_charts import time_against_error, time_against_rank

PAGE = "report.md"
# Scatter charts are drawn for all pairs of this many best learners.
MOST_SCATTERED = 3


@dataclass(frozen=True)
class Report:
    """The files of a report.

    Parameters
    ----------
    page : Path
    files : list of Path
        All files, including the page.
    """

    page: Path
    files: list[Path]


def write_report(
    comparisons: Sequence[Comparison],
    folder: Path,
    *,
    title: str = "Study",
    alpha: float = 0.05,
    rope: float = 0.01,
    formats: Iterable[str] = FORMATS,
) -> Report:
    """Write charts, tables and a page that shows them, for one comparison per metric.

    Parameters
    ----------
    comparisons : sequence of Comparison
    folder : Path
        It is created if it does not exist. Files of an earlier report are replaced.
    title : str, default="Study"
    alpha : float, default=0.05
        The significance level of all tests.
    rope : float, default=0.01
        The region of practical equivalence of the Bayesian test. For RMSE, in standard deviations of y.
    formats : iterable of str, default=("svg", "png", "pdf", "html")
        The formats of charts.

    Returns
    -------
    Report
    """
    require_renderer()
    folder.mkdir(parents=True, exist_ok=True)
    wanted = list(formats)
    files, page = [], [f"# {title}", ""]
    for comparison in comparisons:
        stem, charts = stem_of(comparison), charts_of(comparison, alpha)
        for name, chart in charts.items():
            files += [save_picture(chart, folder / f"{stem}_{name}.{form}") for form in wanted]
        files.append(write(folder / f"{stem}.tex", latex_of(comparison, alpha)))
        page += lines_of(comparison, alpha, rope, [*charts], wanted)
    place = write(folder / PAGE, "\n".join(page))
    return Report(place, [*files, place])


def report(
    study: Study,
    folder: str | os.PathLike[str],
    *,
    scoring: Sequence[Any] | None = None,
    learners: Sequence[str] | None = None,
    title: str = "Study",
    alpha: float = 0.05,
    rope: float = 0.01,
    formats: Iterable[str] = FORMATS,
) -> Report:
    """Write charts, tables and a page that shows them.

    Parameters
    ----------
    folder : str or path
        It is created if it does not exist. Files of an earlier report are replaced.
    scoring, learners : see `comparisons`
    title : str, default="Study"
    alpha : float, default=0.05
        The significance level of all tests.
    rope : float, default=0.01
        The region of practical equivalence of the Bayesian test. For RMSE, in standard deviations of y.
    formats : iterable of str, default=("svg", "png", "pdf", "html")
        The formats of charts.

    Returns
    -------
    Report
        The `page` and all `files`.
    """
    require_renderer()
    comparisons = study.comparisons(scoring, learners)
    if not comparisons:
        raise ValueError("There is nothing to report: no cell has finished. Run the study.")
    return write_report(comparisons, Path(folder), title=title, alpha=alpha, rope=rope, formats=formats)


def charts_of(comparison: Comparison, alpha: float = 0.05) -> dict[str, Chart]:
    """Return all charts of a comparison by name.

    Parameters
    ----------
    comparison : Comparison
    alpha : float, default=0.05

    Returns
    -------
    dict of str to altair.LayerChart
        Empty for fewer than two tables or two learners.
    """
    n_tables, n_learners = comparison.scores.shape
    if n_tables < 2 or n_learners < 2:
        return {}
    by = f"by {comparison.metric}"
    charts = {
        f"ranks_{test}": critical_difference_diagram(
            comparison, test=test, alpha=alpha, title=f"Average ranks {by}"
        )
        for test in ("nemenyi", "wilcoxon_holm")
    }
    charts["rank_boxes"] = rank_boxes(comparison, title=f"Ranks on all tables {by}")
    charts["matrix"] = comparison_matrix(comparison, alpha=alpha, title=f"Every pair of learners {by}")
    if comparison.fit_seconds is not None and np.isfinite(comparison.fit_seconds).all(axis=0).any():
        charts["time"] = time_against_error(comparison, title=f"Time against {comparison.metric}")
        charts["time_rank"] = time_against_rank(comparison, title=f"Time against rank {by}")
    for first, second in itertools.combinations(best_of(comparison), 2):
        name = f"scatter_{file_name(first)}_{file_name(second)}"
        charts[name] = pairwise_scatter(comparison, first, second, title=f"{first} against {second}")
    return charts


def stem_of(comparison: Comparison) -> str:
    """Return the prefix of the names of a comparison's files."""
    return (comparison.scoring or comparison.metric).removeprefix("neg_")


def best_of(comparison: Comparison) -> list[str]:
    """Return the learners with the best average ranks."""
    order = np.argsort(comparison.mean_ranks, kind="stable")[:MOST_SCATTERED]
    return [comparison.learners[place] for place in order]


def lines_of(
    comparison: Comparison, alpha: float, rope: float, charts: list[str], formats: list[str]
) -> list[str]:
    """Return the lines of a comparison's section of the page."""
    n_tables, n_learners = comparison.scores.shape
    lines = [f"## {comparison.metric}", "", f"{n_learners} learners on {n_tables} tables.", ""]
    if comparison.left_out:
        reasons = "; ".join(f"{name}: {why}" for name, why in comparison.left_out.items())
        lines += [f"Left out: {reasons}.", ""]
    if not charts:
        return [*lines, "Too few tables or learners have finished for a comparison.", ""]
    lines += [rank_table(comparison), "", *tests_of(comparison, alpha, rope), ""]
    shown = next((form for form in ("svg", "png") if form in formats), None)
    for name in charts:
        others = [form for form in formats if form != shown]
        links = ", ".join(f"[{form}]({stem_of(comparison)}_{name}.{form})" for form in others)
        image = [] if shown is None else [f"![{name}]({stem_of(comparison)}_{name}.{shown})", ""]
        lines += [*image, *([f"Also as {links}.", ""] if others else [])]
    lines += cliques_of(comparison, alpha)
    lines += ["### Wins / ties / losses", "", wins_table(comparison), ""]
    lines += ["### p-values, Wilcoxon with Holm", "", p_value_table(comparison.wilcoxon_holm(alpha)), ""]
    return [*lines, "### Scores", "", score_table(comparison), ""]


def tests_of(comparison: Comparison, alpha: float, rope: float) -> list[str]:
    """Return a line for the result of each test."""
    found, nemenyi = comparison.friedman(), comparison.nemenyi(alpha)
    first, *others = best_of(comparison)
    within = f"{rope:g} {comparison.unit}".rstrip()
    lines = [
        f"- Friedman: chi-square {found.statistic:.2f}, p = {found.p_value:.3g}; Iman and Davenport: "
        f"F{found.degrees} = {found.f_statistic:.2f}, p = {found.f_p_value:.3g}.",
        f"- Nemenyi: critical difference {nemenyi.critical_difference:.3f} at alpha = {alpha:g}.",
    ]
    for other in others:
        odds = comparison.bayesian(first, other, rope)
        lines.append(
            f"- Bayesian signed rank, region of practical equivalence {within}: {first} is better than "
            f"{other} with probability {odds.first:.3f}, equal {odds.equal:.3f}, worse {odds.second:.3f}."
        )
    return lines


def cliques_of(comparison: Comparison, alpha: float) -> list[str]:
    """Return a table of the cliques that contradict the ranks, if there are any."""
    found = comparison.with_short_names().wilcoxon_holm(alpha).contradictions()
    if not found:
        return []
    rows = [f"| {', '.join(members)} | {', '.join(skipped)} |" for members, skipped in found]
    title = "### Equal learners with another one between them, Wilcoxon with Holm"
    header = ["| do not differ significantly | ranked between them, but differs from some |", "|---|---|"]
    return [title, "", *header, *rows, ""]


def latex_of(comparison: Comparison, alpha: float) -> str:
    """Return the tables of a comparison in LaTeX."""
    n_tables, n_learners = comparison.scores.shape
    if n_tables < 2 or n_learners < 2:
        return "% Too few tables or learners have finished for a comparison.\n"
    parts = (
        ("Average ranks", rank_table(comparison, "latex")),
        ("Wins / ties / losses", wins_table(comparison, "latex")),
        ("p-values, Wilcoxon with Holm", p_value_table(comparison.wilcoxon_holm(alpha), "latex")),
        (f"{comparison.metric} on all tables", score_table(comparison, "latex")),
    )
    return "\n\n".join(f"% {title}\n{table}" for title, table in parts) + "\n"


def write(path: Path, text: str) -> Path:
    """Write text to a file."""
    path.write_text(text, encoding="utf-8")
    return path


def file_name(learner: str) -> str:
    """Return the name of a learner, reduced to characters that are allowed in file names.

    Examples
    --------
    >>> file_name("RotF (paper)")
    'RotF_paper'
    """
    return "_".join(re.findall(r"[\w.+-]+", learner))
