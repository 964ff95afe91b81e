// Fuzz target of the container reader: any bytes, no crash, no leak, no runaway.
#include "avro/container_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  auto reader = fjord::AvroContainerReader::Open(bytes, {.schema_bytes_max = 1 << 16,
                                                         .block_bytes_max = 1 << 20,
                                                         .values_per_datum_max = 1 << 14,
                                                         .values_per_file_max = 1 << 18});
  if (!reader.ok()) return 0;
  while (true) {
    const auto value = reader->Next();
    if (!value.ok() || !value->has_value()) return 0;
  }
}
