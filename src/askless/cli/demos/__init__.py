"""The tours of ``askless demo``."""
