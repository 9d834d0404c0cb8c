"""How engines of SQL differ: names, text, numbers, and values that are not there.

A new engine is one entry of ``DIALECTS``. This module does not know policies.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from askless.exceptions import InvalidOptionError, UnknownNameError, suggest_name

__all__ = ["DIALECTS", "Dialect", "find_dialect"]

# More digits than any engine is known to read correctly.
SAFE_DIGITS = 15
POWER = 62


@dataclass(frozen=True)
class Dialect:
    """One engine's spelling of what Askless writes.

    Parameters
    ----------
    name : str
        The engine.
    number_of : str
        How a column becomes a double that is NULL where it is missing or NaN.
    text_type, double_type : str
        The types of text and of numbers in double precision.
    quote : str
        What encloses a name.
    has_backslash : bool
        Whether a backslash begins an escape inside a text.
    materialized : str
        What keeps a step from being copied into each place that refers to it.
    star_except : str or None
        How to take all columns but some; None if the engine cannot.
    reads_all_digits : bool
        Whether a double written in full is read back the same.
    longest_list : int or None
        Values after IN beyond which the engine joins with a table of them, once for
        each list, rather than compare.
    single_type : str or None
        The type of numbers of single precision, whose sums are single; None if the
        engine has none.
    """

    name: str
    number_of: str
    text_type: str = "TEXT"
    double_type: str = "DOUBLE"
    quote: str = '"'
    has_backslash: bool = False
    materialized: str = "AS MATERIALIZED"
    star_except: str | None = None
    reads_all_digits: bool = True
    longest_list: int | None = None
    single_type: str | None = None

    def identifier(self, name: str) -> str:
        """Return a quoted name.

        Examples
        --------
        >>> print(DIALECTS["duckdb"].identifier('5" pipe'))
        "5"" pipe"
        """
        if "\0" in name:
            raise InvalidOptionError(
                f"A name in SQL must not hold a zero character. Got {name!r}. Rename "
                "it, or pass another name by columns."
            )
        if self.quote == "`":
            inside = name.replace("\\", "\\\\").replace("`", "\\`")
        else:
            inside = name.replace(self.quote, 2 * self.quote)
        return f"{self.quote}{inside}{self.quote}"

    def text(self, value: str) -> str:
        """Return a text literal.

        Examples
        --------
        >>> print(DIALECTS["duckdb"].text("won't"))
        'won''t'
        """
        if "\0" in value:
            raise InvalidOptionError(
                f"Text in SQL must not hold a zero character. Got {value!r}. Rename "
                "the outcome or class."
            )
        if self.name == "bigquery":
            escaped = value.replace("\\", "\\\\").replace("'", "\\'")
            return f"'{escaped.replace(chr(10), chr(92) + 'n')}'"
        if self.has_backslash:
            value = value.replace("\\", "\\\\")
        return "'" + value.replace("'", "''") + "'"

    def number(self, value: float) -> str:
        """Return a literal that is read as exactly this double.

        Examples
        --------
        >>> DIALECTS["duckdb"].number(37.5), DIALECTS["sqlite"].number(37.5)
        ('3.75e1', '37.5')
        """
        written = repr(float(value))
        if self.reads_all_digits:
            return _scientific(written)
        digits = written.lower().partition("e")[0].replace(".", "").lstrip("-0")
        if len(digits) <= SAFE_DIGITS and "e" not in written:
            return written
        return _exact_product(value)

    def literal(self, value: str | bool | int | float) -> str:
        """Return a literal of an outcome or a class."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, bool):
            return "TRUE" if value else "FALSE"
        return str(value) if isinstance(value, int) else self.number(value)


def _scientific(written: str) -> str:
    """Return a number with an exponent: without one it may be read as a decimal."""
    if "e" in written:
        return written
    whole, _, fraction = written.partition(".")
    sign, whole = ("-", whole[1:]) if whole.startswith("-") else ("", whole)
    fraction = "" if fraction == "0" else fraction
    digits = (whole + fraction).lstrip("0")
    if not digits:
        return "0e0"
    exponent = len(whole) - 1
    if whole == "0":
        exponent = -(len(fraction) - len(fraction.lstrip("0")) + 1)
    rest = digits[1:].rstrip("0")
    return f"{sign}{digits[0]}{'.' if rest else ''}{rest}e{exponent}"


def _exact_product(value: float) -> str:
    """Return a double as a whole number times powers of two, none of them long."""
    mantissa, exponent = math.frexp(value)
    whole, exponent = int(mantissa * 2**53), exponent - 53
    while whole % 2 == 0 and whole:
        whole, exponent = whole // 2, exponent + 1
    steps = [POWER] * (abs(exponent) // POWER) + [abs(exponent) % POWER]
    sign = "*" if exponent > 0 else "/"
    factors = "".join(f" {sign} {2**step}.0" for step in steps if step)
    return f"({whole}.0{factors})" if factors else f"{whole}.0"


# In DuckDB, PostgreSQL and Snowflake NaN equals itself and lies above every number.
DIALECTS: dict[str, Dialect] = {
    dialect.name: dialect
    for dialect in (
        Dialect(
            "duckdb",
            "NULLIF(CAST({} AS DOUBLE), CAST('NaN' AS DOUBLE))",
            star_except="* EXCLUDE ({})",
            longest_list=4,
            single_type="FLOAT",
        ),
        Dialect(
            "postgresql",
            "NULLIF(CAST({} AS DOUBLE PRECISION), CAST('NaN' AS DOUBLE PRECISION))",
            double_type="DOUBLE PRECISION",
            single_type="REAL",
        ),
        Dialect(
            "sqlite",
            # What SQLite's own import of CSV leaves where nothing stands.
            "CAST(NULLIF({}, '') AS REAL)",
            reads_all_digits=False,
        ),
        Dialect(
            "bigquery",
            "IF(IS_NAN(CAST({0} AS FLOAT64)), NULL, CAST({0} AS FLOAT64))",
            text_type="STRING",
            quote="`",
            has_backslash=True,
            materialized="AS",
            star_except="* EXCEPT ({})",
        ),
        Dialect(
            "snowflake",
            "NULLIF(CAST({} AS DOUBLE), CAST('NaN' AS DOUBLE))",
            text_type="VARCHAR",
            has_backslash=True,
            materialized="AS",
            star_except="* EXCLUDE ({})",
        ),
    )
}
OTHER_NAMES = {"postgres": "postgresql"}


def find_dialect(name: str) -> Dialect:
    """Return a dialect by the name of its engine.

    Examples
    --------
    >>> find_dialect("postgres").name
    'postgresql'
    """
    found = OTHER_NAMES.get(name, name)
    if found not in DIALECTS:
        raise UnknownNameError(
            f"The dialect must be one of {', '.join(sorted(DIALECTS))}. Got {name!r}. "
            f"{suggest_name(name, DIALECTS)}Choose one of them."
        )
    return DIALECTS[found]
