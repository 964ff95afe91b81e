#include "io/s3_writer.h"

#include <utility>

#include "base/digest.h"
#include "base/status.h"
#include "base/strings.h"
#include "io/s3_xml.h"

namespace fjord {
namespace {

constexpr size_t kPartBytes = size_t{8} << 20;
constexpr size_t kPartsMax = 10'000;  // the protocol's
constexpr char kMarkHeader[] = "x-amz-meta-fjord-mark";

std::string NewMark() { return Hex(RandomBytes(16)); }

absl::Status Taken(const S3Location& location) {
  return absl::AlreadyExistsError(StrCat("s3://", location.bucket, "/", location.key, " exists"));
}

S3Request RequestFor(std::string method, const S3Location& location) {
  return {.method = std::move(method), .bucket = location.bucket, .key = location.key};
}

S3Request PutRequest(const S3Location& location, std::string_view bytes) {
  S3Request request = RequestFor("PUT", location);
  request.headers = {{"content-type", "application/octet-stream"}};
  request.body = bytes;
  return request;
}

// Keeps up to one part in memory: an object that is no larger is one PUT.
class S3WriteStream : public WriteStream {
 public:
  S3WriteStream(std::shared_ptr<S3Writer> writer, S3Location location)
      : writer_(std::move(writer)), location_(std::move(location)) {}
  ~S3WriteStream() override { Abort(); }

  absl::Status Write(std::string_view bytes) override {
    RETURN_IF_ERROR(status_);
    written_ += bytes.size();
    while (buffer_.size() + bytes.size() > kPartBytes) {
      const size_t n = kPartBytes - buffer_.size();
      buffer_ += bytes.substr(0, n);
      bytes.remove_prefix(n);
      status_ = SendPart();
      RETURN_IF_ERROR(status_);
    }
    buffer_ += bytes;
    return absl::OkStatus();
  }

  absl::Status Close() override {
    RETURN_IF_ERROR(status_);
    status_ = Finish();
    RETURN_IF_ERROR(status_);
    status_ = absl::FailedPreconditionError("the object is closed");
    is_upload_ = false;
    return absl::OkStatus();
  }

  void Abort() override {
    buffer_ = {};
    if (status_.ok()) status_ = absl::CancelledError("the object was given up");
    // When this fails too, the bucket's rule for unfinished uploads removes the parts.
    if (std::exchange(is_upload_, false)) writer_->AbortUpload(location_, upload_).IgnoreError();
  }

  uint64_t bytes_written() const override { return written_; }

 private:
  absl::Status SendPart() {
    if (!is_upload_) {
      ASSIGN_OR_RETURN(upload_, writer_->Begin(location_));
      is_upload_ = true;
    }
    RETURN_IF_ERROR(writer_->AddPart(location_, buffer_, &upload_));
    buffer_.clear();
    return absl::OkStatus();
  }

  absl::Status Finish() {
    if (!is_upload_) return writer_->Put(location_, buffer_);
    if (!buffer_.empty()) RETURN_IF_ERROR(SendPart());
    return writer_->Complete(location_, upload_);
  }

