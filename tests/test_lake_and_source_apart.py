"""Lake and source that do not belong together any more: said, never papered over."""

import shutil
import sqlite3
import time

import pytest

from harness.compare import compare_table
from harness.fjord import EXIT_SOURCE_GONE
from harness.process import tail

TABLE = "public.t"
BASE = """
    CREATE TABLE t (id int PRIMARY KEY, v text);
    INSERT INTO t SELECT g, 'old' FROM generate_series(1, 10) g;"""


def test_a_source_restored_from_an_older_copy_of_its_files(own_server, make_fjord):
    server = own_server()
    database = server.database("restored")
    database.psql(BASE)
    fjord = make_fjord([TABLE], database=database)
    fjord.start()
    fjord.wait_caught_up()
    fjord.stop()
    server.stop()
    shutil.copytree(server.data, server.folder / "copy", symlinks=True)
    server.start()
    fjord.start()
    database.psql("INSERT INTO t SELECT g, repeat('lost', 100) FROM generate_series(100, 3000) g;")
    fjord.wait_caught_up()
    fjord.stop()
    server.stop()
    shutil.rmtree(server.data)
    shutil.move(server.folder / "copy", server.data)
    shutil.chown(server.data, "postgres") if server.user == "postgres" else None
    for path in server.data.rglob("*"):
        shutil.chown(path, "postgres") if server.user == "postgres" else None
    server.start()
    database.psql("INSERT INTO t VALUES (5000, 'after');")
    fjord.start()
    assert fjord.wait_exit() == EXIT_SOURCE_GONE, tail(fjord.log)


def test_a_source_restored_under_a_running_program(own_server, make_fjord):
    server = own_server()
    database = server.database("restored2")
    database.psql(BASE)
    fjord = make_fjord([TABLE], database=database)
    fjord.start()
    fjord.wait_caught_up()
    server.stop()
    shutil.copytree(server.data, server.folder / "copy", symlinks=True)
    server.start()
    database.psql("INSERT INTO t SELECT g, repeat('lost', 100) FROM generate_series(100, 3000) g;")
    fjord.wait_caught_up()
    server.stop()
    shutil.rmtree(server.data)
    shutil.move(server.folder / "copy", server.data)
    for path in [server.data, *server.data.rglob("*")]:
        shutil.chown(path, "postgres") if server.user == "postgres" else None
    server.start()
    assert fjord.wait_exit() == EXIT_SOURCE_GONE, tail(fjord.log)


@pytest.mark.parametrize("first", ["running", "stopped"])
def test_two_replications_with_one_lake_table(server, make_fjord, first):
    ours, theirs = server.database(f"ours_{first}"), server.database(f"theirs_{first}")
    try:
        ours.psql(BASE)
        theirs.psql(BASE.replace("'old'", "'theirs'"))
        one = make_fjord([TABLE], database=ours)
        one.start()
        one.wait_caught_up()
        if first == "stopped":
            one.stop()
        other = make_fjord([TABLE], database=theirs, lake=one.lake, lake_config={
            "catalog": {"embedded": {"path": str(one.folder / "lake")}}})
        other.start()
        time.sleep(3)
        theirs.psql("INSERT INTO t VALUES (100, 'theirs');")
        ours.psql("INSERT INTO t VALUES (200, 'ours');")
        time.sleep(3)
        if first == "stopped":
            if other.running():
                other.stop()
            one.start()
        time.sleep(5)
        said = [f for f in (one, other) if not f.running() or f.table_status(TABLE)["state"] == "blocked"]
        assert said, "two sources go on writing to one table"
        for f in (one, other):
            if f.running() and f not in said:
                f.wait_caught_up()
                assert not compare_table(f.database, f.lake, TABLE)
    finally:
        for f in (one, other):
            f.remove()
        ours.drop()
        theirs.drop()


def test_a_lake_table_set_back_to_older_metadata(database, make_fjord):
    database.psql(BASE + "CREATE TABLE other (id int PRIMARY KEY);")
    fjord = make_fjord([TABLE, "public.other"])
    fjord.start()
    fjord.wait_caught_up()
    fjord.stop()
    catalog = sqlite3.connect(fjord.folder / "lake" / "catalog.db")
    old = catalog.execute("SELECT metadata_location FROM iceberg_tables WHERE table_name = 't'").fetchone()
    fjord.start()
    database.psql("DELETE FROM t WHERE id = 1; INSERT INTO t VALUES (20, 'new');")
    fjord.wait_caught_up()
    database.psql("INSERT INTO other VALUES (1);")
    fjord.wait_caught_up()
    fjord.stop()
    catalog.execute("UPDATE iceberg_tables SET metadata_location = ? WHERE table_name = 't'", old)
    catalog.commit()
    catalog.close()
    fjord.start()
    database.psql("INSERT INTO t VALUES (21, 'newer');")
    time.sleep(4)
    if fjord.running() and fjord.table_status(TABLE)["state"] != "blocked":
        fjord.wait_caught_up()
        assert not compare_table(database, fjord.lake, TABLE)


def test_an_older_catalog(database, make_fjord):
    database.psql(BASE)
    fjord = make_fjord([TABLE])
    fjord.start()
    fjord.wait_caught_up()
    fjord.stop()
    file = fjord.folder / "lake" / "catalog.db"
    shutil.copy(file, fjord.folder / "older.db")
    fjord.start()
    database.psql("DELETE FROM t WHERE id = 1; INSERT INTO t VALUES (20, 'new');")
    fjord.wait_caught_up()
    fjord.stop()
    shutil.copy(fjord.folder / "older.db", file)
    fjord.start()
    assert fjord.wait_exit() not in (0, None), tail(fjord.log)
