"""The recommended learner of one tree."""
