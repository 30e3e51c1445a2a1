"""Who should sit in the automatic committee, in which order? What each member adds, for the time it takes.

    python benchmarks/portfolio.py --data FOLDER --votes FOLDER [--tables ...] [--members ...] [--rows 5000]

`--data` is a folder of tables as `boosting_defaults.py` describes it; `--votes` is where a bank of votes is
kept for each of them, so a run that was stopped goes on, and new candidates are fitted alone. Two thirds of a
table are voted on in five folds, as in the automatic committee, the last third by the mean of the models of
the folds. The tables that `auto.py` judges by, and their kin, are not among `TABLES`.

From the member that must come first, the next is always the one that lowers the mean logarithm of the loss on
the last thirds most, or raises it least, for each second that its folds take, by a rule of the automatic
committee (`results/portfolio.json`). The orders in `committee/automatic/portfolio.py` are those of the
result, which a test compares, and the settings there come from here. Settings that
were tried and left out are in `TRIED`; they come after all others.
"""

import argparse
import json
import os
import time
import warnings
from importlib.metadata import version
from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import auto
import results
from committee.assembling import Bank
from committee.assembling.named_members import encoded
from committee.automatic.portfolio import (
    CANDIDATES,
    Candidate,
    Size,
    booster,
    encoded_width,
    with_scaled_target,
)
from committee.rules import AdjustedRule, StackingRule
from committee.table import read

FIRST = "booster"
# None that `auto.py` judges by, and nothing much like them.
TABLES = {
    "classification": (
        "attrition",
        "bank",
        "chile-plebiscite",
        "crash-nassCDS",
        "electricity",
        "hpc-data",
        "hr-employee",
        "lending-club",
        "statlog-image",
        "weather-noaa",
    ),
    "regression": (
        "auto-imports-price",
        "boston-housing",
        "diamonds",
        "elevators",
        "energy-heating",
        "house-8L",
        "insurance",
        "wages-cps1988",
    ),
}
# Tables that are taken with more rows too, because what is slow there costs more.
LARGE, LARGE_ROWS = {"classification": ("electricity", "bank-full"), "regression": ()}, 20_000
# The seconds that a member costs beside its fits: its votes, and its part in the choice of the rule.
FIXED_SECONDS = 0.5
RULES = {"classification": AdjustedRule(StackingRule("convex")), "regression": StackingRule("shrunken")}
# Rules learn from so many rows here, and no table counts for more than this in the choice of the next member.
MOST_VOTED, MOST_GAIN = 1200, 0.02
METRICS = {
    "loss": {"label": "loss with all so far", "unit": "", "ratio": False},
    "alone": {"label": "loss alone", "unit": "", "ratio": False},
    "seconds": {"label": "fit of five folds", "unit": "s", "ratio": False},
}
ABOUT = (
    "Members in the order of what they add to the mean logarithm of the loss for each second, on open "
    "tables that no other benchmark of the automatic committee uses, of 5,000 rows at most, and for classes "
    "on two of 20,000 too: two thirds are voted on in five folds, the last third is judged. Losses are "
    "geometric means over the tables, each in units of that of the first member; a gain of more than 2 % on "
    "one table counts as 2 %. *loss with all so far* is that of the rule, calibrated convex weights for "
    "classes, shrunken stacking for numbers; after the first dozen it changes by chance. The orders in the "
    "package are these. The last of each, random_100, booster_random_long, linear_strong, machine_2 and "
    "machine_standard, were tried beside them and are left out."
)


def logistic(strength):
    """Logistic or ridge regression of a given strength."""

    def make(size):
        from sklearn.linear_model import LogisticRegression, Ridge

        model = LogisticRegression(C=strength, max_iter=1000) if size.are_classes else Ridge(1 / strength)
        return encoded(model, scaling="robust")

    return make


def machine(strength, **scaling):
    """A support vector machine."""

    def make(size):
        from sklearn.svm import SVC, SVR

        model = SVC(C=strength) if size.are_classes else with_scaled_target(SVR(C=strength, epsilon=0.05))
        return encoded(model, **scaling)

    return make


