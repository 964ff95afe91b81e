"""Every file of tests/cases is one test; see tests/README.md for the language."""

import pathlib

import pytest

from conftest import unique_name
from harness.cases import CaseRunner, parse

CASES = sorted((pathlib.Path(__file__).parent / "cases").glob("*.case"))


@pytest.mark.parametrize("path", CASES, ids=lambda p: p.stem)
def test_case(path, server, own_server):
    databases = []

    def make_database(settings, options):
        where = own_server(settings) if settings else server
        databases.append(where.database(unique_name(path.stem), **options))
        return databases[-1]

    runner = CaseRunner(parse(path.read_text()), make_database)
    try:
        runner.run()
    finally:
        runner.close()
        for database in databases:
            if database.server is server:
                database.drop()
