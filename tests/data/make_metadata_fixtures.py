"""Makes tests/data/iceberg/metadata: table metadata and the effect of updates by PyIceberg, for the unit tests of
src/iceberg.

*.metadata.json are metadata files as PyIceberg writes them. updates.json holds commits: the name of the base file, the
updates, and the metadata that PyIceberg makes of them (without last-updated-ms and metadata-log). Run with the project's
virtual environment; values are fixed, so a second run makes the same bytes with the same PyIceberg (0.12).
"""

import json
import pathlib
import uuid

from pydantic import TypeAdapter
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table.metadata import TableMetadataUtil, new_table_metadata
from pyiceberg.table.sorting import SortField, SortOrder
from pyiceberg.table.update import TableUpdate, update_table_metadata
from pyiceberg.transforms import BucketTransform, DayTransform, IdentityTransform
from pyiceberg.typedef import IcebergBaseModel
from pyiceberg.types import (
    DecimalType,
    FixedType,
    ListType,
    LongType,
    MapType,
    NestedField,
    StringType,
    StructType,
    TimestamptzType,
    UUIDType,
)

OUT = pathlib.Path(__file__).parent / "iceberg" / "metadata"
UUID = uuid.UUID("9c12d441-03fe-4693-9a96-a0705ddf69c1")
T0 = 1_700_000_000_000

PLAIN = Schema(
    NestedField(1, "id", LongType(), required=True),
    NestedField(2, "name", StringType(), doc="as \"written\" – ümlaut"),
    NestedField(3, "amount", DecimalType(9, 2)),
    identifier_field_ids=[1],
)
NESTED = Schema(
    NestedField(10, "key", UUIDType(), required=True),
    NestedField(20, "at", TimestamptzType(), required=True),
    NestedField(30, "tags", ListType(31, StringType(), element_required=False)),
    NestedField(40, "counts", MapType(41, StringType(), 42, LongType(), value_required=True)),
    NestedField(50, "place", StructType(NestedField(51, "code", FixedType(3)), NestedField(52, "text", StringType()))),
    identifier_field_ids=[10],
)


def snapshot(number, parent=None, **more):
    made = {"snapshot-id": number, "sequence-number": number - 100, "timestamp-ms": T0 + (number - 100) * 1000,
            "manifest-list": f"s3://bucket/t/metadata/snap-{number}.avro",
            "summary": {"operation": "append", "added-records": "5", "fjord.lsn": "16/B374D848"}, "schema-id": 0, **more}
    return {**made, "parent-snapshot-id": parent} if parent else made


def add(number, parent=None, **more):
    return {"action": "add-snapshot", "snapshot": snapshot(number, parent, **more)}


def set_ref(name, number, kind="branch", **ages):
    return {"action": "set-snapshot-ref", "ref-name": name, "type": kind, "snapshot-id": number, **ages}


def table(schema, version, spec=PartitionSpec(), order=SortOrder()):
    made = new_table_metadata(schema, spec, order, "s3://bucket/t",
                              {"format-version": str(version), "write.parquet.compression-codec": "zstd"}, UUID)
    return made.model_copy(update={"last_updated_ms": T0, **({"next_row_id": 0} if version == 3 else {})})


def apply(base, updates):
    parsed = tuple(TypeAdapter(TableUpdate).validate_python(u) for u in updates)
    return update_table_metadata(base, parsed, metadata_location="s3://bucket/t/metadata/00000-a.metadata.json")


PLAIN_V2 = table(PLAIN, 2)
GROWN_V2 = apply(PLAIN_V2, [
    add(101), set_ref("main", 101), add(102, 101), set_ref("main", 102), add(103, 102), set_ref("main", 103),
    set_ref("audit", 101, "tag", **{"max-ref-age-ms": 86_400_000}),
    {"action": "set-statistics", "snapshot-id": 102, "statistics": {
        "snapshot-id": 102, "statistics-path": "s3://bucket/t/metadata/s.puffin", "file-size-in-bytes": 413,
        "file-footer-size-in-bytes": 42, "blob-metadata": [{"type": "apache-datasketches-theta-v1", "snapshot-id": 102,
                                                            "sequence-number": 2, "fields": [1],
                                                            "properties": {"ndv": "5"}}]}},
]).model_copy(update={"last_updated_ms": T0 + 3000})
NESTED_V2 = table(NESTED, 2, PartitionSpec(PartitionField(20, 1000, DayTransform(), "at_day"),
                                          PartitionField(10, 1001, BucketTransform(16), "key_bucket")),
                  SortOrder(SortField(20, IdentityTransform())))
