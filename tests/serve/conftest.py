"""A service in this process, and clients of it."""

import pytest

import askless


@pytest.fixture(scope="session")
def car():
    return askless.solve(askless.datasets.load_car()).policy


@pytest.fixture
def serve():
    """Return a function that makes a service; all of them are closed at the end."""
    from tests.serve.service import Service

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
