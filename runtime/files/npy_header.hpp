// The beginning of a .npy file: magic bytes, the format's version, and a Python dict with dtype, order and shape.
// Versions 1.0 to 3.0 can be read; headers are written exactly as NumPy writes them.
#pragma once

#include <cstdint>
#include <ingot/core/dtype.hpp>
#include <ingot/core/shape.hpp>
#include <span>
#include <string>

#include "runtime/files/byte_source.hpp"

namespace ingot::runtime {

struct npy_contents {
    dtype type = dtype::b1;
    bool swapped = false;        // the file has the other byte order
    bool fortran_order = false;  // the first axis varies fastest
    shape_like shape;
    std::uint64_t bytes = 0;  // of all elements, which follow in the stream
};

/// Reads the header, and checks that the rest of the stream is as long as the elements. Throws file_error, and
/// dtype_error for a dtype that Ingot does not have.
npy_contents read_npy_header(byte_stream&);

/// The header of an array in C order. Throws dtype_error for a dtype that NumPy does not have: "[save] x.npy: ...".
std::string npy_header_of(const std::string& subject, dtype, std::span<const index_t> shape);

}  // namespace ingot::runtime
