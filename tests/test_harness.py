"""The harness itself: it sees what is equal and what is not. Tables are made by PyIceberg, not by Fjord."""

import datetime
import decimal
import struct
import uuid

import pyarrow as pa
import pytest

from harness import source
from harness.cases import parse
from harness.compare import compare_table
from harness.process import temp_folder
from harness.proxies import HttpFaultProxy, TcpRelay
from harness.readers import EmbeddedLake
from harness.workload import Workload, create
from pyiceberg.catalog.sql import SqlCatalog


@pytest.fixture
def lake():
    import shutil
    folder = temp_folder("lake")
    yield EmbeddedLake(folder)
    shutil.rmtree(folder)


def write_table(lake, name, table, delete=None):
    """A PyIceberg table with a version hint beside its metadata, as Fjord keeps one."""
    catalog = SqlCatalog("fjord", uri=f"sqlite:///{lake.path}/catalog.db", warehouse=f"file://{lake.path}")
    catalog.create_namespace_if_not_exists("public")
    made = catalog.create_table(("public", name), schema=table.schema)
    made.append(table)
    if delete:
        made.delete(delete)
    metadata = made.metadata_location.removeprefix("file://")
    folder, file = metadata.rsplit("/", 1)
    with open(f"{folder}/version-hint.text", "w") as hint:
        hint.write(file.removesuffix(".metadata.json"))


def people(rows):
    return pa.table({"id": pa.array([r[0] for r in rows], pa.int64()), "name": [r[1] for r in rows]})


def test_equal_tables_have_no_findings(database, lake):
    database.psql("CREATE TABLE p (id bigint PRIMARY KEY, name text); INSERT INTO p VALUES (1,'a'),(2,NULL),(3,'');")
    write_table(lake, "p", people([(3, ""), (1, "a"), (2, None)]))
    assert compare_table(database, lake, "public.p") == []


@pytest.mark.parametrize("rows", [
    [(1, "a"), (2, None)],                         # one missing
    [(1, "a"), (2, None), (3, ""), (3, "")],       # one twice
    [(1, "a"), (2, ""), (3, "")],                  # an empty text where there is none
    [(1, "a"), (2, None), (3, " ")],               # another text
])
def test_a_difference_is_found_by_both_readers(database, lake, rows):
    database.psql("CREATE TABLE p (id bigint PRIMARY KEY, name text); INSERT INTO p VALUES (1,'a'),(2,NULL),(3,'');")
    write_table(lake, "p", people(rows))
    findings = compare_table(database, lake, "public.p")
    assert any("DuckDB, all rows" in f for f in findings), findings
    assert any("PyIceberg, all rows" in f for f in findings), findings


def test_every_native_type_is_compared_exactly(database, lake):
    database.psql("""
        CREATE TABLE t (id int PRIMARY KEY, b bool, f4 float4, f8 float8, d numeric(20,4), bin bytea, day date,
                        clock time, ts timestamp, tz timestamptz, u uuid);
        INSERT INTO t VALUES
          (1, true, 0.1, 0.1, 1234567890123456.7891, '\\x00ff', '1500-02-28', '23:59:59.999999',
           '0044-03-15 12:00:00.000001', '2024-05-05 12:00:00.123456+02', '00112233-4455-6677-8899-aabbccddeeff'),
          (2, false, 'NaN', '-0', -0.0001, '', '9999-12-31', '00:00', '1969-12-31 23:59:59.999999',
           '1969-12-31 23:59:59.999999+00', 'ffffffff-ffff-ffff-ffff-ffffffffffff'),
          (3, null, null, null, null, null, null, null, null, null, null)""")
    epoch = datetime.date(1970, 1, 1)
    early = database.value("SELECT (extract(epoch FROM ts) * 1000000)::bigint FROM t WHERE id = 1")
    f4 = struct.unpack("<f", struct.pack("<f", 0.1))[0]
    tz = 1714903200123456
    write_table(lake, "t", pa.table({
        "id": pa.array([1, 2, 3], pa.int32()), "b": pa.array([True, False, None]),
        "f4": pa.array([f4, float("nan"), None], pa.float32()), "f8": pa.array([0.1, -0.0, None], pa.float64()),
        "d": pa.array([decimal.Decimal("1234567890123456.7891"), decimal.Decimal("-0.0001"), None],
                      pa.decimal128(20, 4)),
        "bin": pa.array([b"\x00\xff", b"", None], pa.binary()),
        "day": pa.array([(datetime.date(1500, 2, 28) - epoch).days, (datetime.date(9999, 12, 31) - epoch).days, None],
                        pa.int32()).cast(pa.date32()),
        "clock": pa.array([86399999999, 0, None], pa.int64()).cast(pa.time64("us")),
        "ts": pa.array([early, -1, None], pa.int64()).cast(pa.timestamp("us")),
        "tz": pa.array([tz, -1, None], pa.int64()).cast(pa.timestamp("us", "UTC")),
        "u": pa.array([uuid.UUID("00112233-4455-6677-8899-aabbccddeeff").bytes, b"\xff" * 16, None], pa.binary(16)),
    }, schema=None).cast(pa.schema([
        ("id", pa.int32()), ("b", pa.bool_()), ("f4", pa.float32()), ("f8", pa.float64()), ("d", pa.decimal128(20, 4)),
        ("bin", pa.binary()), ("day", pa.date32()), ("clock", pa.time64("us")), ("ts", pa.timestamp("us")),
        ("tz", pa.timestamp("us", "UTC")), ("u", pa.binary(16))])))
    assert compare_table(database, lake, "public.t") == []


