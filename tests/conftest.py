"""What every test shares: hypothesis's settings, and one source of random numbers."""

import os
import secrets
import signal

import numpy as np
import pytest
from hypothesis import settings

# A gate must give the same answer twice: in CI the examples and seeds are fixed, while
# a developer's runs keep looking for new ones.
IN_CI = bool(os.environ.get("CI"))
# Under the sanitizers every test runs, with fewer examples: what kernels read and write
# shows in a few as well as in many.
MOST_SANITIZED_EXAMPLES = 6

settings.register_profile("developer", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if IN_CI else "developer")


def pytest_collection_modifyitems(items):
    """Cut the number of examples under the sanitizers, whoever has set it."""
    if "ASKLESS_SANITIZED" not in os.environ:
        return
    for item in items:
        own = getattr(item, "obj", None)
        if getattr(own, "is_hypothesis_test", False):
            given = getattr(own, "_hypothesis_internal_use_settings", None)
            given = settings.default if given is None else given
            most = min(given.max_examples, MOST_SANITIZED_EXAMPLES)
            own._hypothesis_internal_use_settings = settings(given, max_examples=most)


if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell starts what runs in the background deaf to Ctrl-C, which some tests press.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def rng() -> np.random.Generator:
    """Return random numbers whose seed a failing test prints. Any seed must pass."""
    default = 0 if IN_CI else secrets.randbelow(2**32)
    seed = int(os.environ.get("ASKLESS_SEED", default))
    print(f"rng seed: to run this again, set ASKLESS_SEED={seed}")
    return np.random.default_rng(seed)


@pytest.fixture(scope="module")
def dask_cluster():
    """Return a cluster of two real processes of Dask.

    Its page takes any free port: files of tests run side by side, and a port that is
    taken is a warning.
    """
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        dashboard_address="127.0.0.1:0",
        memory_limit=0,
    ) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def ray_cluster():
    """Return Ray with two workers on this machine only; nothing is told to anyone."""
    ray = pytest.importorskip("ray", reason="ray is not installed")
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    ray.init(
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        _node_ip_address="127.0.0.1",
    )
    yield ray
    ray.shutdown()