PLAIN_V3 = apply(table(PLAIN, 3), [add(101, **{"first-row-id": 0, "added-rows": 5}), set_ref("main", 101)]).model_copy(
    update={"last_updated_ms": T0 + 1000})
# As a writer of version 1 leaves it; PyIceberg only reads it.
V1 = {
    "format-version": 1, "location": "s3://bucket/t", "last-updated-ms": T0, "last-column-id": 3,
    "schema": json.loads(PLAIN.model_dump_json()),
    "partition-spec": [{"name": "id", "transform": "identity", "source-id": 1, "field-id": 1000}],
    "properties": {}, "current-snapshot-id": -1, "snapshots": []}

WIDER = json.loads(PLAIN.model_dump_json())
WIDER["schema-id"] = 1
WIDER["fields"].append({"id": 4, "name": "note", "required": False, "type": "string"})

COMMITS = {
    "append": ("grown-v2", [add(104, 103), set_ref("main", 104),
                            {"action": "set-properties", "updates": {"fjord.watermark": "{\"lsn\":\"0/1\"}"}}]),
    "append and expire": ("grown-v2", [{"action": "remove-snapshot-ref", "ref-name": "audit"}, add(104, 103),
                                       set_ref("main", 104), {"action": "remove-snapshots", "snapshot-ids": [101]}]),
    "expiry takes statistics along": ("grown-v2", [{"action": "remove-snapshot-ref", "ref-name": "audit"},
                                                   {"action": "remove-snapshots", "snapshot-ids": [101, 102]}]),
    "a branch": ("grown-v2", [add(104, 103), set_ref("copy", 104, **{"min-snapshots-to-keep": 2})]),
    "a column": ("grown-v2", [{"action": "add-schema", "schema": WIDER},
                              {"action": "set-current-schema", "schema-id": -1}]),
    "a partition spec": ("plain-v2", [{"action": "add-spec", "spec": {"spec-id": 1, "fields": [
        {"source-id": 1, "field-id": 1000, "name": "id_bucket", "transform": "bucket[8]"}]}},
        {"action": "set-default-spec", "spec-id": -1}]),
    "a sort order": ("plain-v2", [{"action": "add-sort-order", "sort-order": {"order-id": 1, "fields": [
        {"transform": "identity", "source-id": 1, "direction": "asc", "null-order": "nulls-first"}]}},
        {"action": "set-default-sort-order", "sort-order-id": -1}]),
    "properties": ("plain-v2", [{"action": "set-properties", "updates": {"a": "1", "b": "2"}},
                                {"action": "remove-properties", "removals": ["a", "write.parquet.compression-codec"]}]),
    "location": ("plain-v2", [{"action": "set-location", "location": "s3://bucket/elsewhere"}]),
    "row ids": ("plain-v3", [add(102, 101, **{"first-row-id": 5, "added-rows": 7}), set_ref("main", 102)]),
    "partition statistics": ("grown-v2", [{"action": "set-partition-statistics", "partition-statistics": {
        "snapshot-id": 103, "statistics-path": "s3://bucket/t/p.parquet", "file-size-in-bytes": 43}}]),
}


def dump(metadata):
    # PyIceberg does not write version 3 yet; its own serializer does.
    return json.loads(IcebergBaseModel.model_dump_json(metadata))


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    files = {"plain-v2": PLAIN_V2, "grown-v2": GROWN_V2, "nested-v2": NESTED_V2, "plain-v3": PLAIN_V3}
    for name, metadata in files.items():
        (OUT / f"{name}.metadata.json").write_text(json.dumps(dump(metadata), indent=1) + "\n")
    TableMetadataUtil.parse_obj(V1)
    (OUT / "v1.metadata.json").write_text(json.dumps(V1, indent=1) + "\n")
    commits = []
    for name, (base, updates) in COMMITS.items():
        expected = dump(apply(files[base], updates))
        for member in ("last-updated-ms", "metadata-log"):
            del expected[member]
        commits.append({"name": name, "base": base, "updates": updates, "expected": expected})
    (OUT / "updates.json").write_text(json.dumps(commits, indent=1) + "\n")


if __name__ == "__main__":
    main()
