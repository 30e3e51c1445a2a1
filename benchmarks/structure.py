"""Measure the structure of the code: its size, the depth of its classes, and the files that a fit uses.

In: the source tree. Out: a table on stdout with one row per measure, for comparisons of two versions.

    python benchmarks/structure.py
"""

import ast
import contextlib
import io
import os
import re
import sys
import tempfile
import threading
import warnings
from collections import Counter
from itertools import combinations
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "committee"
# Two modules are twins if they share a run of at least this many equal lines.
TWIN_LINES = 8


def trees():
    """Return the syntax tree of each module of the package."""
    return {path: ast.parse(path.read_text()) for path in sorted(PACKAGE.rglob("*.py"))}


def code_lines(parsed):
    """Count the lines of code, without blank lines, comments and docstrings."""
    return sum(len(lines_of_code(tree, path.read_text())) for path, tree in parsed.items())


def lines_of_code(tree, text):
    """Return the numbers of the lines of code of one module."""
    kept = {
        number
        for number, line in enumerate(text.splitlines(), start=1)
        if line.strip() and not line.strip().startswith("#")
    }
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and type(node.value.value) is str
        ):
            kept -= set(range(node.lineno, node.end_lineno + 1))
    return kept


def count_any(parsed):
    """Count the word `Any` in the package, including its imports."""
    return sum(len(re.findall(r"\bAny\b", path.read_text())) for path in parsed)


def count_inner_imports(parsed):
    """Count the import statements inside functions."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    found = {
        (path, inner.lineno)
        for path, tree in parsed.items()
        for node in ast.walk(tree)
        if isinstance(node, functions)
        for inner in ast.walk(node)
        if isinstance(inner, ast.Import | ast.ImportFrom)
    }
    return len(found)


def fold_places(parsed):
    """Find the modules with a function that draws folds or held-out rows."""
    return sorted(
        {
            str(path.relative_to(PACKAGE))
            for path, tree in parsed.items()
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef) and splits_rows(node)
        }
    )


def splits_rows(function):
    """Return whether a function is named for folds or held-out rows, and draws or sorts rows itself."""
    words = ("fold", "hold_out", "held_out", "holdout", "spare", "one_in")
    is_named = any(word in function.name for word in words)
    draws = {"permutation", "argsort", "lexsort", "check_cv", "KFold", "StratifiedKFold", "shuffle"}
    called = {
        getattr(node.func, "attr", getattr(node.func, "id", ""))
        for node in ast.walk(function)
        if isinstance(node, ast.Call)
    }
    return is_named and bool(called & draws)


def vote_containers(parsed):
    """Find the classes with an array of votes and the targets of their rows or a mask of votes."""
    found = []
    for tree in parsed.values():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                fields = {
                    each.target.id: ast.unparse(each.annotation) for each in node.body if is_field(each)
                }
                holds_votes = any(
                    (name == "votes" or name.endswith("_votes")) and kind.startswith("np.ndarray")
                    for name, kind in fields.items()
                )
                if holds_votes and fields.keys() & {"y", "has_voted", "outside"}:
                    found.append(node.name)
    return sorted(found)


def is_field(node):
    """Return whether a statement of a class declares a field."""
    return isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)


def twins(parsed):
    """Return the pairs of modules that share a run of equal lines of code."""
    runs = {}
    for path, tree in parsed.items():
        text = path.read_text()
        numbers = sorted(lines_of_code(tree, text))
        lines = [line.strip() for line in text.splitlines()]
        code = [lines[i - 1] for i in numbers if len(lines[i - 1]) > 2 and not is_import(lines[i - 1])]
        for start in range(len(code) - TWIN_LINES + 1):
            runs.setdefault(tuple(code[start : start + TWIN_LINES]), set()).add(path)
    shared = {pair for paths in runs.values() if len(paths) < 9 for pair in combinations(sorted(paths), 2)}
    return sorted(f"{a.relative_to(PACKAGE)} ~ {b.relative_to(PACKAGE)}" for a, b in shared)


def imports_of(parsed):
    """Return the modules of the package that each module imports, by their dotted names."""
    names = {dotted(path): path for path in parsed}
    found = {name: set() for name in names}
    for name, path in names.items():
        for node in ast.walk(parsed[path]):
            if isinstance(node, ast.ImportFrom) and node.module:
                wanted = {f"{node.module}.{alias.name}" for alias in node.names} & set(names)
                found[name] |= wanted or {node.module} & set(names)
    return found


def dotted(path):
    """Return the dotted name of a module."""
    return ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")


def imported_once(parsed):
    """Find the modules that exactly one other module imports, unless that is their own package."""
    importers = Counter(each for imported in imports_of(parsed).values() for each in imported)
    return sorted(
        f"{each} by {name}"
        for name, imported in imports_of(parsed).items()
        for each in imported
        if importers[each] == 1 and not each.startswith(f"{name}.")
    )


def repeated(names):
    """Return the names that occur more than once."""
    return sorted(name for name, count in Counter(names).items() if count > 1)


def class_names(parsed):
    """Return the names of all classes."""
    return [
        node.name for tree in parsed.values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)
    ]


def largest_folder(root, kinds):
    """Return the largest number of files and folders in a folder below the first level."""
    folders = [path for path in root.rglob("*") if path.is_dir() and path.name != "__pycache__"]
    entries = [
        [each for each in folder.iterdir() if each.suffix in kinds or each in folders] for folder in folders
    ]
    return max(map(len, entries))


def is_import(line):
    """Return whether a line belongs to an import."""
    return line.startswith(("import ", "from ")) or line.rstrip(",").isidentifier()


def own_ancestors(name):
    """Return committee's own base classes of a public class."""
    import committee

    above = getattr(committee, name).__mro__[1:]
    return [each.__name__ for each in above if each.__module__.startswith("committee.")]


