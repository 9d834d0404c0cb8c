"""Policies of least total cost: tests that may err, mistakes that have a price."""
