"""Print what pyproject.toml requires: of the build, the package, or an extra.

``python .ci/requires.py build package test`` prints one requirement a line, for
``pip install -r``. This fills an environment before the package itself can be built.
"""

import sys
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).parent.parent / "pyproject.toml"
# pip brings no ninja of its own: meson-python asks for one only in an isolated build.
BUILD_TOOLS = ["ninja"]


def requirements(part: str) -> list[str]:
    settings = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))
    if part == "build":
        return settings["build-system"]["requires"] + BUILD_TOOLS
    if part == "package":
        return settings["project"]["dependencies"]
    return settings["project"]["optional-dependencies"][part]


if __name__ == "__main__":
    print(*(line for part in sys.argv[1:] for line in requirements(part)), sep="\n")
