"""Rows that have a share of every class: a forest that finds them, trees on them."""
