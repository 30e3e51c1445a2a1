"""In which order should the members of the portfolio be fitted? What each adds to those before it.

    python benchmarks/portfolio.py --data FOLDER --votes FOLDER [--tables ...] [--members ...]

`--data` is a folder of tables as `boosting_defaults.py` describes it; `--votes` is where a bank of votes is
kept for each of them, so a run that was stopped goes on, and new candidates are fitted alone. Two thirds of a
table are voted on in five folds, the last third by the mean of the models.

From the member that must come first, the next is always the one with which the rule (`log_pool` for classes,
stacking by ridge regression for numbers) has the lowest mean logarithm of the loss on the last thirds. The
orders and settings in `committee/automatic/portfolio.py` come from here. Members without probabilities cast
crisp votes in a bank, so the support vector machine does better in a committee, which calibrates it.
"""

import argparse
import json
import os
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import auto
from committee.assembling import Bank
from committee.automatic.portfolio import CANDIDATES, ORDERS, Size, encoded_width
from committee.rules import StackingRule
from committee.table import read

MOST_ROWS = 5_000
FIRST = "booster"
RULES = {"classification": "log_pool", "regression": StackingRule("ridge")}


def main():
    arguments = parse()
    tables = auto.manifest(arguments.data)
    for task, names in ORDERS.items():
        wanted = [name for name in names if not arguments.members or name in arguments.members]
        chosen = [name for name in arguments.tables or tables.index if tables.task[name] == task]
        banks = {name: collected(arguments, name, tables.loc[name], wanted) for name in chosen}
        if banks:
            print(f"\n{task}, {len(banks)} tables")
            report(task, wanted, banks, arguments.votes)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("COMMITTEE_TABLES"))
    parser.add_argument("--votes", type=Path, required=True, help="folder of the banks of votes")
    parser.add_argument("--tables", nargs="+", help="by name; all if left out")
    parser.add_argument("--members", nargs="+", choices=CANDIDATES, help="all if left out")
    arguments = parser.parse_args()
    if arguments.data is None:
        parser.error("the tables are not part of the project: pass --data FOLDER or set COMMITTEE_TABLES.")
    return arguments


def collected(arguments, name, about, members):
    """The bank of a table, with the votes of the members that suit it, and the answers to its last third."""
    X, X_test, y, y_test = auto.split(*auto.table(arguments.data, name, about, MOST_ROWS), about.task, seed=0)
    folder = arguments.votes / name
    bank = Bank(X, y, task=about.task, X_test=X_test, folder=folder)
    n_outputs = len(np.unique(y)) if about.task == "classification" else 1
    size = Size(about.task, len(y), encoded_width(read(X).schema), n_outputs)
    times = seconds_of(folder)
    for member in members:
        if member in times or not CANDIDATES[member].suits(size):
            continue
        began = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            bank.collect([(member, CANDIDATES[member].make(size))], runner="serial", on_error="drop")
        times[member] = time.process_time() - began
        (folder / "seconds.json").write_text(json.dumps(times))
        print(f"{name}, {member}: {times[member]:.2f} s", flush=True)
    return bank, y_test


def seconds_of(folder):
    """The seconds that each member took on a table."""
    path = folder / "seconds.json"
    return json.loads(path.read_text()) if path.exists() else {}


def report(task, members, banks, votes):
    """Print the members in the order of what they add, with the seconds that they take on average."""
    there = [name for name in members if all(name in bank.members for bank, _ in banks.values())]
    if FIRST not in there:
        sys.exit(f"{FIRST} must have voted on every table.")
    chosen, left = [FIRST], [name for name in there if name != FIRST]
    loss = mean_loss(task, chosen, banks)
    while True:
        seconds = np.mean([seconds_of(votes / name)[chosen[-1]] for name in banks])
        print(f"{len(chosen):>3} {chosen[-1]:<16} loss {np.exp(loss):.5f}  {seconds:.2f} s", flush=True)
        if not left:
            return
        losses = {name: mean_loss(task, [*chosen, name], banks) for name in left}
        best = min(losses, key=losses.get)
        loss = losses[best]
        chosen.append(best)
        left.remove(best)


def mean_loss(task, members, banks):
    """The mean logarithm of the loss of the rule on the last thirds."""
    losses = [auto.loss_of(task, bank.combine(RULES[task], members), y, y) for bank, y in banks.values()]
    return float(np.mean(np.log(losses)))


if __name__ == "__main__":
    main()
