"""Order the members of the automatic committee by the gain of each per second of its fits.

    python benchmarks/portfolio.py --data FOLDER --votes FOLDER [--tables ...] [--members ...] [--rows 5000]

`--data` is a folder of tables, described in `boosting_defaults.py`. `--votes` is a folder with a bank of
votes for each table, so a stopped run resumes, and only new candidates are fitted. Two thirds of a table are
the training rows, with out-of-fold votes from five folds as in the automatic committee. The last third are
test rows, on which the models of the folds vote by their mean. `TABLES` contains none of the tables of
`auto.py`, and none that are similar to them.

`FIRST` comes first. After it, the next member is always the one with the largest decrease of the mean
logarithm of the test loss per second of its folds, under a rule of the automatic committee. The result is
`results/portfolio.json`. A test checks that the orders in `committee/automatic/portfolio.py` equal it; the
settings there were chosen here too. `TRIED` contains settings that are not in the package; they come last.
"""

import json
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
from open_tables import TablesParser, manifest, split, table

FIRST = "booster"
# Disjoint from the tables of `auto.py`, and not similar to them.
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
# Tables that are also used with more rows, to measure the cost of slow members.
LARGE, LARGE_ROWS = {"classification": ("electricity", "bank-full"), "regression": ()}, 20_000
# The seconds that a member costs besides its fits: for its votes and in the choice of the rule.
FIXED_SECONDS = 0.5
RULES = {"classification": AdjustedRule(StackingRule("convex")), "regression": StackingRule("shrunken")}
# The number of rows that rules are fitted on.
MAX_RULE_ROWS = 1200
# The largest gain on one table that counts in the choice of the next member.
MAX_GAIN = 0.02
METRICS = {
    "loss": {"label": "loss with all members so far", "unit": "", "ratio": False},
    "alone": {"label": "loss alone", "unit": "", "ratio": False},
    "seconds": {"label": "fit of five folds", "unit": "s", "ratio": False},
}
ABOUT = (
    "Each row is the member that decreases the mean logarithm of the loss most per second, given the "
    "members above it. The open tables are not used by other benchmarks of the automatic committee. They "
    "have at most 5,000 rows; for classification, two with 20,000 rows are added. Two thirds of a table "
    "get out-of-fold votes from five folds, and the losses are those of the last third. Losses are "
    "geometric means over the tables, relative to the loss of the first member. A gain of more than 2 % on "
    "one table counts as 2 %. *loss with all members so far* is the loss of a rule: calibrated convex "
    "weights for classes, shrunken stacking for numbers. After the first dozen members it changes only by "
    "chance. The package uses these orders, without the last members of each: random_100, "
    "booster_random_long, linear_strong, machine_2 and machine_standard."
)


def logistic(strength):
    """Return a factory of logistic or ridge regressions with this inverse penalty."""

    def make(size):
        from sklearn.linear_model import LogisticRegression, Ridge

        model = LogisticRegression(C=strength, max_iter=1000) if size.are_classes else Ridge(1 / strength)
        return encoded(model, scaling="robust")

    return make


def machine(strength, **scaling):
    """Return a factory of support vector machines with this C."""

    def make(size):
        from sklearn.svm import SVC, SVR

        model = SVC(C=strength) if size.are_classes else with_scaled_target(SVR(C=strength, epsilon=0.05))
        return encoded(model, **scaling)

    return make


