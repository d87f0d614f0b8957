// zlib as a typed table, opened when the first compressed entry is read or written, and its two streams: deflate
// without a header, as in zip archives.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "runtime/system/opened_library.hpp"

namespace ingot::runtime {

/// zlib's z_stream, so that the build does not need its header. At run time zlib compares the size with its own.
struct z_stream {
    const unsigned char* next_in;
    unsigned int avail_in;
    unsigned long total_in;
    unsigned char* next_out;
    unsigned int avail_out;
    unsigned long total_out;
    const char* msg;
    void* state;
    void* zalloc;
    void* zfree;
    void* opaque;
    int data_type;
    unsigned long adler;
    unsigned long reserved;
};

struct zlib_api : api_table {
    using api_table::api_table;
    static library_files files();

    const char* (*zlibVersion)() = function("zlibVersion");
    int (*inflateInit2_)(z_stream*, int window_bits, const char* version, int stream_size) = function("inflateInit2_");
    int (*inflate)(z_stream*, int flush) = function("inflate");
    int (*inflateEnd)(z_stream*) = function("inflateEnd");
    int (*deflateInit2_)(z_stream*, int level, int method, int window_bits, int memory_level, int strategy,
                         const char* version, int stream_size) = function("deflateInit2_");
    int (*deflate)(z_stream*, int flush) = function("deflate");
    int (*deflateEnd)(z_stream*) = function("deflateEnd");
};

/// One of zlib's streams. Throws library_error where zlib is missing, out_of_memory where zlib finds no memory.
class zlib_stream {
public:
    enum class direction { inflate, deflate };
    explicit zlib_stream(direction);
    zlib_stream(zlib_stream&&) noexcept = default;
    zlib_stream& operator=(zlib_stream&&) noexcept = default;

    enum class progress { going_on, ended, damaged };
    /// Takes bytes from the front of `input`, writes bytes to the front of `output`, and leaves the rest of both. It
    /// stops when it needs more of either. `finish`: this is the last input.
    progress run(std::span<const std::byte>& input, std::span<std::byte>& output, bool finish = false);

private:
    struct ending {
        int (*end)(z_stream*) = nullptr;
        void operator()(z_stream* s) const {
            end(s);
            delete s;
        }
    };
    int (*step_)(z_stream*, int flush);
    std::unique_ptr<z_stream, ending> stream_;  // zlib stores its address
};

}  // namespace ingot::runtime
