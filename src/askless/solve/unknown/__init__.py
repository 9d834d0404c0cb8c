"""Methods for tables with unknown outcomes."""
