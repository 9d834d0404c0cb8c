"""Ensembles of trees as code: the full sum, and the run that buys test by test."""
