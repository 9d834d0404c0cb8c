"""Run the command line as ``python -m askless``."""

from askless.cli import main

if __name__ == "__main__":
    main(prog_name="askless")
