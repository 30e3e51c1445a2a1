"""Write a comparison as text tables: Markdown for pages, LaTeX for papers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from committee.documentation import with_parameters
from committee.evaluating.comparison import Comparison, PairTests

# The special characters of LaTeX, and their replacements.
SPECIAL = {letter: "\\" + letter for letter in "&%$#_{}"} | {
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\\": r"\textbackslash{}",
}
Rows = list[list[str]]
# The documentation of the shared parameters.
WRITTEN = {
    "comparison": "comparison : Comparison",
    "form": 'form : {"markdown", "latex"}, default="markdown"',
}


@with_parameters(WRITTEN)
def score_table(comparison: Comparison, form: str = "markdown") -> str:
    """Return a table of the scores of all learners on all tables, with means and average ranks at the end.

    The best score of each table is bold.

    Returns
    -------
    str

    Examples
    --------
    >>> print(score_table(Comparison.of([[0.1, 0.2], [0.4, 0.3]], ["rf", "tree"], ["iris", "wine"])))
    | table | rf | tree |
    |---|---:|---:|
    | iris | **0.1000** | 0.2000 |
    | wine | 0.4000 | **0.3000** |
    | mean | 0.2500 | 0.2500 |
    | average rank | 1.500 | 1.500 |
    """
    write = writer(form)
    rows = []
    for table, scores, ranks in zip(comparison.tables, comparison.scores, comparison.ranks, strict=True):
        rows.append([write.text(table), *map(write.number, scores, ranks == ranks.min())])
    mean = f"mean in {comparison.unit}" if comparison.unit else "mean"
    rows.append([mean, *(f"{each:.4f}" for each in comparison.mean_scores)])
    rows.append(["average rank", *(f"{rank:.3f}" for rank in comparison.mean_ranks)])
    return write.table(["table", *map(write.text, comparison.learners)], rows, n_last=2)


@with_parameters(WRITTEN)
def rank_table(comparison: Comparison, form: str = "markdown") -> str:
    """Return a table with a row for each learner, sorted by average rank.

    The columns are the average rank, the mean score, the number of tables on which the learner is the best,
    and the fit time.

    Returns
    -------
    str
    """
    write = writer(form)
    is_best = comparison.ranks == comparison.ranks.min(axis=1, keepdims=True)
    means, ranks = comparison.mean_scores, comparison.mean_ranks
    header = ["learner", "average rank", write.text(f"mean {comparison.measure}"), "best on"]
    if comparison.fit_seconds is not None:
        header.append("fit seconds")
    rows = []
    for place in np.argsort(ranks, kind="stable"):
        row = [write.text(comparison.learners[place]), f"{ranks[place]:.3f}", f"{means[place]:.4f}"]
        row.append(str(int(is_best[:, place].sum())))
        if comparison.fit_seconds is not None:
            times = comparison.fit_seconds[:, place]
            known = np.isfinite(times).all() and len(times) > 0
            row.append(f"{np.exp(np.log(np.maximum(times, 1e-6)).mean()):.3g}" if known else "")
        rows.append(row)
    return write.table(header, rows)


@with_parameters(WRITTEN)
def p_value_table(tests: PairTests, form: str = "markdown") -> str:
    """Return a table of the p-values of all pairs. Those below alpha are bold.

    Parameters
    ----------
    tests : PairTests

    Returns
    -------
    str
    """
    write = writer(form)
    rows = []
    for row, (name, p_values) in enumerate(zip(tests.names, tests.p_values, strict=True)):
        cells = [*map(write.number, p_values, p_values < tests.alpha)]
        cells[row] = ""
        rows.append([write.text(name), *cells])
    return write.table(["", *map(write.text, tests.names)], rows)


@with_parameters(WRITTEN)
def wins_table(comparison: Comparison, form: str = "markdown") -> str:
    """Return a table of the wins / ties / losses of the learner of each row against that of each column.

    Returns
    -------
    str
    """
    write, names = writer(form), comparison.learners
    rows = []
    for row, name in enumerate(names):
        cells = [" / ".join(map(str, comparison.wins.of_pair(name, other))) for other in names]
        cells[row] = ""
        rows.append([write.text(name), *cells])
    return write.table(["", *map(write.text, names)], rows)


class Markdown:
    """A writer of Markdown tables."""

    def text(self, text: str) -> str:
        """Escape text."""
        return text.replace("|", r"\|")

    def number(self, value: float, is_bold: bool) -> str:
        """Format a number."""
        return f"**{value:.4f}**" if is_bold else f"{value:.4f}"

    def table(self, header: Sequence[str], rows: Rows, n_last: int = 0) -> str:
        """Format a table with numbers aligned to the right."""
        rule = "|---" + "|---:" * (len(header) - 1) + "|"
        first, *others = ["| " + " | ".join(line) + " |" for line in (header, *rows)]
        return "\n".join([first, rule, *others])


class LaTeX:
    """A writer of LaTeX tables with the rules of booktabs."""

    def text(self, text: str) -> str:
        """Escape text."""
        return "".join(SPECIAL.get(letter, letter) for letter in text)

    def number(self, value: float, is_bold: bool) -> str:
        """Format a number."""
        return rf"\textbf{{{value:.4f}}}" if is_bold else f"{value:.4f}"

    def table(self, header: Sequence[str], rows: Rows, n_last: int = 0) -> str:
        """Format a table with a rule before its last rows."""
        first, *others = [" & ".join(line) + r" \\" for line in (header, *rows)]
        if n_last:
            others.insert(-n_last, r"\midrule")
        columns = "l" + "r" * (len(header) - 1)
        begin = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", first, r"\midrule"]
        return "\n".join([*begin, *others, r"\bottomrule", r"\end{tabular}"])


WRITERS: dict[str, type[Markdown] | type[LaTeX]] = {"markdown": Markdown, "latex": LaTeX}


def writer(form: str) -> Markdown | LaTeX:
    """Return the writer of tables for a form."""
    if form not in WRITERS:
        raise ValueError(f"form must be one of {', '.join(WRITERS)}. Got {form!r}.")
    return WRITERS[form]()