# What was tried beside the candidates of the automatic committee.
TRIED = {
    candidate.name: candidate
    for candidate in (
        Candidate("random_100", booster(n_estimators=150, learning_rate=0.1, splitter="random")),
        Candidate(
            "booster_random_long",
            booster(
                n_estimators=1500,
                learning_rate=0.03,
                splitter="random",
                max_leaf_nodes=32,
                colsample_bynode=0.7,
                min_samples_leaf=3,
                subsample=1.0,
            ),
        ),
        Candidate("linear_strong", logistic(20.0)),
        Candidate("machine_2", machine(2.0, scaling="robust"), most_rows=4_000, most_cells=4e5),
        Candidate("machine_standard", machine(2.0), most_rows=4_000, most_cells=4e5),
    )
}
EVERY = CANDIDATES | TRIED


def main():
    arguments = parse()
    tables = auto.manifest(arguments.data)
    for task in RULES:
        wanted = [name for name, each in EVERY.items() if task in each.tasks]
        wanted = [name for name in wanted if not arguments.members or name in arguments.members]
        sizes = [(name, arguments.rows) for name in TABLES[task]]
        sizes += [(name, LARGE_ROWS) for name in LARGE[task]]
        banks = {
            folder_of(name, n_rows): collected(arguments, name, tables.loc[name], wanted, n_rows)
            for name, n_rows in sizes
            if not arguments.tables or name in arguments.tables
        }
        if banks and not arguments.only_votes:
            print(f"\n{task}, {len(banks)} tables")
            report(task, banks, arguments.votes)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("COMMITTEE_TABLES"))
    parser.add_argument("--votes", type=Path, required=True, help="folder of the banks of votes")
    parser.add_argument(
        "--tables",
        nargs="+",
        choices=sorted({*TABLES["classification"], *TABLES["regression"], *LARGE["classification"]}),
        help="all if left out",
    )
    parser.add_argument("--members", nargs="+", choices=EVERY, help="all if left out")
    parser.add_argument("--rows", type=int, default=5_000, help="larger tables are sampled")
    parser.add_argument("--only-votes", action="store_true", help="find no order")
    arguments = parser.parse_args()
    if arguments.data is None:
        parser.error("the tables are not part of the project: pass --data FOLDER or set COMMITTEE_TABLES.")
    return arguments


def folder_of(name, n_rows):
    """The folder of a table of at most some rows."""
    return f"{name}-{n_rows}" if n_rows == LARGE_ROWS else name


def collected(arguments, name, about, members, n_rows):
    """The bank of a table, with the votes of the members that suit it, and the answers to its last third."""
    X, X_test, y, y_test = auto.split(*auto.table(arguments.data, name, about, n_rows), about.task, seed=0)
    folder = arguments.votes / folder_of(name, n_rows)
    bank = Bank(X, y, task=about.task, X_test=X_test, y_test=y_test, folder=folder, calibrate="sigmoid")
    n_outputs = len(np.unique(y)) if about.task == "classification" else 1
    are_amounts = about.task == "regression" and bool((y > 0).all())
    size = Size(
        about.task, len(y), encoded_width(read(X).schema), n_outputs, X.shape[1], are_amounts=are_amounts
    )
    times = seconds_of(folder)
    for member in members:
        if member in times or not EVERY[member].suits(size):
            continue
        began = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            bank.collect(
                [(member, EVERY[member].make(size))], out_of_bag=False, runner="serial", on_error="drop"
            )
        times[member] = time.process_time() - began
        (folder / "seconds.json").write_text(json.dumps(times))
        print(f"{name}, {member}: {times[member]:.2f} s", flush=True)
    return bank, y_test


def seconds_of(folder):
    """The seconds that each member took on a table."""
    path = folder / "seconds.json"
    return json.loads(path.read_text()) if path.exists() else {}


