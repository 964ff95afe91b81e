"""The two engines that read the lake back: DuckDB's Iceberg extension and PyIceberg. Neither is ours.

A Lake says where the tables are; a Reader answers rows, counts, filtered rows and projections as Arrow tables.
"""

import dataclasses
import pathlib

import duckdb
from pyiceberg.catalog import load_catalog
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import NoSuchNamespaceError, NoSuchTableError
from pyiceberg.expressions import AlwaysTrue, EqualTo, GreaterThan


@dataclasses.dataclass
class S3Access:
    endpoint: str  # http://127.0.0.1:PORT
    access_key: str
    secret_key: str
    region: str

    def pyiceberg(self):
        return {"s3.endpoint": self.endpoint, "s3.access-key-id": self.access_key,
                "s3.secret-access-key": self.secret_key, "s3.region": self.region, "s3.path-style-access": "true",
                "s3.force-virtual-addressing": "false"}

    def duckdb(self):
        return (f"CREATE SECRET s3 (TYPE s3, KEY_ID '{self.access_key}', SECRET '{self.secret_key}',"
                f" REGION '{self.region}', ENDPOINT '{self.endpoint.split('://')[1]}', URL_STYLE 'path',"
                f" USE_SSL false)")


@dataclasses.dataclass
class EmbeddedLake:
    """The SQLite catalog of `catalog: {embedded: {path: …}}`."""

    path: pathlib.Path
    warehouse: str | None = None
    s3: S3Access | None = None

    def pyiceberg(self):
        warehouse = self.warehouse or f"file://{self.path}"
        return SqlCatalog("fjord", uri=f"sqlite:///{self.path}/catalog.db", warehouse=warehouse, init_catalog_tables="false",
                          **(self.s3.pyiceberg() if self.s3 else {}))

    def exists(self):
        return (self.path / "catalog.db").exists()


@dataclasses.dataclass
class RestLake:
    """Any Iceberg REST catalog."""

    uri: str
    warehouse: str = ""
    s3: S3Access | None = None

    def pyiceberg(self):
        return load_catalog("rest", type="rest", uri=self.uri, warehouse=self.warehouse,
                            **(self.s3.pyiceberg() if self.s3 else {}))

    def exists(self):
        return True


def load_table(lake, target):
    """The PyIceberg table (namespace, name), or None when there is none yet."""
    if not lake.exists():
        return None
    try:
        return lake.pyiceberg().load_table(target)
    except (NoSuchTableError, NoSuchNamespaceError):
        return None


class PyIcebergReader:
    name = "PyIceberg"

    def __init__(self, lake, target):
        self.table = lake.pyiceberg().load_table(target)

    def rows(self, columns, equal=None, greater=None):
        return self._scan(equal, greater, tuple(columns)).to_arrow()

    def count(self):
        return self._scan(None, None, ("*",)).count()

    def _scan(self, equal, greater, columns):
        row_filter = EqualTo(*equal) if equal else GreaterThan(*greater) if greater else AlwaysTrue()
        return self.table.scan(row_filter=row_filter, selected_fields=columns)

    def close(self):
        pass


class DuckDbReader:
    """Reads a local embedded lake by the table's folder, as a person without any catalog would; REST by ATTACH; an
    embedded catalog over S3 by the metadata file."""

    name = "DuckDB"

    def __init__(self, lake, target):
        self.connection = connect_duckdb(lake.s3)
        namespace, table = target
        if isinstance(lake, RestLake):
            attach(self.connection, lake)
            self.source = f"ice.{_quoted(namespace)}.{_quoted(table)}"
        else:
            made = lake.pyiceberg().load_table(target)
            location = made.metadata_location if lake.s3 else made.location().removeprefix("file://")
            self.source = "iceberg_scan('" + location.replace("'", "''") + "')"

    def rows(self, columns, equal=None, greater=None):
        name, value = equal or greater or (None, None)
        where = f" WHERE {_quoted(name)} {'=' if equal else '>'} ?" if name else ""
        select = ", ".join(_quoted(c) for c in columns)
        return self.connection.execute(f"SELECT {select} FROM {self.source}{where}",
                                       [value] if name else []).to_arrow_table()

    def count(self):
        return self.connection.execute(f"SELECT count(*) FROM {self.source}").fetchone()[0]

    def count_present(self, columns):
        select = ", ".join(f"count({_quoted(c)})" for c in columns)
        return list(self.connection.execute(f"SELECT {select} FROM {self.source}").fetchone())

    def close(self):
        self.connection.close()


READERS = (DuckDbReader, PyIcebergReader)


def connect_duckdb(s3=None):
    con = duckdb.connect(":memory:", config={"autoinstall_known_extensions": "false", "threads": "2"})
    for name in ("avro", "httpfs", "iceberg"):  # in this order
        con.execute(f"LOAD '{_extension(name)}'")
    con.execute("SET enable_external_file_cache = false")
    con.execute("SET TimeZone = 'UTC'")
    if s3:
        con.execute(s3.duckdb())
    return con


def attach(connection, lake, name="ice"):
    """Attaches a REST catalog, as the guide tells a user to."""
    connection.execute(f"ATTACH '{lake.warehouse}' AS {name} (TYPE iceberg, ENDPOINT '{lake.uri}',"
                       f" AUTHORIZATION_TYPE 'none')")


def _extension(name):
    module = __import__(f"duckdb_extension_{name}")
    return next(pathlib.Path(module.__file__).parent.glob(f"extensions/*/{name}.duckdb_extension"))


def _quoted(name):
    return '"' + name.replace('"', '""') + '"'
