// See zip_reader.hpp. An archive is read from its end: the end record contains the position of the directory, the
// directory that of each entry. Every number is compared with the file's size before it is used.
#include "runtime/files/zip_reader.hpp"

#include <algorithm>
#include <array>
#include <ingot/core/error.hpp>
#include <memory>
#include <optional>

#include "runtime/files/crc32.hpp"
#include "runtime/files/zlib.hpp"

namespace ingot::runtime {

namespace {

using bytes_view = std::span<const std::byte>;

constexpr std::uint64_t most_by_deflate = 1032;  // bytes from one compressed byte: 258 for each two bits

std::uint16_t u16(bytes_view b, std::size_t at) { return little_endian<std::uint16_t>(b.subspan(at)); }
std::uint32_t u32(bytes_view b, std::size_t at) { return little_endian<std::uint32_t>(b.subspan(at)); }
std::uint64_t u64(bytes_view b, std::size_t at) { return little_endian<std::uint64_t>(b.subspan(at)); }

std::vector<std::byte> read_at(const byte_source& source, std::uint64_t offset, std::size_t size) {
    std::vector<std::byte> bytes(size);
    source.read(offset, bytes);
    return bytes;
}

// ---- the directory -------------------------------------------------------------------------------------------------

struct directory_location {
    std::uint64_t offset, size, entries;
    std::uint64_t end;  // where the records behind the directory begin
};

/// The end record, which only a comment follows.
std::uint64_t find_end_record(const byte_source& source) {
    const std::uint64_t size = source.size();
    constexpr std::uint64_t longest = zip::end_size + 0xffff;
    const std::size_t length = static_cast<std::size_t>(std::min(size, longest));
    const std::vector<std::byte> tail = read_at(source, size - length, length);
    for (std::size_t comment = 0; comment + zip::end_size <= length; ++comment) {
        const std::size_t at = length - zip::end_size - comment;
        if (u32(tail, at) == zip::end_signature && u16(tail, at + 20) == comment) return size - length + at;
    }
    throw_file_error(source.subject(),
                     "has no end record of a zip archive: it is no zip archive, or cut short, or bytes follow its end");
}

directory_location find_directory(const byte_source& source) {
    const std::uint64_t at = find_end_record(source);
    const std::vector<std::byte> end = read_at(source, at, zip::end_size);
    if (u16(end, 4) != u16(end, 6) || u16(end, 8) != u16(end, 10))
        throw_file_error(source.subject(), "is one part of a zip archive of several");
    directory_location location{u32(end, 16), u32(end, 12), u16(end, 10), at};
    if (at >= zip::locator64_size) {
        const auto locator = read_at(source, at - zip::locator64_size, zip::locator64_size);
        if (u32(locator, 0) == zip::locator64_signature) {
            location.end = u64(locator, 8);
            const auto end64 = read_at(source, location.end, zip::end64_size);
            const std::uint64_t locator_at = at - zip::locator64_size;
            if (u32(end64, 0) != zip::end64_signature || location.end > locator_at ||
                u64(end64, 4) != locator_at - location.end - 12)
                throw_file_error(source.subject(), "has no zip64 end record where its locator says");
            location.offset = u64(end64, 48);
            location.size = u64(end64, 40);
            location.entries = u64(end64, 32);
        }
    }
    if (location.offset > location.end || location.size != location.end - location.offset)
        throw_file_error(source.subject(), "has a directory of " + std::to_string(location.size) + " bytes at byte " +
                                               std::to_string(location.offset) + ", which is to end at byte " +
                                               std::to_string(location.end));
    return location;
}

/// The 64-bit numbers, in the order of the fields that are too small for them.
class zip64_numbers {
public:
    zip64_numbers(bytes_view extra, const std::string& subject) : subject_(subject) {
        while (extra.size() >= 4) {
            const std::size_t length = u16(extra, 2);
            if (length > extra.size() - 4) throw_file_error(subject, "has an extra field that is cut short");
            if (u16(extra, 0) == zip::zip64_extra) left_ = extra.subspan(4, length);
            extra = extra.subspan(4 + length);
        }
    }
    std::uint64_t or_own(std::uint32_t own) {
        if (own != zip::in_zip64) return own;
        if (left_.size() < 8) throw_file_error(subject_, "lacks a number of 64 bits in its extra field");
        const std::uint64_t value = u64(left_, 0);
        left_ = left_.subspan(8);
        return value;
    }

private:
    const std::string& subject_;
    bytes_view left_;
};

std::vector<zip_entry> read_directory(const byte_source& source, const directory_location& location) {
    if (location.entries > location.size / zip::central_size)
        throw_file_error(source.subject(), "says that it has " + std::to_string(location.entries) +
                                               " entries, in a directory of " + std::to_string(location.size) +
                                               " bytes");
    const std::vector<std::byte> directory = read_at(source, location.offset, static_cast<std::size_t>(location.size));
    std::vector<zip_entry> entries;
    entries.reserve(static_cast<std::size_t>(location.entries));
    bytes_view rest(directory);
    for (std::uint64_t i = 0; i < location.entries; ++i) {
        if (rest.size() < zip::central_size || u32(rest, 0) != zip::central_signature)
            throw_file_error(source.subject(), "has no entry number " + std::to_string(i) + " in its directory");
        const std::size_t name_size = u16(rest, 28), extra_size = u16(rest, 30);
        const std::size_t size = zip::central_size + name_size + extra_size + u16(rest, 32);
        if (rest.size() < size) throw_file_error(source.subject(), "has a directory that is cut short");
        zip_entry& e = entries.emplace_back();
        e.name.assign(reinterpret_cast<const char*>(rest.data()) + zip::central_size, name_size);
        e.flags = u16(rest, 8);
        e.method = u16(rest, 10);
        e.crc = u32(rest, 16);
        zip64_numbers wide(rest.subspan(zip::central_size + name_size, extra_size), source.subject());
        e.size = wide.or_own(u32(rest, 24));
        e.compressed_size = wide.or_own(u32(rest, 20));
        e.header_offset = wide.or_own(u32(rest, 42));
        rest = rest.subspan(size);
    }
    if (!rest.empty())
        throw_file_error(source.subject(),
                         "has " + std::to_string(rest.size()) + " bytes behind its directory's last entry");
    return entries;
}

// ---- entries -------------------------------------------------------------------------------------------------------

/// An entry's bytes; the checksum is checked once the last of them is read.
class entry_stream : public byte_stream {
public:
    entry_stream(const byte_source& source, std::uint64_t offset, const zip_entry& entry, std::string subject)
        : byte_stream(std::move(subject), entry.size),
          source_(source),
          offset_(offset),
          compressed_(entry.compressed_size),
          expected_crc_(entry.crc) {
        if (entry.method == zip::deflated) {
            inflater_.emplace(zlib_stream::direction::inflate);
            input_.resize(static_cast<std::size_t>(std::min<std::uint64_t>(compressed_, std::size_t{1} << 18)));
        }
    }

protected:
    void read_next(std::span<std::byte> to) override {
        if (inflater_)
            inflate(to);
        else
            take_compressed(to);
        crc_ = crc32(to, crc_);
        if (remaining() > 0) return;
        if (inflater_) end_inflating();
        if (crc_ != expected_crc_)
            throw_file_error(subject(), "is damaged: its checksum differs from that in the archive");
    }

private:
    void take_compressed(std::span<std::byte> to) {
        source_.read(offset_, to);
        offset_ += to.size();
        compressed_ -= to.size();
    }
    bool more_input() {
        if (!pending_.empty()) return true;
        const std::size_t size = static_cast<std::size_t>(std::min<std::uint64_t>(compressed_, input_.size()));
        take_compressed(std::span(input_).first(size));
        pending_ = bytes_view(input_).first(size);
        return size > 0;
    }
    void inflate(std::span<std::byte> to) {
        while (!to.empty()) {
            const bool fed = more_input();
            const std::size_t wanted = to.size();
            const auto progress = inflater_->run(pending_, to);
            const bool stuck = to.size() == wanted && !fed;
            if (progress == zlib_stream::progress::damaged || stuck ||
                (progress == zlib_stream::progress::ended && !to.empty()))
                throw_file_error(subject(), "is damaged: what is compressed in it cannot be read");
            ended_ = progress == zlib_stream::progress::ended;
        }
    }
    void end_inflating() {
        std::byte beyond{};
        while (!ended_) {
            const bool fed = more_input();
            std::span<std::byte> room(&beyond, 1);
            const auto progress = inflater_->run(pending_, room);
            ended_ = progress == zlib_stream::progress::ended;
            if (room.empty() || (!ended_ && (!fed || progress == zlib_stream::progress::damaged)))
                throw_file_error(subject(), "is damaged: it is longer than it says");
        }
        if (!pending_.empty() || compressed_ > 0)
            throw_file_error(subject(), "is damaged: bytes follow what is compressed in it");
    }

