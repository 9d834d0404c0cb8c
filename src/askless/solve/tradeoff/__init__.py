"""Trade error for cost: many trees, each pruned in every way that pays."""
