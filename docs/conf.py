"""Sphinx's settings: Markdown pages, and the reference out of the docstrings."""

from importlib.metadata import version as version_of

import matplotlib

matplotlib.use("agg")

project = "Askless"
author = "The Askless developers"
copyright = author
release = version = version_of("askless")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "**/sg_execution_times.rst", "sg_execution_times.rst"]
# Inherited methods refer to labels in scikit-learn's own documentation, and a paper in
# a References section need not be pointed at from the text. Types of parameters name
# sizes such as n_rows, which several classes have as attributes.
suppress_warnings = ["ref.ref", "ref.term", "ref.python", "ref.footnote"]

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc sections already give the types
autodoc_member_order = "bysource"
# Engines that few have; their adapters are documented without them.
autodoc_mock_imports = ["pyspark", "ray", "dask"]
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True  # what a class documents is listed among its members too

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": "/plot_",
    "within_subsection_order": "FileNameSortKey",
    "thumbnail_size": (400, 280),
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "min_reported_time": 60,
    "write_computation_times": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "Askless"
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["askless.css"]
html_theme_options = {
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "logo": {"text": f"Askless {version}"},
    "header_links_before_dropdown": 7,
    "icon_links": [
        {
            "name": "Repository",
            "url": "https://github.com/askless/askless",
            "icon": "fa-brands fa-github",
        }
    ],
    "footer_start": ["copyright"],
    "footer_end": [],
}
templates_path = ["_templates"]
