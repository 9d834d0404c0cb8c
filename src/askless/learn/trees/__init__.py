"""Learners of one tree that the papers compare: C4.5 to ACT and ICET."""
