"""Records what PostgreSQL's pgoutput sends, as test data for src/postgres/pgoutput_test.cc.

    .venv/bin/python tests/data/make_pgoutput_fixtures.py

Each file of tests/data/pgoutput has a line for each message: its LSN and its bytes in hexadecimal. A line that begins
with '#' is a comment. Ids and times differ from one recording to the next; the tests do not depend on them.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from harness.postgres import PostgresServer  # noqa: E402

FOLDER = pathlib.Path(__file__).parent / "pgoutput"

TABLES = """
CREATE TYPE mood AS ENUM ('sad', 'ok');
CREATE TABLE orders (id int PRIMARY KEY, note text, price numeric(9,2), feeling mood);
CREATE TABLE whole (a int, b text);
CREATE TABLE big (id int PRIMARY KEY, qty int, payload text);
CREATE TABLE empty_row ();
ALTER TABLE whole REPLICA IDENTITY FULL;
ALTER TABLE big ALTER payload SET STORAGE EXTERNAL;
ALTER TABLE big REPLICA IDENTITY DEFAULT;
INSERT INTO big VALUES (1, 1, repeat('x', 9000));
INSERT INTO whole VALUES (1, 'one');
CREATE PUBLICATION p FOR TABLE orders, whole, big, empty_row;
"""

CHANGES = """
INSERT INTO orders VALUES (1, 'first', 12.50, 'ok'), (2, NULL, NULL, NULL);
UPDATE orders SET note = '' WHERE id = 1;
UPDATE orders SET id = 101 WHERE id = 1;
DELETE FROM orders WHERE id = 2;
UPDATE whole SET b = 'two' WHERE a = 1;
DELETE FROM whole WHERE a = 1;
UPDATE big SET qty = 9 WHERE id = 1;
INSERT INTO empty_row DEFAULT VALUES;
TRUNCATE orders, whole RESTART IDENTITY CASCADE;
SELECT pg_logical_emit_message(true, 'fjord', 'in the transaction');
SELECT pg_logical_emit_message(false, 'fjord', 'at once');
"""

STREAMED = """
BEGIN;
INSERT INTO orders SELECT g, 'kept' FROM generate_series(1, 500) g;
SAVEPOINT s;
INSERT INTO orders SELECT g, 'undone' FROM generate_series(1001, 1450) g;
ROLLBACK TO s;
SAVEPOINT t;
UPDATE orders SET note = 'again' WHERE id <= 5;
DELETE FROM orders WHERE id = 500;
TRUNCATE big;
RELEASE t;
COMMIT;
BEGIN;
INSERT INTO orders SELECT g, 'gone' FROM generate_series(5001, 5500) g;
ROLLBACK;
"""

OPTIONS = "'proto_version', '2', 'publication_names', 'p', 'streaming', '{streaming}', 'messages', 'true'"


def record(database, name, comment, script, streaming):
    with database.connect() as c:
        c.execute(f"SELECT pg_create_logical_replication_slot('{name}', 'pgoutput')")
        database.psql(script)
        database.psql("INSERT INTO orders VALUES (-1)")  # its commit flushes what stood behind the last one
        rows = c.execute("SELECT lsn::text, encode(data, 'hex') FROM pg_logical_slot_get_binary_changes("
                         f"'{name}', NULL, NULL, {OPTIONS.format(streaming=streaming)})").fetchall()
        c.execute(f"SELECT pg_drop_replication_slot('{name}')")
    lines = [f"# {comment}"] + [f"{lsn} {data}" for lsn, data in rows]
    (FOLDER / f"{name}.txt").write_text("\n".join(lines) + "\n")


def main():
    FOLDER.mkdir(exist_ok=True)
    server = PostgresServer({"logical_decoding_work_mem": "64kB"})
    try:
        database = server.database("record")
        database.psql(TABLES)
        version = database.value("SHOW server_version")
        record(database, "changes", f"each kind of message, by PostgreSQL {version}", CHANGES, "off")
        database.psql("DELETE FROM orders")
        record(database, "streamed", f"large transactions, by PostgreSQL {version}", STREAMED, "on")
    finally:
        server.remove()


if __name__ == "__main__":
    main()
