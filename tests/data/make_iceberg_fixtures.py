"""Makes tests/data/iceberg: manifests, manifest lists and summaries by PyIceberg, for the unit tests of src/iceberg.

Run with the project's virtual environment; the results are checked in. The values are fixed, so a second run makes the
same bytes with the same PyIceberg (0.12).
"""

import decimal
import json
import pathlib
import sys
import types
import unittest.mock
import uuid

import pyarrow


def snappy_decompress(data):
    size, shift, offset = 0, 0, 0
    while True:
        size |= (data[offset] & 0x7F) << shift
        shift, offset = shift + 7, offset + 1
        if data[offset - 1] < 0x80:
            return pyarrow.decompress(data, decompressed_size=size, codec="snappy", asbytes=True)


# PyIceberg wants the package python-snappy for its snappy codec; Arrow has the same functions.
sys.modules["snappy"] = types.SimpleNamespace(
    compress=lambda data: pyarrow.compress(data, "snappy", asbytes=True), decompress=snappy_decompress
)

import iceberg_json  # noqa: E402
from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.manifest import (
    DataFile,
    DataFileContent,
    FileFormat,
    ManifestContent,
    ManifestEntry,
    ManifestEntryStatus,
    ManifestFile,
    ManifestWriterV2,
    PartitionFieldSummary,
    write_manifest,
    write_manifest_list,
)
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC, PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table.snapshots import Operation, SnapshotSummaryCollector, Summary, update_snapshot_summaries
from pyiceberg.transforms import BucketTransform, DayTransform, HourTransform, IdentityTransform, TruncateTransform
from pyiceberg.typedef import Record
from pyiceberg.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    NestedField,
    StringType,
    TimestampType,
    TimestamptzType,
    UUIDType,
)

OUT = pathlib.Path(__file__).parent / "iceberg"
SYNC = b"fjord sync mark."
SNAPSHOT_ID = 7001

SCHEMA = Schema(
    NestedField(1, "id", LongType(), required=True),
    NestedField(2, "name", StringType()),
    NestedField(3, "score", DoubleType()),
    schema_id=0,
)

WIDE_SCHEMA = Schema(
    NestedField(1, "b", BooleanType()),
    NestedField(2, "i", IntegerType()),
    NestedField(3, "l", LongType()),
    NestedField(4, "f", FloatType()),
    NestedField(5, "d", DoubleType()),
    NestedField(6, "dec", DecimalType(20, 3)),
    NestedField(7, "day", DateType()),
    NestedField(8, "ts", TimestampType()),
    NestedField(9, "tz", TimestamptzType()),
    NestedField(10, "s", StringType()),
    NestedField(11, "u", UUIDType()),
    NestedField(12, "bin", BinaryType()),
    schema_id=3,
)

WIDE_SPEC = PartitionSpec(
    *[PartitionField(n, 999 + n, IdentityTransform(), WIDE_SCHEMA.find_field(n).name) for n in range(1, 13)],
    PartitionField(3, 1012, BucketTransform(16), "l_bucket"),
    PartitionField(8, 1013, DayTransform(), "ts_day"),
    PartitionField(9, 1014, HourTransform(), "tz_hour"),
    PartitionField(10, 1015, TruncateTransform(3), "s trunc"),
    spec_id=0,
)


class DeleteManifestWriter(ManifestWriterV2):
    """PyIceberg writes manifests of data files only; the layout of the other kind differs in one header value."""

    def content(self):
        return ManifestContent.DELETES

    @property
    def _meta(self):
        return {**super()._meta, "content": "deletes"}


def data_file(number, version=2, **more):
    arguments = {
        "content": DataFileContent.DATA,
        "file_path": f"s3://bucket/table/data/{number:05}.parquet",
        "file_format": FileFormat.PARQUET,
        "partition": Record(),
        "record_count": 100 * number,
        "file_size_in_bytes": 100_000 + number,
        "column_sizes": None,
        "value_counts": None,
        "null_value_counts": None,
        "nan_value_counts": None,
        "lower_bounds": None,
        "upper_bounds": None,
        "key_metadata": None,
        "split_offsets": None,
        "equality_ids": None,
        "sort_order_id": None,
        **more,
    }
    return DataFile.from_args(_table_format_version=version, **arguments)


