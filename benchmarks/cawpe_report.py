"""Summarise the runs of cawpe_paper.py in the result file and in the page docs/cawpe_paper.md.

In: one run per table and resample, and the means that the paper's authors published. Out: average ranks,
means, and their differences to the published means, with the reasons from `cawpe_explained.toml`.
"""

import importlib.metadata
import tomllib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

import results
from boosting_defaults import case_list, significance

PAGE = Path(__file__).parent.parent / "docs" / "cawpe_paper.md"
EXPLAINED = Path(__file__).parent / "cawpe_explained.toml"
ALL_TABLES = "all tables"
# The members and rules of a run. The name of those of the paper changes whenever our copy of them changes, so
# that older runs are not counted.
PAPER, DEFAULTS = "own-neighbours", "defaults"
# A rule that is not in the paper.
BY_CLASS = "stacking by class"
CAWPE = "CAWPE"
# For each member, the column of the published means, the model in the paper and the model here.
MEMBERS = {
    "logistic": ("Logistic", "Weka's Logistic, a penalty of 1e-8", "the same, `weka_logistic.py`"),
    "C4.5": ("C4.5", "Weka's J48", "C45Classifier()"),
    "linear SVM": (
        "SVML",
        "Weka's SMO, linear, C = 1, columns scaled to 0 and 1, logistic curves, pairwise coupling",
        "the same, of SVC(kernel='linear')",
    ),
    "neighbours": ("NN", "k up to 100 by leave-one-out, columns without scaling", "the same"),
    "perceptron": (
        "MLP1",
        "Weka's MultilayerPerceptron: (columns + classes) / 2 hidden units, columns scaled to -1 and 1, 500 "
        "epochs, one step per row with rate 0.3 and momentum 0.2, squared error",
        "the same, `weka_perceptron.py`",
    ),
}
RULES = {
    CAWPE: ("CAWPE-S", "CAWPERule(alpha=4)"),
    "majority vote": ("MV-S", "majority"),
    "weighted majority": ("WMV-S", "AccuracyWeightedRule(of='labels')"),
    "naive Bayes": ("NBC-S", "NaiveBayesRule()"),
    "greedy selection": ("ES-S", "GreedyRule(scoring='accuracy', patience=1, n_bags=10)"),
    "stacking": ("SMLR-S", "StackingRule(linear regression of each class by all votes)"),
}
COLUMNS = {name: about[0] for name, about in {**RULES, **MEMBERS}.items()}
METRICS = {"error": "error", "balanced_error": "balanced error", "auc": "AUC", "nll": "NLL"}
PUBLISHED = {"error": "ACC", "balanced_error": "BALACC", "auc": "AUROC", "nll": "NLL"}
CLOSE = 0.01  # the largest small difference to the paper's mean over all tables
FAR = 0.02  # the smallest large difference to the paper's mean on one table
CHANCE = 0.01  # the significance level of differences on one table
RESAMPLES_OF_PAPER = 30


@dataclass(frozen=True)
class Summary:
    """Means over resamples, by table (rows) and classifier (columns)."""

    scores: dict[str, pd.DataFrame]  # by metric
    published: dict[str, pd.DataFrame]  # the paper's, by metric
    noise: pd.DataFrame  # the standard error of the difference of two means of accuracies
    defaults: pd.DataFrame  # the error of CAWPE with the paper's members and with CAWPEClassifier's own
    by_class: pd.Series  # the error of our own stacking
    n_resamples: int
    n_all: int  # the number of tables in the experiment

    @property
    def gaps(self):
        """Our mean accuracy minus that of the paper."""
        return self.published["error"] - self.scores["error"]

    @property
    def tables(self):
        return list(self.scores["error"].index)


def read_published(folder):
    """Return the paper's means by metric, with accuracies converted to errors."""
    read = {
        metric: pd.read_csv(Path(folder) / f"cawpe_uci121_{name}.csv", index_col="dataset")
        for metric, name in PUBLISHED.items()
    }
    return {metric: 1 - frame if "error" in metric else frame for metric, frame in read.items()}


