"""Read the data, words and titles of charts."""


def parts_of(chart):
    """Yield all parts of a specification that have data, with the data."""
    found = chart if isinstance(chart, dict) else chart.to_dict()
    inherited = found.get("data", {}).get("values")
    below = [part for name in ("layer", "concat", "hconcat", "vconcat") for part in found.get(name, [])]
    below += [found["spec"]] if "spec" in found else []
    for part in below:
        yield from parts_of({"data": {"values": inherited}, **part} if inherited else part)
    if not below and inherited is not None:
        yield found, inherited


def values_of(chart, kind):
    """Return the data of all marks of a kind."""
    return [
        value
        for part, values in parts_of(chart)
        for value in values
        if (part["mark"] if isinstance(part["mark"], str) else part["mark"]["type"]) == kind
    ]


def words_of(chart):
    """Return all words of a chart."""
    return [value["text"] for value in values_of(chart, "text") if "text" in value]


def title_of(chart):
    """Return the title and the subtitle."""
    title = chart.to_dict()["title"]
    return title["text"], title.get("subtitle", "")
