// How S3 is reached, as one source says it: the configuration, a catalog, or the environment.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "io/s3_store.h"

namespace fjord {

// Empty or absent: the source does not say it.
struct S3Settings {
  std::string endpoint;
  std::string region;
  std::optional<bool> path_style;
  S3Credentials credentials;

  bool has_keys() const {
    return !credentials.access_key_id.empty() && !credentials.secret_access_key.empty();
  }
};

// From the storage settings of a table (Iceberg's S3 FileIO properties: s3.endpoint, s3.region,
// client.region, s3.path-style-access, s3.access-key-id, s3.secret-access-key, s3.session-token,
// s3.session-token-expires-at-ms). Half a pair of keys is none.
S3Settings S3SettingsOf(const std::map<std::string, std::string>& config);

// `first`, and where it does not say something, `second`. Keys go together with their token.
S3Settings Over(const S3Settings& first, const S3Settings& second);

// Without a provider.
S3Options OptionsOf(const S3Settings& settings);

}  // namespace fjord