def ranks_of(scores):
    """Return average ranks over tables by classifier (rows) and metric; 1 is best, ties share their mean."""
    return pd.DataFrame(
        {metric: frame.rank(axis=1, ascending=metric != "auc").mean() for metric, frame in scores.items()}
    )


def write(runs, tables, published, n_resamples):
    """Write the result and the page, if any table has all resamples."""
    summary = summarise(runs, tables, published, n_resamples)
    if not summary.tables:
        print(f"No table has {n_resamples} resamples yet, so there is nothing to report.")
        return
    result = result_of(summary)
    path = results.write(result, complete=True)
    PAGE.write_text(page_of(summary, reasons()), encoding="utf-8")
    print(results.markdown(*results.verdict_table(result)))
    print(f"Wrote {path.name} and {PAGE.name}: {len(summary.tables)} tables of {summary.n_all}.")


def summarise(runs, tables, published, n_resamples):
    """Return means over the resamples of the tables that have enough of them."""
    lines = pd.DataFrame(
        [
            {**{key: run[key] for key in ("members", "table", "resample")}, "classifier": name, **scores}
            for run in runs
            for name, scores in run["scores"].items()
        ],
        columns=["members", "table", "resample", "classifier", *METRICS],
    )
    lines = lines[lines.table.isin(tables.index) & (lines["resample"] < n_resamples)]
    counts = lines.groupby(["members", "table"])["resample"].nunique()
    lines = lines[[counts[key] == n_resamples for key in zip(lines.members, lines.table, strict=True)]]
    ours = lines[lines.members == PAPER]
    spread = ours.pivot_table(index="table", columns="classifier", values="error", aggfunc="std")
    scores = {
        metric: ours.pivot_table(index="table", columns="classifier", values=metric).reindex(
            columns=list(COLUMNS)
        )
        for metric in METRICS
    }
    names = scores["error"].index
    theirs = {
        metric: frame.loc[tables.cawpe_name[names], list(COLUMNS.values())]
        .set_axis(names)
        .set_axis(list(COLUMNS), axis=1)
        for metric, frame in published.items()
    }
    both = lines[lines.classifier == CAWPE].pivot_table(index="table", columns="members", values="error")
    return Summary(
        scores,
        theirs,
        spread.reindex(columns=list(COLUMNS)) * np.sqrt(1 / n_resamples + 1 / RESAMPLES_OF_PAPER),
        both.reindex(columns=[PAPER, DEFAULTS]).dropna(),
        ours[ours.classifier == BY_CLASS].groupby("table")["error"].mean(),
        n_resamples,
        len(tables),
    )


def result_of(summary):
    """Return the result in the format of all benchmarks."""
    errors = summary.scores["error"]
    totals = {f"rank_{metric}": column for metric, column in ranks_of(summary.scores).items()}
    totals |= {"accuracy": 1 - errors.mean(), "gap": summary.gaps.mean()}
    measurements = [
        {"case": ALL_TABLES, "peer": name, "metric": metric, "values": [round(float(numbers[name]), 5)]}
        for name in COLUMNS
        for metric, numbers in totals.items()
    ]
    measurements += [
        {"case": table, "peer": name, "metric": "error", "values": [round(float(value), 5)]}
        for table, row in errors.iterrows()
        for name, value in row.items()
    ]
    version = importlib.metadata.version
    settings = {name: about[-1] for name, about in {**RULES, **MEMBERS}.items()}
    own = [*RULES, "C4.5", "neighbours"]
    return {
        "name": "cawpe_paper",
        "title": "Does CAWPE reproduce the results of its paper?",
        "about": (
            f"{scope(summary)} *Published* is the paper's mean accuracy over the same tables. "
            f"{significance(errors)} [More, table by table](cawpe_paper.md)."
        ),
        "rerun": "python benchmarks/cawpe_paper.py --data FOLDER --published FOLDER",
        "quick": False,
        "date": results.today(),
        "machine": results.machine(),
        "peers": {
            name: {
                "version": version("committee" if name in own else "scikit-learn"),
                "settings": settings[name],
            }
            for name in COLUMNS
        },
        "metrics": {
            **{
                f"rank_{metric}": {"label": f"rank of {label}", "unit": "", "ratio": False}
                for metric, label in METRICS.items()
            },
            "accuracy": {"label": "mean accuracy", "unit": "", "ratio": False},
            "gap": {"label": "minus published", "unit": "", "ratio": False},
            "error": {"label": "error", "unit": "", "ratio": False},
        },
        "cases": case_list([ALL_TABLES, *errors.index]),
        "measurements": measurements,
        "targets": verdicts_on(summary),
        "plots": [],
        "failures": [],
    }


