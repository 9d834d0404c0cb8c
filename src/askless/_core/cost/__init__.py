"""Learn trees of least total cost: count rows, sample trees, keep the best."""
