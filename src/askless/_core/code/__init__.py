"""Turn raw columns into small integer codes."""
