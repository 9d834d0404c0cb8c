"""Grow trees from the top down: score splits, find the best, move the rows."""
