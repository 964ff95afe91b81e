#include "columnar/arrow_streams.h"

#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>
#include <arrow/result.h>

#include <algorithm>
#include <cstring>

namespace fjord {
namespace {

class OutputAdapter : public arrow::io::OutputStream {
 public:
  OutputAdapter(WriteStream& stream, absl::Status& error) : stream_(stream), error_(error) {
    set_mode(arrow::io::FileMode::WRITE);
  }
  arrow::Status Write(const void* data, int64_t size) override {
    if (error_.ok())
      error_ = stream_.Write({static_cast<const char*>(data), static_cast<size_t>(size)});
    return error_.ok() ? arrow::Status::OK()
                       : arrow::Status::IOError("the object could not be written");
  }
  arrow::Result<int64_t> Tell() const override {
    return static_cast<int64_t>(stream_.bytes_written());
  }
  arrow::Status Close() override { return arrow::Status::OK(); }
  bool closed() const override { return false; }

 private:
  WriteStream& stream_;
  absl::Status& error_;
};

class InputAdapter : public arrow::io::RandomAccessFile {
 public:
  InputAdapter(std::unique_ptr<ReadableObject> object, std::shared_ptr<absl::Status> error)
      : object_(std::move(object)), error_(std::move(error)) {}

  arrow::Result<int64_t> GetSize() override { return static_cast<int64_t>(object_->size()); }

  arrow::Result<int64_t> ReadAt(int64_t position, int64_t size, void* out) override {
    ARROW_RETURN_NOT_OK(ReadWholeIfSmall());
    const int64_t count = Available(position, size);
    if (whole_ != nullptr) {
      std::memcpy(out, whole_->data() + position, static_cast<size_t>(count));
      return count;
    }
    ARROW_RETURN_NOT_OK(ReadObject(position, count, out));
    return count;
  }

  arrow::Result<std::shared_ptr<arrow::Buffer>> ReadAt(int64_t position, int64_t size) override {
    ARROW_RETURN_NOT_OK(ReadWholeIfSmall());
    const int64_t count = Available(position, size);
    if (whole_ != nullptr) return arrow::SliceBuffer(whole_, position, count);
    ARROW_ASSIGN_OR_RAISE(std::unique_ptr<arrow::Buffer> buffer, arrow::AllocateBuffer(count));
    ARROW_RETURN_NOT_OK(ReadObject(position, count, buffer->mutable_data()));
    return std::shared_ptr<arrow::Buffer>(std::move(buffer));
  }

  arrow::Result<int64_t> Read(int64_t size, void* out) override {
    ARROW_ASSIGN_OR_RAISE(const int64_t read, ReadAt(at_, size, out));
    at_ += read;
    return read;
  }
  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(int64_t size) override {
    ARROW_ASSIGN_OR_RAISE(auto buffer, ReadAt(at_, size));
    at_ += buffer->size();
    return buffer;
  }
  arrow::Status Seek(int64_t position) override {
    at_ = position;
    return arrow::Status::OK();
  }
  arrow::Result<int64_t> Tell() const override { return at_; }
  arrow::Status Close() override { return arrow::Status::OK(); }
  bool closed() const override { return false; }

 private:
  // Positions come from the footer, that is from bytes that may be anything.
  int64_t Available(int64_t position, int64_t size) const {
    const auto end = static_cast<int64_t>(object_->size());
    if (position < 0 || size < 0 || position > end) return 0;
    return std::min(size, end - position);
  }

  arrow::Status ReadObject(int64_t position, int64_t size, void* out) {
    if (size == 0) return arrow::Status::OK();
    const absl::Status status = object_->ReadAt(static_cast<uint64_t>(position),
                                                static_cast<char*>(out), static_cast<size_t>(size));
    if (status.ok()) return arrow::Status::OK();
    if (error_->ok()) *error_ = status;
    return arrow::Status::IOError("the object could not be read");
  }

  arrow::Status ReadWholeIfSmall() {
    if (whole_ != nullptr || object_->size() > kReadWholeBytesMax) return arrow::Status::OK();
    const auto size = static_cast<int64_t>(object_->size());
    ARROW_ASSIGN_OR_RAISE(std::unique_ptr<arrow::Buffer> buffer, arrow::AllocateBuffer(size));
    ARROW_RETURN_NOT_OK(ReadObject(0, size, buffer->mutable_data()));
    whole_ = std::move(buffer);
    return arrow::Status::OK();
  }

  const std::unique_ptr<ReadableObject> object_;
  const std::shared_ptr<absl::Status> error_;
  std::shared_ptr<arrow::Buffer> whole_;
  int64_t at_ = 0;
};

}  // namespace

std::shared_ptr<arrow::io::OutputStream> AdaptForArrow(WriteStream& stream, absl::Status& error) {
  return std::make_shared<OutputAdapter>(stream, error);
}

std::shared_ptr<arrow::io::RandomAccessFile> AdaptForArrow(std::unique_ptr<ReadableObject> object,
                                                           std::shared_ptr<absl::Status> error) {
  return std::make_shared<InputAdapter>(std::move(object), std::move(error));
}

}  // namespace fjord
