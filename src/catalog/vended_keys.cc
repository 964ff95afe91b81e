#include "catalog/vended_keys.h"

#include <utility>

#include "absl/time/clock.h"
#include "base/log.h"
#include "base/status.h"
#include "base/strings.h"
#include "catalog/s3_settings.h"

namespace fjord {
namespace {

bool Same(const S3Credentials& a, const S3Credentials& b) {
  return a.access_key_id == b.access_key_id && a.secret_access_key == b.secret_access_key &&
         a.session_token == b.session_token && a.expires == b.expires;
}

}  // namespace

void VendedKeys::Told(TableStorage storage) {
  const std::lock_guard lock(mutex_);
  storage_ = std::move(storage);
}

std::optional<S3Credentials> VendedKeys::Kept(std::string_view prefix) const {
  const std::lock_guard lock(mutex_);
  const S3Settings settings = S3SettingsOf(storage_.ConfigFor(prefix));
  if (!settings.has_keys()) return std::nullopt;
  return settings.credentials;
}

absl::Status VendedKeys::AskForCredentials() {
  ASSIGN_OR_RETURN(std::vector<StorageCredential> fresh, catalog_->LoadCredentials(ident_));
  const std::lock_guard lock(mutex_);
  storage_.credentials = std::move(fresh);
  return absl::OkStatus();
}

absl::StatusOr<S3Credentials> VendedKeys::Next(std::string_view prefix, const S3Credentials& used) {
  const auto is_new = [&used](const std::optional<S3Credentials>& keys) {
    return keys && !Same(*keys, used) && absl::Now() < keys->expires;
  };
  if (const auto keys = Kept(prefix); is_new(keys)) return *keys;
  if (AskForCredentials().ok()) {
    if (const auto keys = Kept(prefix); is_new(keys)) return *keys;
  }
  const absl::Status loaded = catalog_->LoadTable(ident_).status();
  if (absl::IsNotFound(loaded)) {
    // Not the code of a missing object, which callers would take this for.
    return absl::FailedPreconditionError(
        StrCat("table ", ident_.ToString(), " is not in the catalog any more"));
  }
  RETURN_IF_ERROR(loaded);
  const std::optional<S3Credentials> keys = Kept(prefix);
  if (!keys) return NoKeysError(ident_);
  LogDebug("S3 credentials of a table renewed",
           {{"table", ident_.ToString()}, {"expires", absl::FormatTime(keys->expires)}});
  return *keys;
}

S3CredentialsProvider ProviderOf(std::shared_ptr<VendedKeys> keys, std::string prefix) {
  return [keys = std::move(keys), prefix = std::move(prefix),
          used = S3Credentials()]() mutable -> absl::StatusOr<S3Credentials> {
    ASSIGN_OR_RETURN(used, keys->Next(prefix, used));
    return used;
  };
}

absl::Status NoKeysError(const TableIdent& ident) {
  return absl::FailedPreconditionError(
      StrCat("none are configured, and the catalog hands out none for table ", ident.ToString(),
             ": set lake.storage.s3.credential, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in "
             "the environment, or turn on credential vending in the catalog"));
}

}  // namespace fjord
