"""Commands, exit codes and messages, as a person meets them."""

import json
import re
import signal
import subprocess

import jsonschema
import pytest
import requests
import yaml

from harness.fjord import (EXIT_CLEAN, EXIT_CONFIG, EXIT_DEPENDENCY, EXIT_FAILURE, EXIT_NOT_READY, EXIT_SOURCE_GONE, EXIT_USAGE, binary)
from harness.process import ROOT, end, free_port, tail, wait_for


def run(*arguments, **options):
    return subprocess.run([binary(), *arguments], capture_output=True, text=True, timeout=60, **options)


def output(done):
    return done.stdout + done.stderr


@pytest.fixture
def shop(database, make_fjord):
    database.psql("CREATE TABLE orders (id int PRIMARY KEY, v text); INSERT INTO orders VALUES (1, 'a');")
    return make_fjord(["public.orders"])


def replication(fjord):
    return fjord.config["replications"][fjord.name]


# --- without a source -------------------------------------------------------------------------------------------------

def test_version():
    done = run("version")
    assert done.returncode == EXIT_CLEAN and re.search(r"\d+\.\d+\.\d+", done.stdout), output(done)


@pytest.mark.parametrize("arguments", [["nonsense"], ["run", "--nonsense"], []])
def test_a_wrong_command_line_ends_with_2(arguments):
    assert run(*arguments).returncode == EXIT_USAGE


def test_a_missing_configuration_ends_with_78(tmp_path):
    done = run("check", "--config", tmp_path / "none.yaml")
    assert done.returncode == EXIT_CONFIG and "none.yaml" in output(done), output(done)


def test_an_unknown_key_is_named_with_its_place_and_the_nearest_one(shop):
    replication(shop)["publsh"] = {"every": "1s"}
    shop.write_config()
    line = shop.config_file.read_text().splitlines().index("    publsh:") + 1
    done = shop.command("check")
    assert done.returncode == EXIT_CONFIG, output(done)
    assert f"fjord.yaml:{line}" in output(done) and "publish" in output(done), output(done)


@pytest.mark.parametrize("change", [
    lambda r: r["publish"].update(atomic=True),
    lambda r: r["lake"].update(formatVersion=3),
    lambda r: r.update(tables=[{"source": "public.orders", "partitionBy": ["day(at)"]}]),
])
def test_keys_of_later_are_refused_with_not_yet(shop, change):
    change(replication(shop))
    shop.write_config()
    done = shop.command("check")
    assert done.returncode == EXIT_CONFIG and "not yet" in output(done), output(done)


def test_the_schema_accepts_what_the_program_accepts(shop):
    done = run("schema")
    assert done.returncode == EXIT_CLEAN, output(done)
    schema = json.loads(done.stdout)
    jsonschema.validate(shop.config, schema)
    shop.config["nonsense"] = 1
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(shop.config, schema)


# --- check and discover -----------------------------------------------------------------------------------------------

def test_check_is_content_and_changes_nothing(shop, database):
    done = shop.command("check")
    assert done.returncode == EXIT_CLEAN, output(done)
    assert database.slot() is None
    assert database.value("SELECT count(*) FROM pg_publication") == 0
    assert not shop.lake.exists()


def test_check_names_the_setting_that_is_missing(own_server, make_fjord):
    database = own_server({"wal_level": "replica"}).database("plain")
    database.psql("CREATE TABLE orders (id int PRIMARY KEY)")
    done = make_fjord(["public.orders"], database=database).command("check")
    assert done.returncode == EXIT_FAILURE, output(done)
    assert re.search(r"ALTER SYSTEM SET wal_level = '?logical'?", output(done)), output(done)


def test_check_names_the_rights_that_are_missing(server, database, make_fjord):
    role = f"reader_{database.name}"
    database.psql(f"CREATE ROLE {role} LOGIN; CREATE TABLE orders (id int PRIMARY KEY);")
    try:
        fjord = make_fjord(["public.orders"],
                           replication={"source": {"postgres": {"url": server.url(database.name, role)}}})
        done = fjord.command("check")
        assert done.returncode == EXIT_FAILURE, output(done)
        assert re.search(rf'ALTER ROLE "?{role}"?( WITH)? REPLICATION', output(done)), output(done)
        assert re.search(rf'GRANT SELECT ON (TABLE )?"?public"?\."?orders"? TO "?{role}"?', output(done)), output(done)
    finally:
        database.psql(f"DROP ROLE {role}")


def test_check_names_a_table_that_is_not_there(shop):
    replication(shop)["tables"] = ["public.orders", "public.ordres"]
    shop.write_config()
    done = shop.command("check")
    assert done.returncode == EXIT_FAILURE and "ordres" in output(done), output(done)


def test_no_password_is_shown(shop):
    replication(shop)["source"]["postgres"]["url"] = "postgres://someone:s3cretword@127.0.0.1:1/nowhere"
    shop.write_config()
    done = shop.command("check")
    assert done.returncode == EXIT_FAILURE, output(done)
    assert "127.0.0.1" in output(done) and "s3cretword" not in output(done), output(done)


def test_discover_proposes_a_tables_section(shop, database):
    database.psql("CREATE TABLE log (a int); CREATE SCHEMA other; CREATE TABLE other.things (id int PRIMARY KEY);")
    done = shop.command("discover")
    assert done.returncode == EXIT_CLEAN, output(done)
    proposed = yaml.safe_load(done.stdout)
    tables = proposed["tables"] if isinstance(proposed, dict) else proposed
    names = [t if isinstance(t, str) else t["source"] for t in tables]
    assert {"public.orders", "other.things"} <= set(names), done.stdout