    const byte_source& source_;
    std::uint64_t offset_, compressed_;  // still to be read from the source
    std::uint32_t crc_ = 0, expected_crc_;
    std::optional<zlib_stream> inflater_;
    std::vector<std::byte> input_;
    bytes_view pending_;  // of the input
    bool ended_ = false;
};

}  // namespace

zip_reader::zip_reader(std::unique_ptr<byte_source> source) : source_(std::move(source)) {
    const directory_location location = find_directory(*source_);
    directory_offset_ = location.offset;
    entries_ = read_directory(*source_, location);
}

std::unique_ptr<byte_stream> zip_reader::open(const zip_entry& entry, std::string subject) const {
    if ((entry.flags & zip::encrypted) != 0) throw_file_error(subject, "is encrypted");
    if (entry.method != zip::stored && entry.method != zip::deflated)
        throw_file_error(subject, "is compressed by method " + std::to_string(entry.method) +
                                      ", and 0 (stored) or 8 (deflate) is wanted");
    if (entry.method == zip::stored ? entry.size != entry.compressed_size
                                    : entry.size / most_by_deflate > entry.compressed_size)
        throw_file_error(subject, "cannot hold " + std::to_string(entry.size) + " bytes in " +
                                      std::to_string(entry.compressed_size));
    std::array<std::byte, zip::local_size> header{};
    source_->read(entry.header_offset, header);
    if (u32(header, 0) != zip::local_signature) throw_file_error(subject, "is not where the archive's directory says");
    const std::size_t name_size = u16(header, 26);
    const auto name = read_at(*source_, entry.header_offset + zip::local_size, name_size);
    if (std::string_view(reinterpret_cast<const char*>(name.data()), name_size) != entry.name)
        throw_file_error(subject, "has another name than in the archive's directory");
    const std::uint64_t offset = entry.header_offset + zip::local_size + name_size + u16(header, 28);
    if (offset > directory_offset_ || entry.compressed_size > directory_offset_ - offset)
        throw_file_error(subject, "reaches beyond the archive's directory");
    return std::make_unique<entry_stream>(*source_, offset, entry, std::move(subject));
}

}  // namespace ingot::runtime
