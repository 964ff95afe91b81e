// What an answer of an Iceberg REST catalog means to us, by its HTTP status.
//
// The same status means different things to different requests: 500 to a read is "again later", to
// a commit "it may be in". Pure.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "io/http_client.h"

namespace fjord {

enum class RestRequestKind {
  kRead,    // may be sent again at any time
  kChange,  // creates or drops something; 409: it exists (or is not empty)
  kCommit   // 409: a requirement failed
};

//   status                 kRead                kChange              kCommit
//   2xx                    OK                   OK                   OK
//   401, 419               kUnauthenticated     =                    =
//   404 with JSON          kNotFound            =                    =
//   409                    kFailedPrecondition  kAlreadyExists       kAborted
//   408, 5xx               kUnavailable         kUnknown             kUnknown
//   429                    kUnavailable         =                    =
//   other 404, 400, 403…   kFailedPrecondition  =                    =
// 503 too is unknown: the request may have been carried out in part.
absl::Status OutcomeOf(RestRequestKind kind, const HttpResponse& response);
inline absl::Status OutcomeOfCommit(const HttpResponse& response) {
  return OutcomeOf(RestRequestKind::kCommit, response);
}

// The same for a request without an answer; `error` is HttpClient's.
absl::Status OutcomeWithoutAnswer(RestRequestKind kind, const absl::Status& error);

// What the server says about its failure: the protocol's or OAuth's error, cut to a sane length.
std::string ServerMessage(const HttpResponse& response);

}  // namespace fjord
