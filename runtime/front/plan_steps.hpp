// The context in which a plan's steps run: the statement's memory, extents and strides. launch.cpp launches kernels;
// library calls and fills run here.
#pragma once

#include <span>

#include "runtime/device/stream.hpp"
#include "runtime/front/statement.hpp"
#include "runtime/kernels/executable.hpp"

namespace ingot::runtime {

struct step_context {
    const executable& e;
    const classified& c;
    const statement& s;
    stream_state& stream;
    std::uint32_t processors;
    std::span<buffer_ref> temporaries;  // null for a workspace, which exists only during its call

    /// Bytes of a temporary other than a workspace.
    std::size_t bytes_of(const codegen::temporary& t) const;
    /// The first element of an operand, output or temporary.
    std::byte* address_of(codegen::argument_kind memory, std::uint16_t index) const {
        const auto at = [](const buffer& of, const detail::layout& where, dtype type) {
            return static_cast<std::byte*>(of.data) + where.offset * static_cast<index_t>(detail::size_of(type));
        };
        switch (memory) {
            case codegen::argument_kind::operand_pointer:
                return at(*s.operands[index].memory, *s.operands[index].where, s.operands[index].type);
            case codegen::argument_kind::output_pointer:
                return at(**s.outputs[index].memory, *s.outputs[index].where, s.outputs[index].type);
            default:
                return static_cast<std::byte*>(temporaries[index]->data);
        }
    }
};

void run_library_call(const codegen::library_call&, const library_function&, const step_context&);
void run_fill(const codegen::fill&, const step_context&);

/// The product of the extents of these axes.
std::uint64_t points_of(std::uint64_t axes, std::span<const index_t> extents);

}  // namespace ingot::runtime
