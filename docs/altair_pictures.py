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
        end = self.lineno + len(self.content)
        self.env.temp_data["picture_line"] = end
        chart = None
        with contextlib.redirect_stdout(io.StringIO()):
            for example in doctest.DocTestParser().get_examples(source):
                if begin <= example.lineno < end:
                    last = self._run(example.source, names)
                    chart = last if is_chart(last) else chart
        if chart is None:
            raise self.error("A picture needs a chart as the value of its last example.")
        place = Path(self.env.app.outdir) / FOLDER
        place.mkdir(parents=True, exist_ok=True)
        code = "\n".join(self.content)
        name = hashlib.sha256(f"{self.env.docname}{end}".encode()).hexdigest()[:16] + ".svg"
        save_picture(chart, place / name)
        up = "../" * self.env.docname.count("/")
        image = nodes.raw(
            "", f'<p><img src="{up}{FOLDER}/{name}" alt="{escape(title_of(chart))}"></p>', format="html"
        )
        return [nodes.literal_block(code, code, language="pycon"), image]

    @staticmethod
    def _run(source, names):
        """Run an example, and return its value or the one it assigns last."""
        try:
            return eval(compile(source, "page", "eval"), names)
        except SyntaxError:
            known = dict(names)
            exec(compile(source, "page", "exec"), names)
        changed = [value for name, value in names.items() if known.get(name) is not value]
        return changed[-1] if changed else None


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
    return {"parallel_read_safe": False}
