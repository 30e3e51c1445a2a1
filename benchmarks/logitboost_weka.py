"""Compare LogitBoostClassifier with Weka's LogitBoost: the same tables, folds and ten rounds of stumps.

Weka draws the folds, as `weka.py` describes, and prints the probabilities of the training rows with three
decimals. On small tables a single draw of folds is not enough: labor has 57 rows, so one row is 1.8 %, and
the difference of our accuracy and Weka's varies from -7 % to 3.5 % with the seed. So there are several draws.
Needs Debian's `weka` package, which contains the program and the example tables. Java runs eleven times per
table.
"""

import importlib.metadata
import re
from dataclasses import dataclass

import numpy as np
import pandas as pd

import results
import weka
from committee import LogitBoostClassifier

TABLES = (
    "breast-cancer", "contact-lenses", "credit-g", "diabetes", "glass", "ionosphere",
    "iris", "labor", "segment-challenge", "soybean", "vote", "weather.numeric",
)  # fmt: skip
N_ROUNDS = 10
FOLD_SEEDS = range(1, 11)
PRINTED = 0.0005  # Weka prints three decimals


@dataclass(frozen=True)
class Model:
    """The measurements by which the two models are compared."""

    accuracies: list[list[float]]  # by seed and fold
    right: np.ndarray  # by seed and row, whether its prediction was right when its fold was tested
    probabilities: np.ndarray  # of the training rows, after ten rounds


def main():
    names = weka.requested_tables(TABLES)
    models = {}
    for name in names:
        arff = weka.read_arff(name)
        theirs, folds = run_weka(arff)
        models[name] = (
            run_committee(arff.X, arff, folds),
            run_committee(indicators(arff.X), arff, folds),
            theirs,
        )
        print(describe(name, *models[name]), flush=True)
    result = make_result(models, {name: weka.read_arff(name) for name in names})
    print(results.markdown(*results.verdict_table(result)))
    print(results.write(result, complete=len(names) == len(TABLES)))


def run_weka(arff):
    """Return Weka's model and the folds. Probabilities of declared classes without rows are dropped."""
    output, *tested = weka.run(
        arff,
        "weka.classifiers.meta.LogitBoost",
        ("-no-cv", "-p", "1", "-distribution"),
        *map(weka.cross_validate, FOLD_SEEDS),
    )
    folds, right = zip(*(weka.read_folds(each, len(arff.y)) for each in tested), strict=True)
    probabilities = {}
    for shares, row in re.findall(r"^ +\d+ .*?([\d.*,]+) \((\d+)\)$", output, re.MULTILINE):
        probabilities[int(row)] = [float(share.strip("*")) for share in shares.split(",")]
    declared = np.array([probabilities[row] for row in range(len(arff.y))])
    return model_of(right, folds, declared[:, np.unique(arff.y)]), folds


def run_committee(X, arff, folds):
    right = [weka.right_on_folds(make, X, arff.y, of_seed) for of_seed in folds]
    return model_of(right, folds, make().fit(X, arff.y).predict_proba(X))


def model_of(right, folds, probabilities):
    """Return a model from its right predictions for each seed of the folds."""
    accuracies = [
        [float(of_seed[fold].mean()) for fold in drawn] for of_seed, drawn in zip(right, folds, strict=True)
    ]
    return Model(accuracies, np.array(right), probabilities)


def make():
    """Return a classifier with ten rounds of stumps that try every threshold, as in Weka."""
    return LogitBoostClassifier(N_ROUNDS, max_bins=65_535)


def indicators(X):
    """Return categories as 0 and 1 columns, because Weka's stumps separate one category from the others."""
    columns = {}
    for name, values in X.items():
        if not isinstance(values.dtype, pd.CategoricalDtype):
            columns[name] = values
            continue
        for category in values.cat.categories:
            columns[f"{name}={category}"] = np.where(values.isna(), np.nan, values == category)
    return pd.DataFrame(columns)


def gap(ours, theirs):
    """Return the largest difference of a probability."""
    return float(np.abs(ours.probabilities - theirs.probabilities).max())


def describe(name, ours, one_hot, theirs):
    return (
        f"{name:18} accuracy {ours.right.mean():.4f} / {one_hot.right.mean():.4f} one-hot / "
        f"{theirs.right.mean():.4f}  largest gap {gap(ours, theirs):.4f} / {gap(one_hot, theirs):.4f} one-hot"
    )