  const std::shared_ptr<S3Writer> writer_;
  const S3Location location_;
  std::string buffer_;
  S3Writer::Upload upload_;
  bool is_upload_ = false;
  uint64_t written_ = 0;
  absl::Status status_;  // the first error; an error too after Close or Abort
};

}  // namespace

absl::StatusOr<HttpResponse> S3Writer::SendConditional(S3Request request) {
  if (conditional_) {
    S3Request conditional = request;
    conditional.headers.emplace_back("if-none-match", "*");
    ASSIGN_OR_RETURN(HttpResponse response, client_->Send(conditional));
    if (response.status != 501) return response;
    conditional_ = false;
  }
  return client_->Send(request);
}

absl::StatusOr<S3Writer::Owner> S3Writer::OwnerOf(const S3Location& location, std::string_view mark,
                                                  uint64_t size) {
  ASSIGN_OR_RETURN(const HttpResponse head, client_->SendOk(RequestFor("HEAD", location)));
  const std::string found = head.Header(kMarkHeader);
  if (!found.empty()) return found == mark ? Owner::kOurs : Owner::kOther;
  return ParseInt<uint64_t>(head.Header("content-length")) == size ? Owner::kUnmarked
                                                                   : Owner::kOther;
}

absl::Status S3Writer::Put(const S3Location& location, std::string_view bytes) {
  S3Request request = PutRequest(location, bytes);
  const std::string mark = NewMark();
  request.headers.emplace_back(kMarkHeader, mark);
  ASSIGN_OR_RETURN(const HttpResponse response, SendConditional(request));
  if (response.status / 100 == 2) return absl::OkStatus();
  if (response.status != 412) return client_->ErrorOf(request, response);
  ASSIGN_OR_RETURN(const Owner owner, OwnerOf(location, mark, bytes.size()));
  if (owner == Owner::kOurs) return absl::OkStatus();
  if (owner == Owner::kOther) return Taken(location);
  S3Request get = RequestFor("GET", location);
  get.response_bytes_max = bytes.size() + (uint64_t{64} << 10);
  ASSIGN_OR_RETURN(const HttpResponse stored, client_->SendOk(get));
  return stored.body == bytes ? absl::OkStatus() : Taken(location);
}

absl::Status S3Writer::Replace(const S3Location& location, std::string_view bytes) {
  return client_->SendOk(PutRequest(location, bytes)).status();
}

absl::StatusOr<S3Writer::Upload> S3Writer::Begin(const S3Location& location) {
  Upload upload;
  upload.mark = NewMark();
  S3Request request = RequestFor("POST", location);
  request.query = {{"uploads", ""}};
  request.headers = {{"content-type", "application/octet-stream"}, {kMarkHeader, upload.mark}};
  ASSIGN_OR_RETURN(const HttpResponse response, client_->SendOk(request));
  ASSIGN_OR_RETURN(const XmlElement root, ParseXml(response.body));
  upload.id = root.TextOf("UploadId");
  if (upload.id.empty())
    return absl::DataLossError(StrCat("bucket ", location.bucket, ": an upload without an id"));
  return upload;
}

absl::Status S3Writer::AddPart(const S3Location& location, std::string_view bytes, Upload* upload) {
  if (upload->etags.size() >= kPartsMax) {
    return absl::ResourceExhaustedError(StrCat("s3://", location.bucket, "/", location.key,
                                               " is too large: more than ", kPartsMax, " parts of ",
                                               kPartBytes, " bytes"));
  }
  S3Request request = PutRequest(location, bytes);
  request.query = {{"partNumber", StrCat(upload->etags.size() + 1)}, {"uploadId", upload->id}};
  ASSIGN_OR_RETURN(const HttpResponse response, client_->SendOk(request));
  upload->etags.push_back(response.Header("etag"));
  upload->size += bytes.size();
  return absl::OkStatus();
}

absl::Status S3Writer::Complete(const S3Location& location, const Upload& upload) {
  std::string body = "<CompleteMultipartUpload>";
  for (size_t i = 0; i < upload.etags.size(); ++i) {
    StrAppend(&body, "<Part><PartNumber>", i + 1, "</PartNumber><ETag>", XmlEscape(upload.etags[i]),
              "</ETag></Part>");
  }
  body += "</CompleteMultipartUpload>";
  S3Request request = RequestFor("POST", location);
  request.query = {{"uploadId", upload.id}};
  request.headers = {{"content-type", "application/xml"}};
  request.body = body;
  ASSIGN_OR_RETURN(const HttpResponse response, SendConditional(request));
  const S3Error error = ParseS3Error(response.body);
  if (response.status / 100 == 2 && error.code.empty()) return absl::OkStatus();
  // An upload that was completed before the answer got lost is there no more.
  const bool is_gone = response.status == 404 && error.code != "NoSuchBucket";
  if (response.status != 412 && !is_gone) return client_->ErrorOf(request, response);
  const absl::StatusOr<Owner> owner = OwnerOf(location, upload.mark, upload.size);
  if (!owner.ok()) return is_gone ? client_->ErrorOf(request, response) : owner.status();
  return *owner == Owner::kOther ? Taken(location) : absl::OkStatus();
}

absl::Status S3Writer::AbortUpload(const S3Location& location, const Upload& upload) {
  S3Request request = RequestFor("DELETE", location);
  request.query = {{"uploadId", upload.id}};
  return client_->SendOk(request).status();
}

std::unique_ptr<WriteStream> MakeS3WriteStream(std::shared_ptr<S3Writer> writer,
                                               S3Location location) {
  return std::make_unique<S3WriteStream>(std::move(writer), std::move(location));
}

}  // namespace fjord
