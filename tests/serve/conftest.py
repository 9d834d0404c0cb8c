"""A service in this process, and clients of it."""

import pytest

pytest.importorskip("starlette", reason="needs the extra serve")
pytest.importorskip("uvicorn", reason="needs the extra serve")

import askless
from tests.serve.service import Service


@pytest.fixture(scope="session")
def car():
    return askless.solve(askless.datasets.load_car()).policy


@pytest.fixture
def serve():
    """Return a function that makes a service; all of them are closed at the end."""
    made = []

    def make(*policies, **options):
        made.append(Service(policies, **options))
        return made[-1]

    yield make
    for service in made:
        service.close()


@pytest.fixture
def service(serve, car):
    return serve(("car", car))