def learner_files(names):
    """Return the files of the package and of the bindings that name a learner or its state."""
    files = [
        *PACKAGE.rglob("*.py*"),
        *(ROOT / "engine" / "python").rglob("*"),
    ]
    texts = ((path, path.read_text()) for path in set(files) if path.suffix in {".py", ".pyi", ".cpp", ".h"})
    return sorted(str(path.relative_to(ROOT)) for path, text in texts if any(name in text for name in names))


def files_used(work):
    """Return the files of the package whose functions are called by some work."""
    seen = set()

    def note(frame, event, _):
        if event == "call" and frame.f_code.co_name != "<module>":
            seen.add(frame.f_code.co_filename)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return sorted(path for path in seen if path.startswith(str(PACKAGE)))


def fit_forest():
    """Return a function that fits a forest after all imports."""
    from committee import RandomForestClassifier

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 4)), rng.integers(0, 2, 60)
    RandomForestClassifier(5, random_state=0).fit(X, y)
    return lambda: RandomForestClassifier(5, random_state=0).fit(X, y)


def fit_file(folder):
    """Return a function that runs `committee fit` with two members and two folds after all imports."""
    from committee.cli.main import run

    rng = np.random.default_rng(0)
    rows = "".join(f"{a:.3f},{b:.3f},{int(a > 0)}\n" for a, b in rng.normal(size=(80, 2)))
    table = Path(folder, "train.csv")
    table.write_text("a,b,y\n" + rows)
    words = ["fit", str(table), "--target", "y", "--folds", "2"]
    members = ["--estimators", "forest,linear"]

    def fit(out):
        try:
            run([*words, *members, "--out", str(Path(folder, out))])
        except SystemExit as ended:
            if ended.code:
                raise

    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        fit("first.committee")
    return lambda: fit("second.committee")


def main():
    """Print all measures."""
    warnings.simplefilter("ignore")
    parsed = trees()
    ancestors = own_ancestors("RandomForestClassifier")
    forest = files_used(fit_forest())
    with tempfile.TemporaryDirectory() as folder:
        command = files_used(fit_file(folder))
    learner = learner_files(("NetworkClassifier", "_engine.Network", "take_network", '"Network"'))
    stems = [path.stem for path in parsed if path.stem != "__init__"]
    rows = [
        ("code lines of src/committee", code_lines(parsed), ""),
        ("modules of src/committee", len(parsed), ""),
        ("own classes above RandomForestClassifier", len(ancestors), ", ".join(ancestors)),
        ("files used by RandomForestClassifier.fit", len(forest), ""),
        ("files used by committee fit", len(command), ""),
        ("files that name the network learner", len(learner), ", ".join(learner)),
        ("places that split rows into folds", len(fold_places(parsed)), ", ".join(fold_places(parsed))),
        ("classes with out-of-fold votes", len(vote_containers(parsed)), ", ".join(vote_containers(parsed))),
        (f"module pairs that share {TWIN_LINES} lines", len(twins(parsed)), ", ".join(twins(parsed))),
        (
            "modules that exactly one other imports",
            len(imported_once(parsed)),
            ", ".join(imported_once(parsed)),
        ),
        ("module names that occur twice", len(repeated(stems)), ", ".join(repeated(stems))),
        (
            "class names that occur twice",
            len(repeated(class_names(parsed))),
            ", ".join(repeated(class_names(parsed))),
        ),
        ("entries of the largest folder of src/committee", largest_folder(PACKAGE, {".py"}), ""),
        ("entries of the largest folder of engine", largest_folder(ROOT / "engine", {".h", ".cpp"}), ""),
        ("imports inside functions", count_inner_imports(parsed), ""),
        ("Any", count_any(parsed), ""),
    ]
    for name, count, detail in rows:
        print(f"{count:7,d}  {name}" + (f": {detail}" if detail and "--all" in sys.argv else ""))
    if "--files" in sys.argv:
        for path in (*forest, "", *command):
            print(os.path.relpath(path, ROOT) if path else "")


if __name__ == "__main__":
    main()
