"""Ensembles of trees that buy one test at a time."""
