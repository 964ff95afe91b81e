"""What PostgreSQL changes without a word in the stream: a table is copied again or set aside, never silently wrong."""

import time

import pytest

from harness.compare import compare_table
from harness.process import tail, wait_for

TABLE = "public.t"
BASE = """
    CREATE TABLE t (id int PRIMARY KEY, u int NOT NULL, v text);
    CREATE UNIQUE INDEX t_u ON t (u);
    INSERT INTO t SELECT g, 11 - g, 'old ' || g FROM generate_series(1, 10) g;
    CREATE TABLE other (id int PRIMARY KEY);
    INSERT INTO other VALUES (1);"""


@pytest.fixture
def fjord(database, make_fjord):
    database.psql(BASE)
    made = make_fjord([TABLE, "public.other"])
    made.start()
    made.wait_caught_up()
    return made


def assert_equal_or_set_aside(fjord, table=TABLE, deadline_s=40):
    """Soon the table is equal to its source, or `status` says why not."""
    last = []

    def settled():
        if not fjord.running():
            assert fjord.process.returncode != 0
            return next(line for line in fjord.log_text().splitlines() if "set aside" in line and table in line)
        entry = fjord.table_status(table)
        if entry is None:
            return None
        if entry["state"] == "blocked":
            return entry["reason"]
        last[:] = compare_table(fjord.database, fjord.lake, table)
        return not last

    return wait_for(settled, deadline_s, lambda: "\n".join(last) + f"\nlog:\n{tail(fjord.log, 15)}", poll_s=0.5)


REWRITES = {
    "a column dropped and added again": "ALTER TABLE t DROP v; ALTER TABLE t ADD v text;",
    "a column added again with a default": "ALTER TABLE t DROP v; ALTER TABLE t ADD v text DEFAULT 'new';",
    "values computed anew": "ALTER TABLE t ALTER v TYPE text USING upper(v);",
    "key columns swapped by name": """
        BEGIN; ALTER TABLE t RENAME id TO x; ALTER TABLE t RENAME u TO id; ALTER TABLE t RENAME x TO u; COMMIT;""",
}


@pytest.mark.parametrize("script", REWRITES.values(), ids=REWRITES.keys())
@pytest.mark.parametrize("change", ["", "UPDATE t SET v = 'later' WHERE id = 3;"], ids=["idle", "busy"])
def test_rewritten_while_running(fjord, script, change):
    fjord.database.psql(script + change)
    assert_equal_or_set_aside(fjord)


@pytest.mark.parametrize("script", REWRITES.values(), ids=REWRITES.keys())
@pytest.mark.parametrize("state", ["kept", "removed"])
def test_rewritten_while_stopped(fjord, script, state):
    fjord.stop()
    if state == "removed":
        fjord.remove_state()
    fjord.database.psql(script + "UPDATE t SET v = 'later' WHERE id = 3;")
    fjord.start()
    assert_equal_or_set_aside(fjord)


def test_set_aside_for_a_rewrite_and_started_again(fjord):
    fjord.database.psql("ALTER TABLE t DROP v; ALTER TABLE t ADD v text; INSERT INTO other VALUES (2);")
    assert_equal_or_set_aside(fjord)
    fjord.stop()
    fjord.start()

    def copied_again():  # the slot may be confirmed before that
        entry = fjord.table_status(TABLE)
        return entry and entry["state"] == "streaming" and not compare_table(fjord.database, fjord.lake, TABLE)

    wait_for(copied_again, 40, lambda: tail(fjord.log), poll_s=0.5)


HARMLESS = """
    ALTER TABLE t ALTER v SET DEFAULT 'x';
    ALTER TABLE t ALTER v SET STORAGE EXTERNAL;
    ALTER TABLE t ADD CONSTRAINT positive CHECK (id > 0);
    CREATE INDEX ON t (v);
    ANALYZE t;
    GRANT SELECT (v) ON t TO PUBLIC;
    COMMENT ON TABLE t IS 'x';
    INSERT INTO t (id, u) VALUES (20, 20);"""


@pytest.mark.parametrize("rewrite", ["VACUUM FULL t;", "CLUSTER t USING t_pkey;"])
def test_harmless_changes_are_no_reason_to_stop(fjord, rewrite):
    fjord.database.psql(HARMLESS)
    time.sleep(12)
    fjord.database.psql(rewrite)
    fjord.database.psql("UPDATE t SET v = 'more' WHERE id < 5;")
    time.sleep(12)
    fjord.wait_caught_up()
    assert fjord.table_status(TABLE)["state"] == "streaming"
    fjord.stop()
    fjord.start()
    fjord.wait_caught_up()
    assert "copied again" not in fjord.log_text()
    assert not compare_table(fjord.database, fjord.lake, TABLE)


