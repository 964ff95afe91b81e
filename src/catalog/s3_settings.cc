#include "catalog/s3_settings.h"

#include "base/strings.h"

namespace fjord {
namespace {

std::string Value(const std::map<std::string, std::string>& config, const std::string& name) {
  const auto it = config.find(name);
  return it == config.end() ? "" : it->second;
}

S3Credentials CredentialsOf(const std::map<std::string, std::string>& config) {
  S3Credentials credentials{.access_key_id = Value(config, "s3.access-key-id"),
                            .secret_access_key = Secret(Value(config, "s3.secret-access-key")),
                            .session_token = Secret(Value(config, "s3.session-token"))};
  if (credentials.access_key_id.empty() || credentials.secret_access_key.empty()) return {};
  const auto expires_ms = ParseInt<int64_t>(Value(config, "s3.session-token-expires-at-ms"));
  if (expires_ms) credentials.expires = absl::FromUnixMillis(*expires_ms);
  return credentials;
}

}  // namespace

S3Settings S3SettingsOf(const std::map<std::string, std::string>& config) {
  S3Settings settings{.endpoint = Value(config, "s3.endpoint"),
                      .region = Value(config, "s3.region"),
                      .credentials = CredentialsOf(config)};
  if (settings.region.empty()) settings.region = Value(config, "client.region");
  if (const std::string style = Value(config, "s3.path-style-access"); !style.empty())
    settings.path_style = style == "true";
  return settings;
}

S3Settings Over(const S3Settings& first, const S3Settings& second) {
  return {.endpoint = first.endpoint.empty() ? second.endpoint : first.endpoint,
          .region = first.region.empty() ? second.region : first.region,
          .path_style = first.path_style ? first.path_style : second.path_style,
          .credentials = first.has_keys() ? first.credentials : second.credentials};
}

S3Options OptionsOf(const S3Settings& settings) {
  return {.endpoint = settings.endpoint,
          .region = settings.region,
          .path_style = settings.path_style.value_or(false),
          .credentials = settings.credentials};
}

}  // namespace fjord
