"""Forests that pay for each test once."""
