"""Runs the tests of src/postgres that need a server: a private one of each version that is given.

The program is <build folder>/bin/postgres_test; the build folder is $FJORD_BUILD, else build/release.
"""

import os
import pathlib
import subprocess

import pytest

from harness.postgres import PostgresServer
from harness.process import ROOT


def program():
    folder = pathlib.Path(os.environ.get("FJORD_BUILD", "build/release"))
    path = (folder if folder.is_absolute() else ROOT / folder) / "bin" / "postgres_test"
    if not path.exists():
        pytest.skip(f"{path} is not built")
    return path


@pytest.fixture(scope="module")
def server():
    s = PostgresServer()
    yield s
    s.remove()


@pytest.mark.parametrize("encoding", ["UTF8", "LATIN1", "SQL_ASCII"])
def test_live(server, encoding):
    name = f"live_{encoding.lower()}"
    database = server.database(name, TEMPLATE="template0", ENCODING=f"'{encoding}'", LOCALE="'C'")
    try:
        chosen = "*Live.*" if encoding == "UTF8" else "StreamLive.S*:CatalogLive.*"
        done = subprocess.run([program(), f"--gtest_filter={chosen}"], capture_output=True, text=True, timeout=200,
                              env={**os.environ, "FJORD_TEST_PG_URL": database.url})
        assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
        assert "SKIPPED" not in done.stdout and "PASSED  ] 0 " not in done.stdout, done.stdout[-2000:]
    finally:
        database.drop()
