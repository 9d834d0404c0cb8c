"""Grow trees by DecTree: chains of tests, each chosen lazily by what it covers."""
