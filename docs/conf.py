"""Configure Sphinx: Markdown pages, a reference from the docstrings, and a gallery of the examples."""

import logging
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

project = "committee"
author = "The committee developers"
extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "altair_pictures",
]
exclude_patterns = ["_build"]
templates_path = ["_templates"]

html_theme = "pydata_sphinx_theme"
html_title = "committee"
html_theme_options = {
    "header_links_before_dropdown": 4,
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": False,
}
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["pages.css"]

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3
copybutton_exclude = ".linenos, .gp, .go"

autodoc_typehints = "none"
toc_object_entries_show_parents = "hide"
autodoc_default_options = {"members": True, "inherited-members": True}
# The templates list the methods.
numpydoc_show_class_members = False

intersphinx_mapping = {
    "numpy": ("https://numpy.org/doc/stable/", None),
    "python": ("https://docs.python.org/3/", None),
    "sklearn": ("https://scikit-learn.org/stable/", None),
}
intersphinx_timeout = 5

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "image_scrapers": ("altair_pictures.scrape",),
    "reset_modules": (),
    "abort_on_example_error": True,
    "show_memory": False,
    "download_all_examples": False,
    "show_signature": False,
    "min_reported_time": 1e9,
}


def skip_what_is_not_ours(app, what, name, value, skip, options):
    """Leave the methods that scikit-learn brings (`get_params`, `set_fit_request`, ...) to its own pages."""
    return skip or not (getattr(value, "__module__", None) or "committee").startswith("committee")


def escape_initials(app, what, name, value, options, lines):
    """Escape initials at the beginning of lines, which would begin a list with letters."""
    lines[:] = [re.sub(r"^(\s*)([A-Z]\. )", r"\1\\\2", line) for line in lines]


def is_about_our_pages(record):
    """Return False for unreachable inventories: without a network, links to other projects are plain text."""
    return "failed to reach any of the inventories" not in str(record.msg)


def setup(app):
    app.connect("autodoc-skip-member", skip_what_is_not_ours)
    # After numpydoc, which has the priority 500.
    app.connect("autodoc-process-docstring", escape_initials, priority=600)
    logging.getLogger("sphinx.sphinx.ext.intersphinx").addFilter(is_about_our_pages)
