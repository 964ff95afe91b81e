"""Cases as text: parsing and running tests/cases/*.case (tests/README.md has the language).

A line at the margin begins a step; an indented block below it belongs to it; `#` at the margin is a comment.
"""

import dataclasses
import re
import textwrap
import threading

import yaml

from harness import source
from harness.compare import compare_table
from harness.fjord import Fjord, merged
from harness.process import tail, wait_for


@dataclasses.dataclass
class Step:
    line: int
    text: str  # the line at the margin, without a closing colon
    block: str


def parse(text):
    steps = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("#"):
            continue
        if line[:1].strip():
            steps.append(Step(number, line.rstrip().removesuffix(":"), ""))
        elif steps:
            steps[-1].block += line + "\n"
        else:
            assert not line.strip(), f"line {number}: a block without a step"
    for step in steps:
        step.block = textwrap.dedent(step.block).strip("\n")
    return steps


class CaseRunner:
    """Runs the steps of one case. `make_database(settings, options)` gives a database, on an own server if settings."""

    def __init__(self, steps, make_database):
        self.steps = steps
        self.fjord = None
        self._make_database = make_database
        self._settings, self._options, self._config, self._fjord_environment = {}, {}, {}, {}
        self.database = None
        self._sessions = {}
        self._background = []

    def run(self):
        for step in self.steps:
            try:
                self._run(step)
            except AssertionError as e:
                raise AssertionError(f"line {step.line}, '{step.text}': {e}") from e
        self._join_background()

    def close(self):
        for connection in self._sessions.values():
            connection.close()
        if self.fjord:
            self.fjord.remove()

    # --- steps --------------------------------------------------------------------------------------------------

    _STEPS = []

    def _run(self, step):
        for pattern, method in self._STEPS:
            if match := pattern.fullmatch(step.text):
                if method.__name__ not in self._BEFORE_DATABASE:
                    self._prepare()
                return method(self, step, *match.groups())
        raise AssertionError("no such step")

    def step(pattern, steps=_STEPS):
        def register(method):
            steps.append((re.compile(pattern), method))
            return method
        return register

    _BEFORE_DATABASE = ("server", "database_options", "config")

    def _prepare(self):
        if self.database is None:
            self.database = self._make_database(self._settings, self._options)

    def _program(self):
        if self.fjord is None:
            replication = {k: v for k, v in self._config.items() if k != "tables"}
            self.fjord = Fjord(self.database, self._config["tables"], replication=replication)
        return self.fjord

    @step("server")
    def server(self, step):
        """Settings of a server of its own, as YAML."""
        self._settings = {k: str(v) for k, v in yaml.safe_load(step.block).items()}

    @step("database")
    def database_options(self, step):
        """Options of CREATE DATABASE, as YAML."""
        self._options = yaml.safe_load(step.block)

    @step("config")
    def config(self, step):
        """Keys of the replication, as YAML; a later one is laid over and the file is written again."""
        self._config = merged(self._config, yaml.safe_load(step.block))
        if self.fjord:
            self.fjord.config["replications"][self.fjord.name].update(self._config)
            self.fjord.write_config()

    @step("sql")
    def sql(self, step):
        self.database.psql(step.block)

    @step(r"sql as (\w+)")
    def sql_as(self, step, user):
        self.database.psql(step.block, user=user)

    @step("sql parallel")
    def sql_parallel(self, step):
        """Scripts separated by lines of -- run at the same time; the step ends when all have."""
        self.sql_background(step)
        self._join_background()

    @step("sql in background")
    def sql_background(self, step):
        for script in re.split(r"^--$", step.block, flags=re.M):
            result = []
            thread = threading.Thread(target=lambda s=script, r=result: r.append(_attempt(self.database.psql, s)))
            thread.start()
            self._background.append((thread, result))

    @step("wait background")
    def wait_background(self, step):
        self._join_background()

    def _join_background(self):
        background, self._background = self._background, []
        for thread, result in background:
            thread.join(240)
            assert result, "a background script hangs"
            if result[0]:
                raise AssertionError(f"in the background: {result[0]}")

    @step(r"session (\w+)")
    def session(self, step, name):
        """Statements in a session that stays open; transactions stay open too."""
        if name not in self._sessions:
            self._sessions[name] = self.database.connect()
        for statement in re.split(r";\s*\n", step.block + "\n"):
            if statement.strip():
                self._sessions[name].execute(statement)

    @step(r"restart server")
    def restart_server(self, step):
        self.database.server.restart()

    @step(r"crash server")
    def crash_server(self, step):
        self.database.server.crash()
        self.database.server.start()

    @step("init")
    def init(self, step):
        self._program().init()

    @step(r"start(?: and die at (\S+))?")
    def start(self, step, kill_at):
        """`start and die at STEP` waits until the program has killed itself at that step."""
        self._program().start(kill_at)
        if kill_at:
            code = self.fjord.wait_exit()
            assert code == -9, f"ended with {code} and not by SIGKILL at {kill_at}:\n{tail(self.fjord.log)}"

    @step("stop")
    def stop(self, step):
        self.fjord.stop()

    @step("kill")
    def kill(self, step):
        self.fjord.kill()

    @step("restart")
    def restart(self, step):
        if self.fjord.running():
            self.fjord.kill()
        self.fjord.start()

    @step("rm state")
    def rm_state(self, step):
        self.fjord.remove_state()

    @step(r"wait caught up(?: within (\d+)s)?(?: without (.+))?")
    def wait_caught_up(self, step, seconds, without):
        self.fjord.wait_caught_up(int(seconds or 60), without=tuple((without or "").split(", ")) if without else ())

    @step("wait data file")
    def wait_data_file(self, step):
        """Waits until the first copy has written something."""
        wait_for(lambda: any(self.fjord.folder.glob("lake/**/*.parquet")), 60,
                 lambda: f"a data file in the lake:\n{tail(self.fjord.log)}")

    @step(r"wait log /(.+)/")
    def wait_log(self, step, pattern):
        wait_for(lambda: re.search(pattern, self.fjord.log_text()), 60,
                 lambda: f"the log says {pattern}:\n{tail(self.fjord.log)}")

    @step(r"expect equal (.+?)(?: as (.+))?")
    def expect_equal(self, step, table, target):
        findings = self._compare(table, target)
        assert not findings, "\n".join(findings) + f"\nlog:\n{tail(self.fjord.log, 15)}"

    @step(r"expect soon equal (.+?)(?: as (.+))?")
    def expect_soon_equal(self, step, table, target):
        """For what `wait caught up` cannot wait for: the slot is held by an open transaction or a blocked table."""
        last = []

        def equal():
            self.fjord.assert_running()
            last[:] = self._compare(table, target)
            return not last

        wait_for(equal, 40, lambda: "\n".join(last) + f"\nlog:\n{tail(self.fjord.log, 15)}", poll_s=0.3)

    def _compare(self, table, target):
        return compare_table(self.database, self.fjord.lake, table, source.split_name(target) if target else None)

    @step(r"expect rows (.+) (\d+)")
    def expect_rows(self, step, table, count):
        """Guards a case against comparing nothing with nothing."""
        found = self.database.value(f"SELECT count(*) FROM {source.sql_name(table)}")
        assert found == int(count), f"the source has {found} rows"

    @step(r"expect blocked (.+?) /(.+)/")
    def expect_blocked(self, step, table, pattern):
        reason = self.fjord.wait_blocked(table)
        assert re.search(pattern, reason), f"the reason is: {reason}"

    @step(r"expect log /(.+)/")
    def expect_log(self, step, pattern):
        assert re.search(pattern, self.fjord.log_text()), f"not in the log:\n{tail(self.fjord.log)}"

    @step(r"expect exit (\d+)(?: /(.+)/)?")
    def expect_exit(self, step, code, pattern):
        """The running program ends by itself with this code."""
        found = self.fjord.wait_exit()
        assert found == int(code), f"ended with {found}:\n{tail(self.fjord.log)}"
        if pattern:
            self.expect_log(step, pattern)

    @step(r"expect command (\w[\w ]*) exits (\d+)(?: /(.+)/)?")
    def expect_command(self, step, arguments, code, pattern):
        done = self._program().command(*arguments.split())
        output = done.stdout + done.stderr
        assert done.returncode == int(code), f"exit code {done.returncode}:\n{output}"
        assert not pattern or re.search(pattern, output), f"it says:\n{output}"

    @step(r"expect memory below (\d+) MiB")
    def expect_memory(self, step, mib):
        peak = self.fjord.peak_anonymous_kib / 1024
        assert 0 < peak < int(mib), f"the peak of anonymous memory is {peak:.0f} MiB"


def _attempt(function, *arguments):
    try:
        function(*arguments)
        return None
    except Exception as e:
        return e
