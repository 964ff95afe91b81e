"""`fjord catalog serve` without a replication: PyIceberg and DuckDB read and write through it."""

import concurrent.futures
import pathlib
import signal
import sys

import pyarrow
import pytest
import requests
import yaml

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
from harness.fjord import answers, binary  # noqa: E402
from harness.process import end, free_port, spawn, tail, temp_folder, wait_for  # noqa: E402
from harness.readers import EmbeddedLake, RestLake, attach, connect_duckdb  # noqa: E402
from pyiceberg.exceptions import (  # noqa: E402
    CommitFailedException,
    NamespaceAlreadyExistsError,
    NamespaceNotEmptyError,
    NoSuchNamespaceError,
    NoSuchTableError,
    TableAlreadyExistsError,
)
from pyiceberg.partitioning import PartitionField, PartitionSpec  # noqa: E402
from pyiceberg.schema import Schema  # noqa: E402
from pyiceberg.table.refs import SnapshotRef  # noqa: E402
from pyiceberg.transforms import DayTransform  # noqa: E402
from pyiceberg.types import LongType, NestedField, StringType, TimestamptzType  # noqa: E402

ROWS = pyarrow.table({"id": [1, 2], "name": ["a", None]})


class Server:
    """The embedded catalog of an own folder, served."""

    def __init__(self):
        self.folder = temp_folder("serve")
        self.lake_folder = self.folder / "lake"
        config = self.folder / "fjord.yaml"
        config.write_text(yaml.safe_dump({"replications": {"r": {
            "source": {"postgres": {"url": "postgres://nobody@127.0.0.1:1/none"}},
            "lake": {"catalog": {"embedded": {"path": str(self.lake_folder)}}}, "tables": ["public.t"]}}}))
        self.port = free_port()
        self.log = self.folder / "serve.log"
        self.process = spawn([binary(), "catalog", "serve", "--config", config, "--listen", f"127.0.0.1:{self.port}"],
                             log=self.log, cwd=self.folder)
        self.uri = f"http://127.0.0.1:{self.port}"
        wait_for(lambda: answers(self.process, self.log, f"{self.uri}/v1/config"), 30,
                 lambda: f"the catalog answers:\n{tail(self.log)}")

    def pyiceberg(self):
        return RestLake(self.uri).pyiceberg()

    def duckdb(self):
        connection = connect_duckdb()
        attach(connection, RestLake(self.uri))
        return connection

    def stop(self):
        return end(self.process, signal.SIGTERM)


@pytest.fixture(scope="module")
def server():
    s = Server()
    yield s
    assert s.stop() == 0, tail(s.log)


@pytest.fixture
def catalog(server, request):
    """A client, and a namespace of its own as its attribute `ns`."""
    c = server.pyiceberg()
    c.ns = request.node.name
    c.create_namespace(c.ns)
    return c


def rows(table):
    return sorted(table.scan().to_arrow().to_pylist(), key=lambda row: row["id"])


def test_namespaces(server):
    c = server.pyiceberg()
    c.create_namespace(("levels", "below"), {"owner": "x"})
    assert ("levels",) in c.list_namespaces()
    assert c.list_namespaces("levels") == [("levels", "below")]
    assert c.load_namespace_properties(("levels", "below"))["owner"] == "x"
    summary = c.update_namespace_properties(("levels", "below"), removals={"owner", "none"}, updates={"size": "1"})
    assert (summary.removed, summary.updated, summary.missing) == (["owner"], ["size"], ["none"])
    with pytest.raises(NamespaceAlreadyExistsError):
        c.create_namespace("levels")
    with pytest.raises(NoSuchNamespaceError):
        c.load_namespace_properties("none")
    c.create_table("levels.below.t", ROWS.schema)
    with pytest.raises(NamespaceNotEmptyError):
        c.drop_namespace(("levels", "below"))
    c.drop_table("levels.below.t")
    c.drop_namespace(("levels", "below"))
    assert not c.namespace_exists("levels")


def test_pyiceberg_writes_and_reads(catalog):
    table = catalog.create_table(f"{catalog.ns}.t", ROWS.schema, properties={"owner": "x"})
    table.append(ROWS)
    table.append(ROWS)
    table.delete("id = 1")
    assert rows(catalog.load_table(f"{catalog.ns}.t")) == [{"id": 2, "name": None}] * 2
    table.overwrite(ROWS)
    with table.update_schema() as schema:
        schema.add_column("note", StringType())
    with table.transaction() as transaction:
        transaction.set_properties(a="b")
    table.manage_snapshots().create_tag(table.current_snapshot().snapshot_id, "now").commit()
    loaded = catalog.load_table(f"{catalog.ns}.t")
    assert loaded.schema().find_field("note").field_id == 3
    assert loaded.properties["a"] == "b" and loaded.properties["owner"] == "x"
    assert isinstance(loaded.refs()["now"], SnapshotRef)
    loaded.maintenance.expire_snapshots().by_id(loaded.snapshots()[0].snapshot_id).commit()
    assert len(rows(catalog.load_table(f"{catalog.ns}.t"))) == 2


