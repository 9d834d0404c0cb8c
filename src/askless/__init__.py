"""Askless: ask less, decide right.

Which test to buy next, when to stop, and what to conclude, when every test has a price.
"""
