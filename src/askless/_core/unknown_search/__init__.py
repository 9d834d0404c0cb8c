"""The search of tables with unknown outcomes."""
