"""Show a policy: one file a format, from a policy alone.

This package knows policies. It does not know how they were found, nor how they are run.
"""

from askless.export._show import FORMATS, show

__all__ = ["FORMATS", "show"]
