// Where a format's reader takes its bytes from: a file, or memory in which tests put what they like. A source is read
// anywhere, a stream from its beginning to its end; both know their size before anything is read, so that nothing is
// allocated that they do not justify.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace ingot::runtime {

/// Throws file_error: "[load] x.npy: what".
[[noreturn]] void throw_file_error(const std::string& subject, const std::string& what);

class byte_source {
public:
    /// subject: what is being done and with which file, as errors begin: "[load] x.npy".
    byte_source(std::string subject, std::uint64_t size) : subject_(std::move(subject)), size_(size) {}
    byte_source(const byte_source&) = delete;
    byte_source& operator=(const byte_source&) = delete;
    virtual ~byte_source() = default;

    const std::string& subject() const noexcept { return subject_; }
    std::uint64_t size() const noexcept { return size_; }
    /// Fills `to` from an offset on. Throws file_error where there are not so many bytes.
    void read(std::uint64_t offset, std::span<std::byte> to) const;

protected:
    virtual void read_within(std::uint64_t offset, std::span<std::byte> to) const = 0;

private:
    std::string subject_;
    std::uint64_t size_;
};

/// Bytes that stay where they are.
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
    /// Fills `to` with the bytes that come next. Throws file_error where there are not so many; with the last of them
    /// what is known of all is checked.
    void read(std::span<std::byte> to);

protected:
    virtual void read_next(std::span<std::byte> to) = 0;

private:
    std::string subject_;
    std::uint64_t remaining_;
};

/// All of a source, which stays for as long.
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

// ---- integers as files have them -----------------------------------------------------------------------------------

/// An unsigned integer, its lowest byte first.
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
