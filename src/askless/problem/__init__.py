"""Describe a problem: which tests can be bought, what they cost, what they show.

Everything here is immutable data. It does not know who will solve the problem, so this
package imports nothing from ``policy``, ``solve`` or ``learn``.
"""

from askless.problem._coding import Coding
from askless.problem._cost_files import read_costs
from askless.problem._costs import Costs, as_costs
from askless.problem._files import read_columns
from askless.problem._frames import as_columns
from askless.problem._prices import PriceList
from askless.problem._table import Table
from askless.problem._table_files import read_table
from askless.problem._tests import Outcome, Test

__all__ = [
    "Coding",
    "Costs",
    "Outcome",
    "PriceList",
    "Table",
    "Test",
    "as_columns",
    "as_costs",
    "read_columns",
    "read_costs",
    "read_table",
]