OTHER_KEY = "ALTER TABLE t DROP CONSTRAINT t_pkey; ALTER TABLE t ADD PRIMARY KEY (u);"
OTHER_INDEX = "ALTER TABLE t REPLICA IDENTITY USING INDEX t_u;"


@pytest.mark.parametrize("script", [OTHER_KEY, OTHER_INDEX], ids=["another primary key", "another index"])
@pytest.mark.parametrize("change", [
    "UPDATE t SET v = 'later' WHERE u = 3;", "UPDATE t SET id = 7 WHERE u = 8;", "DELETE FROM t WHERE u = 3;"])
@pytest.mark.parametrize("when", ["running", "stopped"])
def test_another_key(fjord, script, change, when):
    if "SET id" in change and "INDEX" in script:
        change = "UPDATE t SET id = CASE id WHEN 3 THEN 700 ELSE 3 END WHERE id IN (3);"
    if when == "stopped":
        fjord.stop()
    fjord.database.psql(script + change)
    if when == "stopped":
        fjord.start()
    assert_equal_or_set_aside(fjord)


AWAY = {
    "dropped and made again": "DROP TABLE t; CREATE TABLE t (id int PRIMARY KEY, u int NOT NULL, v text); INSERT INTO t VALUES (1, 1, 'n');",
    "another one has its name": """
        BEGIN; ALTER TABLE t RENAME TO t_old; CREATE TABLE t (LIKE t_old INCLUDING ALL); INSERT INTO t VALUES (1, 1, 'n'); COMMIT;""",
    "out of the publication and back": """
        ALTER PUBLICATION {publication} DROP TABLE t; DELETE FROM t WHERE id = 1;
        ALTER PUBLICATION {publication} ADD TABLE ONLY t;""",
    "out of the publication": "ALTER PUBLICATION {publication} DROP TABLE t; DELETE FROM t WHERE id = 1;",
    "a row filter": "ALTER PUBLICATION {publication} SET TABLE t WHERE (id > 100), other; UPDATE t SET v = 'x' WHERE id = 1;",
    "deletes are not published": """
        ALTER PUBLICATION {publication} SET (publish = 'insert'); DELETE FROM t WHERE id = 1;""",
}


@pytest.mark.parametrize("script", AWAY.values(), ids=AWAY.keys())
@pytest.mark.parametrize("when", ["running", "stopped"])
def test_away_from_the_stream(fjord, script, when):
    script = script.replace("{publication}", f"fjord_{fjord.name}")
    if when == "stopped":
        fjord.stop()
    fjord.database.psql(script)
    if when == "stopped":
        fjord.start()
    assert_equal_or_set_aside(fjord)


def test_deletes_are_not_published_for_a_while(fjord):
    name = f"fjord_{fjord.name}"
    fjord.stop()
    fjord.database.psql(f"""
        ALTER PUBLICATION {name} SET (publish = 'insert'); DELETE FROM t WHERE id = 1;
        ALTER PUBLICATION {name} SET (publish = 'insert, update, delete, truncate');""")
    fjord.start()
    assert_equal_or_set_aside(fjord)


@pytest.mark.parametrize("key", ["PRIMARY KEY (a, g)", "PRIMARY KEY (g)"])
def test_a_generated_column_in_the_key(database, make_fjord, key):
    database.psql(f"""
        CREATE TABLE other (id int PRIMARY KEY);
        CREATE TABLE t (a int, b int, g int GENERATED ALWAYS AS (b * 2) STORED, v text, {key});
        INSERT INTO t (a, b, v) VALUES (1, 1, 'x'), (1, 2, 'y'), (1, 3, 'z');""")
    fjord = make_fjord([TABLE, "public.other"])
    fjord.start()
    wait_for(lambda: (fjord.table_status(TABLE) or {}).get("state") in ("blocked", "streaming"), 30, "copied")
    database.psql("UPDATE t SET v = 'yy' WHERE b = 2; DELETE FROM t WHERE b = 3;", expect_ok=False)
    time.sleep(2)
    assert_equal_or_set_aside(fjord)
