"""Spark reads the tables that Fjord writes, and compacts one of them; ingestion goes on correctly."""

import pytest

from harness import source, spark, workload
from harness.compare import difference
from harness.fjord import CatalogServer
from harness.quiet import assert_tables_equal
from harness.values import rows_of
from harness.workload import Workload

pytestmark = [pytest.mark.ci, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def session():
    s = spark.start()
    yield s
    s.stop()


@pytest.fixture
def fjord(database, make_fjord):
    workload.create(database)
    f = make_fjord(workload.CONFIG)
    f.start()
    f.wait_caught_up()
    return f


@pytest.fixture
def catalog(fjord, session, database):
    server = CatalogServer(fjord)
    spark.add_catalog(session, database.name, server.uri)
    yield database.name
    server.stop()


def assert_spark_equal(session, catalog, fjord):
    fjord.wait_caught_up()
    for name, (namespace, table) in fjord.source_tables():
        kinds, expected = source.read(fjord.database, name)
        frame = session.table(f"{catalog}.{namespace}.{table}")
        assert difference(expected, rows_of(frame.toArrow(), kinds)) is None, name
        assert frame.count() == len(expected), name


def rewrite(session, catalog, table):
    session.sql(f"CALL {catalog}.system.rewrite_data_files(table => 'public.{table}',"
                " options => map('rewrite-all', 'true'))").collect()


def test_reads_the_same_rows(session, catalog, fjord, database):
    with Workload(database) as w:
        w.wait_transactions(800)
    assert_spark_equal(session, catalog, fjord)
    assert_tables_equal(fjord)


def test_rewrite_data_files_and_ingestion_goes_on(session, catalog, fjord, database):
    with Workload(database) as w:
        w.wait_transactions(500)
    fjord.wait_caught_up()
    rewrite(session, catalog, "people")
    with Workload(database) as w:
        w.wait_transactions(500)
    assert_tables_equal(fjord)
    assert_spark_equal(session, catalog, fjord)
    assert not fjord.blocked_tables()


def test_rewrite_while_stopped_and_state_removed(session, catalog, fjord, database):
    with Workload(database) as w:
        w.wait_transactions(300)
    fjord.wait_caught_up()
    fjord.stop()
    rewrite(session, catalog, "people")
    rewrite(session, catalog, "pairs")
    with Workload(database) as w:
        w.wait_transactions(300)
    fjord.start()
    assert_tables_equal(fjord)
    fjord.kill()
    rewrite(session, catalog, "people")
    fjord.remove_state()
    fjord.start()
    with Workload(database) as w:
        w.wait_transactions(300)
    assert_tables_equal(fjord)


def test_a_foreign_delete_blocks_only_that_table(session, catalog, fjord, database):
    session.sql(f"DELETE FROM {catalog}.public.people WHERE id % 2 = 0")
    database.psql("UPDATE people SET n = n + 1; UPDATE pairs SET n = n + 1;")
    reason = fjord.wait_blocked("public.people")
    assert "externalWrites" in reason, reason
    fjord.wait_caught_up(without=("public.people",))
