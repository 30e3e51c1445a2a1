"""Fast starts import few modules, and imports inside functions are allowed only for a fast start."""

import ast
import json
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "committee"
MODELS = Path(__file__).parent / "saved_models" / "version_1"
# Modules that may be missing, such as `resource` outside Unix, or that may have another version.
OPTIONAL = {
    "cloudpickle",
    "joblib.externals",
    "pandas",
    "polars",
    "skops",
    "typer",
    "altair",
    "vl_convert",
    "resource",
}
HEAVY = {"sklearn", "scipy", "narwhals", "pyarrow", "pandas", "polars", "rich", "joblib", "threadpoolctl"}
FOR_HELP = HEAVY | {"numpy", "committee._engine", "committee.running"}
PREDICT = """
import committee
from pathlib import Path
for path in sorted(Path({!r}).glob("*.committee")):
    try:
        committee.predictor(path)
    except ValueError:
        pass  # some kinds of model have no predictor
"""
PREDICT_FROM_FILE = """
import committee, sys, tempfile
from committee.cli.main import run
path = {!r}
names = committee.predictor(path).feature_names
with tempfile.NamedTemporaryFile("w", suffix=".csv") as table:
    table.write(",".join(names) + "\\n" + "," * (len(names) - 1) + "\\n")
    table.flush()
    assert run(["predict", path, table.name]) == 0
"""
WRONG_PATHS = """
from committee.cli.main import run
for words in (["fit", "no.csv", "--target", "y"], ["predict", "no.committee", "no.csv"],
              ["evaluate", "no.committee", "no.csv"], ["inspect", "no.committee"], ["verify", "no.committee"],
              ["leaderboard", "no.committee"], ["compare", "no", "--learners", "rf", "--out", "study"]):
    assert run(words) == 5
"""
# The code that a fresh process runs, and the packages and modules that it must not import.
PROMISES = {
    "the package": ("import committee", HEAVY | {"numpy", "committee._engine", "importlib.metadata"}),
    "any predictor": (PREDICT.format(str(MODELS)), HEAVY | {"importlib.metadata"}),
    "a runner": ("from committee.running import runner; runner('threads', 1).close()", HEAVY),
    "any command": ("from committee.cli.main import run; run(['--help'])", FOR_HELP),
    "a prediction": (
        PREDICT_FROM_FILE.format(str(MODELS / "GradientBoostingClassifier.committee")),
        HEAVY - {"pyarrow"} | {"urllib.request"},
    ),
    "a wrong path": (WRONG_PATHS, FOR_HELP),
    "help of fit": ("from committee.cli.main import run; run(['fit', '--help'])", FOR_HELP),
}
# The number of imports inside functions that none of these promises needs, by folder. It may only get
# smaller. These are permanent: a committee combines its members again as a `Voting`, its own subclass, the
# command reports a missing typer in one line, `extensions` exists for late imports, one for each method, and
# an explanation is converted to one of shap only where that is installed.
NOT_NEEDED = {"assembling": 1, "cli": 1, "explaining": 1, "extensions": 4}
LOADED = "\nimport json, sys; sys.stderr.write('\\nloaded ' + json.dumps(sorted(sys.modules)))"


@cache
def loaded_by(code):
    """Return the modules that a fresh process has loaded after some code."""
    ended = subprocess.run([sys.executable, "-c", code + LOADED], capture_output=True, text=True, check=True)
    return frozenset(json.loads(ended.stderr.rpartition("loaded ")[2]))


def forbidden_among(modules, forbidden):
    """Return the modules that are forbidden by their own name or that of their package."""
    return {name for name in modules if name in forbidden or name.partition(".")[0] in forbidden}


@pytest.mark.parametrize("name", PROMISES)
def test_a_fast_start_imports_few_modules(name):
    code, forbidden = PROMISES[name]
    assert not forbidden_among(loaded_by(code), forbidden)


def inner_imports():
    """Return each import inside a function as its module, its line and the imported module."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        owner = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
        for function in ast.walk(ast.parse(path.read_text())):
            for node in ast.walk(function) if isinstance(function, functions) else ():
                if isinstance(node, ast.Import | ast.ImportFrom):
                    found[owner, node.lineno] = imported(node)
    return [(*place, module) for place, module in found.items()]


def imported(statement):
    """Return the module that a statement imports, with the full name for modules of this package."""
    if isinstance(statement, ast.Import):
        return statement.names[0].name
    return f"committee.{statement.names[0].name}" if statement.module == "committee" else statement.module


@cache
def imported_by(module):
    """Return the packages of one of our modules and the modules that it imports at its top."""
    path = PACKAGE.parent.joinpath(*module.split("."))
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    packages = {module[:end] for end, sign in enumerate(module) if sign == "."}
    nodes = ast.parse(path.read_text()).body if path.exists() else []
    return packages | {imported(node) for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)}


def all_imported_by(module):
    """Return all modules that are imported with a module."""
    found, waiting = set(), {module}
    while waiting:
        name = waiting.pop()
        found.add(name)
        if name.startswith("committee"):
            waiting |= imported_by(name) - found
    return found


def is_needed(owner, module):
    """Return whether an import at the top of its module could fail or would break a promise."""
    owners_promises = [forbidden for code, forbidden in PROMISES.values() if owner in loaded_by(code)]
    is_optional = bool(forbidden_among([module], OPTIONAL))
    return is_optional or any(
        forbidden_among(all_imported_by(module), forbidden) for forbidden in owners_promises
    )


def test_imports_inside_functions_are_needed_for_a_fast_start():
    unneeded = [each for each in inner_imports() if not is_needed(each[0], each[2])]
    counts = Counter(owner.split(".")[1] for owner, _, _ in unneeded)
    too_many = {folder for folder, count in counts.items() if count > NOT_NEEDED.get(folder, 0)}
    assert not [
        f"{owner}:{line} {module}" for owner, line, module in unneeded if owner.split(".")[1] in too_many
    ]
