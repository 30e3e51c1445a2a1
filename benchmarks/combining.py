"""Measure the speed of rules and committees, and compare the members that they select with DESlib's.

python benchmarks/combining.py [--quick] [--cases ...] [--peers ...] [--repeats 5]
"""

import operator
import statistics
import subprocess
import time
from pathlib import Path

import numpy as np

import results
from dynamic_pool import N_MEMBERS, N_NEIGHBOURS, pool, standardised
from harness import Case, Question, main
from measure import PeakMemory, seconds
from peers import THREADS, Peer
from tables import friedman, two_classes
from verdicts import at_least, at_most, in_turns, ratio

HERE = Path(__file__).parent
DESLIB_PYTHON = HERE / ".venv-deslib" / "bin" / "python"
METHODS = (
    "ola", "lca", "mcb", "a_priori", "a_posteriori", "knora_e", "knora_u",
    "des_p", "des_rrc", "des_kl", "knop", "des_knn", "meta_des",
)  # fmt: skip
# DESlib takes minutes for these methods and decides row by row. So its time is measured on fewer rows and
# scaled.
DESLIB_ROWS = {"des_rrc": 100, "des_kl": 100, "des_knn": 500}
COMPARED_ROWS = {"des_rrc": 100, "des_kl": 100, "des_knn": 500}
RULES = (
    "mean", "median", "trimmed_mean", "minimum", "maximum", "product", "geometric_mean", "majority",
    "plurality", "borda",
)  # fmt: skip
GREEDY_LOSSES = {"log_loss": "neg_log_loss", "brier": "neg_brier_score", "error": "accuracy"}
KINDS = ("dynamic selection", "stacking")


class CommitteeSelection:
    """A DynamicRule with the settings of DESlib: it counts labels, and does not scale columns."""

    def __init__(self, method, votes):
        from committee.rules import DynamicRule

        self.rule = DynamicRule(method=method, voting="hard", scale=False)
        self.new_votes = votes.new_votes

    def fit(self, votes):
        self.rule.fit(votes.known_votes, votes.known_y, votes.known_X)

    def decide(self, X):
        return self.rule.combine(self.new_votes[:, : len(X)], X).argmax(axis=1)


def deslib_selection(method, votes):
    """Return DESlib's method. This runs in the environment of DESlib."""
    from deslib_pool import DeslibSelection

    return DeslibSelection(method, votes)


def committee_stacking(kind, members, final, folds):
    """Return stacking fitted on out-of-fold votes, as in scikit-learn."""
    import committee

    return getattr(committee, kind)(
        members, final_estimator=final, cv=folds, n_jobs=THREADS, drop_redundant=True
    )


def sklearn_stacking(kind, members, final, folds):
    """Return scikit-learn's stacking."""
    import sklearn.ensemble

    return getattr(sklearn.ensemble, kind)(members, final_estimator=final, cv=folds, n_jobs=THREADS)


PEERS = {
    "committee": Peer(
        "committee",
        "committee",
        f'DynamicRule(voting="hard", scale=False), otherwise defaults; stacking with n_jobs={THREADS}',
        KINDS,
        {"dynamic selection": CommitteeSelection, "stacking": committee_stacking}.get,
    ),
    "DESlib": Peer(
        "DESlib",
        "deslib",
        f"k={N_NEIGHBOURS}, random_state=0, otherwise defaults (scikit-learn's neighbours on all cores)",
        KINDS[:1],
        {"dynamic selection": deslib_selection}.get,
        python=DESLIB_PYTHON,
    ),
    "scikit-learn": Peer(
        "scikit-learn",
        "scikit-learn",
        f"n_jobs={THREADS}, otherwise defaults",
        KINDS[1:],
        {"stacking": sklearn_stacking}.get,
    ),
}


