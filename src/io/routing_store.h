// One store for all locations: s3:// and s3a:// go to one store, paths and file:// to another.
#pragma once

#include <memory>

#include "io/object_store.h"

namespace fjord {

std::unique_ptr<ObjectStore> MakeRoutingStore(std::unique_ptr<ObjectStore> local,
                                              std::unique_ptr<ObjectStore> s3);

}  // namespace fjord