def make_result(models, tables):
    measurements = []
    for name, (ours, one_hot, theirs) in models.items():
        for peer, model in ("committee", ours), ("committee, one-hot", one_hot), ("weka", theirs):
            readings = {"accuracy": float(model.right.mean()), "gap": gap(model, theirs)}
            measurements += [
                {"case": name, "peer": peer, "metric": metric, "values": [value]}
                for metric, value in readings.items()
            ]
    return {
        "name": "logitboost_weka",
        "title": "Does LogitBoostClassifier agree with Weka's LogitBoost?",
        "about": (
            "Ten rounds of stumps that try every threshold, on example tables of Weka: the accuracy of "
            f"10-fold cross-validation, averaged over the folds that Weka draws with {len(FOLD_SEEDS)} "
            "seeds, and the largest difference of a probability of a training row, for which Weka prints "
            "three decimals. If all columns are numbers without missing values, the probabilities are "
            "equal. Weka's stump separates one category from the others, and ours finds the best two sets "
            "of categories. With `one-hot`, ours gets one column per category and becomes Weka's stump. "
            "Weka's stump has a third branch for missing values; ours sends them to the better side. Weka "
            "also counts declared classes without rows (glass has one). LogitBoostClassifier ignores them."
        ),
        "rerun": "python benchmarks/logitboost_weka.py",
        "quick": False,
        "date": results.today(),
        "machine": results.machine(),
        "peers": {
            "committee": {
                "version": importlib.metadata.version("committee"),
                "settings": f"LogitBoostClassifier({N_ROUNDS}, max_bins=65_535)",
            },
            "committee, one-hot": {
                "version": importlib.metadata.version("committee"),
                "settings": "the same, with a column of 0 and 1 for each category",
            },
            "weka": {"version": weka.version(), "settings": "LogitBoost -I 10 -W DecisionStump"},
        },
        "metrics": {
            "accuracy": {"label": "accuracy", "unit": "", "ratio": False},
            "gap": {"label": "largest gap of a probability", "unit": "", "ratio": False},
        },
        "cases": [{"name": name, "about": about(tables[name]), "axis": None, "at": None} for name in models],
        "measurements": measurements,
        "targets": check_targets(models, tables),
        "plots": [],
        "failures": [],
    }


def about(arff):
    n_categories = sum(isinstance(dtype, pd.CategoricalDtype) for dtype in arff.X.dtypes)
    return (
        f"{len(arff.y)} rows, {arff.X.shape[1] - n_categories} numbers, {n_categories} categories, "
        f"{arff.X.isna().to_numpy().mean():.1%} missing"
    )


def check_targets(models, tables):
    """Require equal probabilities where the algorithms are equal, and a similar accuracy on all tables."""
    complete = [
        name
        for name in models
        if not tables[name].X.isna().any(axis=None) and len(set(tables[name].y)) == tables[name].n_declared
    ]
    gaps = {name: gap(models[name][1], models[name][2]) for name in complete}
    shortfalls = {
        name: float(theirs.right.mean() - ours.right.mean()) / error_of_one(theirs)
        for name, (ours, _, theirs) in models.items()
    }
    ours, theirs = (np.mean([pair[i].right.mean() for pair in models.values()]) for i in (0, 2))
    widest, furthest = max(gaps, key=gaps.get, default=None), max(shortfalls, key=shortfalls.get)
    n_equal = sum(each <= 2 * PRINTED for each in gaps.values())
    return [
        {
            "what": f"probabilities on {len(complete)} tables without missing values, one-hot",
            "target": "equal, as far as Weka prints them",
            "measured": f"equal on {n_equal}; at most {gaps.get(widest, 0.0):.4f} apart ({widest})",
            "met": n_equal == len(complete) if complete else None,
        },
        {
            "what": f"10-fold accuracy; mean of {len(models)} tables {ours:.4f}, Weka {theirs:.4f}",
            "target": "at most one standard error of a cross-validation below Weka on every table",
            "measured": f"at most {shortfalls[furthest]:.2f} standard errors below ({furthest})",
            "met": shortfalls[furthest] <= 1,
        },
    ]


def error_of_one(model):
    """Return the standard error of one cross-validation, as the mean over the seeds."""
    return float(np.mean([weka.standard_error(accuracies) for accuracies in model.accuracies]))


if __name__ == "__main__":
    main()
