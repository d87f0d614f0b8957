// Library functions by name, which a plan's library_call runs. A function takes strided arrays and puts its work on a
// stream; on a host device the work is done when it returns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <ingot/core/dtype.hpp>
#include <ingot/core/shape.hpp>

#include "codegen/plan/plan.hpp"
#include "runtime/device/stream.hpp"

namespace ingot::runtime {

/// Extents, and strides in elements: first the batch axes, then the function's own axes.
struct library_array {
    void* data = nullptr;
    dtype type = dtype::b1;
    std::span<const index_t> extents, strides;
};

struct library_arguments {
    std::span<const library_array> operands, results;
    std::size_t batch_axes = 0;
    std::span<const std::uint32_t> attributes;
    void* workspace = nullptr;
    std::size_t workspace_bytes = 0;
    stream_state& stream;
    std::uint64_t statement = 0;  // number under which errors go to error_record_of(stream) (error_record.hpp)
};

struct library_function {
    void (*call)(const library_arguments&) = nullptr;
    /// Bytes of workspace that a call needs. It is computed on the host, not in stream order. Null: none.
    std::size_t (*workspace_bytes)(const library_arguments&) = nullptr;
    friend bool operator==(const library_function&, const library_function&) = default;
};

/// One call on the host, with its own operands in C order.
class library_call_on_host {
public:
    /// Throws library_error where no function has the name.
    library_call_on_host(std::string_view name, std::size_t batch_axes);
    /// Memory for an operand's elements; it is valid until the call has run.
    std::byte* add_operand(dtype type, std::vector<index_t> extents);
    void run(dtype type, std::vector<index_t> extents, void* result, std::uint64_t statement);

private:
    struct held {
        std::vector<index_t> extents, strides;
        std::unique_ptr<std::byte[]> data;
    };
    static held in_order(std::vector<index_t> extents);

    const library_function& function_;
    std::size_t batch_axes_;
    std::vector<std::unique_ptr<held>> held_;
    std::vector<library_array> operands_;
};

/// Registers a function under a name. It replaces an earlier one, except in plans that exist already.
void register_library_function(std::string_view name, const library_function&);
/// The reference stays valid for ever. Throws library_error where no function has the name.
const library_function& library_function_named(std::string_view name);

}  // namespace ingot::runtime
