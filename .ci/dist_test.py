"""Build what would be published, look into it, and use it as a newcomer would.

`make dist-test`: the source archive of the last commit, a wheel made from that archive,
and a new environment with the wheel and no extra. `--serial` builds without OpenMP.
"""

import argparse
import contextlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
# What a wheel may hold, below `askless/`. `.so` and `.pyd` are compiled modules.
KEPT = {".py", ".pyi", ".so", ".pyd", ".typed", ".html", ".css", ".js", ".json"}
# What an archive of the sources must have, to be built, tested and understood.
NEEDED = (
    "LICENSE", "README.md", "CHANGELOG.md", "Makefile", "meson.build", "meson.options",
    "pyproject.toml", "PKG-INFO", ".ci/smoke.py", "src/askless/py.typed",
    "src/askless/_core/base/_types.pxd", "src/askless/_core/tree/walk.h",
    "tests/conftest.py", "docs/index.md",
)  # fmt: skip
# Folders and endings that belong to a working copy alone.
STRAY = re.compile(r"(^|/)(\.git|\.venv[^/]*|build|dist|__pycache__)/|\.(py[co]|so|o)$")


def stray_in_wheel(names: list[str]) -> list[str]:
    """Return what a wheel holds and should not."""
    found = []
    for name in names:
        top, _, rest = name.partition("/")
        if re.fullmatch(r"askless-[\w.]+\.dist-info", top):
            continue
        # Libraries that auditwheel or delocate have put beside the modules.
        if top in ("askless.libs", "askless.dylibs"):
            continue
        in_tests = "tests" in Path(rest).parts or Path(name).name.startswith("test_")
        if top != "askless" or Path(name).suffix not in KEPT or in_tests:
            found.append(name)
    return found


def missing_in_wheel(names: list[str]) -> list[str]:
    """Return the sources that users need and that a wheel does not hold."""
    package = ROOT / "src"
    wanted = [
        path.relative_to(package).as_posix()
        for path in package.rglob("*")
        if path.suffix in KEPT - {".so", ".pyd"} and "__pycache__" not in path.parts
    ]
    compiled = {name.split(".")[0] for name in names if name.endswith((".so", ".pyd"))}
    kernels = [
        path.relative_to(package).with_suffix("").as_posix()
        for path in package.rglob("*.pyx")
    ]
    missing = [name for name in wanted if name not in set(names)]
    return sorted(missing + [f"{name} (compiled)" for name in set(kernels) - compiled])


def wrong_in_sdist(names: list[str]) -> list[str]:
    """Return what an archive of the sources lacks, or should not hold."""
    inside = {name.partition("/")[2] for name in names}
    lacks = [f"lacks {name}" for name in NEEDED if name not in inside]
    return lacks + [f"holds {name}" for name in sorted(inside) if STRAY.search(name)]


def megabytes(path: Path) -> str:
    return f"{path.stat().st_size / 1e6:.2f} MB"


@contextlib.contextmanager
def step(what: str) -> Iterator[None]:
    """Say what is done, and how long it took."""
    print(f"{what} ...", flush=True)
    start = time.perf_counter()
    yield
    print(f"  ({time.perf_counter() - start:.0f} s)", flush=True)


def run(*command: str | Path, quiet: bool = False, **options: Any) -> None:
    """Run a command. A quiet one shows what it says only if it fails."""
    words = [str(part) for part in command]
    output = subprocess.PIPE if quiet else None
    ended = subprocess.run(
        words, stdout=output, stderr=subprocess.STDOUT if quiet else None,
        text=True, **options,
    )  # fmt: skip
    if ended.returncode:
        sys.exit(f"{ended.stdout or ''}\nThis command failed: {' '.join(words)}")


def with_tools() -> dict[str, str]:
    """Return an environment where meson, ninja and cython are those beside Python."""
    folder = str(Path(sys.executable).parent)
    return {**os.environ, "PATH": os.pathsep.join([folder, os.environ["PATH"]])}


def only(folder: Path, pattern: str) -> Path:
    (path,) = folder.glob(pattern)
    return path


def build_sdist(folder: Path) -> Path:
    """Build the archive of the last commit, and look into it."""
    run(
        sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", folder,
        ROOT, quiet=True, env=with_tools(),
    )  # fmt: skip
    path = only(folder, "*.tar.gz")
    with tarfile.open(path) as archive:
        names = [member.name for member in archive.getmembers() if member.isfile()]
    if wrong := wrong_in_sdist(names):
        sys.exit(f"{path.name} {'; '.join(wrong)}")
    print(f"  {path.name}: {megabytes(path)}, {len(names)} files")
    return path


def build_wheel(sdist: Path, folder: Path, serial: bool) -> Path:
    """Build a wheel from the archive, away from the checkout, and look into it."""
    settings = ["-Csetup-args=-Dopenmp=disabled"] if serial else []
    run(
        sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation",
        "--disable-pip-version-check", *settings, "--wheel-dir", folder, sdist,
        quiet=True, env=with_tools(),
    )  # fmt: skip
    path = only(folder, "*.whl")
    with zipfile.ZipFile(path) as archive:
        infos = archive.infolist()
    names = [info.filename for info in infos]
    if stray := stray_in_wheel(names):
        sys.exit(f"{path.name} must not hold {', '.join(stray)}")
    if missing := missing_in_wheel(names):
        sys.exit(f"{path.name} lacks {', '.join(missing)}")
    compiled = sum(info.file_size for info in infos if info.filename.endswith(".so"))
    total = sum(info.file_size for info in infos)
    print(
        f"  {path.name}: {megabytes(path)}, {len(names)} files; installed "
        f"{total / 1e6:.2f} MB, {compiled / 1e6:.2f} MB of it compiled"
    )
    return path


def audit(wheel: Path) -> None:
    """Say which systems the wheel fits, and which libraries of others it uses."""
    if not sys.platform.startswith("linux"):
        print("  left out: auditwheel is for Linux")
        return
    if importlib.util.find_spec("auditwheel") is None:
        sys.exit("auditwheel is missing. Run: make dist-test, which installs it")
    shown = subprocess.run(
        [sys.executable, "-m", "auditwheel", "show", str(wheel)],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    for paragraph in shown.strip().split("\n\n"):
        print("  " + " ".join(paragraph.split()))


def smoke(wheel: Path, folder: Path) -> None:
    """Install the wheel into a new environment, without any extra, and use it."""
    venv.create(folder, with_pip=True)
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    run(python, "-m", "pip", "install", "-q", "--disable-pip-version-check", wheel)
    # Elsewhere, so that nothing of the checkout is found by chance.
    clean = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    run(python, ROOT / ".ci" / "smoke.py", cwd=folder, env=clean)


def main() -> int:
    """Run every step in a folder that is removed afterwards; keep what was built."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--serial", action="store_true", help="build without OpenMP")
    parser.add_argument("--keep", type=Path, help="copy the archive and wheel there")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="askless-dist-") as name:
        folder = Path(name)
        with step("Building the archive of the sources"):
            sdist = build_sdist(folder / "sdist")
        how = ", without OpenMP" if arguments.serial else ""
        with step(f"Building a wheel from it{how}"):
            wheel = build_wheel(sdist, folder / "wheel", arguments.serial)
        with step("Asking auditwheel"):
            audit(wheel)
        with step("Using it in a new environment"):
            smoke(wheel, folder / "environment")
        if arguments.keep:
            arguments.keep.mkdir(parents=True, exist_ok=True)
            for path in (sdist, wheel):
                shutil.copy(path, arguments.keep)
                print(f"Wrote {arguments.keep / path.name}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