def test_a_partitioned_table_and_its_evolution(catalog):
    schema = Schema(NestedField(1, "id", LongType(), required=True), NestedField(2, "at", TimestamptzType()),
                    identifier_field_ids=[1])
    table = catalog.create_table(f"{catalog.ns}.t", schema,
                                 partition_spec=PartitionSpec(PartitionField(2, 1000, DayTransform(), "day")))
    assert table.spec().fields[0].source_id == 2 and table.schema().identifier_field_ids == [1]
    with table.update_spec() as spec:
        spec.add_identity("id")
    assert [f.name for f in catalog.load_table(f"{catalog.ns}.t").spec().fields] == ["day", "id"]


def test_a_table_is_staged_and_made_by_its_first_commit(catalog):
    name = f"{catalog.ns}.t"
    with catalog.create_table_transaction(name, ROWS.schema) as transaction:
        assert not catalog.table_exists(name)
        transaction.append(ROWS)
    assert len(rows(catalog.load_table(name))) == 2


def test_what_is_missing_or_there_already(catalog):
    name = f"{catalog.ns}.t"
    with pytest.raises(NoSuchTableError):
        catalog.load_table(name)
    with pytest.raises(NoSuchTableError):
        catalog.drop_table(name)
    catalog.create_table(name, ROWS.schema)
    with pytest.raises(TableAlreadyExistsError):
        catalog.create_table(name, ROWS.schema)
    with pytest.raises(NoSuchNamespaceError):
        catalog.list_tables("none")


def test_rename_and_register(catalog, server):
    table = catalog.create_table(f"{catalog.ns}.t", ROWS.schema)
    table.append(ROWS)
    catalog.rename_table(f"{catalog.ns}.t", f"{catalog.ns}.u")
    assert catalog.list_tables(catalog.ns) == [(catalog.ns, "u")]
    again = catalog.register_table(f"{catalog.ns}.v", catalog.load_table(f"{catalog.ns}.u").metadata_location)
    assert len(rows(again)) == 2


def test_of_committers_on_the_same_head_one_wins(catalog, server):
    name = f"{catalog.ns}.t"
    catalog.create_table(name, ROWS.schema)
    tables = [server.pyiceberg().load_table(name) for _ in range(4)]

    def append(table):
        try:
            table.append(ROWS)
            return True
        except CommitFailedException:
            return False

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        won = list(pool.map(append, tables))
    assert any(won)
    assert len(rows(catalog.load_table(name))) == 2 * sum(won)


def test_the_sqlite_file_shows_the_same(catalog, server):
    catalog.create_table(f"{catalog.ns}.t", ROWS.schema).append(ROWS)
    beside = EmbeddedLake(server.lake_folder).pyiceberg()
    assert rows(beside.load_table(f"{catalog.ns}.t")) == ROWS.to_pylist()
    beside.load_table(f"{catalog.ns}.t").append(ROWS)
    assert len(rows(catalog.load_table(f"{catalog.ns}.t"))) == 4


def test_duckdb_reads_and_writes(catalog, server):
    name = f"{catalog.ns}.t"
    table = catalog.create_table(name, ROWS.schema)
    table.append(ROWS)
    first = catalog.load_table(name).current_snapshot().snapshot_id
    duck = server.duckdb()
    assert duck.execute(f"SELECT * FROM ice.{name} ORDER BY id").fetchall() == [(1, "a"), (2, None)]
    duck.execute(f"INSERT INTO ice.{name} VALUES (3, 'c')")
    duck.execute(f"DELETE FROM ice.{name} WHERE id = 1")
    assert duck.execute(f"SELECT id FROM ice.{name} ORDER BY id").fetchall() == [(2,), (3,)]
    assert duck.execute(f"SELECT count(*) FROM ice.{name} AT (VERSION => {first})").fetchone() == (2,)
    assert [r["id"] for r in rows(catalog.load_table(name))] == [2, 3]


def test_duckdb_makes_and_drops_tables(catalog, server):
    duck = server.duckdb()
    folder = server.lake_folder / catalog.ns / "made"
    for part in ("data", "metadata"):  # DuckDB wants the folders of a local table made first
        (folder / part).mkdir(parents=True)
    duck.execute(f"CREATE TABLE ice.{catalog.ns}.made AS SELECT 1::BIGINT AS id, 'a' AS name")
    assert rows(catalog.load_table(f"{catalog.ns}.made")) == [{"id": 1, "name": "a"}]
    duck.execute(f"CREATE SCHEMA ice.{catalog.ns}_2")
    assert catalog.namespace_exists(f"{catalog.ns}_2")
    duck.execute(f"DROP TABLE ice.{catalog.ns}.made")
    assert not catalog.table_exists(f"{catalog.ns}.made")


def test_errors_have_the_protocols_form(server):
    answer = requests.get(f"{server.uri}/v1/namespaces/none/tables/none", timeout=5)
    assert answer.status_code == 404
    assert answer.json()["error"]["type"] == "NoSuchTableException"
    assert requests.post(f"{server.uri}/v1/namespaces", data="{}", timeout=5,
                         headers={"Content-Type": "text/plain"}).status_code == 415
    assert requests.get(f"{server.uri}/v1/config", headers={"Host": "evil.example"}, timeout=5).status_code == 403
