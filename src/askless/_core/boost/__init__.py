"""Boosted trees on codes, where a split charges the rows that have not bought yet."""
