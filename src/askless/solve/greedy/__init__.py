"""Methods that look one step ahead: impurities, DecTree's chains."""
