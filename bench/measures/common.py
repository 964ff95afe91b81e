"""What the measures share: a server with sensible settings, timing, timed pipes to a counter."""

import contextlib
import os
import subprocess
import time

from harness.fjord import Fjord
from harness.postgres import PostgresServer
from harness.process import tail, wait_for

SETTINGS = {"shared_buffers": "512MB", "max_wal_size": "8GB", "checkpoint_timeout": "1h", "autovacuum": "off",
            "full_page_writes": "on", "synchronous_commit": "on"}
SETUP_S = 1800  # making the data may take this long


@contextlib.contextmanager
def database(name):
    server = PostgresServer(SETTINGS)
    try:
        yield server.database(name)
    finally:
        server.remove()


@contextlib.contextmanager
def replication(db, tables, **options):
    """With the defaults that a user has, unless options say otherwise."""
    fjord = Fjord(db, tables, **options)
    del fjord.config["replications"][fjord.name]["publish"]
    fjord.write_config()
    try:
        yield fjord
    finally:
        fjord.remove()


def init_seconds(fjord):
    """The whole of `fjord init`, from the start of the process to its end, with its memory watched."""
    began = time.monotonic()
    fjord.start(command="init")
    while fjord.process.poll() is None:
        time.sleep(0.005)
    assert fjord.process.returncode == 0, f"init ended with {fjord.process.returncode}:\n{tail(fjord.log)}"
    return time.monotonic() - began


def forget(fjord):
    """As if `fjord` had never been: for another run on the same source."""
    import shutil
    if fjord.running():
        fjord.stop()
    db = fjord.database
    for name in _names(db, "SELECT slot_name FROM pg_replication_slots WHERE database = current_database()"):
        db.value("SELECT pg_drop_replication_slot(%s)", name)
    for name in _names(db, "SELECT pubname FROM pg_publication"):
        db.psql(f'DROP PUBLICATION "{name}"')
    fjord.remove_state()
    shutil.rmtree(fjord.lake.path, ignore_errors=True)


def _names(db, query):
    with db.connect() as c:
        return [row[0] for row in c.execute(query).fetchall()]


def counted_pipe(argv):
    """Seconds and bytes of a command whose output goes to `wc -c`."""
    began = time.monotonic()
    source = subprocess.Popen([str(a) for a in argv], stdout=subprocess.PIPE, env=os.environ)
    counter = subprocess.run(["wc", "-c"], stdin=source.stdout, capture_output=True, text=True, check=True)
    source.stdout.close()
    assert source.wait() == 0, f"{argv[0]} ended with {source.returncode}"
    return time.monotonic() - began, int(counter.stdout)


def wait_watermark(fjord, target, lsn, deadline_s):
    """Until the head of a lake table is beyond `lsn`."""
    def reached():
        fjord.assert_running()
        return (fjord.watermark(target) or 0) > lsn
    wait_for(reached, deadline_s, lambda: f"{target} beyond {lsn:X}:\n{tail(fjord.log)}", poll_s=0.05)


def peak_mib(fjord):
    return round(fjord.peak_anonymous_kib / 1024, 1)


def median(values):
    return sorted(values)[len(values) // 2]
