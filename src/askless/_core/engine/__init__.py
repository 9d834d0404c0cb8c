"""What every search has: a memory of states, a way to stop, a choice of tests."""
