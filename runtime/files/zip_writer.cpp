// See zip_writer.hpp.
#include "runtime/files/zip_writer.hpp"

#include <algorithm>

#include "runtime/files/byte_source.hpp"
#include "runtime/files/crc32.hpp"

namespace ingot::runtime {

namespace {

constexpr std::uint16_t version = 45;  // of the format; the first with zip64
constexpr std::uint16_t made_on_unix = 3 << 8;
constexpr std::uint32_t read_by_owner = 0600u << 16;         // access rights, as Unix stores them
constexpr std::uint16_t time_of_day = 0, date = 1 << 5 | 1;  // 1980-01-01
constexpr std::size_t output_size = std::size_t{1} << 18;

std::uint16_t as_u16(std::uint64_t n) { return static_cast<std::uint16_t>(n); }
std::uint32_t as_u32(std::uint64_t n) { return static_cast<std::uint32_t>(n); }

template <class... T>
void append_all(std::vector<std::byte>& to, T... numbers) {
    (append_little_endian(to, numbers), ...);
}

void append_text(std::vector<std::byte>& to, const std::string& text) {
    for (const char c : text) to.push_back(static_cast<std::byte>(c));
}

}  // namespace

std::vector<std::byte> zip_writer::local_header() const {
    const zip_entry& e = entries_.back();
    std::vector<std::byte> header;
    append_all(header, zip::local_signature, version, e.flags, e.method, time_of_day, date, e.crc, zip::in_zip64,
               zip::in_zip64, as_u16(e.name.size()), std::uint16_t{20});
    append_text(header, e.name);
    append_all(header, zip::zip64_extra, std::uint16_t{16}, e.size, e.compressed_size);
    return header;
}

void zip_writer::begin_entry(const std::string& name) {
    if (name.size() > 0xffff || name.find('\0') != std::string::npos)
        throw_file_error(file_.subject(), "a name of " + std::to_string(name.size()) +
                                              " bytes is given, and at most 65535 are wanted, none of them 0");
    zip_entry& e = entries_.emplace_back();
    e.name = name;
    if (std::any_of(name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) > 127; }))
        e.flags = zip::utf8_name;
    e.method = compressed_ ? zip::deflated : zip::stored;
    e.header_offset = file_.size();
    if (compressed_) {
        deflater_.emplace(zlib_stream::direction::deflate);
        output_.resize(output_size);
    }
    file_.append(local_header());
}

void zip_writer::append(std::span<const std::byte> bytes) {
    zip_entry& e = entries_.back();
    e.crc = crc32(bytes, e.crc);
    e.size += bytes.size();
    if (deflater_) return deflate(bytes, false);
    file_.append(bytes);
    e.compressed_size += bytes.size();
}

void zip_writer::deflate(std::span<const std::byte> bytes, bool finish) {
    for (bool more = true; more;) {
        std::span<std::byte> room(output_);
        const bool ended = deflater_->run(bytes, room, finish) == zlib_stream::progress::ended;
        const std::size_t made = output_.size() - room.size();
        file_.append(std::span(output_).first(made));
        entries_.back().compressed_size += made;
        more = finish ? !ended : !bytes.empty() || room.empty();
    }
}

void zip_writer::end_entry() {
    if (deflater_) deflate({}, true);
    deflater_.reset();
    file_.overwrite(entries_.back().header_offset, local_header());
}

void zip_writer::drop_entries(std::size_t kept) {
    deflater_.reset();
    if (kept == entries_.size()) return;
    const std::uint64_t end = entries_[kept].header_offset;
    entries_.resize(kept);
    file_.shorten(end);
}

void zip_writer::append_directory_entry(std::vector<std::byte>& to, const zip_entry& e) const {
    std::vector<std::byte> wide;
    const auto narrow = [&](std::uint64_t n, bool too_large) {
        if (too_large) append_little_endian(wide, n);
        return too_large ? zip::in_zip64 : as_u32(n);
    };
    const bool large = e.size > limit_ || e.compressed_size > limit_;
    const std::uint32_t size = narrow(e.size, large), compressed = narrow(e.compressed_size, large);
    const std::uint32_t offset = narrow(e.header_offset, e.header_offset > limit_);
    const std::size_t extra = wide.empty() ? 0 : 4 + wide.size();
    constexpr std::uint16_t comment = 0, disk = 0, attributes = 0;
    append_all(to, zip::central_signature, as_u16(made_on_unix | version), version, e.flags, e.method, time_of_day,
               date, e.crc, compressed, size, as_u16(e.name.size()), as_u16(extra), comment, disk, attributes,
               read_by_owner, offset);
    append_text(to, e.name);
    if (wide.empty()) return;
    append_all(to, zip::zip64_extra, as_u16(wide.size()));
    to.insert(to.end(), wide.begin(), wide.end());
}

void zip_writer::finish() {
    std::vector<std::byte> directory;
    for (const zip_entry& e : entries_) append_directory_entry(directory, e);
    const std::uint64_t offset = file_.size(), size = directory.size(), count = entries_.size();
    if (count > zip::in_zip64_16 || offset > limit_ || size > limit_) {
        constexpr std::uint32_t disk = 0, disks = 1;
        append_all(directory, zip::end64_signature, std::uint64_t{zip::end64_size - 12}, version, version, disk, disk,
                   count, count, size, offset);
        append_all(directory, zip::locator64_signature, disk, offset + size, disks);
    }
    const std::uint16_t entries = as_u16(std::min<std::uint64_t>(count, zip::in_zip64_16));
    constexpr std::uint16_t disk = 0, comment = 0;
    append_all(directory, zip::end_signature, disk, disk, entries, entries,
               as_u32(std::min<std::uint64_t>(size, zip::in_zip64)),
               as_u32(std::min<std::uint64_t>(offset, zip::in_zip64)), comment);
    file_.append(directory);
}

}  // namespace ingot::runtime
