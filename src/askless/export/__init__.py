"""Show a policy: one file a format, from a policy alone.

This package knows policies. It does not know how they were found, nor how they are run.
"""

from askless.export._notebook import to_notebook
from askless.export._plot import plot_policy
from askless.export._show import FORMATS, options_of, show

__all__ = ["FORMATS", "options_of", "plot_policy", "show", "to_notebook"]
