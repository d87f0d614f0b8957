// See zlib.hpp.
#include "runtime/files/zlib.hpp"

#include <algorithm>
#include <limits>

#include <ingot/core/error.hpp>

namespace ingot::runtime {

namespace {

// Constants of zlib.h.
constexpr int Z_NO_FLUSH = 0, Z_FINISH = 4;
constexpr int Z_OK = 0, Z_STREAM_END = 1, Z_MEM_ERROR = -4, Z_BUF_ERROR = -5;
constexpr int Z_DEFLATED = 8, Z_DEFAULT_COMPRESSION = -1, Z_DEFAULT_STRATEGY = 0;
constexpr int raw_window_bits = -15;  // negative: raw data without zlib's header
constexpr int memory_level = 8;

[[noreturn]] void throw_no_memory() { throw out_of_memory("[zlib] out of memory on the host"); }

const zlib_api& zlib() { return opened_library<zlib_api>::get("zlib"); }

}  // namespace

library_files zlib_api::files() {
    return {{"libz.so.1"}, "libz.so.1 was not found; compressed .npz files want zlib (Debian: zlib1g)"};
}

zlib_stream::zlib_stream(direction d)
    : step_(d == direction::inflate ? zlib().inflate : zlib().deflate),
      stream_(new z_stream{}, {d == direction::inflate ? zlib().inflateEnd : zlib().deflateEnd}) {
    const zlib_api& api = zlib();
    const char* const version = api.zlibVersion();
    constexpr int size = sizeof(z_stream);
    const int status = d == direction::inflate
                           ? api.inflateInit2_(stream_.get(), raw_window_bits, version, size)
                           : api.deflateInit2_(stream_.get(), Z_DEFAULT_COMPRESSION, Z_DEFLATED, raw_window_bits,
                                               memory_level, Z_DEFAULT_STRATEGY, version, size);
    if (status == Z_MEM_ERROR) throw_no_memory();
    if (status != Z_OK)
        throw library_error("[zlib] zlib " + std::string(version) + " could not begin a stream: status " +
                            std::to_string(status));
}

zlib_stream::progress zlib_stream::run(std::span<const std::byte>& input, std::span<std::byte>& output, bool finish) {
    constexpr std::size_t most = std::numeric_limits<unsigned int>::max();
    z_stream& s = *stream_;
    s.next_in = reinterpret_cast<const unsigned char*>(input.data());
    s.avail_in = static_cast<unsigned int>(std::min(input.size(), most));
    s.next_out = reinterpret_cast<unsigned char*>(output.data());
    s.avail_out = static_cast<unsigned int>(std::min(output.size(), most));
    const std::size_t given = s.avail_in, room = s.avail_out;
    const int status = step_(&s, finish && given == input.size() ? Z_FINISH : Z_NO_FLUSH);
    input = input.subspan(given - s.avail_in);
    output = output.subspan(room - s.avail_out);
    if (status == Z_MEM_ERROR) throw_no_memory();
    if (status == Z_STREAM_END) return progress::ended;
    return status == Z_OK || status == Z_BUF_ERROR ? progress::going_on : progress::damaged;
}

}  // namespace ingot::runtime