def dynamic_case(method, name=None, change=lambda votes: votes):
    """Return a case that fits a method on the known rows and decides on the new ones, with given votes."""

    def measure(peer, *, seed, quick):
        votes = change(pool(quick=quick))
        select = peer.model("dynamic selection")
        n_rows = len(votes.new_X)
        few = votes._replace(
            known_X=votes.known_X[:300], known_y=votes.known_y[:300], known_votes=votes.known_votes[:, :300]
        )
        warm = select(method, few)
        warm.fit(few)
        warm.decide(votes.new_X[:100])
        n_decided = n_rows
        if peer.name == "DESlib":
            n_decided = min(n_rows, DESLIB_ROWS.get(method, n_rows))
        selection = select(method, votes)
        processor = time.process_time()
        fit = seconds(selection.fit, votes)
        fit_processor = time.process_time() - processor
        processor = time.process_time()
        decide = seconds(selection.decide, votes.new_X[:n_decided])
        scale = n_rows / n_decided
        return {
            "time": fit + scale * decide,
            "processor": fit_processor + scale * (time.process_time() - processor),
        }

    scaled = DESLIB_ROWS.get(method)
    about = (
        f"DESlib decides on {scaled} rows, and its time is multiplied by {20_000 // scaled}."
        if scaled
        else ""
    )
    return Case(name or method, about, ("committee", "DESlib"), measure)


def members_case(method):
    """Return a case with the share of rows on which both select the same members."""

    def measure(peer, *, seed, quick):
        from committee.rules import DynamicRule

        votes = standardised(pool(quick=quick))
        n_rows = 50 if quick else COMPARED_ROWS.get(method, 2_000)
        file = results.FOLDER / "raw" / f"deslib_{method}_{n_rows}.npz"
        if seed == 0 or not file.exists():
            command = [DESLIB_PYTHON, HERE / "deslib_pool.py", method, str(n_rows), file]
            subprocess.run([*command, *(["--quick"] if quick else [])], check=True)
        theirs = np.load(file)
        rule = DynamicRule(method=method, voting="hard", scale=False)
        rule.fit(votes.known_votes, votes.known_y, votes.known_X)
        shares, _ = rule.selected(votes.new_votes[:, :n_rows], votes.new_X[:n_rows])
        ours = shares > 0
        return {
            "same": float((ours == theirs["selected"]).all(axis=1).mean()),
            "but_for_ties": float(((ours == theirs["candidates"]).all(axis=1) | theirs["is_tied"]).mean()),
        }

    return Case(f"members, {method}", "", ("committee",), measure)


def stacking_case(name, kind, table):
    """Return a case with interleaved fits of both packages in one process."""

    def measure(peer, *, seed, quick):
        from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
        from sklearn.model_selection import KFold
        from sklearn.naive_bayes import GaussianNB
        from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
        from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

        split = table(n_rows=500 if quick else 5_000, n_test=500)
        if kind == "StackingClassifier":
            members = [
                ("line", LogisticRegression()),
                ("bayes", GaussianNB()),
                ("tree", DecisionTreeClassifier(random_state=0)),
                ("neighbours", KNeighborsClassifier()),
            ]
            final = LogisticRegression()
        else:
            members = [
                ("line", LinearRegression()),
                ("ridge", Ridge()),
                ("tree", DecisionTreeRegressor(random_state=0)),
                ("neighbours", KNeighborsRegressor()),
            ]
            final = Ridge()
        folds = list(KFold(5).split(split.X_train))
        others = [PEERS[other] for other in ("committee", "scikit-learn") if other != peer.name]
        makers = [each.model("stacking") for each in (peer, *others)]

        def once(make):
            make(kind, members, final, folds).fit(split.X_train, split.y_train).predict(split.X_test)

        for make in makers:
            once(make)
        rounds = []
        for number in range(2 if quick else 6):
            # The first peer changes in every round.
            turn = 1 if number % 2 else -1
            rounds.append([seconds(once, make) for make in makers[::turn]][::turn])
        ours, theirs = zip(*rounds, strict=True)
        return {"fit": min(ours), "turns": statistics.median(map(operator.truediv, ours, theirs))}

    return Case(name, "", ("committee", "scikit-learn"), measure)


def greedy_case(loss):
    """Return a case of 50 greedy steps over 100 members."""

    def measure(peer, *, seed, quick):
        from committee.rules import GreedyRule

        rng = np.random.default_rng(seed)
        votes, y = some_votes(rng, 100, 1_000 if quick else 20_000)
        GreedyRule(scoring=GREEDY_LOSSES[loss]).fit(votes[:5, :100], y[:100])
        rule = GreedyRule(scoring=GREEDY_LOSSES[loss], n_steps=50, patience=None)
        return {"time": min(seconds(rule.fit, votes, y) for _ in range(3))}

    return Case(f"greedy, {loss}", "", ("committee",), measure)


