"""Policies without a tree: each step looks at all that is left and chooses a test."""