def scope(summary):
    """Return a sentence about the tables and resamples of the experiment."""
    n = summary.n_resamples
    compared = "as in the paper" if n == RESAMPLES_OF_PAPER else f"where the paper has {RESAMPLES_OF_PAPER}"
    return (
        f"The paper's experiment (Large, Lines and Bagnall 2019) on {len(summary.tables)} of the "
        f"{summary.n_all} open tables other than connect-4: {n} stratified resamples of half the rows, "
        f"{compared}; ten folds; all rules combine the same votes."
    )


def verdicts_on(summary):
    """Require that CAWPE has the best ranks of error and AUC, and that means are close to the paper's."""
    verdicts = []
    for metric in "error", "auc":
        ranks = ranks_of(summary.scores)[metric]
        best = ranks.drop(CAWPE).idxmin()
        verdicts.append(
            {
                "what": f"average rank of {METRICS[metric]}",
                "target": "the best of all",
                "measured": f"{ranks[CAWPE]:.2f} against {ranks[best]:.2f} ({best})",
                "met": bool(ranks[CAWPE] <= ranks[best]),
            }
        )
    for name in CAWPE, *MEMBERS:
        gap = summary.gaps[name].mean()
        verdicts.append(
            {
                "what": f"mean accuracy of {name}",
                "target": f"within {CLOSE:g} of the published",
                "measured": f"{gap:+.4f}",
                "met": bool(abs(gap) <= CLOSE),
            }
        )
    return verdicts