# Candidates that are not in the package.
TRIED = {
    candidate.name: candidate
    for candidate in (
        Candidate(
            "random_100", "random 100", booster(n_estimators=150, learning_rate=0.1, splitter="random")
        ),
        Candidate(
            "booster_random_long",
            "booster random long",
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
        Candidate("linear_strong", "linear strong", logistic(20.0)),
        Candidate("machine_2", "machine 2", machine(2.0, scaling="robust"), most_rows=4_000, most_cells=4e5),
        Candidate("machine_standard", "machine standard", machine(2.0), most_rows=4_000, most_cells=4e5),
    )
}
EVERY = CANDIDATES | TRIED


def main():
    arguments = parse()
    tables = manifest(arguments.data)
    for task in RULES:
        wanted = [name for name, each in EVERY.items() if task in each.tasks]
        wanted = [name for name in wanted if not arguments.members or name in arguments.members]
        sizes = [(name, arguments.rows) for name in TABLES[task]]
        sizes += [(name, LARGE_ROWS) for name in LARGE[task]]
        banks = {
            folder_of(name, n_rows): collect_votes(arguments, name, tables.loc[name], wanted, n_rows)
            for name, n_rows in sizes
            if not arguments.tables or name in arguments.tables
        }
        if banks and not arguments.only_votes:
            print(f"\n{task}, {len(banks)} tables")
            report(task, banks, arguments.votes)


def parse():
    parser = TablesParser(__doc__)
    parser.add_argument("--votes", type=Path, required=True, help="folder of the banks of votes")
    parser.add_argument(
        "--tables",
        nargs="+",
        choices=sorted({*TABLES["classification"], *TABLES["regression"], *LARGE["classification"]}),
        help="default: all",
    )
    parser.add_argument("--members", nargs="+", choices=EVERY, help="default: all")
    parser.add_argument(
        "--rows",
        type=int,
        default=5_000,
        help="the largest number of rows of a table; larger tables are sampled",
    )
    parser.add_argument(
        "--only-votes", action="store_true", help="collect votes only, without ordering the members"
    )
    arguments = parser.parse_args()
    return arguments


def folder_of(name, n_rows):
    """Return the name of the folder of a table of at most n_rows rows."""
    return f"{name}-{n_rows}" if n_rows == LARGE_ROWS else name


def collect_votes(arguments, name, about, members, n_rows):
    """Return the bank of a table with the votes of the members that suit it, and y of its test rows."""
    X, X_test, y, y_test = split(*table(arguments.data, name, about, n_rows), about.task, seed=0)
    folder = arguments.votes / folder_of(name, n_rows)
    bank = Bank(X, y, task=about.task, X_test=X_test, folder=folder, calibrate="sigmoid")
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
    """Return the seconds of each member on a table."""
    path = folder / "seconds.json"
    return json.loads(path.read_text()) if path.exists() else {}


def report(task, banks, folder):
    """Order the members by their gain per second, print the order and save it."""
    tables = [
        TableVotes(task, bank, y_test, seconds_of(folder / name)) for name, (bank, y_test) in banks.items()
    ]
    first = np.array([each.log_loss([FIRST]) for each in tables])
    chosen, losses = [FIRST], first
    steps = [describe_step(FIRST, losses, first, tables)]
    for group in (CANDIDATES, TRIED):
        # Upper bounds on the gain per second: the gain of a member decreases as others are added, so only a
        # few members are evaluated in each step.
        bounds = {name: np.inf for each in tables for name in each.seconds if name in group and name != FIRST}
        while bounds:
            best, found = None, losses
            for name in sorted(bounds, key=bounds.get, reverse=True):
                if best is not None and bounds[name] <= bounds[best]:
                    break
                tried = np.array([each.log_loss([*chosen, name]) for each in tables])
                gained = float(np.clip(losses - tried, -MAX_GAIN, MAX_GAIN).mean())
                bounds[name] = gained / (mean_seconds(name, tables) + FIXED_SECONDS)
                if best is None or bounds[name] > bounds[best]:
                    best, found = name, tried
            chosen.append(best)
            del bounds[best]
            losses = found
            steps.append(describe_step(best, losses, first, tables))
    save(task, sorted(banks), steps)


def describe_step(member, losses, first, tables):
    """Print and return the effect of adding a member."""
    places = [place for place, each in enumerate(tables) if member in each.names]
    alone = np.mean([tables[place].log_loss([member]) - first[place] for place in places])
    found = {
        "member": member,
        "loss": float(np.exp(np.mean(losses - first))),
        "alone": float(np.exp(alone)),
        "seconds": mean_seconds(member, tables),
    }
    print(
        " ".join(f"{key} {value:.4f}" if key != "member" else f"{value:<20}" for key, value in found.items())
    )
    return found


class TableVotes:
    """The votes of all members on one table, and the losses of rules on them.

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
        self.votes, self.y = honest.votes[:, :MAX_RULE_ROWS], honest.y[:MAX_RULE_ROWS]
        self.test_votes = bank.test_votes(self.names)

    def log_loss(self, members):
        """Return the logarithm of the test loss of a rule over the members that have votes."""
        places = [self.names.index(name) for name in members if name in self.names]
        rule = clone(RULES[self.task]).fit(self.votes[places], self.y)
        decision = rule.combine(self.test_votes[places])
        return np.log(auto.loss_of(self.task, decision, self.y_test, self.y_test))


def mean_seconds(member, tables):
    """Return the mean seconds of a member over the tables that have its votes."""
    return float(np.mean([each.seconds[member] for each in tables if member in each.seconds]))


def save(task, tables, steps):
    """Store the order of a task in the result file."""
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
            "title": "Which members does the automatic committee fit, and in which order?",
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
