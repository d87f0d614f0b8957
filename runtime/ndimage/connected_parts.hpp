// The connected parts of an image by union and find, on the host and on a GPU.
#pragma once

#include <cstdint>
#include <vector>

#include <ingot/core/dtype.hpp>
#include <ingot/core/shape.hpp>

#include "runtime/device/stream.hpp"

namespace ingot::runtime {

/// For each element the least index of its part, or -1 where it is not inside.
struct connected_parts {
    dtype number_type;  // int32 or int64
    const bool* inside;
    void* numbers;
    std::vector<detail::index_t> extents;
    /// A bit for each neighbour that an element may be connected with: the places before the middle one of 3^rank in C
    /// order.
    const std::uint32_t* connects;
};

void connect_on_host(const connected_parts&);
void connect_on_gpu(const connected_parts&, stream_state&);

}  // namespace ingot::runtime
