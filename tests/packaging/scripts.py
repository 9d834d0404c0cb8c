"""Import the scripts of `.ci`, which is no package: `load_script("sizes")`."""

import importlib.util
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parent.parent.parent


@cache
def load_script(name: str) -> ModuleType:
    module_name = f"askless_ci_{name}"
    spec = importlib.util.spec_from_file_location(
        module_name, ROOT / ".ci" / f"{name}.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look their module up while they are made.
    sys.modules[module_name] = module
    spec.loader.exec_module(module)
    return module
