"""Grow the trees of a forest on bootstrap samples, the fast path of greedy growth."""