FULL_METRICS = {
    "column_sizes": {1: 400, 2: 2_000_000_000_000, 3: 0},
    "value_counts": {1: 100, 2: 100, 3: 100},
    "null_value_counts": {1: 0, 2: 7, 3: 100},
    "nan_value_counts": {3: 2},
    "lower_bounds": {1: b"\x01" + bytes(7), 2: "Ärger".encode(), 3: bytes(7) + b"\x80"},
    "upper_bounds": {1: b"\xff" * 7 + b"\x7f", 2: "\U0001f600".encode(), 3: b""},
    "key_metadata": b"\x00key",
    "split_offsets": [4, 50_000, 90_000],
    "sort_order_id": 0,
}


def entry(status, file, snapshot_id=SNAPSHOT_ID, sequence=None, file_sequence=None):
    return ManifestEntry.from_args(
        status=status, snapshot_id=snapshot_id, sequence_number=sequence, file_sequence_number=file_sequence, data_file=file
    )


def entries(version=2):
    if version == 1:
        return [
            entry(ManifestEntryStatus.ADDED, data_file(1, **FULL_METRICS)),
            entry(ManifestEntryStatus.EXISTING, data_file(2), 6001),
        ]
    return [
        entry(ManifestEntryStatus.ADDED, data_file(1, **FULL_METRICS)),
        entry(ManifestEntryStatus.ADDED, data_file(2)),
        entry(ManifestEntryStatus.ADDED, data_file(3), sequence=5),
        entry(ManifestEntryStatus.EXISTING, data_file(4), 6001, 3, 4),
        entry(ManifestEntryStatus.DELETED, data_file(5), SNAPSHOT_ID, 2, 2),
    ]


def delete_entries():
    position = data_file(
        6,
        content=DataFileContent.POSITION_DELETES,
        lower_bounds={2147483546: b"s3://bucket/table/data/00001.parquet"},
        upper_bounds={2147483546: b"s3://bucket/table/data/00001.parquet"},
    )
    equality = data_file(7, content=DataFileContent.EQUALITY_DELETES, equality_ids=[1, 2], sort_order_id=0)
    return [entry(ManifestEntryStatus.ADDED, position), entry(ManifestEntryStatus.EXISTING, equality, 6001, 3, 3)]


def partitioned_entries():
    values = Record(
        True, -5, 2**40, 1.5, -2.25, decimal.Decimal("-1.280"), -2, -1, 1_700_000_000_000_000,
        "Zürich", uuid.UUID("f79c3e09-677c-4bbd-a479-3f349cb785e7"), b"\x00\xff", 3, -2, 472_222, "Zür",
    )  # fmt: skip
    nulls = Record(*[None] * 16)
    return [
        entry(ManifestEntryStatus.ADDED, data_file(1, partition=values)),
        entry(ManifestEntryStatus.ADDED, data_file(2, partition=nulls)),
    ]


def write_entries(writer, rows):
    with writer:
        for row in rows:
            writer.add_entry(row)


def make_manifest(name, rows, codec="null", version=2, schema=SCHEMA, spec=UNPARTITIONED_PARTITION_SPEC, deletes=False):
    path = OUT / f"{name}.avro"
    output = PyArrowFileIO().new_output(str(path))
    if deletes:
        writer = DeleteManifestWriter(spec, schema, output, SNAPSHOT_ID, codec)
    else:
        writer = write_manifest(version, spec, schema, output, SNAPSHOT_ID, codec)
    write_entries(writer, rows)
    content = ManifestContent.DELETES if deletes else ManifestContent.DATA
    sequence = 0 if version == 1 else iceberg_json.SEQUENCE_NUMBER
    save(f"{name}.json", iceberg_json.manifest_json(str(path), content, sequence))


