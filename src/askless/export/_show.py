"""The formats that a policy can be shown in, by name. A new one is one line here."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any, Literal, overload

from askless.exceptions import InvalidOptionError, UnknownNameError, suggest_name
from askless.export._dot import to_dot
from askless.export._html import to_html
from askless.export._json import to_json
from askless.export._mermaid import to_mermaid
from askless.export._plot import to_pdf, to_png
from askless.export._svg import to_svg
from askless.export._text import to_text
from askless.export.code._javascript import to_javascript
from askless.export.code._onnx import to_onnx
from askless.export.code._python import to_python
from askless.export.code._rules import to_rules
from askless.export.code._sql import to_sql
from askless.export.ensemble._c import to_c
from askless.policy import Policy

__all__ = ["FORMATS", "options_of", "show"]

FORMATS: dict[str, Callable[..., str | bytes]] = {
    "c": to_c,
    "dot": to_dot,
    "html": to_html,
    "javascript": to_javascript,
    "json": to_json,
    "mermaid": to_mermaid,
    "onnx": to_onnx,
    "pdf": to_pdf,
    "png": to_png,
    "python": to_python,
    "rules": to_rules,
    "sql": to_sql,
    "svg": to_svg,
    "text": to_text,
}


def options_of(format: str) -> list[str]:
    """Return the names of the options that a format takes.

    Examples
    --------
    >>> options_of("text")
    ['max_depth', 'max_trees', 'max_nodes', 'ascii']
    """
    return list(signature(FORMATS[format]).parameters)[1:]


@overload
def show(
    policy: Policy, format: Literal["onnx", "pdf", "png"], **options: Any
) -> bytes: ...
@overload
def show(policy: Policy, format: str = "text", **options: Any) -> str: ...


def show(policy: Policy, format: str = "text", **options: Any) -> str | bytes:
    """Return a policy in one of the formats.

    Parameters
    ----------
    policy : Policy
        What to show.
    format : str, default="text"
        How to show it:

        ==============  ========================================  ==================
        format          what it is                                holds
        ==============  ========================================  ==================
        ``text``        an indented tree                          every policy
        ``json``        the policy file itself                    every policy
        ``svg``         a drawn flowchart                         a tree
        ``png``         the same, as bytes; needs matplotlib      a tree
        ``pdf``         the same, as bytes; needs matplotlib      a tree
        ``html``        one page that folds, searches and prints  trees, forests
        ``dot``         a graph for Graphviz                      a tree
        ``mermaid``     a flowchart for Mermaid                   a tree
        ``rules``       a line for each leaf: if ... then ...     a tree
        ``python``      a module without any dependency           all trees
        ``javascript``  a script without any dependency           all trees
        ``c``           C99 without any dependency                ensembles
        ``sql``         one query that decides every row          all trees
        ``onnx``        a model, as bytes                         all trees
        ==============  ========================================  ==================

        All trees are trees, forests and ensembles. Of an ensemble SQL and ONNX say what
        the full model says; the programs also buy test by test.
    **options
        Options of the format:

        - ``max_depth`` (text, svg, png, pdf, dot, mermaid): show only this many levels
          of tests;
        - ``max_nodes`` (text, svg, png, pdf, html): show only this many nodes, those
          that most cases pass; 10,000 by default, 400 of png and pdf, None for all;
        - ``ascii``, ``max_trees`` (text): plain characters; the most trees shown;
        - ``title`` (svg, png, pdf, html, dot): what to write above;
        - ``budget`` (svg, png, pdf, html, dot, mermaid): what a case may spend; boxes
          beyond it are marked;
        - ``tree`` (svg, png, pdf, dot, mermaid, rules): which tree of a forest, from 0;
        - ``module`` (javascript): write an ES module;
        - ``dialect``, ``table``, ``key``, ``columns``, ``leaves`` (sql): the engine,
          the table to read, columns to keep, the column of a test where it is not
          called like the test, and whether to return leaves.

    Returns
    -------
    str or bytes
        Text; of ``onnx``, ``pdf`` and ``png``, bytes.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([[0], [1]], ["even", "odd"], tests=["last bit"])
    >>> policy = askless.solve(table).policy
    >>> print(askless.show(policy))
    last bit?  1
    ├─ 0  [50 %, spent 1]  => even
    └─ 1  [50 %, spent 1]  => odd
    >>> print(askless.show(policy, "rules"))
    # * or missing or never seen
    IF last bit is 0* THEN even  [n 0.5, 50 %, purity 100 %, cost 1]
    IF last bit is 1 THEN odd  [n 0.5, 50 %, purity 100 %, cost 1]
    """
    if format not in FORMATS:
        raise UnknownNameError(
            f"The format must be one of {', '.join(sorted(FORMATS))}. Got {format!r}. "
            f"{suggest_name(format, FORMATS)}Choose one of them."
        )
    known = options_of(format)
    for name in options:
        if name not in known:
            raise InvalidOptionError(
                f"The format {format!r} takes {_list(known)}. Got {name!r}. "
                f"{suggest_name(name, known)}Leave it out."
            )
    return FORMATS[format](policy, **options)


def _list(names: list[str]) -> str:
    return ", ".join(names) if names else "no options"
