// Objects as files of a local folder.
//
// An object is durable when Put or Close returns: the file is synced, then its folder, so that
// neither content nor name is lost with the machine.
#pragma once

#include <memory>

#include "io/object_store.h"

namespace fjord {

std::unique_ptr<ObjectStore> OpenLocalStore();

}  // namespace fjord
