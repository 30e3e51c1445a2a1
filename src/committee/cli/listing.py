"""The commands that list what can be named."""

from __future__ import annotations

from committee.cli.options import Json


def members(json: Json = False) -> None:
    """List the members that `fit --members` can name, a line for each."""
    from committee.jobs.describing import member_lines

    show_lines("member", member_lines(), json)


def rules(json: Json = False) -> None:
    """List the rules that `fit --rule` can name, a line for each."""
    from committee.jobs.describing import rule_lines

    show_lines("rule", rule_lines(), json)


def learners(json: Json = False) -> None:
    """List the learners that `compare --learners` can name, a line for each."""
    from committee.evaluating import known_learners

    show_lines("learner", known_learners(), json)


def show_lines(what: str, lines: dict[str, str], as_json: bool) -> None:
    """Show names with a line for each."""
    from committee.cli.showing import show_json, show_table

    if as_json:
        show_json([{what: name, "meaning": line} for name, line in lines.items()])
    else:
        show_table([what, "what it does"], lines.items())
