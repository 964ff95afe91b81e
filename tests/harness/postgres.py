"""A private PostgreSQL server on a free port, for one test run; never the machine's own cluster."""

import glob
import os
import pwd
import re
import shutil
import signal
import subprocess

import psycopg

from harness.process import end, free_port, spawn, tail, temp_folder, wait_for

DEFAULT_SETTINGS = {
    "wal_level": "logical",
    "fsync": "off",
    "full_page_writes": "off",
    "shared_buffers": "64MB",
    "max_connections": "100",
    "max_wal_senders": "30",
    "max_replication_slots": "60",
    "max_prepared_transactions": "10",
    "listen_addresses": "'127.0.0.1'",
    "unix_socket_directories": "''",
    "logging_collector": "off",
    "log_min_messages": "warning",
    "autovacuum_naptime": "5s",
}


_UNDISTURBED = " ".join(f"-c {x}" for x in (
    "statement_timeout=0", "lock_timeout=0", "idle_in_transaction_session_timeout=0",
    "default_transaction_read_only=off", "default_transaction_isolation=read\\ committed"))


def bin_folder():
    """The newest installed server (or $FJORD_TEST_PG_BIN)."""
    if os.environ.get("FJORD_TEST_PG_BIN"):
        return os.environ["FJORD_TEST_PG_BIN"]
    found = glob.glob("/usr/lib/postgresql/*/bin/initdb")
    assert found, "no PostgreSQL server is installed: run tools/setup"
    return os.path.dirname(max(found, key=lambda p: int(re.search(r"/(\d+)/", p).group(1))))


class PostgresServer:
    """initdb, start, stop, kill. As root it runs as the user `postgres`, since the server refuses root."""

    def __init__(self, settings=None, encoding="UTF8"):
        self.folder = temp_folder("pg")
        self.data = self.folder / "data"
        self.log = self.folder / "server.log"
        self.port = free_port()
        self.settings = {**DEFAULT_SETTINGS, **(settings or {})}
        self.process = None
        self.user = "postgres" if os.getuid() == 0 else pwd.getpwuid(os.getuid()).pw_name
        if os.getuid() == 0:
            shutil.chown(self.folder, "postgres")
        initdb = spawn(
            [f"{bin_folder()}/initdb", "-D", self.data, "-U", "postgres", "-A", "trust", "--no-sync",
             "-E", encoding, "--locale=C"],
            log=self.log, user=self.user)
        assert initdb.wait(120) == 0, f"initdb failed:\n{tail(self.log)}"
        # Replication and tests connect over TCP; trust is enough on loopback, md5 users come from tests.
        self.start()

    def start(self, settings=None):
        self.settings.update(settings or {})
        options = [x for k, v in self.settings.items() for x in ("-c", f"{k}={v.strip(chr(39))}")]
        self.process = spawn(
            [f"{bin_folder()}/postgres", "-D", self.data, "-p", str(self.port), *options],
            log=self.log, user=self.user, death_signal=signal.SIGINT)
        wait_for(self._accepts, 60, lambda: f"PostgreSQL accepts connections:\n{tail(self.log)}")

    def _accepts(self):
        assert self.process.poll() is None, f"PostgreSQL ended:\n{tail(self.log)}"
        try:
            psycopg.connect(self.url("postgres"), connect_timeout=2).close()
            return True
        except psycopg.OperationalError:
            return False

    def stop(self):
        end(self.process, signal.SIGINT, 60)

    def crash(self):
        """An immediate shutdown: no checkpoint, as after a power cut."""
        end(self.process, signal.SIGQUIT, 60)

    def restart(self, settings=None):
        self.stop()
        self.start(settings)

    def remove(self):
        if self.process and self.process.poll() is None:
            end(self.process, signal.SIGQUIT, 60)
        shutil.rmtree(self.folder, ignore_errors=True)

    def url(self, database, user="postgres"):
        return f"postgres://{user}@127.0.0.1:{self.port}/{database}"

    def database(self, name, **options):
        """Makes a database and returns a handle on it."""
        extra = " ".join(f"{k} {v}" for k, v in options.items())
        with psycopg.connect(self.url("postgres"), autocommit=True) as c:
            c.execute(f'CREATE DATABASE "{name}" {extra}')
        return Database(self, name)


class Database:
    """One database of a private server."""

    def __init__(self, server, name):
        self.server = server
        self.name = name
        self.url = server.url(name)

    def connect(self, **options):
        """A session whose settings a test's ALTER DATABASE … SET cannot disturb."""
        return psycopg.connect(self.url, autocommit=True, options=_UNDISTURBED, **options)

    def psql(self, text, user="postgres", expect_ok=True, timeout_s=300):
        """Runs a script as psql would: each statement its own transaction unless the script says BEGIN."""
        done = subprocess.run(
            ["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-f", "-", self.server.url(self.name, user)],
            input=text, capture_output=True, text=True, timeout=timeout_s)
        if expect_ok:
            assert done.returncode == 0, f"psql failed:\n{done.stderr}\n--- script:\n{text[:2000]}"
        return done

    def value(self, query, *parameters):
        with self.connect() as c:
            row = c.execute(query, parameters or None).fetchone()
            return row[0] if row else None

    def lsn(self):
        """The end of what has been written to WAL, as an integer."""
        return lsn_number(self.value("SELECT pg_current_wal_lsn()::text"))

    def slot(self):
        """The permanent logical slot of this database as a dict, or None."""
        with self.connect(row_factory=psycopg.rows.dict_row) as c:
            return c.execute(
                "SELECT slot_name, active, active_pid, restart_lsn::text, confirmed_flush_lsn::text AS confirmed,"
                " wal_status FROM pg_replication_slots WHERE database = current_database() AND NOT temporary"
                " ORDER BY slot_name LIMIT 1").fetchone()

    def confirmed_lsn(self):
        slot = self.slot()
        return lsn_number(slot["confirmed"]) if slot and slot["confirmed"] else 0

    def drop(self):
        with psycopg.connect(self.server.url("postgres"), autocommit=True) as c:
            c.execute("SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots"
                      " WHERE database = %s AND active", [self.name])
            names = [r[0] for r in c.execute(
                "SELECT slot_name FROM pg_replication_slots WHERE database = %s", [self.name])]
            for name in names:
                wait_for(lambda: _drop_slot(c, name), 20, f"slot {name} can be dropped")
            c.execute("SELECT count(*) FROM pg_prepared_xacts")
            for (gid,) in c.execute("SELECT gid FROM pg_prepared_xacts WHERE database = %s", [self.name]).fetchall():
                with self.connect() as own:
                    own.execute(f"ROLLBACK PREPARED '{gid}'")
            c.execute(f'DROP DATABASE "{self.name}" WITH (FORCE)')


def _drop_slot(connection, name):
    try:
        connection.execute("SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots"
                           " WHERE slot_name = %s", [name])
        return True
    except psycopg.errors.ObjectInUse:
        return False


def lsn_number(text):
    high, low = text.split("/")
    return int(high, 16) << 32 | int(low, 16)
