"""Four concurrent writers, and whatever may happen meanwhile: every table equals its source in the end."""

import random

import pytest

from harness import workload
from harness.process import wait_for
from harness.proxies import TcpRelay
from harness.quiet import assert_tables_equal
from harness.workload import Workload


@pytest.fixture
def load(database):
    workload.create(database)
    return lambda **options: Workload(database, **options)


def test_four_writers(load, make_fjord):
    fjord = make_fjord(workload.CONFIG)
    fjord.start()
    fjord.wait_caught_up()
    with load() as w:
        w.wait_transactions(2000)
    assert_tables_equal(fjord)
    fjord.stop()


def test_first_copy_under_load(load, make_fjord):
    fjord = make_fjord(workload.CONFIG)
    with load() as w:
        w.wait_transactions(200)
        fjord.start()
        wait_for(lambda: all(fjord.has_base(t) for _, t in fjord.source_tables()), 60, "bases")
        w.wait_transactions(500)
    assert_tables_equal(fjord)


def test_init_then_changes_then_run(load, make_fjord):
    fjord = make_fjord(workload.CONFIG)
    with load() as w:
        fjord.init()
        w.wait_transactions(500)
        fjord.start()
        w.wait_transactions(500)
    assert_tables_equal(fjord)


def test_init_twice_is_init_once(load, make_fjord):
    load()
    fjord = make_fjord(workload.CONFIG)
    fjord.init()
    fjord.init()
    fjord.start()
    assert_tables_equal(fjord)


@pytest.mark.parametrize("state", ["kept", "removed"])
def test_kills_at_random_moments(load, make_fjord, state):
    fjord = make_fjord(workload.CONFIG)
    with load() as w:
        moments = random.Random(w.seed)
        for _ in range(5):
            fjord.start()
            w.wait_transactions(moments.randrange(20, 600))
            fjord.kill()
            if state == "removed":
                fjord.remove_state()
            w.wait_transactions(moments.randrange(1, 100))
        fjord.start()
    assert_tables_equal(fjord)


def test_clean_stops_at_random_moments(load, make_fjord):
    fjord = make_fjord(workload.CONFIG)
    with load() as w:
        moments = random.Random(w.seed)
        fjord.start()
        fjord.wait_caught_up()
        for _ in range(4):
            w.wait_transactions(moments.randrange(20, 300))
            fjord.stop()
            fjord.start()
    assert_tables_equal(fjord)
    fjord.stop()
    # A clean stop leaves nothing behind: what was committed before it is in the lake now.
    from harness.compare import assert_equal
    for name, target in fjord.source_tables():
        assert_equal(fjord.database, fjord.lake, name, target)


def test_the_connection_is_cut_again_and_again(load, make_fjord, database):
    relay = TcpRelay(database.server.port)
    url = database.url.replace(f":{database.server.port}/", f":{relay.port}/")
    fjord = make_fjord(workload.CONFIG, replication={"source": {"postgres": {"url": url}}})
    with load() as w:
        fjord.start()
        fjord.wait_caught_up()
        for _ in range(4):
            w.wait_transactions(200)
            relay.cut()
        relay.refuse()
        w.wait_transactions(200)
        relay.accept()
    assert_tables_equal(fjord)
    assert fjord.running(), "a lost connection is not a reason to end"
    relay.close()


def test_the_server_crashes_and_comes_back(own_server, make_fjord):
    database = own_server({"fsync": "on"}).database("crash")
    workload.create(database)
    fjord = make_fjord(workload.CONFIG, database=database)
    fjord.start()
    fjord.wait_caught_up()
    with Workload(database) as w:
        w.wait_transactions(300)
    database.server.crash()
    database.server.start()
    with Workload(database) as w:
        w.wait_transactions(300)
    assert_tables_equal(fjord)


def test_two_hundred_tables(database, make_fjord):
    database.psql("""
        CREATE SCHEMA many;
        DO $$ BEGIN FOR i IN 1..200 LOOP
          EXECUTE format('CREATE TABLE many.t%s (id int PRIMARY KEY, v text)', i);
          EXECUTE format('INSERT INTO many.t%s SELECT g, md5(g::text) FROM generate_series(1, 20) g', i);
        END LOOP; END $$;""")
    fjord = make_fjord(["many.*"])
    fjord.start()
    wait_for(lambda: all(fjord.has_base(("many", f"t{i}")) for i in (1, 100, 200)), 120, "bases", poll_s=0.5)
    database.psql("""
        DO $$ BEGIN FOR i IN 1..200 LOOP
          EXECUTE format('UPDATE many.t%s SET v = %L WHERE id <= 5', i, 'changed');
          EXECUTE format('DELETE FROM many.t%s WHERE id = 20', i);
        END LOOP; END $$;""")
    fjord.tables = [f"many.t{i}" for i in range(1, 201)]
    fjord.wait_caught_up(120)
    fjord.tables = [f"many.t{i}" for i in range(1, 201, 13)]
    assert_tables_equal(fjord)
