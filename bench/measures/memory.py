"""Anonymous memory at the peak of the other measures, and a run with far less memory than the row index is large.

The limit counts the page cache too, and the index is a mapped file: with a limit of (what the process needs for itself) +
(a quarter of the index), three quarters of the index are on disk at any time. Slower is allowed, wrong is not.
"""

import contextlib
import os
import pathlib
import time

from measures.common import SETUP_S, database, init_seconds, peak_mib, replication, wait_watermark

ROWS = 8_000_000
UPDATES = 400_000
OTHERS = ("first-copy", "drain", "latency-10k")


def measure(scale, results):
    peaks = {n: results[n]["anonymous_mib"] for n in OTHERS if n in results}
    limited = _limited_run(int(ROWS * scale), int(UPDATES * scale))
    worst = max(peaks.values(), default=limited["unlimited_anonymous_mib"])
    return {"value": worst, "unit": "MiB anonymous at the peak", "reference": None, "ratio": None,
            "anonymous_mib": worst, **{f"anonymous_mib_{n.replace('-', '_')}": v for n, v in peaks.items()},
            **limited, "aim": 256, "bars": {"anonymous_mib": ["<=", 512]}}


def _limited_run(rows, updates):
    with database("memory") as db, replication(db, ["public.facts"]) as fjord:
        db.psql(f"CREATE TABLE facts (id bigint PRIMARY KEY, v int);"
                f" INSERT INTO facts SELECT g, 0 FROM generate_series(1, {rows}) g; VACUUM (ANALYZE, FREEZE) facts;", timeout_s=SETUP_S)
        init_seconds(fjord)
        fjord.start()
        fjord.wait_caught_up()
        free_seconds = _update(db, fjord, rows, updates)
        index = _largest_file(fjord.folder / "state")
        unlimited = peak_mib(fjord)
        fjord.stop()
        with _limit(int(unlimited * (1 << 20)) + index // 4) as (kind, join):
            fjord.start()
            join(fjord.process.pid)
            seconds = _update(db, fjord, rows, updates)
            _assert_equal(db, fjord)
            fjord.stop()
        return {"unlimited_anonymous_mib": unlimited, "index_mib": round(index / (1 << 20), 1),
                "limit_mib": round(unlimited + index / 4 / (1 << 20), 1), "limit_kind": kind,
                "updates_per_s_unlimited": round(updates / free_seconds), "updates_per_s_limited": round(updates / seconds)}


def _update(db, fjord, rows, updates):
    """Seconds until random updates, in transactions of 10,000, are in the lake."""
    began = time.monotonic()
    with db.connect() as c:
        for _ in range(max(1, updates // 10_000)):
            c.execute("UPDATE facts SET v = v + 1 WHERE id = ANY (ARRAY(SELECT (random() * %s)::bigint + 1"
                      " FROM generate_series(1, 10000)))", [rows - 1])
    last = db.lsn()
    db.psql("UPDATE facts SET v = v + 1 WHERE id = 1")
    wait_watermark(fjord, ("public", "facts"), last, 900)
    return time.monotonic() - began


def _assert_equal(db, fjord):
    """By sums, since these are too many rows to compare one by one."""
    from harness.readers import DuckDbReader
    reader = DuckDbReader(fjord.lake, ("public", "facts"))
    query = "SELECT count(*)::text, sum(id)::text, sum(v)::text, sum(id * v)::text, count(DISTINCT id)::text FROM "
    with db.connect() as c:
        want = c.execute(query + "facts").fetchone()
    have = reader.connection.execute(query + reader.source).fetchone()
    assert want == have, f"source {want}, lake {have}"


def _largest_file(folder):
    return max((f.stat().st_blocks * 512 for f in folder.rglob("*") if f.is_file()), default=0)


@contextlib.contextmanager
def _limit(limit_bytes):
    """(kind, join): join(pid) puts a process under the limit. Without a writable cgroup only the heap is limited."""
    for kind, root, file, move in (("cgroup v2", "/sys/fs/cgroup", "memory.max", "cgroup.procs"),
                                   ("cgroup v1", "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "cgroup.procs")):
        group = pathlib.Path(root) / f"fjord-bench-{os.getpid()}"
        if not (pathlib.Path(root) / move).exists():
            continue  # a plain folder, or nothing: no hierarchy of this kind is mounted here
        try:
            group.mkdir()
            with open(group / file, "r+") as limit:  # never makes the file
                limit.write(str(limit_bytes))
        except OSError:
            with contextlib.suppress(OSError):
                group.rmdir()
            continue
        try:
            yield kind, lambda pid, g=group: (g / move).write_text(str(pid))
        finally:
            for _ in range(100):
                with contextlib.suppress(OSError):
                    group.rmdir()
                if not group.exists():
                    break
                time.sleep(0.1)
        return
    import resource
    yield "RLIMIT_DATA", lambda pid: resource.prlimit(pid, resource.RLIMIT_DATA, (limit_bytes, limit_bytes))
