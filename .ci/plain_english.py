"""Find words and idioms that a reader would have to translate, in code, comments, messages and pages.

In: files or folders, by default those of the whole project. Out: one line for each finding, with what to
write instead, and exit code 1 if there is one. An underscore ends a word, so names are checked too.

    python .ci/plain_english.py src/committee/table
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PLACES = (
    "src",
    "engine",
    "tests",
    "benchmarks",
    "examples",
    "docs",
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
)
SUFFIXES = {".py", ".pyi", ".cpp", ".h", ".md"}
# What to write instead of each idiom. The keys are regular expressions.
INSTEAD = {
    "tells?|telling|told": "report, show, pass, specify, distinguish",
    "holes?": "missing value",
    "so many": "as many as, at most n",
    "of (ours|theirs|yours)": "our own",
    "beside": "besides, next to",
    "(go|goes|going|went) on": "continue, resume",
    "rests": "is stored, is saved",
    "(?<!there )(is|are|was|were) no (?!longer|more|less|better|worse|larger|smaller)[a-z]+": "is not a",
    "sits?|seats?|seated|seating": "member, model",
    "hears?|heard": "receive",
    "mends?|mended|mending": "repair, fix",
    "diary|diaries": "log, journal",
    "minds": "depend on, check",
    "with a word": "with a warning",
    "judges?|judged|judging|judgement": "score, evaluate, compare",
    "who(so)?ever": "a caller that, a user who",
    "one's": "your own, user-defined",
    "(no|any|some|every)body": "no member, any member, the user",
    "nothing but|but one": "only",
    "lessons?": "training set",
    "obeys?|obeyed": "follow",
    "lacks?|lacked|lacking": "miss, have no",
    "in the place of": "instead of",
    "stands?(?! for)|stood": "is in",
    "lies (?!between)|lie (?!between)": "is in",
    "(is|are|be|was|were|been) asked": "is called, is requested",
    "(is|are|be|was|were|been) said|say so|says so": "is written, is reported",
    "(know|knows|known) of": "know about",
    "(learn|learns|learnt|learned) of": "learn from",
    "(go|goes|going|went) by": "use, follow",
    "(thereof|whereof|wherein|therein|thereby|herein)": "of it, in it",
    "once more|anew": "again",
    "(take|takes|taken|took) for": "infer as, treat as",
    "as (it|they) came": "unchanged, in their own container",
    "(?<!double[_ -])faults?": "error, failure",
    "wish|wishes|wished": "want, request",
    "naive truths?": "reference implementation",
    "unasked": "without a check, on its own",
    "(make|makes|making|made) nothing of": "ignore",
    "from where": "from which, whose source",
    "word of mouth|by word": "by name",
    "in vain|to no avail": "without effect",
}
# Names in saved files, old names in the table of upgrades, and names of other libraries.
ALLOWED: dict[str, tuple[str, ...]] = {
    # The title of a paper.
    "src/committee/evaluating/experiments/no_free_lunch.py": ("lack",),
    "CHANGELOG.md": ("seats", "lesson", "judged"),
    "src/committee/saving/foreign_members.py": ("beside",),
    "src/committee/saving/states/committee_states.py": ("seats",),
}
WORDS = {
    re.compile(rf"(?<![a-z])({pattern})(?![a-z])", re.IGNORECASE): use for pattern, use in INSTEAD.items()
}


def files_in(places):
    """Return the files to check, without this one."""
    for place in map(Path, places):
        found = sorted(place.rglob("*")) if place.is_dir() else [place]
        yield from (path for path in found if path.suffix in SUFFIXES and path.is_file())


def findings(path):
    """Yield each idiom in a file as its line number, its text and what to write instead."""
    allowed = ALLOWED.get(path.resolve().relative_to(ROOT).as_posix(), ())
    text = path.read_text(encoding="utf-8")
    for pattern, use in WORDS.items():
        for match in pattern.finditer(text):
            if match[1].lower() not in allowed:
                yield text.count("\n", 0, match.start()) + 1, match[1], use


def main(places):
    """Print all findings and return whether there are some."""
    found = [(path, *each) for path in files_in(places) for each in sorted(findings(path))]
    for path, line, text, use in found:
        print(f"{path}:{line}: {text!r}. Write: {use}.")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or [ROOT / place for place in PLACES]))