def manifests():
    common = {"partition_spec_id": 0, "key_metadata": None}
    return [
        ManifestFile.from_args(
            manifest_path="s3://bucket/table/metadata/a-m0.avro", manifest_length=5001, content=ManifestContent.DATA,
            sequence_number=-1, min_sequence_number=-1, added_snapshot_id=SNAPSHOT_ID,
            added_files_count=2, existing_files_count=0, deleted_files_count=0,
            added_rows_count=300, existing_rows_count=0, deleted_rows_count=0, partitions=[], **common,
        ),
        ManifestFile.from_args(
            manifest_path="s3://bucket/table/metadata/a-m1.avro", manifest_length=5002, content=ManifestContent.DELETES,
            sequence_number=-1, min_sequence_number=3, added_snapshot_id=SNAPSHOT_ID,
            added_files_count=1, existing_files_count=2, deleted_files_count=3,
            added_rows_count=4, existing_rows_count=5, deleted_rows_count=6, partitions=[], **common,
        ),
        ManifestFile.from_args(
            manifest_path="s3://bucket/table/metadata/old-m0.avro", manifest_length=2**33, content=ManifestContent.DATA,
            sequence_number=4, min_sequence_number=1, added_snapshot_id=6001,
            added_files_count=0, existing_files_count=7, deleted_files_count=0,
            added_rows_count=0, existing_rows_count=2**40, deleted_rows_count=0,
            partitions=[
                PartitionFieldSummary.from_args(contains_null=True, contains_nan=None, lower_bound=None, upper_bound=None),
                PartitionFieldSummary.from_args(contains_null=False, contains_nan=False, lower_bound=b"\x01\x00\x00\x00", upper_bound=b"\x09\x00\x00\x00"),
            ],
            partition_spec_id=1, key_metadata=b"\x01\x02",
        ),
    ]  # fmt: skip


def make_list(name, rows, codec="null", version=2, parent=6001):
    path = OUT / f"{name}.avro"
    output = PyArrowFileIO().new_output(str(path))
    sequence = None if version == 1 else iceberg_json.SEQUENCE_NUMBER
    with write_manifest_list(version, output, SNAPSHOT_ID, parent, sequence, codec) as writer:
        if rows:
            writer.add_manifests(rows)
    save(f"{name}.json", iceberg_json.manifest_list_json(str(path)))


def make_summaries():
    """Three snapshots one after the other: what each adds and removes is in the unit test too."""
    position = delete_entries()[0].data_file
    equality = delete_entries()[1].data_file
    steps = [
        (Operation.APPEND, [data_file(1), data_file(2)], []),
        (Operation.OVERWRITE, [data_file(3), position, equality], []),
        (Operation.OVERWRITE, [data_file(4)], [data_file(1), position]),
    ]
    previous = None
    summaries = []
    for operation, added, removed in steps:
        collector = SnapshotSummaryCollector()
        for file in added:
            collector.add_file(file, SCHEMA)
        for file in removed:
            collector.remove_file(file, SCHEMA)
        summary = update_snapshot_summaries(Summary(operation, **collector.build()), previous)
        previous = {"operation": operation.value, **summary.additional_properties}
        summaries.append(previous)
    save("summaries.json", summaries)


def save(name, value):
    (OUT / name).write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n")


def main():
    OUT.mkdir(exist_ok=True)
    make_manifest("manifest-v2", entries())
    for codec in ["deflate", "snappy", "zstandard"]:
        make_manifest(f"manifest-v2-{codec}", entries(), codec)
    make_manifest("manifest-v2-deletes", delete_entries(), deletes=True)
    make_manifest("manifest-v2-partitioned", partitioned_entries(), schema=WIDE_SCHEMA, spec=WIDE_SPEC)
    make_manifest("manifest-v1", entries(1), version=1)
    make_list("manifest-list-v2", manifests())
    make_list("manifest-list-v2-deflate", manifests(), "deflate")
    make_list("manifest-list-v2-empty", [], parent=None)
    make_list("manifest-list-v1", manifests()[:1], version=1)
    make_summaries()


if __name__ == "__main__":
    with unittest.mock.patch("os.urandom", return_value=SYNC):
        main()
