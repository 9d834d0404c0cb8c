"""Search over known tables: best policies, lower bounds, proofs."""
