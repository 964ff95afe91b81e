"""10,000 changes a second offered open-loop to a table of 1 M rows: how long until DuckDB shows a committed marker row.

The writer, the reader and Fjord share the machine with the server. The writer is this process; the reader is a process of
its own, which asks for the oldest marker that it has not seen, in a query of the newest snapshot every 50 ms.
"""

import multiprocessing
import random
import threading
import time

from harness.readers import connect_duckdb
from measures.common import SETUP_S, database, init_seconds, peak_mib, replication

ROWS = 1_000_000
SECONDS = 60
CHANGES_A_SECOND = 10_000
BATCH_S = 0.02
MARKER_EVERY_S = 0.25
POLL_S = 0.05
COUNT_EVERY_S = 10
GIVE_UP_S = 30
FIRST_MARKER = 1 << 40

SCHEMA = """
CREATE TABLE facts (id bigint PRIMARY KEY, n int NOT NULL, payload text NOT NULL);
CREATE FUNCTION payload(seed bigint) RETURNS text LANGUAGE sql VOLATILE AS $$
  SELECT md5(seed::text || 'a') || md5(seed::text || 'b') || md5(seed::text || 'c') || md5(seed::text || 'd')
      || md5(seed::text || 'e') || md5(seed::text || 'f') || md5(seed::text || 'g') || md5(seed::text || 'h') $$;
CREATE FUNCTION batch(updates bigint[], deletes bigint[], first bigint, inserts int, seed bigint) RETURNS int
LANGUAGE plpgsql AS $$
DECLARE changed int; total int;
BEGIN
  UPDATE facts SET n = n + 1, payload = payload(seed + id) WHERE id = ANY (updates);
  GET DIAGNOSTICS total = ROW_COUNT;
  DELETE FROM facts WHERE id = ANY (deletes);
  GET DIAGNOSTICS changed = ROW_COUNT; total := total + changed;
  INSERT INTO facts SELECT first + g, 0, payload(seed + g) FROM generate_series(1, inserts) g;
  RETURN total + inserts;
END $$;
"""


class Writer:
    """Sends a batch at each tick of a fixed schedule, late or not, and markers from a second thread."""

    def __init__(self, db, rows, seconds):
        self.db, self.rows, self.seconds = db, rows, seconds
        self.changes = 0
        self.late_s = 0.0
        self.markers = {}  # id → time of the return of its COMMIT

    def run(self, stamps):
        began = time.monotonic()
        marker = threading.Thread(target=self._write_markers, args=(began, stamps))
        marker.start()
        choose = random.Random(7)
        top, deleted = self.rows, 0
        per_batch = int(CHANGES_A_SECOND * BATCH_S)
        updates, inserts, deletes = per_batch * 7 // 10, per_batch * 2 // 10, per_batch // 10
        with self.db.connect() as c:
            for tick in range(int(self.seconds / BATCH_S)):
                wait = began + tick * BATCH_S - time.monotonic()
                if wait > 0:
                    time.sleep(wait)
                self.late_s = max(self.late_s, -wait)
                # Some of the uniformly chosen keys are gone: so many more are chosen that the rate holds.
                more = top / max(1, top - deleted)
                chosen = [choose.randrange(1, top + 1) for _ in range(round((updates + deletes) * more))]
                split = round(updates * more)
                done = c.execute("SELECT batch(%s, %s, %s, %s, %s)",
                                 [chosen[:split], chosen[split:], top, inserts, tick * 1_000_003]).fetchone()[0]
                self.changes += done
                top += inserts
                deleted += deletes
        self.elapsed_s = time.monotonic() - began
        marker.join()

    def _write_markers(self, began, stamps):
        with self.db.connect() as c:
            for i in range(int(self.seconds / MARKER_EVERY_S)):
                wait = began + i * MARKER_EVERY_S - time.monotonic()
                if wait > 0:
                    time.sleep(wait)
                c.execute("INSERT INTO facts VALUES (%s, 0, 'marker')", [FIRST_MARKER + i])
                stamps.put((FIRST_MARKER + i, time.monotonic()))
        stamps.put(None)


def _watch(folder, ready, stamps, answers):
    """Reader process: the delay of each marker, in order; None for one that was given up."""
    con = connect_duckdb()
    query = f"SELECT id FROM iceberg_scan('{folder}') WHERE id = ?"
    con.execute(query, [FIRST_MARKER]).fetchone()
    ready.put(1)
    while (stamp := stamps.get()) is not None:
        marker, committed = stamp
        while True:
            asked = time.monotonic()
            if con.execute(query, [marker]).fetchone():
                answers.put(time.monotonic() - committed)
                break
            if asked - committed > GIVE_UP_S:
                answers.put(None)
                break
            time.sleep(max(0, POLL_S - (time.monotonic() - asked)))
    answers.put("end")


def _count(folder, ready, stop, answers):
    """Reader process: how long a full count(*) takes beside it all."""
    con = connect_duckdb()
    ready.put(1)
    while not stop.wait(COUNT_EVERY_S):
        began = time.monotonic()
        con.execute(f"SELECT count(*) FROM iceberg_scan('{folder}')").fetchone()
        answers.put(time.monotonic() - began)


def measure(scale, results):
    rows, seconds = int(ROWS * scale), max(10, SECONDS * scale)
    context = multiprocessing.get_context("spawn")
    with database("latency") as db, replication(db, ["public.facts"]) as fjord:
        db.psql(f"{SCHEMA} INSERT INTO facts SELECT g, 0, payload(g) FROM generate_series(1, {rows}) g;"
                f" VACUUM (ANALYZE, FREEZE) facts; CHECKPOINT;", timeout_s=SETUP_S)
        init_seconds(fjord)
        fjord.start()
        fjord.wait_caught_up()
        folder = fjord.lake.pyiceberg().load_table(("public", "facts")).location().removeprefix("file://")
        ready, stamps, answers, counts, stop = *(context.Queue() for _ in range(4)), context.Event()
        readers = [context.Process(target=_watch, args=(folder, ready, stamps, answers), daemon=True),
                   context.Process(target=_count, args=(folder, ready, stop, counts), daemon=True)]
        for r in readers:
            r.start()
        for _ in readers:  # starting Python and DuckDB takes both cores for a while
            ready.get(timeout=120)
        writer = Writer(db, rows, seconds)
        writer.run(stamps)
        delays = []
        while (answer := answers.get(timeout=GIVE_UP_S * 10)) != "end":
            delays.append(answer)
        stop.set()
        for r in readers:
            r.join(60)
        full = []
        while not counts.empty():
            full.append(counts.get())
        fjord.assert_running()
        seen = sorted(d for d in delays if d is not None)
        missed = len(delays) - len(seen)
        return {
            "value": round(_percentile(seen, 0.95), 3), "unit": "s (95th percentile)", "reference": None, "ratio": None,
            "p50_s": round(_percentile(seen, 0.5), 3), "p95_s": round(_percentile(seen, 0.95), 3),
            "p99_s": round(_percentile(seen, 0.99), 3), "max_s": round(seen[-1], 3), "markers": len(delays),
            "missed": missed, "changes_per_s": round(writer.changes / writer.elapsed_s),
            "writer_late_s": round(writer.late_s, 3),
            "count_star_s": round(sorted(full)[len(full) // 2], 3) if full else None,
            "anonymous_mib": peak_mib(fjord),
            "bars": {"p95_s": ["<", 1.0], "p99_s": ["<", 2.0], "missed": ["<=", 0]}}


def _percentile(values, share):
    return values[min(len(values) - 1, int(len(values) * share))]
