"""A standing campaign that tries to break what Askless promises: ``make campaign``."""