def page_of(summary, why):
    """Return the page as Markdown."""
    parts = [
        "# CAWPE and its paper",
        "Written by `python benchmarks/cawpe_paper.py` from its runs and from the reasons in "
        "`benchmarks/cawpe_explained.toml`; do not edit.",
        scope(summary),
        "## The members",
        why["members"],
        results.markdown(
            ["member", "in the paper", "here"], [[name, *about[1:]] for name, about in MEMBERS.items()]
        ),
        "## Ranks",
        "Average ranks over the tables, where 1 is the best. In parentheses are the ranks of the means that "
        "the paper's authors published, over the same tables. "
        f"{significance(summary.scores['error'])} The last column is the p-value of the difference to "
        "CAWPE's errors (Wilcoxon's signed ranks, Holm's correction).",
        results.markdown(*rank_table(summary)),
        "## Means",
        "Mean accuracy over the tables, here and in the paper.",
        results.markdown(*mean_table(summary)),
        why["means"],
        by_class_sentence(summary),
        defaults_sentence(summary, why),
        "## Table by table",
        f"Our mean accuracy minus that of the paper. A star marks a difference of more than {FAR:g} that is "
        "significant at the 1 % level, by the spread of the resamples.",
        results.markdown(*gap_table(summary)),
        "## Where they differ",
        *deviations(summary, why["tables"]),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def rank_table(summary):
    ours, theirs = ranks_of(summary.scores), ranks_of(summary.published)
    p = holm_of_wilcoxon(summary.scores["error"])
    rows = [
        [
            name,
            *(f"{ours[metric][name]:.2f} ({theirs[metric][name]:.2f})" for metric in METRICS),
            f"{p[name]:.2g}" if name in p else "",
        ]
        for name in ours["error"].sort_values().index
    ]
    return ["", *METRICS.values(), "p"], rows


def holm_of_wilcoxon(errors):
    """Return the corrected p-value of Wilcoxon's signed-rank test of CAWPE's errors and those of each other.

    >>> errors = pd.DataFrame({"CAWPE": [0.1, 0.2, 0.3, 0.4, 0.5], "a": [0.2, 0.4, 0.6, 0.8, 1.0]})
    >>> holm_of_wilcoxon(errors.assign(b=errors.CAWPE))
    {'a': 0.125, 'b': 1.0}
    """
    raw = {}
    for name in errors.columns.drop(CAWPE):
        differ = (errors[name] != errors[CAWPE]).any()
        raw[name] = float(stats.wilcoxon(errors[CAWPE], errors[name]).pvalue) if differ else 1.0
    corrected, largest = {}, 0.0
    for place, name in enumerate(sorted(raw, key=raw.get)):
        largest = max(largest, min(1.0, raw[name] * (len(raw) - place)))
        corrected[name] = largest
    return corrected


def mean_table(summary):
    ours, theirs = (1 - scores["error"].mean() for scores in (summary.scores, summary.published))
    gaps = summary.gaps
    rows = [
        [
            name,
            f"{ours[name]:.4f}",
            f"{theirs[name]:.4f}",
            f"{gaps[name].mean():+.4f}",
            f"{gaps[name].median():+.4f}",
        ]
        for name in COLUMNS
    ]
    return ["", "here", "paper", "difference", "median of the differences"], rows


def by_class_sentence(summary):
    """Return a paragraph about our own stacking, which is not in the paper."""
    cawpe = summary.scores["error"][CAWPE]
    wins, losses = int((summary.by_class < cawpe).sum()), int((summary.by_class > cawpe).sum())
    return (
        "Its accuracies suggest that the paper's stacking predicts each class from all votes of all members, "
        "for which small tables with many classes have too few rows. `StackingRule('mlr')` is the proposal "
        "of Ting and Witten (1999): it predicts each class from the votes for this class, with weights that "
        "are not negative. "
        f"It is not in the paper. Its mean accuracy here is {1 - summary.by_class.mean():.4f}; it is better "
        f"than CAWPE on {wins} tables and worse on {losses}."
    )


def defaults_sentence(summary, why):
    """Return a paragraph about CAWPEClassifier with its defaults, on the tables that have runs of it."""
    if not len(summary.defaults):
        return ""
    here, own = summary.defaults.mean()[[PAPER, DEFAULTS]]
    wins = int((summary.defaults[DEFAULTS] < summary.defaults[PAPER]).sum())
    ties = int((summary.defaults[DEFAULTS] == summary.defaults[PAPER]).sum())
    return (
        f"`CAWPEClassifier()` with its defaults gets categories as categories and has other members. On "
        f"{len(summary.defaults)} of these tables its mean accuracy is {1 - own:.4f}, where the paper's "
        f"members on numbered categories reach {1 - here:.4f}; it is better on {wins} tables and "
        f"equal on {ties}. "
        f"{why['defaults']}"
    )


def is_far(summary):
    """Return which differences are large, and significant given the number of resamples (Student's t)."""
    n_errors = stats.t.ppf(1 - CHANCE / 2, summary.n_resamples - 1)
    return (summary.gaps.abs() > FAR) & (summary.gaps.abs() > n_errors * summary.noise)


def gap_table(summary):
    shown, far = [CAWPE, *MEMBERS], is_far(summary)
    rows = [
        [table, *(f"{gaps[name]:+.3f}{' *' if far.at[table, name] else ''}" for name in shown)]
        for table, gaps in summary.gaps.iterrows()
    ]
    return ["", *shown], rows


def deviations(summary, sentences):
    """Return a list of the tables with a star, with the differences and the reasons."""
    shown, far = [CAWPE, *MEMBERS], is_far(summary)
    lines = []
    for table, gaps in summary.gaps.iterrows():
        names = [name for name in shown if far.at[table, name]]
        if names:
            what = ", ".join(f"{name} {gaps[name]:+.3f}" for name in names)
            lines.append(f"- **{table}**: {what}. {sentences.get(table, 'Not explained yet.')}")
    return ["\n".join(lines)] if lines else ["On no table."]


def reasons():
    """Return the sentences of the page that were written by hand."""
    return tomllib.loads(EXPLAINED.read_text(encoding="utf-8"))
