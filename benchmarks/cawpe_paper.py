"""Repeat the experiment of the CAWPE paper on those of its tables that are open.

    python benchmarks/cawpe_paper.py --data FOLDER --published FOLDER [--quick] [--tables ...]

`--data`, or the environment variable COMMITTEE_TABLES, is a folder with `manifest.csv` (columns name, target,
rows and cawpe_name, the name in the paper) and `<name>.parquet` for each table. `--published`, or
COMMITTEE_PUBLISHED, is a folder with the means that the paper's authors published: `cawpe_uci121_ACC.csv`,
and the same for BALACC, AUROC and NLL. Neither is part of the project; only means and differences are stored.

The rows of a table are halved at random, class by class, 30 times (`--quick`: 5). The five members are fitted
on one half, in ten folds and on all of its rows, and every rule combines the same votes. Each finished
resample is appended to `results/raw/cawpe_paper.jsonl`, so a stopped run resumes, and several may run in
parallel on different tables. The result reports and leaves out tables without all resamples. `--members
defaults` runs CAWPEClassifier with its defaults.
"""

import argparse
import os
import sys
import time
from pathlib import Path

# More threads do not make small fits faster.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pandas as pd
from scipy.stats import rankdata

import cawpe_report
import results
from cawpe_report import BY_CLASS, DEFAULTS, PAPER
from committee import CAWPEClassifier
from committee.rules import GreedyRule, StackingRule, as_rule
from paper_members import MultiResponseRegression, coded, members

RUNS = results.FOLDER / "raw" / "cawpe_paper.jsonl"
N_RESAMPLES, N_QUICK = 30, 5
# The paper's table has two classes, and it is unknown which of the three were joined.
OTHER_TABLES = ("connect-4",)
# Smaller probabilities are replaced by this one, as in the paper's code.
LEAST_PROBABILITY = 0.01


def main():
    arguments = parse()
    tables = manifest(arguments.data)
    names = arguments.tables or list(tables.index)
    if unknown := set(names) - set(tables.index):
        sys.exit(f"The paper or {arguments.data} has no table {', '.join(sorted(unknown))}.")
    done = {(run["members"], run["table"], run["resample"]) for run in results.stored_runs(RUNS)}
    jobs = [
        (line_up, name, resample)
        for name in sorted(names, key=lambda name: tables.rows[name] * tables.features[name])
        for resample in range(arguments.resamples)
        for line_up in arguments.members
        if (line_up, name, resample) not in done
    ]
    for number, (line_up, name, resample) in enumerate(jobs, start=1):
        run = measure(line_up, name, resample, *read(arguments.data, name, tables.target[name]))
        results.store_run(RUNS, run)
        print(f"[{number}/{len(jobs)}] {describe(run)}", flush=True)
    published = cawpe_report.read_published(arguments.published)
    cawpe_report.write(results.stored_runs(RUNS), tables, published, arguments.resamples)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=os.environ.get("COMMITTEE_TABLES"), help="folder with manifest.csv")
    parser.add_argument(
        "--published", default=os.environ.get("COMMITTEE_PUBLISHED"), help="folder with the paper's means"
    )
    parser.add_argument("--tables", nargs="+", help="names; default: all")
    parser.add_argument("--resamples", type=int, help=f"how many times to halve a table ({N_RESAMPLES})")
    parser.add_argument("--quick", action="store_true", help=f"--resamples {N_QUICK}")
    parser.add_argument(
        "--members",
        nargs="+",
        choices=(PAPER, DEFAULTS),
        default=[PAPER],
        help="the members of the paper or those of CAWPEClassifier()",
    )
    arguments = parser.parse_args()
    if arguments.resamples is None:
        arguments.resamples = N_QUICK if arguments.quick else N_RESAMPLES
    for folder, file in (arguments.data, "manifest.csv"), (arguments.published, "cawpe_uci121_ACC.csv"):
        if folder is None or not (Path(folder) / file).exists():
            parser.error(f"no {file}: the docstring of cawpe_paper.py describes --data and --published.")
    return arguments


def manifest(folder):
    """Return the list of the open tables that are in the paper."""
    tables = pd.read_csv(Path(folder) / "manifest.csv", index_col="name")
    return tables[tables.cawpe_name.notna() & ~tables.index.isin(OTHER_TABLES)]