def report(task, banks, folder):
    """Print the members in the order of what they add, and keep it."""
    judged = [Judged(task, bank, y_test, seconds_of(folder / name)) for name, (bank, y_test) in banks.items()]
    first = np.array([each.log_loss([FIRST]) for each in judged])
    chosen, losses = [FIRST], first
    steps = [step(FIRST, losses, first, judged)]
    for group in (CANDIDATES, TRIED):
        # What each would add for a second, as far as is known: later it adds less, so few are tried in each
        # step.
        hopes = {name: np.inf for each in judged for name in each.seconds if name in group and name != FIRST}
        while hopes:
            best, found = None, losses
            for name in sorted(hopes, key=hopes.get, reverse=True):
                if best is not None and hopes[name] <= hopes[best]:
                    break
                tried = np.array([each.log_loss([*chosen, name]) for each in judged])
                gained = float(np.clip(losses - tried, -MOST_GAIN, MOST_GAIN).mean())
                hopes[name] = gained / (mean_seconds(name, judged) + FIXED_SECONDS)
                if best is None or hopes[name] > hopes[best]:
                    best, found = name, tried
            chosen.append(best)
            del hopes[best]
            losses = found
            steps.append(step(best, losses, first, judged))
    keep(task, sorted(banks), steps)


def step(member, losses, first, judged):
    """What a member has brought, printed."""
    there = [place for place, each in enumerate(judged) if member in each.names]
    alone = np.mean([judged[place].log_loss([member]) - first[place] for place in there])
    found = {
        "member": member,
        "loss": float(np.exp(np.mean(losses - first))),
        "alone": float(np.exp(alone)),
        "seconds": mean_seconds(member, judged),
    }
    print(
        " ".join(f"{key} {value:.4f}" if key != "member" else f"{value:<20}" for key, value in found.items())
    )
    return found


class Judged:
    """The votes on a table, in memory, and what rules make of them.

    Parameters
    ----------
    task : {"classification", "regression"}
    bank : Bank
    y_test : ndarray of shape (n_test_rows,)
    seconds : dict from names of members to seconds
    """

    def __init__(self, task, bank, y_test, seconds):
        self.task, self.y_test = task, y_test
        self.seconds = {
            name: each for name, each in seconds.items() if name in bank.members and name in EVERY
        }
        self.names = list(self.seconds)
        honest = bank.honest(self.names)
        self.votes, self.y = honest.votes[:, :MOST_VOTED], honest.y[:MOST_VOTED]
        self.test_votes = bank.test_votes(self.names)

    def log_loss(self, members):
        """The logarithm of the loss on the last third if those of some members decide that are there."""
        places = [self.names.index(name) for name in members if name in self.names]
        rule = clone(RULES[self.task]).fit(self.votes[places], self.y)
        decision = rule.combine(self.test_votes[places])
        return np.log(auto.loss_of(self.task, decision, self.y_test, self.y_test))


def mean_seconds(member, judged):
    """The mean seconds of a member, where it is."""
    return float(np.mean([each.seconds[member] for each in judged if member in each.seconds]))


def keep(task, tables, steps):
    """Add the order of a task to the result."""
    path = results.FOLDER / "portfolio.json"
    before = json.loads(path.read_text()) if path.exists() else {"cases": [], "measurements": []}
    cases = [case for case in before["cases"] if not case["name"].startswith(task)]
    measured = [each for each in before["measurements"] if not each["case"].startswith(task)]
    for number, each in enumerate(steps, start=1):
        name = f"{task}, {number:>2}: {each['member']}"
        about = f"on {len(tables)} tables: {', '.join(tables)}" if number == 1 else ""
        cases.append({"name": name, "about": about, "axis": None, "at": None})
        measured += [
            {"case": name, "peer": "committee", "metric": metric, "values": [float(each[metric])]}
            for metric in METRICS
        ]
    results.write(
        {
            "name": "portfolio",
            "title": "Who sits in the automatic committee, and in which order?",
            "about": ABOUT,
            "rerun": "python benchmarks/portfolio.py --data FOLDER --votes FOLDER",
            "quick": False,
            "date": results.today(),
            "machine": results.machine(),
            "peers": {"committee": {"version": version("committee"), "settings": "five folds, one thread"}},
            "metrics": METRICS,
            "cases": cases,
            "measurements": measured,
            "targets": [],
            "plots": [],
            "failures": [],
        },
        complete=True,
    )


if __name__ == "__main__":
    main()
