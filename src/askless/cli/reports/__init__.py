"""Say what was found, for people and for machines."""
