"""Fixtures: one private PostgreSQL server for the run, a database and a replication for each test."""

import itertools
import pathlib
import re
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from harness.fjord import Fjord  # noqa: E402
from harness.postgres import PostgresServer  # noqa: E402

_numbers = itertools.count(1)


def unique_name(text):
    """A name for a database, a replication and a slot: short, lower case, used once."""
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")[:30] + f"_{next(_numbers)}"


@pytest.fixture(scope="session")
def server():
    s = PostgresServer()
    yield s
    s.remove()


@pytest.fixture
def own_server():
    """A function that starts a server with settings of its own."""
    made = []

    def make(settings=None, **options):
        made.append(PostgresServer(settings, **options))
        return made[-1]

    yield make
    for s in made:
        s.remove()


@pytest.fixture
def database(server, request):
    d = server.database(unique_name(request.node.name))
    yield d
    d.drop()


@pytest.fixture
def make_fjord(database):
    """A function that makes replications; their processes end before the database is dropped."""
    made = []

    def make(tables, **options):
        made.append(Fjord(options.pop("database", database), tables, **options))
        return made[-1]

    yield make
    for f in made:
        f.remove()
