#include "iceberg/manifest_list.h"

#include "avro/container_reader.h"
#include "avro/container_writer.h"
#include "avro/encoder.h"
#include "base/status.h"
#include "base/strings.h"
#include "iceberg/avro_record.h"
#include "iceberg/manifest_schemas.h"

namespace fjord {
namespace {

namespace fields = manifest_list_fields;

void PutOptionalBytes(std::string& out, const std::optional<std::string>& value) {
  PutAvroBranch(out, value.has_value());
  if (value) PutAvroBytes(out, *value);
}

void PutPartitions(std::string& out, const std::vector<FieldSummary>& partitions) {
  // An unpartitioned manifest has an empty array, as Java writes it, rather than null.
  PutAvroBranch(out, 1);
  PutAvroBlock(out, partitions.size());
  for (const FieldSummary& summary : partitions) {
    PutAvroBoolean(out, summary.contains_null);
    PutAvroBranch(out, summary.contains_nan.has_value());
    if (summary.contains_nan) PutAvroBoolean(out, *summary.contains_nan);
    PutOptionalBytes(out, summary.lower_bound);
    PutOptionalBytes(out, summary.upper_bound);
  }
  PutAvroEnd(out);
}

// In the order of kManifestListSchemaV2.
std::string EncodeRow(const ManifestFile& manifest) {
  std::string out;
  PutAvroBytes(out, manifest.manifest_path);
  PutAvroLong(out, manifest.manifest_length);
  PutAvroLong(out, manifest.partition_spec_id.value);
  PutAvroLong(out, static_cast<int32_t>(manifest.content));
  PutAvroLong(out, manifest.sequence_number.value);
  PutAvroLong(out, manifest.min_sequence_number.value);
  PutAvroLong(out, manifest.added_snapshot_id.value);
  PutAvroLong(out, manifest.added_files_count);
  PutAvroLong(out, manifest.existing_files_count);
  PutAvroLong(out, manifest.deleted_files_count);
  PutAvroLong(out, manifest.added_rows_count);
  PutAvroLong(out, manifest.existing_rows_count);
  PutAvroLong(out, manifest.deleted_rows_count);
  PutPartitions(out, manifest.partitions);
  PutOptionalBytes(out, manifest.key_metadata);
  return out;
}

absl::Status CheckRow(const ManifestFile& manifest) {
  const auto wrong = [&](std::string_view what) {
    return absl::InvalidArgumentError(StrCat("manifest ", manifest.manifest_path, ": ", what));
  };
  if (manifest.manifest_path.empty()) return wrong("it has no path");
  if (manifest.manifest_length <= 0) return wrong("its length is not known");
  if (manifest.added_files_count < 0 || manifest.existing_files_count < 0 ||
      manifest.deleted_files_count < 0 || manifest.added_rows_count < 0 ||
      manifest.existing_rows_count < 0 || manifest.deleted_rows_count < 0) {
    return wrong("a count is negative");
  }
  if (manifest.sequence_number.value < 0 ||
      manifest.min_sequence_number > manifest.sequence_number) {
    return wrong(StrCat("its sequence numbers are ", manifest.min_sequence_number.value, " to ",
                        manifest.sequence_number.value));
  }
  if (manifest.first_row_id) return wrong("a first row id needs format version 3, not yet");
  return absl::OkStatus();
}

// Gives the manifest the commit's sequence number where it has none of its own.
absl::StatusOr<ManifestFile> Assign(const ManifestListContext& context, ManifestFile manifest) {
  if (manifest.sequence_number == kUnassignedSequenceNumber ||
      manifest.min_sequence_number == kUnassignedSequenceNumber) {
    if (manifest.added_snapshot_id != context.snapshot_id) {
      return absl::InvalidArgumentError(StrCat("manifest ", manifest.manifest_path, " of snapshot ",
                                               manifest.added_snapshot_id.value,
                                               " has no sequence number, and snapshot ",
                                               context.snapshot_id.value, " may not give it one"));
    }
  }
  if (manifest.sequence_number == kUnassignedSequenceNumber) {
    manifest.sequence_number = context.sequence_number;
  }
  if (manifest.min_sequence_number == kUnassignedSequenceNumber) {
    manifest.min_sequence_number = context.sequence_number;
  }
  return manifest;
}

absl::StatusOr<FieldSummary> DecodeSummary(const AvroValue& value) {
  ASSIGN_OR_RETURN(const AvroRecord record, AvroRecord::Of(value, "a partition field summary"));
  FieldSummary summary;
  ASSIGN_OR_RETURN(const std::optional<bool> contains_null,
                   record.OptionalBool(fields::kContainsNull));
  if (!contains_null) return AvroRecord::Wrong(fields::kContainsNull, "missing");
  summary.contains_null = *contains_null;
  ASSIGN_OR_RETURN(summary.contains_nan, record.OptionalBool(fields::kContainsNan));
  ASSIGN_OR_RETURN(summary.lower_bound, record.OptionalBytes(fields::kLowerBound));
  ASSIGN_OR_RETURN(summary.upper_bound, record.OptionalBytes(fields::kUpperBound));
  return summary;
}

absl::StatusOr<ManifestFile> DecodeRow(const AvroValue& value) {
  ASSIGN_OR_RETURN(const AvroRecord record, AvroRecord::Of(value, "a row"));
  ManifestFile manifest;
  ASSIGN_OR_RETURN(manifest.manifest_path, record.Bytes(fields::kManifestPath));
  ASSIGN_OR_RETURN(manifest.manifest_length, record.Long(fields::kManifestLength));
  ASSIGN_OR_RETURN(manifest.partition_spec_id.value, record.Int(fields::kPartitionSpecId));
  ASSIGN_OR_RETURN(const int32_t content, record.IntOr(fields::kContent, 0));
  if (content != 0 && content != 1) return AvroRecord::Wrong(fields::kContent, StrCat(content));
  manifest.content = static_cast<ManifestContent>(content);
  ASSIGN_OR_RETURN(manifest.sequence_number.value, record.LongOr(fields::kSequenceNumber, 0));
  ASSIGN_OR_RETURN(manifest.min_sequence_number.value,
                   record.LongOr(fields::kMinSequenceNumber, 0));
  if (manifest.sequence_number.value < 0) {
    return AvroRecord::Wrong(fields::kSequenceNumber, "negative");
  }
  ASSIGN_OR_RETURN(manifest.added_snapshot_id.value, record.Long(fields::kAddedSnapshotId));
  ASSIGN_OR_RETURN(manifest.added_files_count, record.IntOr(fields::kAddedFilesCount, 0));
  ASSIGN_OR_RETURN(manifest.existing_files_count, record.IntOr(fields::kExistingFilesCount, 0));
  ASSIGN_OR_RETURN(manifest.deleted_files_count, record.IntOr(fields::kDeletedFilesCount, 0));
  ASSIGN_OR_RETURN(manifest.added_rows_count, record.LongOr(fields::kAddedRowsCount, 0));
  ASSIGN_OR_RETURN(manifest.existing_rows_count, record.LongOr(fields::kExistingRowsCount, 0));
  ASSIGN_OR_RETURN(manifest.deleted_rows_count, record.LongOr(fields::kDeletedRowsCount, 0));
  ASSIGN_OR_RETURN(const AvroValue::Items* partitions, record.OptionalArray(fields::kPartitions));
  if (partitions != nullptr) {
    for (const AvroValue& item : *partitions) {
      ASSIGN_OR_RETURN(FieldSummary summary, DecodeSummary(item));
      manifest.partitions.push_back(std::move(summary));
    }
  }
  ASSIGN_OR_RETURN(manifest.key_metadata, record.OptionalBytes(fields::kKeyMetadata));
  ASSIGN_OR_RETURN(manifest.first_row_id, record.OptionalLong(fields::kFirstRowId));
  return manifest;
}

}  // namespace

absl::StatusOr<std::string> EncodeManifestList(const ManifestListContext& context,
                                               absl::Span<const ManifestFile> manifests) {
  if (context.format_version != 2) {
    return absl::InvalidArgumentError(StrCat("manifest lists of format version ",
                                             context.format_version,
                                             " are not written yet, only 2"));
  }
  if (context.sequence_number.value < 1) {
    return absl::InvalidArgumentError(
        StrCat("a commit cannot have the sequence number ", context.sequence_number.value));
  }
  const std::string parent =
      context.parent_snapshot_id ? StrCat(context.parent_snapshot_id->value) : "null";
  AvroContainerWriter writer(kManifestListSchemaV2,
                             {{"snapshot-id", StrCat(context.snapshot_id.value)},
                              {"parent-snapshot-id", parent},
                              {"sequence-number", StrCat(context.sequence_number.value)},
                              {"format-version", "2"}},
                             {});
  for (const ManifestFile& manifest : manifests) {
    ASSIGN_OR_RETURN(const ManifestFile assigned, Assign(context, manifest));
    RETURN_IF_ERROR(CheckRow(assigned));
    writer.Append(EncodeRow(assigned));
  }
  return std::move(writer).Finish();
}

absl::StatusOr<std::vector<ManifestFile>> DecodeManifestList(std::string_view bytes) {
  ASSIGN_OR_RETURN(AvroContainerReader reader, AvroContainerReader::Open(bytes));
  std::vector<ManifestFile> manifests;
  while (true) {
    ASSIGN_OR_RETURN(const std::optional<AvroValue> value, reader.Next());
    if (!value) return manifests;
    absl::StatusOr<ManifestFile> manifest = DecodeRow(*value);
    if (!manifest.ok()) {
      return Annotate(manifest.status(), StrCat("row ", manifests.size(), " of the manifest list"));
    }
    manifests.push_back(*std::move(manifest));
  }
}

}  // namespace fjord
