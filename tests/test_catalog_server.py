"""`fjord catalog serve`: readers attach to it, a replication writes through it, and answers get lost on the way."""

import pytest

from harness import workload
from harness.fjord import CatalogServer
from harness.process import wait_for
from harness.proxies import HttpFaultProxy
from harness.quiet import assert_tables_equal
from harness.readers import RestLake, attach, connect_duckdb
from harness.workload import Workload

COMMIT = r"^POST /v1/.*namespaces/public/tables/people$"


@pytest.fixture
def catalog(make_fjord):
    """A catalog server over an empty embedded catalog, with the fault proxy in front of it."""
    server = CatalogServer(make_fjord(["public.unused"]))
    proxy = HttpFaultProxy(server.uri)
    yield server, proxy
    proxy.close()
    server.stop()


@pytest.fixture
def rest_fjord(catalog, database, make_fjord):
    """A replication that writes through the proxy and whose tables are read past it."""
    server, proxy = catalog
    workload.create(database)
    return make_fjord(workload.CONFIG, lake=RestLake(server.uri),
                      lake_config={"catalog": {"rest": {"uri": proxy.uri}}})


def test_both_readers_attach(database, make_fjord):
    workload.create(database)
    fjord = make_fjord(workload.CONFIG)
    fjord.start()
    fjord.wait_caught_up()
    server = CatalogServer(fjord)
    with Workload(database) as w:
        w.wait_transactions(300)
    assert_tables_equal(fjord, lake=server.lake)
    con = connect_duckdb()
    attach(con, server.lake)
    names = {row[0] for row in con.execute("SELECT table_name FROM duckdb_tables() WHERE database_name = 'ice'"
                                           " AND schema_name = 'public'").fetchall()}
    assert {"people", "pairs", "events"} <= names
    server.stop()


def test_a_replication_writes_through_it(rest_fjord, database):
    rest_fjord.start()
    rest_fjord.wait_caught_up()
    with Workload(database) as w:
        w.wait_transactions(500)
        rest_fjord.kill()
        rest_fjord.remove_state()
        rest_fjord.start()
    assert_tables_equal(rest_fjord)


@pytest.mark.parametrize("fault", ["lost", "500 after", "502 after", "504 after", "503 instead", "409 instead"])
def test_faults_of_commits(rest_fjord, catalog, database, fault):
    _, proxy = catalog
    rest_fjord.start()
    rest_fjord.wait_caught_up()
    if fault == "lost":
        proxy.lose_answer(COMMIT, times=3)
    elif fault.endswith("after"):
        proxy.answer_status_after(COMMIT, int(fault[:3]), times=3)
    else:
        proxy.answer_status(COMMIT, int(fault[:3]), times=3)
    with Workload(database) as w:
        wait_for(lambda: proxy.pending() == 0, 60, "the faults have happened")
        w.wait_transactions(200)
    assert_tables_equal(rest_fjord)


def test_an_answer_is_lost_and_the_process_dies(rest_fjord, catalog, database):
    _, proxy = catalog
    rest_fjord.start()
    rest_fjord.wait_caught_up()
    with Workload(database) as w:
        w.wait_transactions(50)
        proxy.lose_answer(COMMIT)
        wait_for(lambda: proxy.pending() == 0, 60, "the fault has happened")
        rest_fjord.kill()
        rest_fjord.start()
        w.wait_transactions(200)
    assert_tables_equal(rest_fjord)


def test_the_catalog_is_away_for_a_while(rest_fjord, catalog, database):
    _, proxy = catalog
    rest_fjord.start()
    rest_fjord.wait_caught_up()
    proxy.answer_status(".", 503, times=40)
    with Workload(database) as w:
        w.wait_transactions(300)
        wait_for(lambda: proxy.pending() == 0, 120, "all requests of the outage")
    assert_tables_equal(rest_fjord)
