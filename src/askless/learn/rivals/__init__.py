"""Published rivals, implemented from their descriptions for comparison."""
