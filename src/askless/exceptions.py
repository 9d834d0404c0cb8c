"""Every exception and warning that Askless raises.

Each error also is the built-in error that a caller would expect, and says three things:
what must hold, what was got and where, and what to do.

* AsklessError
  x InvalidProblemError (ValueError)     a problem that cannot be stated this way
    + InvalidCostsError                  wrong, missing or unknown-named costs
    + InvalidTableError                  a table without cases, tests, classes ...
  x DataFileError (ValueError)           a CSV, Parquet or TOML file that cannot be read
    + LogInUseError                      a log that someone else is writing
    + LogWriteError (OSError)            a log that cannot be written, as on a full disk
  x InvalidPolicyError (ValueError)      arrays that are not a policy
    + PolicyFileError                    a file that is not a policy
  x InvalidAnswerError (ValueError)      an answer that the test cannot give
  x InvalidOptionError (ValueError)      an option out of range or not supported here
    + UnknownNameError                   a method, data set or format nobody knows
  x NoPolicyError (RuntimeError)         no policy exists within the limits
  x DatasetNotFoundError (FileNotFoundError)
  x MissingExtraError (ImportError)      an optional package is not installed

* AsklessWarning (UserWarning)
  x IndistinctCasesWarning               no test tells two cases apart
  x DegeneratePolicyWarning              a policy that never tests
  x StoppedEarlyWarning                  a learner that could not go on to its end
  x UnusedBudgetWarning                  a learner that leaves most of a budget unspent
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = [
    "AsklessError",
    "AsklessWarning",
    "DataFileError",
    "DatasetNotFoundError",
    "DegeneratePolicyWarning",
    "IndistinctCasesWarning",
    "InvalidAnswerError",
    "InvalidCostsError",
    "InvalidOptionError",
    "InvalidPolicyError",
    "InvalidProblemError",
    "InvalidTableError",
    "LogInUseError",
    "LogWriteError",
    "MissingExtraError",
    "NoPolicyError",
    "PolicyFileError",
    "StoppedEarlyWarning",
    "UnknownNameError",
    "UnusedBudgetWarning",
    "suggest_name",
]


class AsklessError(Exception):
    """Base of all errors of Askless."""


class InvalidProblemError(AsklessError, ValueError):
    """A problem cannot be stated this way."""


class InvalidCostsError(InvalidProblemError):
    """Costs are wrong, missing, or name a test that is not there."""


class InvalidTableError(InvalidProblemError):
    """A table is empty, ragged, or cannot be coded.

    Attributes
    ----------
    row : int or None
        The row that is wrong, counted from 0, if one is.
    """

    row: int | None = None

    def at(self, row: int) -> InvalidTableError:
        """Return the error with the row that is wrong."""
        self.row = int(row)
        return self


class DataFileError(AsklessError, ValueError):
    """A file of data, costs or a log cannot be read or written."""


class LogInUseError(DataFileError):
    """A log is being written by someone else."""


class LogWriteError(DataFileError, OSError):
    """A line could not be written to a log; the log is as it was before."""


class InvalidPolicyError(AsklessError, ValueError):
    """Arrays do not describe a policy."""


class PolicyFileError(InvalidPolicyError):
    """A file does not hold a policy, or not the one that it claims to hold."""


class InvalidAnswerError(AsklessError, ValueError):
    """An answer is not an outcome of the test, or there is nothing to answer."""


class InvalidOptionError(AsklessError, ValueError):
    """An option is out of range, or not supported in this combination."""


class UnknownNameError(InvalidOptionError):
    """A method, a data set or a format of this name does not exist."""


class NoPolicyError(AsklessError, RuntimeError):
    """No policy exists, or none was found, within the limits."""


class DatasetNotFoundError(AsklessError, FileNotFoundError):
    """A public data set is neither in the folder of data sets nor to be downloaded."""


class MissingExtraError(AsklessError, ImportError):
    """An optional package is needed and not installed."""


class AsklessWarning(UserWarning):
    """Base of all warnings of Askless."""


class IndistinctCasesWarning(AsklessWarning):
    """No test tells two cases of different class apart, so some decision is wrong."""


class DegeneratePolicyWarning(AsklessWarning):
    """A policy never tests, or always decides the same."""


class StoppedEarlyWarning(AsklessWarning):
    """A learner was interrupted, or had no time for more than its first answer."""


class UnusedBudgetWarning(AsklessWarning):
    """A learner leaves most of a budget unspent, though some decisions are wrong."""


def suggest_name(name: str, known: Iterable[str]) -> str:
    """Return "Did you mean 'x'? " for a near miss, else an empty string.

    Examples
    --------
    >>> suggest_name("gredy", ["greedy", "exact"])
    "Did you mean 'greedy'? "
    >>> suggest_name("zzz", ["greedy", "exact"])
    ''
    """
    near = difflib.get_close_matches(str(name), [str(k) for k in known], n=1)
    return f"Did you mean {near[0]!r}? " if near else ""
