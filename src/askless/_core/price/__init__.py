"""What a test charges, in context. Nothing else charges."""
