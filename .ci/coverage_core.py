"""Say which lines of the kernels no test runs: `make coverage-core`.

A build that traces every line of the kernels is laid out beside its C files, where
Cython's plugin for coverage looks for them, and the tests of the kernels run on that. A
traced line takes microseconds instead of nanoseconds, so only small tests are for this.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SETTINGS = """\
[run]
plugins = Cython.Coverage
source = askless._core
data_file = {tree}/.coverage
[report]
skip_covered = true
"""
# An editable package is found before anything on the path; here it must not be.
START = """\
import sys
sys.meta_path = [f for f in sys.meta_path if "mesonpy" not in type(f).__module__ and
                 type(f).__name__ != "MesonpyMetaFinder"]
sys.path.insert(0, {tree!r})
import pytest
raise SystemExit(pytest.main(sys.argv[1:]))
"""


def lay_out(build: Path, tree: Path) -> int:
    """Copy the package with compiled modules and C files; return how many there are."""
    shutil.rmtree(tree, ignore_errors=True)
    shutil.copytree(
        ROOT / "src" / "askless",
        tree / "askless",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    built = build / "src"
    n_modules = 0
    for c_file in sorted(built.rglob("*.pyx.c")):
        # _walk.cpython-311-x86_64-linux-gnu.so.p/_walk.pyx.c, beside the module itself.
        module = c_file.parent.with_suffix("")
        place = tree / module.relative_to(built).parent
        shutil.copy(module, place)
        shutil.copy(c_file, place / f"{c_file.name.removesuffix('.pyx.c')}.c")
        n_modules += 1
    for shared in built.rglob("_cyutility.*.so"):
        shutil.copy(shared, tree / shared.relative_to(built).parent)
    return n_modules


def main() -> int:
    """Lay the build out, run the tests, print and write the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path, help="the folder of a build that traces")
    parser.add_argument("tests", nargs=argparse.REMAINDER, help="for pytest")
    arguments = parser.parse_args()
    tree = ROOT / "build" / "traced"
    n_modules = lay_out(arguments.build, tree)
    if not n_modules:
        sys.exit(f"There are no C files in {arguments.build}. Run: make coverage-core")
    settings = tree / "coverage.ini"
    settings.write_text(SETTINGS.format(tree=tree), encoding="utf-8")
    options = [
        "--cov", f"--cov-config={settings}", "--cov-report=term",
        f"--cov-report=html:{ROOT / 'build' / 'coverage-core'}",
    ]  # fmt: skip
    print(f"{n_modules} kernels are traced", flush=True)
    return subprocess.run(
        [
            sys.executable, "-c", START.format(tree=str(tree)),
            "-p", "no:cacheprovider", *options, *arguments.tests,
        ],
        cwd=ROOT, check=False, env={**os.environ, "OMP_NUM_THREADS": "1"},
    ).returncode  # fmt: skip


if __name__ == "__main__":
    raise SystemExit(main())
