// The beginning of a .npy file: magic bytes, the format's version, and a Python dict that says dtype, order and shape.
// Read in versions 1.0 to 3.0; written as NumPy writes it, to the last space.
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
    bool swapped = false;        // bytes of numbers are in the other order
    bool fortran_order = false;  // the first axis is the quickest
    shape_like shape;
    std::uint64_t bytes = 0;  // of all elements, which come next in the stream
};

/// Reads the header; what remains in the stream is then as long as the elements are. Throws file_error, and dtype_error
/// for a dtype that Ingot has not.
npy_contents read_npy_header(byte_stream&);

/// Of an array in C order. Throws dtype_error for one that NumPy has not: "[save] x.npy: ...".
std::string npy_header_of(const std::string& subject, dtype, std::span<const index_t> shape);

}  // namespace ingot::runtime
