"""Talk about one case: in the terminal, or with a program."""
