"""How Sphinx makes the pages: Markdown as it lies here, the reference from the docstrings."""

project = "committee"
author = "The committee developers"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]

html_theme = "furo"
html_title = "committee"

myst_heading_anchors = 3
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False

autodoc_default_options = {"members": True, "inherited-members": True}


def skip_what_is_not_ours(app, what, name, value, skip, options):
    """Leave the methods that scikit-learn brings (`get_params`, `set_fit_request`, ...) to its own pages."""
    return skip or not (getattr(value, "__module__", None) or "committee").startswith("committee")


def setup(app):
    app.connect("autodoc-skip-member", skip_what_is_not_ours)
