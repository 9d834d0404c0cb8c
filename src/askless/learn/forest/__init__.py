"""Forests under an average cost budget."""
