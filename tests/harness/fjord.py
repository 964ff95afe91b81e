"""The program under test, as a user meets it: a configuration file, commands, signals, exit codes, status.

Environment: FJORD_BINARY overrides build/release/bin/fjord.
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import threading

import yaml

from harness import source
from harness.postgres import lsn_number
from harness.process import ROOT, end, free_port, spawn, tail, temp_folder, wait_for
from harness.readers import EmbeddedLake, RestLake, load_table

EXIT_CLEAN, EXIT_FAILURE, EXIT_USAGE, EXIT_NOT_READY = 0, 1, 2, 3
EXIT_DEPENDENCY, EXIT_CONFIG, EXIT_SOURCE_GONE = 75, 78, 79


def binary():
    path = pathlib.Path(os.environ.get("FJORD_BINARY", ROOT / "build/release/bin/fjord")).absolute()
    assert path.exists(), f"{path} is not built: make build"
    return path


def merged(base, extra):
    """`extra` laid over `base`, object by object."""
    if not isinstance(base, dict) or not isinstance(extra, dict):
        return extra
    return {**base, **{k: merged(base.get(k), v) for k, v in extra.items()}}


class Fjord:
    """One configuration with one replication, and the process that runs it.

    The replication is named after the database, so that tests can share a server: slot names are per server.
    """

    def __init__(self, database, tables, *, replication=None, lake=None, lake_config=None, extra=None, environment=None):
        self.folder = temp_folder("work")
        self.database = database
        self.name = database.name
        self.tables = tables
        self.environment = dict(environment or {})
        self.lake = lake or EmbeddedLake(self.folder / "lake")
        lake_config = lake_config or {"catalog": {"embedded": {"path": str(self.folder / "lake")}}}
        self.config = merged({
            "replications": {self.name: merged({
                "source": {"postgres": {"url": database.url}},
                "lake": lake_config,
                "tables": tables,
                "publish": {"every": "100ms"},
            }, replication or {})},
            "stateDir": str(self.folder / "state"),
            "dataDir": str(self.folder / "data"),
        }, extra or {})
        self.config_file = self.folder / "fjord.yaml"
        self.log = self.folder / "fjord.log"
        self.process = None
        self.peak_anonymous_kib = 0
        self.write_config()

    # --- commands -----------------------------------------------------------------------------------------------

    def write_config(self):
        self.config_file.write_text(yaml.safe_dump(self.config, allow_unicode=True, sort_keys=False))

    def _environment(self, extra=None):
        return {**os.environ, **self.environment, **(extra or {})}

    def command(self, *arguments, timeout_s=120, environment=None):
        """Runs a command to its end: `command("check")` adds --config."""
        return subprocess.run(
            [binary(), *arguments, "--config", self.config_file], capture_output=True, text=True,
            timeout=timeout_s, env=self._environment(environment), cwd=self.folder, stdin=subprocess.DEVNULL)

    def init(self, timeout_s=240):
        done = self.command("init", timeout_s=timeout_s)
        assert done.returncode == 0, f"init ended with {done.returncode}:\n{done.stdout}\n{done.stderr}"
        return done

    def start(self, kill_at=None, command="run"):
        """Starts `fjord run` (or `init`) and returns at once."""
        assert self.process is None or self.process.poll() is not None, "fjord run is still there"
        extra = {"FJORD_TEST_KILL_AT": kill_at} if kill_at else {}
        self.process = spawn([binary(), command, "--config", self.config_file], log=self.log,
                             env=self._environment(extra), cwd=self.folder)
        threading.Thread(target=self._watch_memory, args=(self.process.pid,), daemon=True).start()
        wait_for(lambda: not self.running() or self._takes_signals(), 20, lambda: "fjord has started", poll_s=0.005)

    def _takes_signals(self):
        """Whether the program has got as far as to see to SIGTERM itself; before that it just ends."""
        try:
            text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        except (FileNotFoundError, ProcessLookupError):
            return False
        blocked = next(int(line.split()[1], 16) for line in text.splitlines() if line.startswith("SigBlk:"))
        return bool(blocked >> (signal.SIGTERM - 1) & 1)

    def stop(self, expect=EXIT_CLEAN):
        code = end(self.process, signal.SIGTERM, 60)
        assert code == expect, f"fjord run ended with {code} after SIGTERM, expected {expect}:\n{tail(self.log)}"

    def kill(self):
        end(self.process, signal.SIGKILL)

    def wait_exit(self, deadline_s=60):
        wait_for(lambda: self.process.poll() is not None, deadline_s,
                 lambda: f"fjord run ends:\n{tail(self.log)}")
        return self.process.returncode

    def running(self):
        return self.process is not None and self.process.poll() is None

    def remove_state(self):
        shutil.rmtree(self.folder / "state", ignore_errors=True)

    def remove(self):
        if self.running():
            self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _watch_memory(self, pid):
        """Keeps the peak of the anonymous memory; ends with the process."""
        pause = threading.Event()
        try:
            while True:
                text = pathlib.Path(f"/proc/{pid}/status").read_text()
                for line in text.splitlines():
                    if line.startswith("RssAnon:"):
                        self.peak_anonymous_kib = max(self.peak_anonymous_kib, int(line.split()[1]))
                if "State:\tZ" in text:
                    return
                pause.wait(0.05)
        except (FileNotFoundError, ProcessLookupError):
            return

    # --- what it says -------------------------------------------------------------------------------------------

    def log_text(self):
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def status(self):
        """The object that `fjord status --json` prints (tests/README.md says what tests use of it)."""
        done = self.command("status", "--json")
        assert done.returncode in (EXIT_CLEAN, EXIT_NOT_READY), (
            f"status ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
        return json.loads(done.stdout)

    def table_status(self, table):
        wanted = source.split_name(table)
        for replication in self.status()["replications"]:
            for entry in replication["tables"]:
                if source.split_name(entry["source"]) == wanted:
                    return entry
        return None

    def blocked_tables(self):
        return {source.split_name(t["source"]) for r in self.status()["replications"] for t in r["tables"]
                if t["state"] == "blocked"}

    # --- the lake -----------------------------------------------------------------------------------------------

    def source_tables(self):
        """(source, target) of the tables that are named without a wildcard."""
        named = [(t, t) if isinstance(t, str) else (t["source"], t.get("target", t["source"])) for t in self.tables]
        return [(s, source.split_name(t)) for s, t in named if "*" not in s]

    def has_base(self, target):
        """Whether the first copy of a table is committed: its head, or an ancestor, carries a watermark."""
        table = load_table(self.lake, target)
        return table is not None and any("fjord.lsn" in (s.summary.additional_properties if s.summary else {})
                                         for s in table.metadata.snapshots)

    def watermark(self, target):
        """The LSN of the head of a lake table as an integer, or None."""
        table = load_table(self.lake, target)
        head = table.current_snapshot() if table else None
        text = head.summary.additional_properties.get("fjord.lsn") if head and head.summary else None
        return lsn_number(text) if text else None

    def wait_caught_up(self, deadline_s=60, without=()):
        """Waits until everything that is committed in the source now is durable in the lake.

        That is so when each table has its base and the slot is confirmed beyond the present end of WAL. Tables in
        `without` (source names) are set aside: then the slot may stay behind, and only bases are waited for.
        """
        waiting = [x for x in self.source_tables() if x[0] not in without]

        def based():
            self.assert_running()
            waiting[:] = [x for x in waiting if not self.has_base(x[1])]
            return not waiting

        wait_for(based, deadline_s, lambda: f"first copy of {waiting}:\n{tail(self.log)}", poll_s=0.1)
        if without:
            return
        lsn = self.database.lsn()

        def confirmed():
            self.assert_running()
            return self.database.confirmed_lsn() >= lsn

        wait_for(confirmed, deadline_s, lambda: (
            f"the slot is confirmed beyond {lsn:X}; it is {self.database.slot()}\n"
            f"status: {self.command('status').stdout}\n{tail(self.log)}"))

    def assert_running(self):
        assert self.running(), f"fjord run ended with {self.process and self.process.returncode}:\n{tail(self.log)}"

    def wait_blocked(self, table, pattern=None, deadline_s=60):
        """Waits until `status` shows the table as blocked; returns the reason."""
        entry = wait_for(lambda: (e := self.table_status(table)) and e["state"] == "blocked" and e, deadline_s,
                         lambda: f"{table} is blocked; status: {self.table_status(table)}\n{tail(self.log)}", poll_s=0.3)
        return entry["reason"]


class CatalogServer:
    """`fjord catalog serve` over the embedded catalog of a configuration."""

    def __init__(self, fjord):
        self.port = free_port()
        self.log = fjord.folder / "catalog.log"
        self.process = spawn(
            [binary(), "catalog", "serve", "--config", fjord.config_file, "--listen", f"127.0.0.1:{self.port}"],
            log=self.log, env=fjord._environment(), cwd=fjord.folder)
        self.uri = f"http://127.0.0.1:{self.port}"
        self.lake = RestLake(self.uri, s3=fjord.lake.s3)
        wait_for(self._ready, 30, lambda: f"the catalog answers:\n{tail(self.log)}")

    def _ready(self):
        return answers(self.process, self.log, f"{self.uri}/v1/config")

    def stop(self):
        code = end(self.process, signal.SIGTERM)
        assert code == 0, f"catalog serve ended with {code}:\n{tail(self.log)}"


def answers(process, log, url):
    import requests
    assert process.poll() is None, f"the server ended:\n{tail(log)}"
    try:
        return requests.get(url, timeout=2).status_code == 200
    except requests.RequestException:
        return False
