#include "cli/catalog_serve_command.h"

#include <iostream>

namespace fjord {

ExitCode RunCatalogServe(const Config&, const CatalogServeOptions&) {
  std::cerr << "fjord catalog serve: not yet: this version of fjord cannot do it\n";
  return ExitCode::kFailure;
}

}  // namespace fjord
