"""Writers that change a database as applications do: random, concurrent, with rollbacks. The seed is printed."""

import random
import threading
import time

import psycopg

# Each table stands for one way of naming rows. `big` goes out of line (TOAST), so that updates leave it unchanged.
TABLES = {
    "public.people": """
        CREATE TABLE public.people (id bigint PRIMARY KEY, name text, n int NOT NULL, amount numeric(12,2),
                                    at timestamptz DEFAULT now(), big text);
        ALTER TABLE public.people ALTER big SET STORAGE EXTERNAL;""",
    "public.pairs": """
        CREATE TABLE public.pairs (a int, b text, n int, big bytea, PRIMARY KEY (b, a));
        ALTER TABLE public.pairs ALTER big SET STORAGE EXTERNAL;""",
    "public.whole": """
        CREATE TABLE public.whole (id int PRIMARY KEY, n int, big text);
        ALTER TABLE public.whole ALTER big SET STORAGE EXTERNAL;
        ALTER TABLE public.whole REPLICA IDENTITY FULL;""",
    "public.indexed": """
        CREATE TABLE public.indexed (id int PRIMARY KEY, code text NOT NULL, n int);
        CREATE UNIQUE INDEX indexed_code ON public.indexed (code);
        ALTER TABLE public.indexed REPLICA IDENTITY USING INDEX indexed_code;""",
    "public.events": """
        CREATE TABLE public.events (at timestamptz DEFAULT clock_timestamp(), kind text, n bigint);""",
}
CONFIG = ["public.people", "public.pairs", "public.whole", "public.indexed",
          {"source": "public.events", "appendOnly": True}]
KEYS = 400  # few enough that writers meet each other


def create(database, rows=KEYS // 2):
    """Makes the tables, with some rows to begin with."""
    database.psql("\n".join(TABLES.values()) + f"""
        INSERT INTO people SELECT g, 'name ' || g, g, g / 100.0, now(), repeat(md5(g::text), 100)
          FROM generate_series(1, {rows}) g;
        INSERT INTO pairs SELECT g, 'b' || g % 7, g, decode(repeat(md5(g::text), 100), 'hex')
          FROM generate_series(1, {rows}) g;
        INSERT INTO whole SELECT g, g, repeat(md5(g::text), 100) FROM generate_series(1, {rows}) g;
        INSERT INTO indexed SELECT g, 'code' || g, g FROM generate_series(1, {rows}) g;
        INSERT INTO events SELECT now(), 'start', g FROM generate_series(1, {rows}) g;""")


class Workload:
    """`writers` threads that work until stop(). Use as a context manager; stop() waits for them."""

    def __init__(self, database, writers=4, seed=None, pause_s=0.0):
        self.seed = random.randrange(1 << 32) if seed is None else seed
        print(f"workload seed: {self.seed}")
        self.transactions = 0
        self._database = database
        self._pause_s = pause_s
        self._stop = threading.Event()
        self._errors = []
        self._threads = [threading.Thread(target=self._run, args=(i,), daemon=True) for i in range(writers)]

    def __enter__(self):
        for t in self._threads:
            t.start()
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        self._stop.set()
        for t in self._threads:
            t.join(60)
            assert not t.is_alive(), "a writer hangs"
        assert not self._errors, f"a writer failed (seed {self.seed}): {self._errors[0]!r}"

    def wait_transactions(self, more, deadline_s=60):
        want, until = self.transactions + more, time.monotonic() + deadline_s
        while self.transactions < want and not self._errors:
            assert time.monotonic() < until, f"{more} more transactions (seed {self.seed})"
            time.sleep(0.01)

    def _run(self, number):
        choose = random.Random(self.seed * 1000 + number)
        try:
            with self._database.connect() as connection:
                connection.execute("SET deadlock_timeout = '50ms'")
                while not self._stop.is_set():
                    self._transaction(connection, choose)
                    self.transactions += 1
                    self._stop.wait(self._pause_s)
        except Exception as e:  # shown by stop()
            self._errors.append(e)

    def _transaction(self, connection, choose):
        try:
            with connection.transaction():
                for _ in range(choose.choice((1, 1, 1, 2, 5, 20))):
                    self._savepoint(connection, choose)
                if choose.random() < 0.15:
                    raise psycopg.Rollback()
        except (psycopg.errors.DeadlockDetected, psycopg.errors.LockNotAvailable):
            pass

    def _savepoint(self, connection, choose):
        """One change in a savepoint; a duplicate key rolls only it back, and now and then it is given up on purpose."""
        try:
            with connection.transaction() as savepoint:
                _change(connection, choose)
                if choose.random() < 0.1:
                    raise psycopg.Rollback(savepoint)
        except psycopg.errors.UniqueViolation:
            pass


def _big(choose):
    return choose.choice([None, "", "x" * choose.randrange(3000, 9000), format(choose.getrandbits(24000), "x")])


def _change(connection, choose):
    key, other, n = choose.randrange(KEYS), choose.randrange(KEYS), choose.randrange(1 << 30)
    do = connection.execute
    table = choose.choice(("people", "people", "pairs", "whole", "indexed", "events"))
    kind = choose.choices(("insert", "update", "delete", "move", "many"), (30, 40, 15, 10, 5))[0]
    if table == "events":
        return do("INSERT INTO events (kind, n) VALUES (%s, %s)", (kind, n))
    if table == "people":
        if kind == "insert":
            return do("INSERT INTO people VALUES (%s, %s, %s, %s, clock_timestamp(), %s)",
                      (key, f"name {n}", n, n / 100, _big(choose)))
        if kind == "update":
            if choose.random() < 0.3:
                return do("UPDATE people SET big = %s WHERE id = %s", (_big(choose), key))
            return do("UPDATE people SET n = %s WHERE id = %s", (n, key))
        if kind == "many":
            return do("UPDATE people SET n = n + 1 WHERE id BETWEEN %s AND %s", (key, key + 10))
    if table == "pairs":
        if kind == "insert":
            return do("INSERT INTO pairs VALUES (%s, %s, %s, convert_to(%s, 'UTF8'))",
                      (key, f"b{key % 7}", n, _big(choose)))
        if kind == "update":
            return do("UPDATE pairs SET n = %s WHERE a = %s", (n, key))
        if kind == "move":
            return do("UPDATE pairs SET b = 'c' || %s WHERE a = %s", (other % 5, key))
        return do("DELETE FROM pairs WHERE a = %s", (key,))
    if table == "whole" and kind == "insert":
        return do("INSERT INTO whole VALUES (%s, %s, %s)", (key, n, _big(choose)))
    if table == "indexed":
        if kind == "insert":
            return do("INSERT INTO indexed VALUES (%s, %s, %s)", (key, f"code{key}", n))
        if kind == "move":
            return do("UPDATE indexed SET code = %s WHERE id = %s", (f"code{other}", key))
    if kind in ("update", "many"):
        return do(f"UPDATE {table} SET n = %s WHERE id = %s", (n, key))
    if kind == "move":
        return do(f"UPDATE {table} SET id = %s WHERE id = %s", (other, key))
    return do(f"DELETE FROM {table} WHERE id = %s", (key,))
