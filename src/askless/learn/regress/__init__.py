"""Learners of numbers: what a policy says is a number, and an error has a size."""
