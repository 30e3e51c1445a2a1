"""A comparison as tables of text: Markdown for pages, LaTeX for papers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from committee.documentation import with_parameters
from committee.evaluating.comparison import Comparison, PairTests

# What LaTeX takes for something else.
SPECIAL = {letter: "\\" + letter for letter in "&%$#_{}"} | {
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\\": r"\textbackslash{}",
}
Rows = list[list[str]]
# What is written, and how.
WRITTEN = {
    "comparison": "comparison : Comparison",
    "form": 'form : {"markdown", "latex"}, default="markdown"',
}


@with_parameters(WRITTEN)
def score_table(comparison: Comparison, form: str = "markdown") -> str:
    """The scores of all learners on all tables, the best of each in bold, with means and average ranks below.

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
    ranks = comparison.ranks
    rows = [
        [
            write.text(table),
            *(
                write.bold(f"{score:.4f}") if rank == best else f"{score:.4f}"
                for score, rank in zip(scores, of_table, strict=True)
            ),
        ]
        for table, scores, of_table, best in zip(
            comparison.tables, comparison.scores, ranks, ranks.min(axis=1), strict=True
        )
    ]
    mean = f"mean in {comparison.unit}" if comparison.unit else "mean"
    rows.append([mean, *(f"{each:.4f}" for each in comparison.mean_scores)])
    rows.append(["average rank", *(f"{rank:.3f}" for rank in comparison.mean_ranks)])
    return write.table(["table", *map(write.text, comparison.learners)], rows, n_last=2)


@with_parameters(WRITTEN)
def rank_table(comparison: Comparison, form: str = "markdown") -> str:
    """A row for each learner, the best first: average rank, mean score, tables that it is best on, time.

    Returns
    -------
    str
    """
    write = writer(form)
    is_best = comparison.ranks == comparison.ranks.min(axis=1, keepdims=True)
    means, ranks = comparison.mean_scores, comparison.mean_ranks
    has_times = comparison.seconds is not None
    rows = []
    for place in np.argsort(ranks, kind="stable"):
        row = [write.text(comparison.learners[place]), f"{ranks[place]:.3f}", f"{means[place]:.4f}"]
        row.append(str(int(is_best[:, place].sum())))
        if comparison.seconds is not None:
            times = comparison.seconds[:, place]
            known = np.isfinite(times).all() and len(times) > 0
            row.append(f"{np.exp(np.log(np.maximum(times, 1e-6)).mean()):.3g}" if known else "")
        rows.append(row)
    header = ["learner", "average rank", write.text(f"mean {comparison.measure}"), "best on"]
    return write.table([*header, *(["seconds of a fit"] if has_times else [])], rows)


@with_parameters(WRITTEN)
def p_value_table(tests: PairTests, form: str = "markdown") -> str:
    """The p-values of all pairs, those below alpha in bold.

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
        shown = [
            write.bold(f"{value:.4f}") if value < tests.alpha else f"{value:.4f}"
            for value in p_values.tolist()
        ]
        shown[row] = ""
        rows.append([write.text(name), *shown])
    return write.table(["", *map(write.text, tests.names)], rows)


@with_parameters(WRITTEN)
def wins_table(comparison: Comparison, form: str = "markdown") -> str:
    """Wins / ties / losses of each learner, in its row, against each other.

    Returns
    -------
    str
    """
    write, wins = writer(form), comparison.wins
    rows = [
        [
            write.text(name),
            *(
                "" if name == other else " / ".join(map(str, wins.of_pair(name, other)))
                for other in comparison.learners
            ),
        ]
        for name in comparison.learners
    ]
    return write.table(["", *map(write.text, comparison.learners)], rows)


class Markdown:
    """Tables as pages have them."""

    def text(self, text: str) -> str:
        """Text that means itself."""
        return text.replace("|", r"\|")

    def bold(self, text: str) -> str:
        """Text in bold."""
        return f"**{text}**"

    def table(self, header: Sequence[str], rows: Rows, n_last: int = 0) -> str:
        """A table, its numbers to the right."""
        lines = [header, *rows]
        rule = "|---" + "|---:" * (len(header) - 1) + "|"
        written = ["| " + " | ".join(line) + " |" for line in lines]
        return "\n".join([written[0], rule, *written[1:]])


class LaTeX:
    """Tables as papers have them, with the rules of booktabs."""

    def text(self, text: str) -> str:
        """Text that means itself."""
        return "".join(SPECIAL.get(letter, letter) for letter in text)

    def bold(self, text: str) -> str:
        """Text in bold."""
        return rf"\textbf{{{text}}}"

    def table(self, header: Sequence[str], rows: Rows, n_last: int = 0) -> str:
        """A table; its last rows stand apart."""
        lines = [" & ".join(line) + r" \\" for line in (header, *rows)]
        apart = [r"\midrule", *lines[len(lines) - n_last :]] if n_last else []
        body = lines[1 : len(lines) - n_last]
        columns = "l" + "r" * (len(header) - 1)
        return "\n".join(
            [
                rf"\begin{{tabular}}{{{columns}}}",
                *(r"\toprule", lines[0], r"\midrule", *body, *apart, r"\bottomrule"),
                r"\end{tabular}",
            ]
        )


WRITERS: dict[str, type[Markdown] | type[LaTeX]] = {"markdown": Markdown, "latex": LaTeX}


def writer(form: str) -> Markdown | LaTeX:
    """Return the writer of tables of a form."""
    if form not in WRITERS:
        raise ValueError(f"form must be one of {', '.join(WRITERS)}. Got {form!r}.")
    return WRITERS[form]()
