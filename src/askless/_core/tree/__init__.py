"""Store trees, walk them, and run trees, forests and sequences over many rows."""
