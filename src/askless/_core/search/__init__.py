"""Search known tables exactly: states, certificates, branch and bound."""
