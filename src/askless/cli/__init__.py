"""The command line: one file a command, over the same functions as in Python.

It reads files, calls the library and prints. It must not know how anything is solved,
learned or drawn.
"""

from askless.cli._main import main

__all__ = ["main"]