def fixed_case(rule):
    """Return a case of a fixed rule with 20 members on 100,000 rows."""

    def measure(peer, *, seed, quick):
        from committee import rules

        decide = getattr(rules, rule)
        votes, _ = some_votes(np.random.default_rng(seed), 20, 1_000 if quick else 100_000)
        decide(votes[:, :1000])
        with PeakMemory() as peak:
            decide(votes)
        return {"time": min(seconds(decide, votes) for _ in range(3)), "memory": peak.megabytes}

    return Case(f"fixed, {rule}", "", ("committee",), measure)


def some_votes(rng, n_members, n_rows, n_classes=10):
    """Draw votes of float32 that are right for about half of the rows, and the classes."""
    y = rng.integers(0, n_classes, n_rows)
    votes = rng.standard_exponential((n_members, n_rows, n_classes), dtype=np.float32)
    votes[:, np.arange(n_rows), y] *= 3
    votes /= votes.sum(axis=2, keepdims=True)
    return votes, y


DYNAMIC = (
    *(dynamic_case(method) for method in METHODS),
    dynamic_case("ola", "ola, standardised", standardised),
)
STACKING = (
    stacking_case("stacking, classes", "StackingClassifier", two_classes),
    stacking_case("stacking, numbers", "StackingRegressor", friedman),
)
CASES = (
    *DYNAMIC,
    *(members_case(method) for method in METHODS),
    *STACKING,
    *(greedy_case(loss) for loss in GREEDY_LOSSES),
    *(fixed_case(rule) for rule in RULES),
)


def check_targets(readings):
    """Compare the readings with the targets."""
    return [
        *(
            ratio(readings, f"dynamic selection, {each.name}", each.name, "time", times=5, peer="DESlib")
            for each in DYNAMIC
        ),
        *(
            at_least(readings, f"members as DESlib's, {name}", f"members, {name}", "but_for_ties", limit=0.99)
            for name in METHODS
        ),
        *(
            in_turns(readings, each.name, each.name, "turns", peer="scikit-learn", percent=0)
            for each in STACKING
        ),
        *(
            at_most(readings, f"greedy, 50 steps, {loss}", f"greedy, {loss}", "time", limit=2, unit="s")
            for loss in GREEDY_LOSSES
        ),
        *(at_most(readings, f"{rule}, time", f"fixed, {rule}", "time", limit=1, unit="s") for rule in RULES),
        *(
            at_most(
                readings, f"{rule}, memory besides the votes", f"fixed, {rule}", "memory", limit=32, unit="MB"
            )
            for rule in RULES
        ),
    ]


QUESTION = Question(
    name="combining",
    title="How fast are rules and committees, and do they select the same members as DESlib?",
    about=(
        f"**Dynamic selection**, one line per method: {N_MEMBERS} trees vote on 20,000 known rows of 28 "
        "columns and two classes, and the methods decide 20,000 new rows. The votes of all members are "
        "given, so the time contains the estimation of competence, the search of neighbours "
        f"({N_NEIGHBOURS}; all rows for des_rrc and des_kl) and the decision. *Processor time* is that of "
        "all threads together. The columns are not scaled. *Standardised* columns are harder to search. "
        "**Members**: the share of rows, with standardised columns, on which the same members decide as in "
        "DESlib. *Same except for ties* ignores differences that are not differences in competence. For "
        "mcb, a_priori and a_posteriori, DESlib draws one of the members within 0.1 of the best, and ours "
        "uses all of them, so these sets are compared. For des_knn, rows with a tie for the last selected "
        "member are left out. For des_kl, DESlib gets the paper's sign of the entropy of right votes. "
        "**Stacking**: four members of scikit-learn, the same five folds of 5,000 rows, fit and predict, "
        "interleaved in one process; *interleaved* is the median ratio of neighbouring times. **Greedy**: "
        "50 steps over 100 members, 20,000 rows, 10 classes. **Fixed** rules: 20 members, 100,000 rows, 10 "
        "classes in float32 (76 MB); the memory is the rise without the votes; the decision takes 8 MB of "
        "it."
    ),
    cases=CASES,
    check_targets=check_targets,
    registry=PEERS,
)

if __name__ == "__main__":
    main(QUESTION)
