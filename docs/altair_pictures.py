"""Show altair charts in the pages: a directive for Markdown, and a scraper for sphinx-gallery.

The code of a page consists of doctest examples, which the tests run. A directive `picture` shows the chart
that its last example assigns or returns:

    ```{picture}
    >>> chart = pictures.coin_tosses(10_000, random_state=0)
    ```
"""

import contextlib
import doctest
import hashlib
import io
import re
from html import escape
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective
from sphinx_gallery.scrapers import figure_rst

from committee.reporting import save_picture

FOLDER = "_pictures"


def is_chart(value):
    """Return whether a value is an altair chart."""
    return callable(getattr(value, "to_dict", None)) and type(value).__module__.startswith("altair")


def title_of(chart):
    """Return the title of a chart."""
    title = chart.to_dict().get("title", "")
    return str(title.get("text", "") if isinstance(title, dict) else title)


def without_fences(page):
    """Replace the lines around blocks of code by blank lines, so that doctest can read the page."""
    return re.sub(r"^```.*$", "", page, flags=re.MULTILINE)


class Picture(SphinxDirective):
    """Run the examples of the page up to here, show those of the directive, and then their chart."""

    has_content = True

    def run(self):
        names = self.env.temp_data.setdefault("picture_names", {"__name__": "__main__"})
        begin = self.env.temp_data.get("picture_line", 0)
        source = without_fences(Path(self.env.doc2path(self.env.docname)).read_text(encoding="utf-8"))
        self.env.temp_data["picture_line"] = end = self.lineno + len(self.content)
        chart = chart_of(source, names, begin, end)
        if chart is None:
            raise self.error("A picture needs a chart as the value of its last example.")
        code = "\n".join(self.content)
        image = nodes.raw("", image_of(chart, self.env.app, self.env.docname, str(end)), format="html")
        return [nodes.literal_block(code, code, language="pycon"), image]


def chart_of(source, names, begin=0, end=float("inf")):
    """Run the examples between two lines of a text, and return the last chart, or None."""
    chart = None
    with contextlib.redirect_stdout(io.StringIO()):
        for example in doctest.DocTestParser().get_examples(source):
            if begin <= example.lineno < end and not example.exc_msg:
                value = run_example(example.source, names)
                chart = value if is_chart(value) else chart
    return chart


def run_example(source, names):
    """Run an example, and return its value or the one it assigns last."""
    try:
        return eval(compile(source, "page", "eval"), names)
    except SyntaxError:
        known = dict(names)
        exec(compile(source, "page", "exec"), names)
    changed = [value for name, value in names.items() if known.get(name) is not value]
    return changed[-1] if changed else None


def image_of(chart, app, page, key):
    """Save a chart, and return the HTML that shows it in a page."""
    place = Path(app.outdir) / FOLDER
    place.mkdir(parents=True, exist_ok=True)
    name = hashlib.sha256(f"{page}{key}".encode()).hexdigest()[:16] + ".svg"
    save_picture(chart, place / name)
    return f'<p><img src="{"../" * page.count("/")}{FOLDER}/{name}" alt="{escape(title_of(chart))}"></p>'


def show_pictures(app, what, name, value, options, lines):
    """Add the chart of the last example to the reference page of a picture."""
    if what == "function" and name.startswith("committee.pictures."):
        chart = chart_of("\n".join(lines), {"__name__": "__main__"})
        lines += ["", ".. raw:: html", "", "   " + image_of(chart, app, "generated/page", name), ""]


def scrape(block, block_vars, gallery_conf):
    """Save the chart that a block of an example names `chart`."""
    names = block_vars["example_globals"]
    chart = names.get("chart")
    if not is_chart(chart) or names.get("_shown") is chart:
        return ""
    names["_shown"] = chart
    path = next(block_vars["image_path_iterator"])
    save_picture(chart, path)
    return figure_rst([path], gallery_conf["src_dir"])


def setup(app):
    app.add_directive("picture", Picture)
    # After numpydoc, which has the priority 500, has formatted the docstring.
    app.connect("autodoc-process-docstring", show_pictures, priority=600)
    return {"parallel_read_safe": False}
