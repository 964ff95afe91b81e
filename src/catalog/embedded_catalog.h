// The embedded catalog: one SQLite file in the layout of Iceberg's JDBC catalog (schema version
// V1), so that PyIceberg and Java open it too.
//
// A table's row names its newest metadata file; replacing that name, if it is still the one that
// the commit started from, is the commit. Beside tables on a local disk a version hint is kept, for
// readers that open the folder as it is.
#pragma once

#include <memory>
#include <string>

#include "catalog/catalog.h"

namespace fjord {

class ObjectStore;

struct EmbeddedCatalogOptions {
  std::string database;  // path of the SQLite file; made, with its folder, when missing
  std::string name = "fjord";
  std::string warehouse;  // location of new tables: "file:///abs/path" or "s3://bucket/prefix"
};

// `store` outlives the catalog.
absl::StatusOr<std::unique_ptr<Catalog>> OpenEmbeddedCatalog(EmbeddedCatalogOptions options,
                                                             ObjectStore* store);

}  // namespace fjord
