"""Manifests and manifest lists as PyIceberg reads them, in one JSON form.

The unit tests of src/iceberg print what our own decoder makes of a file in the same form, so that equal text means
that both readers see the same. Bytes are in hexadecimal; partition values are the specification's single-value bytes.

    python iceberg_json.py manifest FILE           entries, with what they inherit from a stand-in manifest list row
    python iceberg_json.py manifest-deletes FILE   the same for a manifest of delete files
    python iceberg_json.py manifest-list FILE
"""

import json
import os
import sys

from pyiceberg.avro.file import AvroFile
from pyiceberg.conversions import to_bytes
from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.manifest import ManifestContent, ManifestFile, read_manifest_list
from pyiceberg.partitioning import PartitionField
from pyiceberg.schema import Schema

# What a manifest's entries inherit in these tests.
ADDED_SNAPSHOT_ID = 7001
SEQUENCE_NUMBER = 12


def hexed(value):
    return None if value is None else bytes(value).hex()


def number_map(value):
    return {str(k): v for k, v in sorted((value or {}).items())}


def bytes_map(value):
    return {str(k): bytes(v).hex() for k, v in sorted((value or {}).items())}


def header(path):
    with AvroFile(PyArrowFileIO().new_input(path)) as avro:
        return dict(avro.header.meta)


def partition_types(meta):
    schema = Schema.model_validate_json(meta["schema"])
    fields = [PartitionField(**field) for field in json.loads(meta["partition-spec"])]
    return [field.transform.result_type(schema.find_type(field.source_id)) for field in fields]


def partition(record, types):
    return [None if record[i] is None else to_bytes(t, record[i]).hex() for i, t in enumerate(types)]


def entry_json(entry, types):
    file = entry.data_file
    return {
        "status": int(entry.status),
        "snapshot_id": entry.snapshot_id,
        "sequence_number": entry.sequence_number,
        "file_sequence_number": entry.file_sequence_number,
        "content": int(file.content),
        "file_path": file.file_path,
        "file_format": str(file.file_format.value),
        "partition": partition(file.partition, types),
        "record_count": file.record_count,
        "file_size_in_bytes": file.file_size_in_bytes,
        "column_sizes": number_map(file.column_sizes),
        "value_counts": number_map(file.value_counts),
        "null_value_counts": number_map(file.null_value_counts),
        "nan_value_counts": number_map(file.nan_value_counts),
        "lower_bounds": bytes_map(file.lower_bounds),
        "upper_bounds": bytes_map(file.upper_bounds),
        "key_metadata": hexed(file.key_metadata),
        "split_offsets": list(file.split_offsets or []),
        "equality_ids": list(file.equality_ids or []),
        "sort_order_id": file.sort_order_id,
    }


def manifest_json(path, content=ManifestContent.DATA, sequence_number=SEQUENCE_NUMBER):
    manifest = ManifestFile.from_args(
        manifest_path=path,
        manifest_length=os.path.getsize(path),
        partition_spec_id=0,
        content=content,
        sequence_number=sequence_number,
        min_sequence_number=0,
        added_snapshot_id=ADDED_SNAPSHOT_ID,
    )
    entries = manifest.fetch_manifest_entry(PyArrowFileIO(), discard_deleted=False)
    types = partition_types(header(path))
    return [entry_json(entry, types) for entry in entries]


def summary_json(summary):
    return {
        "contains_null": summary.contains_null,
        "contains_nan": summary.contains_nan,
        "lower_bound": hexed(summary.lower_bound),
        "upper_bound": hexed(summary.upper_bound),
    }


def manifest_list_json(path):
    return [
        {
            "manifest_path": manifest.manifest_path,
            "manifest_length": manifest.manifest_length,
            "partition_spec_id": manifest.partition_spec_id,
            "content": int(manifest.content),
            "sequence_number": manifest.sequence_number,
            "min_sequence_number": manifest.min_sequence_number,
            "added_snapshot_id": manifest.added_snapshot_id,
            "added_files_count": manifest.added_files_count or 0,
            "existing_files_count": manifest.existing_files_count or 0,
            "deleted_files_count": manifest.deleted_files_count or 0,
            "added_rows_count": manifest.added_rows_count or 0,
            "existing_rows_count": manifest.existing_rows_count or 0,
            "deleted_rows_count": manifest.deleted_rows_count or 0,
            "partitions": [summary_json(s) for s in manifest.partitions or []],
            "key_metadata": hexed(manifest.key_metadata),
        }
        for manifest in read_manifest_list(PyArrowFileIO().new_input(path))
    ]


def main():
    kind, path = sys.argv[1:]
    if kind == "manifest":
        rows = manifest_json(path)
    elif kind == "manifest-deletes":
        rows = manifest_json(path, ManifestContent.DELETES)
    else:
        rows = manifest_list_json(path)
    print(json.dumps({"metadata": header(path), "rows": rows}))


if __name__ == "__main__":
    main()
