"""Print what pyproject.toml requires: of the build, the package, or an extra.

``python .ci/requires.py build package test`` prints one requirement a line, for
``pip install -r``. This fills an environment before the package itself can be built.
``--lowest`` prints the oldest version that each requirement allows, for
``PIP_CONSTRAINT``.
"""

import argparse
import re
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).parent.parent / "pyproject.toml"
# pip brings no ninja of its own: meson-python asks for one only in an isolated build.
BUILD_TOOLS = ["ninja"]
# A name and the least version, then a marker or nothing.
AT_LEAST = re.compile(r"(?P<name>[\w.-]+)>=(?P<version>[\w.]+)(?P<marker>\s*;.*)?")


def requirements(part: str) -> list[str]:
    settings = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))
    if part == "build":
        return settings["build-system"]["requires"] + BUILD_TOOLS
    if part == "package":
        return settings["project"]["dependencies"]
    return settings["project"]["optional-dependencies"][part]


def lowest(requirement: str) -> str:
    """Return the oldest version that a requirement allows, as a requirement."""
    match = AT_LEAST.fullmatch(requirement)
    if match is None:
        raise SystemExit(
            "A requirement must be a name and its oldest version, name>=version. Got "
            f"{requirement!r} in pyproject.toml. Write it so."
        )
    return f"{match['name']}=={match['version']}{match['marker'] or ''}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lowest", action="store_true", help="the oldest versions")
    parser.add_argument("parts", nargs="+", help="build, package, or an extra")
    arguments = parser.parse_args()
    for part in arguments.parts:
        for line in requirements(part):
            if not arguments.lowest:
                print(line)
            elif line not in BUILD_TOOLS:
                print(lowest(line))
