"""First copy of 3 M rows × 6 columns, beside COPY … TO STDOUT of the same table piped to a counter."""

from measures.common import SETUP_S, counted_pipe, database, forget, init_seconds, median, peak_mib, replication

ROWS = 3_000_000
REPEATS = 3


def measure(scale, results):
    rows = int(ROWS * scale)
    with database("copy") as db, replication(db, ["public.orders"]) as fjord:
        db.psql(f"""
            CREATE TABLE orders (id bigint PRIMARY KEY, customer int NOT NULL, status text, amount numeric(12,2),
                                 placed timestamptz, note text);
            INSERT INTO orders SELECT g, g % 100000, (ARRAY['new','paid','sent','done'])[g % 4 + 1], g % 1000000 / 100.0,
              timestamptz '2024-01-01' + g * interval '1 second', 'note ' || md5(g::text) FROM generate_series(1, {rows}) g;
            VACUUM (ANALYZE, FREEZE) orders; CHECKPOINT;""", timeout_s=SETUP_S)
        ours, bare = [], []
        for _ in range(REPEATS):
            bare.append(counted_pipe(["psql", "-X", "-q", "-c", "COPY orders TO STDOUT", db.url])[0])
            ours.append(init_seconds(fjord))
            forget(fjord)
        value, reference = rows / median(ours), rows / median(bare)
        return {"value": round(value), "unit": "rows/s", "reference": round(reference), "ratio": round(value / reference, 3),
                "seconds": round(median(ours), 2), "anonymous_mib": peak_mib(fjord), "bars": {"ratio": [">=", 0.6]}}
