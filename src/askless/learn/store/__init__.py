"""Codes on disk: written from sources that do not fit in memory, read by mapping."""
