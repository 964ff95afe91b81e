// Table names and patterns: parsing, printing, matching.
#include "base/status.h"
#include "base/strings.h"
#include "spec/config.h"

namespace fjord {
namespace {

// Reads one part from the front of `text`; stops before an unquoted dot.
absl::StatusOr<TableSelector::Part> TakePart(std::string_view& text) {
  TableSelector::Part part;
  part.pieces.emplace_back();
  bool quoted = false;
  size_t i = 0;
  for (; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      part.pieces.back() += c;
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (quoted) {
      part.pieces.back() += c;
    } else if (c == '.') {
      break;
    } else if (c == '*') {
      part.pieces.emplace_back();
    } else {
      part.pieces.back() += c;
    }
  }
  if (quoted) return absl::InvalidArgumentError("a double quote is not closed");
  if (part.pieces.size() == 1 && part.pieces[0].empty()) {
    return absl::InvalidArgumentError("a part is empty");
  }
  text.remove_prefix(i);
  return part;
}

bool NeedsQuotes(std::string_view piece) {
  return piece.find_first_of("\".* \t") != std::string_view::npos;
}

std::string QuotePiece(std::string_view piece) {
  if (!NeedsQuotes(piece)) return std::string(piece);
  std::string out = "\"";
  for (const char c : piece) {
    if (c == '"') out += c;
    out += c;
  }
  return out + '"';
}

std::string PartToString(const TableSelector::Part& part) {
  std::vector<std::string> pieces;
  for (const std::string& piece : part.pieces) pieces.push_back(QuotePiece(piece));
  return Join(pieces, "*");
}

}  // namespace

bool TableSelector::Part::Matches(std::string_view text) const {
  if (!is_wildcard()) return text == pieces[0];
  if (!text.starts_with(pieces.front())) return false;
  text.remove_prefix(pieces.front().size());
  // Each middle piece at its first place: an earlier one never leaves less room for the rest.
  for (size_t i = 1; i + 1 < pieces.size(); ++i) {
    const size_t found = text.find(pieces[i]);
    if (found == std::string_view::npos) return false;
    text.remove_prefix(found + pieces[i].size());
  }
  return text.ends_with(pieces.back());
}

bool TableSelector::Matches(std::string_view schema_name, std::string_view table_name) const {
  return schema.Matches(schema_name) && name.Matches(table_name);
}

std::string TableSelector::ToString() const {
  return StrCat(PartToString(schema), ".", PartToString(name));
}

absl::StatusOr<TableSelector> ParseTableSelector(std::string_view text) {
  TableSelector selector;
  ASSIGN_OR_RETURN(selector.schema, TakePart(text));
  if (text.empty()) return absl::InvalidArgumentError("the schema is missing: write schema.table");
  text.remove_prefix(1);
  ASSIGN_OR_RETURN(selector.name, TakePart(text));
  if (!text.empty()) {
    return absl::InvalidArgumentError(
        "more than two parts; put a name with a dot in double quotes");
  }
  return selector;
}

std::string TableName::ToString() const {
  return StrCat(QuotePiece(schema), ".", QuotePiece(name));
}

TableName TableEntry::TargetOf(const TableName& table) const {
  if (!target.has_value()) return table;
  const bool every_name = target->name.is_wildcard();
  return {target->schema.pieces[0], every_name ? table.name : target->name.pieces[0]};
}

const TableEntry* FindTableEntry(const std::vector<TableEntry>& entries, const TableName& table) {
  const TableEntry* found = nullptr;
  for (const TableEntry& entry : entries) {
    if (!entry.source.Matches(table.schema, table.name)) continue;
    if (!entry.source.is_wildcard()) return &entry;
    if (found == nullptr) found = &entry;
  }
  return found;
}

}  // namespace fjord
