"""Drain of a backlog of 1 M changes over 1 M rows, beside pg_recvlogical reading the same backlog to a counter."""

import time

from harness.postgres import bin_folder
from measures.common import SETUP_S, counted_pipe, database, init_seconds, median, peak_mib, replication, wait_watermark

ROWS = 1_000_000
CHANGES = 1_000_000
CHANGES_A_TRANSACTION = 1000
REFERENCE_SLOTS = ("bare_1", "bare_2", "bare_3")

# Of each 1000 changes: 500 inserts, 400 updates and 100 deletes. Deletes take keys in steps so that each hits a row.
BACKLOG = """
CREATE PROCEDURE backlog(transactions int, rows bigint) LANGUAGE plpgsql AS $$
BEGIN
  FOR i IN 0 .. transactions - 1 LOOP
    INSERT INTO orders SELECT rows + i * 500 + g, g, 'new', g / 100.0, now(), 'note ' || md5(g::text)
      FROM generate_series(1, 500) g;
    UPDATE orders SET status = 'changed', amount = amount + 1
      WHERE id IN (SELECT 10 * (random() * (rows / 10 - 1))::bigint + 1 + g % 9 FROM generate_series(1, 400) g);
    DELETE FROM orders WHERE id IN (SELECT 10 * (i * 100 + g) FROM generate_series(1, 100) g);
    COMMIT;
  END LOOP;
END $$;
"""


def measure(scale, results):
    rows, transactions = int(ROWS * scale), int(CHANGES * scale) // CHANGES_A_TRANSACTION
    with database("drain") as db, replication(db, ["public.orders"]) as fjord:
        db.psql(f"""
            CREATE TABLE orders (id bigint PRIMARY KEY, customer int NOT NULL, status text, amount numeric(12,2),
                                 placed timestamptz, note text);
            INSERT INTO orders SELECT g, g % 100000, 'new', g / 100.0, timestamptz '2024-01-01' + g * interval '1 second',
              'note ' || md5(g::text) FROM generate_series(1, {rows}) g;
            VACUUM (ANALYZE, FREEZE) orders;{BACKLOG}""", timeout_s=SETUP_S)
        init_seconds(fjord)
        fjord.start()
        fjord.wait_caught_up()
        fjord.stop()
        publication = db.value("SELECT pubname FROM pg_publication LIMIT 1")
        for slot in REFERENCE_SLOTS:
            db.value("SELECT lsn::text FROM pg_create_logical_replication_slot(%s, 'pgoutput')", slot)
        before = db.value("SELECT n_tup_ins + n_tup_upd + n_tup_del FROM pg_stat_user_tables WHERE relname = 'orders'")
        db.psql(f"CALL backlog({transactions}, {rows}); CHECKPOINT;", timeout_s=SETUP_S)
        last = db.lsn()
        db.psql("UPDATE orders SET status = 'last' WHERE id = 1")
        end_lsn = db.value("SELECT pg_current_wal_lsn()::text")
        time.sleep(1)  # the statistics of the session that made the changes are reported when it has ended
        changes = db.value(
            "SELECT n_tup_ins + n_tup_upd + n_tup_del FROM pg_stat_user_tables WHERE relname = 'orders'") - before

        bare = [_bare(db, slot, publication, end_lsn) for slot in REFERENCE_SLOTS[:2]]
        began = time.monotonic()
        fjord.start()
        wait_watermark(fjord, ("public", "orders"), last, 600)
        seconds = time.monotonic() - began
        fjord.stop()
        bare.append(_bare(db, REFERENCE_SLOTS[2], publication, end_lsn))
        value, reference = changes / seconds, changes / median(bare)
        return {"value": round(value), "unit": "changes/s", "reference": round(reference),
                "ratio": round(value / reference, 3), "seconds": round(seconds, 2), "changes": changes,
                "anonymous_mib": peak_mib(fjord), "bars": {"ratio": [">=", 0.5]}}


def _bare(db, slot, publication, end_lsn):
    seconds, size = counted_pipe([
        f"{bin_folder()}/pg_recvlogical", "-d", db.url, "-S", slot, "--start", "--no-loop", "-E", end_lsn, "-f", "-",
        "-o", "proto_version=2", "-o", "streaming=on", "-o", f"publication_names={publication}"])
    assert size > 0, "pg_recvlogical read nothing"
    return seconds