def test_array_text():
    assert source.array_text("{}", "int4") == "[]"
    assert source.array_text("{1,NULL,-3}", "int4") == "[1,null,-3]"
    assert source.array_text("{t,f}", "bool") == "[true,false]"
    assert source.array_text('{NULL,"NULL","a\\"b","\\\\",ü}', "text") == '[null,"NULL","a\\"b","\\\\","ü"]'
    assert source.array_text("{NaN,1.50}", "numeric") == '["NaN",1.50]'


def test_names_are_split_at_the_right_dot():
    assert source.split_name("public.orders") == ("public", "orders")
    assert source.split_name('"My schema"."a.""b"') == ("My schema", 'a."b')


def test_a_case_is_parsed_into_steps():
    steps = parse("# why\nsql:\n  SELECT 1;\n\n  SELECT 2;\nwait caught up\nexpect equal public.t\n")
    assert [(s.line, s.text, s.block) for s in steps] == [
        (2, "sql", "SELECT 1;\n\nSELECT 2;"), (6, "wait caught up", ""), (7, "expect equal public.t", "")]


def test_all_cases_can_be_parsed_and_have_known_steps():
    from harness.cases import CaseRunner
    from test_cases import CASES
    assert CASES
    for path in CASES:
        text = path.read_text()
        assert text.startswith("#"), f"{path.name} says what it is for"
        for step in parse(text):
            assert any(p.fullmatch(step.text) for p, _ in CaseRunner._STEPS), f"{path.name}:{step.line}: {step.text}"


def test_the_workload_changes_every_table(database):
    create(database, rows=50)
    with Workload(database, writers=4, seed=1) as w:
        w.wait_transactions(300)
    for table in ("people", "pairs", "whole", "indexed", "events"):
        assert database.value(f"SELECT n_tup_ins > 50 FROM pg_stat_user_tables WHERE relname = '{table}'") is not None
        assert database.value(f"SELECT count(*) FROM {table}") > 0


def test_the_proxy_carries_out_and_loses_the_answer():
    import http.server
    import threading

    import requests
    done = []

    class Upstream(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            done.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"ok")

        def log_message(self, *arguments):
            pass

    upstream = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
    threading.Thread(target=upstream.serve_forever, daemon=True).start()
    proxy = HttpFaultProxy(f"http://127.0.0.1:{upstream.server_port}")
    proxy.lose_answer("POST /commit")
    proxy.answer_status("POST /commit", 503)
    proxy.answer_status_after("POST /commit", 504)
    with pytest.raises(requests.ConnectionError):
        requests.post(f"{proxy.uri}/commit", data=b"1", timeout=5)
    assert requests.post(f"{proxy.uri}/commit", data=b"2", timeout=5).status_code == 503
    assert requests.post(f"{proxy.uri}/commit", data=b"3", timeout=5).status_code == 504
    assert requests.post(f"{proxy.uri}/commit", data=b"4", timeout=5).text == "ok"
    assert done == [b"1", b"3", b"4"]
    proxy.close()
    upstream.shutdown()


def test_the_relay_cuts_connections(server):
    import psycopg
    relay = TcpRelay(server.port)
    connection = psycopg.connect(f"postgres://postgres@127.0.0.1:{relay.port}/postgres")
    assert connection.execute("SELECT 1").fetchone() == (1,)
    relay.cut()
    with pytest.raises(psycopg.OperationalError):
        connection.execute("SELECT 1")
    relay.close()


def test_both_readers_read_from_s3(database):
    from harness.seaweed import SeaweedServer
    s3 = SeaweedServer()
    folder = temp_folder("lake")
    try:
        lake = EmbeddedLake(folder, warehouse=f"s3://{s3.bucket}/wh", s3=s3.access())
        catalog = SqlCatalog("fjord", uri=f"sqlite:///{folder}/catalog.db", warehouse=lake.warehouse,
                             **lake.s3.pyiceberg())
        catalog.create_namespace("public")
        data = people([(1, "a"), (2, None)])
        catalog.create_table(("public", "p"), schema=data.schema).append(data)
        database.psql("CREATE TABLE p (id bigint PRIMARY KEY, name text); INSERT INTO p VALUES (1,'a'),(2,NULL);")
        assert compare_table(database, lake, "public.p") == []
    finally:
        s3.remove()


@pytest.mark.ci
def test_spark_and_both_readers_share_the_java_catalog(database):
    from harness import spark
    from harness.java_rest_catalog import JavaRestCatalog
    java = JavaRestCatalog()
    try:
        data = people([(1, "a"), (2, None)])
        catalog = java.lake.pyiceberg()
        catalog.create_namespace("public")
        catalog.create_table(("public", "p"), schema=data.schema).append(data)
        database.psql("CREATE TABLE p (id bigint PRIMARY KEY, name text); INSERT INTO p VALUES (1,'a'),(2,NULL);")
        assert compare_table(database, java.lake, "public.p") == []
        session = spark.start()
        spark.add_catalog(session, "java", java.uri)
        session.sql("INSERT INTO java.public.p VALUES (3, 'spark')")
        assert any("only in the lake: (3, 'spark')" in f for f in compare_table(database, java.lake, "public.p"))
        session.sql("CALL java.system.rewrite_data_files(table => 'public.p', options => map('rewrite-all', 'true'))")
        assert session.table("java.public.p").toArrow().num_rows == 3
    finally:
        java.remove()
