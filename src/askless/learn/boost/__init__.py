"""Boosters and other ensembles, run as buying policies."""
