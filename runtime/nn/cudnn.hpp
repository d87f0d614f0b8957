// Convolutions on a GPU by cuDNN, where it is installed.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include <ingot/core/dtype.hpp>
#include <ingot/core/key.hpp>
#include <ingot/core/shape.hpp>

#include "runtime/device/stream.hpp"

namespace ingot::runtime {

/// A convolution of arrays that are contiguous in C order.
struct convolution_call {
    dtype type;  // a float or a half
    detail::math_mode math;
    std::vector<detail::index_t> images, weights, results;     // extents: (batch, channels, ...), (outputs, ...), ...
    std::vector<detail::index_t> padding, strides, dilations;  // along the axes of images
    detail::index_t groups;
    const void* operands[2] = {nullptr, nullptr};  // the images and the weights
    void* result = nullptr;
};

/// How convolutions are computed.
enum class convolution_path : std::uint8_t {
    by_shape,
    sums,      // one fold over the windows
    products,  // of the weights with the elements of all windows
    library    // cuDNN; products where it has no algorithm
};
/// The path of all convolutions, for tests and measurements.
inline constinit std::atomic<convolution_path> forced_convolution_path{convolution_path::by_shape};

/// Whether cuDNN is installed, of a dtype that it convolves, with fewer than 2^31 elements in each array.
bool suits_cudnn(const convolution_call&);
/// Returns false, with no result, where cuDNN has no algorithm for the convolution.
bool call_cudnn(const convolution_call&, stream_state&);

}  // namespace ingot::runtime
