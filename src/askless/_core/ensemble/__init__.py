"""Run a sum of trees or votes one purchase at a time."""
