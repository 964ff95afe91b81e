"""The Iceberg community's Java REST catalog, which Fjord's code had no part in."""

import pytest

from harness import workload
from harness.java_rest_catalog import JavaRestCatalog
from harness.process import wait_for
from harness.proxies import HttpFaultProxy
from harness.quiet import assert_tables_equal
from harness.workload import Workload

pytestmark = pytest.mark.ci


@pytest.fixture(scope="module")
def java():
    catalog = JavaRestCatalog()
    yield catalog
    catalog.remove()


@pytest.fixture
def tables(database):
    """Own namespaces for each test, since they share one catalog."""
    workload.create(database)
    entries = [{"source": t} if isinstance(t, str) else t for t in workload.CONFIG]
    return [{**e, "target": e["source"].replace("public", database.name)} for e in entries]


def test_writers_kill_and_lost_state(java, tables, database, make_fjord):
    fjord = make_fjord(tables, lake=java.lake, lake_config=java.config())
    fjord.start()
    fjord.wait_caught_up()
    with Workload(database) as w:
        w.wait_transactions(500)
        fjord.kill()
        fjord.start()
        w.wait_transactions(300)
        fjord.kill()
        fjord.remove_state()
        fjord.start()
        w.wait_transactions(300)
    assert_tables_equal(fjord)
    fjord.stop()


def test_answers_of_commits_are_lost(java, tables, database, make_fjord):
    proxy = HttpFaultProxy(java.uri)
    fjord = make_fjord(tables, lake=java.lake, lake_config={"catalog": {"rest": {"uri": proxy.uri}}})
    fjord.start()
    fjord.wait_caught_up()
    with Workload(database) as w:
        commit = r"^POST /v1/.*namespaces/[^/]+/tables/people$"
        proxy.lose_answer(commit, times=2)
        proxy.answer_status_after(commit, 502, times=2)
        proxy.answer_status(commit, 503, times=2)
        wait_for(lambda: proxy.pending() == 0, 90, "the faults have happened")
        w.wait_transactions(200)
    assert_tables_equal(fjord)
    proxy.close()