def read(folder, name, target):
    """Return X and the class numbers of a table."""
    frame = pd.read_parquet(Path(folder) / f"{name}.parquet")
    return frame, np.unique(frame.pop(target).astype(str), return_inverse=True)[1]


def halves(y, seed):
    """Draw half of the rows of every class for training, and return training rows and test rows.

    >>> train, test = halves(np.array([0, 0, 0, 0, 1, 1]), seed=0)
    >>> np.bincount([0, 0, 0, 0, 1, 1], weights=np.isin(range(6), train)), len(test)
    (array([2., 1.]), 3)
    """
    rng = np.random.default_rng(seed)
    shuffled = [rng.permutation(np.flatnonzero(y == code)) for code in np.unique(y)]
    train = np.concatenate([rows[: (len(rows) + 1) // 2] for rows in shuffled])
    test = np.concatenate([rows[(len(rows) + 1) // 2 :] for rows in shuffled])
    return rng.permutation(train), test


def measure(line_up, name, resample, frame, y):
    """Return the scores of all members and rules on one resample of a table."""
    train, test = halves(y, resample)
    start = time.process_time()
    if line_up == PAPER:
        X = coded(frame, name)
        named = members(X.shape[1], len(np.unique(y)))
        committee = CAWPEClassifier(named, random_state=resample, runner="serial").fit(X[train], y[train])
        votes, y_train = committee.votes(X[test]), y[train][committee.honest_rows_]
        scores = {member: score(vote, y[test]) for (member, _), vote in zip(named, votes, strict=True)}
        scores |= {
            rule: score(as_rule(definition).fit(committee.honest_votes_, y_train).combine(votes), y[test])
            for rule, definition in rules(resample).items()
        }
    else:
        committee = CAWPEClassifier(random_state=resample, runner="serial")
        committee.fit(frame.iloc[train], y[train])
        scores = {"CAWPE": score(committee.predict_proba(frame.iloc[test]), y[test])}
    seconds = time.process_time() - start
    return {"members": line_up, "table": name, "resample": resample, "seconds": seconds, "scores": scores}


def rules(seed):
    """Return the rules to compare: CAWPE, those of the paper, and our own stacking."""
    return {
        "CAWPE": "cawpe",
        "majority vote": "majority",
        "weighted majority": "weighted_majority",
        "naive Bayes": "naive_bayes",
        "greedy selection": GreedyRule(scoring="accuracy", patience=1, n_bags=10, random_state=seed),
        "stacking": StackingRule(MultiResponseRegression()),
        BY_CLASS: StackingRule("mlr"),
    }


def score(votes, y):
    """Return error, mean error over classes, AUC and log loss in bits, as defined in the paper.

    >>> score(np.array([[0.5, 0.5], [0.75, 0.25], [0.25, 0.75], [0.0, 1.0]]), np.array([0, 0, 1, 1]))
    {'error': 0.0, 'balanced_error': 0.0, 'auc': 1.0, 'nll': 0.457519}
    """
    votes = np.asarray(votes, dtype=np.float64)
    wrong = votes.argmax(axis=1) != y
    codes, counts = np.unique(y, return_counts=True)
    likelihoods = votes[np.arange(len(y)), y].clip(LEAST_PROBABILITY)
    measured = {
        "error": wrong.mean(),
        "balanced_error": np.mean([wrong[y == code].mean() for code in codes]),
        "auc": np.average([area(votes[:, code], y == code) for code in codes], weights=counts),
        "nll": -np.log2(likelihoods).mean(),
    }
    return {name: round(float(value), 6) for name, value in measured.items()}


def area(votes, is_class):
    """Return the area under the ROC curve: how often a row of the class has a higher vote than another row.

    >>> area(np.array([0.1, 0.5, 0.5, 0.9]), np.array([False, False, True, True]))
    0.875
    """
    n_class, n_others = is_class.sum(), (~is_class).sum()
    if n_others == 0:
        return 1.0
    above = rankdata(votes)[is_class].sum() - n_class * (n_class + 1) / 2
    return float(above / (n_class * n_others))


def describe(run):
    errors = ", ".join(f"{name} {scores['error']:.3f}" for name, scores in run["scores"].items())
    return f"{run['table']}, {run['members']}, resample {run['resample']}, {run['seconds']:.1f} s: {errors}"


if __name__ == "__main__":
    main()
