// The bytes that a format's reader reads: a file, or memory that a test has filled. A source is read anywhere, a stream
// from its beginning to its end. Both know their size before anything is read, so that no more is allocated than it
// justifies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace ingot::runtime {

/// Throws file_error with the text "[load] x.npy: what".
[[noreturn]] void throw_file_error(const std::string& subject, const std::string& what);

class byte_source {
public:
    /// `subject` begins the errors: the operation and the file, "[load] x.npy".
    byte_source(std::string subject, std::uint64_t size) : subject_(std::move(subject)), size_(size) {}
    byte_source(const byte_source&) = delete;
    byte_source& operator=(const byte_source&) = delete;
    virtual ~byte_source() = default;

    const std::string& subject() const noexcept { return subject_; }
    std::uint64_t size() const noexcept { return size_; }
    /// Fills `to` from an offset on. Throws file_error where the source is too short.
    void read(std::uint64_t offset, std::span<std::byte> to) const;

protected:
    virtual void read_within(std::uint64_t offset, std::span<std::byte> to) const = 0;

private:
    std::string subject_;
    std::uint64_t size_;
};

/// Bytes in memory, which must outlive the source.
class memory_source : public byte_source {
public:
    memory_source(std::string subject, std::span<const std::byte> bytes)
        : byte_source(std::move(subject), bytes.size()), bytes_(bytes) {}

protected:
    void read_within(std::uint64_t offset, std::span<std::byte> to) const override;

private:
    std::span<const std::byte> bytes_;
};

/// Opens a file for `operation`. Throws file_error.
std::unique_ptr<byte_source> open_file(const std::string& operation, const std::string& path);

class byte_stream {
public:
    byte_stream(std::string subject, std::uint64_t size) : subject_(std::move(subject)), remaining_(size) {}
    byte_stream(const byte_stream&) = delete;
    byte_stream& operator=(const byte_stream&) = delete;
    virtual ~byte_stream() = default;

    const std::string& subject() const noexcept { return subject_; }
    std::uint64_t remaining() const noexcept { return remaining_; }
    /// Fills `to` with the next bytes. Throws file_error where too few are left. With the last bytes, a checksum of all
    /// is checked, if there is one.
    void read(std::span<std::byte> to);

protected:
    virtual void read_next(std::span<std::byte> to) = 0;

private:
    std::string subject_;
    std::uint64_t remaining_;
};

/// The whole of a source, which must outlive the stream.
class source_stream : public byte_stream {
public:
    explicit source_stream(const byte_source& source) : byte_stream(source.subject(), source.size()), source_(source) {}

protected:
    void read_next(std::span<std::byte> to) override {
        source_.read(at_, to);
        at_ += to.size();
    }

private:
    const byte_source& source_;
    std::uint64_t at_ = 0;
};

// ---- integers in files ---------------------------------------------------------------------------------------------

/// An unsigned integer, lowest byte first.
template <class T>
T little_endian(std::span<const std::byte> bytes) noexcept {
    T value = 0;
    for (std::size_t i = sizeof(T); i-- > 0;) value = static_cast<T>(value << 8 | std::to_integer<T>(bytes[i]));
    return value;
}
template <class T>
void append_little_endian(std::vector<std::byte>& to, T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i) to.push_back(static_cast<std::byte>(value >> 8 * i & 0xff));
}

}  // namespace ingot::runtime
