"""The other side of src/catalog/embedded_catalog_test.cc: PyIceberg's SqlCatalog, and DuckDB on the table's folder.

    embedded_catalog_peer.py read|write|append|properties FOLDER
"""

import pathlib
import sys

import pyarrow
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import CommitFailedException

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
from harness.readers import connect_duckdb  # noqa: E402

ROWS = pyarrow.table({"id": [1, 2], "name": ["a", None]})


def read(catalog, folder):
    assert catalog.list_namespaces() == [("shop",)]
    assert catalog.list_tables("shop") == [("shop", "orders")]
    table = catalog.load_table("shop.orders")
    assert table.properties["owner"] == "fjord" and table.properties["second"] == "yes"
    assert [f.name for f in table.schema().fields] == ["id", "name"]
    assert table.schema().identifier_field_ids == [1]
    assert table.scan().to_arrow().num_rows == 0
    con = connect_duckdb()
    assert con.execute(f"SELECT count(*) FROM iceberg_scan('{folder}/shop/orders')").fetchone() == (0,)


def write(catalog, folder):
    catalog.create_namespace("peer")
    table = catalog.create_table("peer.things", ROWS.schema)
    table.append(ROWS)
    table.append(ROWS)


def append(catalog, folder):
    table = catalog.load_table("peer.things")
    assert table.properties["ours"] == "yes"
    table.append(ROWS)
    assert table.scan().to_arrow().num_rows == 6


def properties(catalog, folder):
    for i in [*range(10), "done"]:
        while True:
            try:
                with catalog.load_table("peer.things").transaction() as transaction:
                    transaction.set_properties({f"peer.{i}": "x"})
                break
            except CommitFailedException:
                pass
    found = catalog.load_table("peer.things").properties
    assert all(f"peer.{i}" in found for i in range(10))


if __name__ == "__main__":
    folder = sys.argv[2]
    catalog = SqlCatalog("fjord", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}")
    {"read": read, "write": write, "append": append, "properties": properties}[sys.argv[1]](catalog, folder)
