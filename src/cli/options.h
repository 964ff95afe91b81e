// What a command line says, as plain values: one struct for each command.
#pragma once

#include <string>
#include <variant>

#include "base/log.h"

namespace fjord {

enum class LogFormat { kAuto, kText, kJson };  // auto: text on a terminal, else JSON
enum class Output { kText, kJson };

// Options that every command takes.
struct CommonOptions {
  std::string config_file = "fjord.yaml";
  LogLevel log_level = LogLevel::kInfo;
  LogFormat log_format = LogFormat::kAuto;
};

struct CheckOptions {
  Output output = Output::kText;
};

struct DiscoverOptions {
  std::string replication;  // empty: all
};

struct InitOptions {};

struct RunOptions {};

struct StatusOptions {
  Output output = Output::kText;
};

enum class AfterDemo { kRemove, kKeep };
struct DemoOptions {
  AfterDemo after = AfterDemo::kRemove;
};

struct CatalogServeOptions {
  std::string listen = "127.0.0.1:8181";
  std::string replication;  // whose catalog; empty: the only one
};

struct SchemaOptions {};

struct VersionOptions {};

using Command = std::variant<CheckOptions, DiscoverOptions, InitOptions, RunOptions, StatusOptions,
                             DemoOptions, CatalogServeOptions, SchemaOptions, VersionOptions>;

struct CommandLine {
  CommonOptions common;
  Command command;
};

}  // namespace fjord
