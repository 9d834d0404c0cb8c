"""Rows that buy in the order of path states, and are settled by the leaves left."""
