"""Search for the policy of least total cost: tests and mistakes together."""