# --- run and status ---------------------------------------------------------------------------------------------------

def test_status_before_and_after(shop):
    assert shop.command("status").returncode == EXIT_NOT_READY
    shop.start()
    shop.wait_caught_up()
    wait_for(lambda: shop.command("status").returncode == EXIT_CLEAN, 20, lambda: shop.command("status").stdout)
    entry = shop.table_status("public.orders")
    assert entry["state"] == "streaming" and entry["rows"] == 1, entry


@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGINT])
def test_signals_end_it_cleanly(shop, sig):
    shop.start()
    shop.wait_caught_up()
    assert end(shop.process, sig, 30) == EXIT_CLEAN, tail(shop.log)


@pytest.mark.ci  # it waits for the start-up window of a minute
def test_a_source_that_stays_away_ends_with_75(shop):
    closed = free_port()
    shop.config["replications"][shop.name]["source"]["postgres"]["url"] = f"postgres://u@127.0.0.1:{closed}/shop"
    shop.write_config()
    shop.start()
    assert shop.wait_exit(90) == EXIT_DEPENDENCY, tail(shop.log)
    assert shop.log_text().count("is started again") == 1
    assert f'"127.0.0.1", port {closed} failed' in shop.log_text().replace('\\"', '"')


def test_a_lost_slot_ends_with_79(shop, database):
    shop.start()
    shop.wait_caught_up()
    shop.stop()
    database.value("SELECT pg_drop_replication_slot(%s)", database.slot()["slot_name"])
    database.psql("INSERT INTO orders VALUES (2, 'lost')")
    shop.start()
    assert shop.wait_exit() == EXIT_SOURCE_GONE, tail(shop.log)
    assert "slot" in shop.log_text()


def test_a_slot_that_somebody_advanced_ends_with_79(shop, database):
    shop.start()
    shop.wait_caught_up()
    shop.stop()
    database.psql("INSERT INTO orders VALUES (2, 'skipped')")
    database.value("SELECT pg_replication_slot_advance(%s, pg_current_wal_lsn())::text", database.slot()["slot_name"])
    shop.start()
    assert shop.wait_exit() == EXIT_SOURCE_GONE, tail(shop.log)


def test_a_second_process_does_not_publish(shop, database, make_fjord):
    shop.start()
    shop.wait_caught_up()
    second = make_fjord(["public.orders"], lake=shop.lake, lake_config=replication(shop)["lake"])
    second.start()
    pid = str(database.slot()["active_pid"])
    wait_for(lambda: pid in second.log_text(), 30, lambda: f"it names the other's pid {pid}:\n{tail(second.log)}")
    database.psql("INSERT INTO orders VALUES (2, 'b')")
    shop.wait_caught_up()
    second.kill()


def test_health_and_metrics(shop):
    port = free_port()
    shop.config["server"] = {"listen": f"127.0.0.1:{port}"}
    shop.write_config()
    shop.start()
    shop.wait_caught_up()
    base = f"http://127.0.0.1:{port}"
    assert requests.get(f"{base}/healthz", timeout=5).status_code == 200
    wait_for(lambda: requests.get(f"{base}/readyz", timeout=5).status_code == 200, 20, "ready")
    metrics = requests.get(f"{base}/metrics", timeout=5)
    assert metrics.status_code == 200
    assert re.search(r'^fjord_\w+\{[^}]*orders[^}]*\} ', metrics.text, re.M), metrics.text[:2000]


def test_a_table_that_cannot_go_on_does_not_stop_the_others(database, make_fjord):
    database.psql("CREATE TABLE a (id int PRIMARY KEY, d date); CREATE TABLE b (id int PRIMARY KEY);")
    fjord = make_fjord(["public.a", "public.b"])
    fjord.start()
    fjord.wait_caught_up()
    database.psql("INSERT INTO a VALUES (1, 'infinity'); INSERT INTO b VALUES (1);")
    fjord.wait_blocked("public.a")
    database.psql("INSERT INTO b VALUES (2)")
    from harness.compare import compare_table
    wait_for(lambda: not compare_table(database, fjord.lake, "public.b"), 30, "b arrives", poll_s=0.5)
    assert fjord.command("status").returncode == EXIT_NOT_READY
    assert fjord.running()


def test_metadata_stays_small(database, make_fjord):
    database.psql("CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t VALUES (1, 0);")
    fjord = make_fjord(["public.t"], replication={
        "snapshots": {"keep": "0s", "atLeast": 2, "atMost": 5}, "publish": {"every": "20ms"}})
    fjord.start()
    fjord.wait_caught_up()
    with database.connect() as c:
        for i in range(60):
            c.execute("UPDATE t SET v = %s", [i])
            if i % 5 == 0:
                fjord.wait_caught_up()
    fjord.wait_caught_up()
    from harness.readers import load_table
    assert len(load_table(fjord.lake, ("public", "t")).metadata.snapshots) <= 6


# --- demo -------------------------------------------------------------------------------------------------------------

def test_demo(tmp_path):
    import os
    import sys
    environment = {**os.environ, "FJORD_PYTHON": sys.executable}
    done = subprocess.run([binary(), "demo"], capture_output=True, text=True, timeout=200, cwd=ROOT, env=environment,
                          stdin=subprocess.DEVNULL)
    assert done.returncode == EXIT_CLEAN, output(done)
    assert "fjord.yaml" in output(done), "it ends by saying what to do next"
