"""Serve policies over HTTP: interviews in a browser, the next test for programs.

Everything here works from policies and the layer that runs them. It does not know how a
policy was found. The extra ``serve`` brings what it needs.
"""

from askless.serve._app import create_app
from askless.serve._limits import Limits
from askless.serve.kept._keys import make_key

__all__ = ["Limits", "create_app", "make_key"]
