// See foreign_memory.hpp.
#include "runtime/foreign_memory.hpp"

#include <algorithm>
#include <string>

#include <ingot/error.hpp>
#include <ingot/shape.hpp>

#include "runtime/device.hpp"
#include "runtime/ordering.hpp"

namespace ingot::runtime {

using detail::index_t;

namespace {

__extension__ typedef __int128 wide_integer;  // sums and products of any 64-bit numbers

std::string in_brackets(const char* operation) { return "[" + std::string(operation) + "] "; }

/// In bytes: of the parts, where an element has two.
std::size_t alignment_of(dtype t) {
    return detail::size_of(detail::kind_of(t) == detail::kind::complex ? detail::part_of(t) : t);
}

}  // namespace

stream_state& stream_for_others(const char* operation, device_id device, const stream* named) {
    if (named == nullptr) {
        stream_state& current = *runtime::current().stream;
        return current.device == device ? current : *state_of(device).default_stream;
    }
    if (named->device() == device) return named->state();
    throw device_error(in_brackets(operation) + "a stream of " + to_string(named->device()) +
                       " cannot be in order with memory of " + to_string(device));
}

void hand_over(buffer& b, const stream_state& s, bool only_reads) {
    if (only_reads)
        order_read(b, s);
    else
        order_write(b, s);
}

buffer_ref buffer_over(const foreign_elements& e, detail::layout& where) {
    detail::check_extents(e.operation, e.shape);
    where = detail::contiguous_layout(e.shape);
    const bool is_empty = where.size() == 0;
    wide_integer low = 0, high = 0;
    const wide_integer beyond = wide_integer{1} << 100;
    for (int j = 0; !is_empty && j < where.rank(); ++j) {
        if (where.shape()[j] == 1) continue;  // where nothing moves the stride is of no account
        if (e.strides) where.strides()[j] = e.strides[j];
        const wide_integer far = static_cast<wide_integer>(where.strides()[j]) * (where.shape()[j] - 1);
        low = std::max(-beyond, low + std::min(far, wide_integer{0}));
        high = std::min(beyond, high + std::max(far, wide_integer{0}));
    }
    const auto each = static_cast<index_t>(detail::size_of(e.type));
    const auto address = static_cast<wide_integer>(reinterpret_cast<std::uintptr_t>(e.first));
    if (!is_empty && (address + low * each < 0 || address + (high + 1) * each > wide_integer{INT64_MAX}))
        throw shape_error(in_brackets(e.operation) + "shape " + detail::to_text(e.shape) + " of " +
                          std::string(name(e.type)) + " reaches beyond what addresses there are");
    if (!is_empty && e.first == nullptr)
        throw device_error(in_brackets(e.operation) + "a null pointer was given for shape " + detail::to_text(e.shape));
    if (!is_empty && reinterpret_cast<std::uintptr_t>(e.first) % alignment_of(e.type) != 0)
        throw device_error(in_brackets(e.operation) + "the memory is not aligned to the " +
                           std::to_string(alignment_of(e.type)) + " bytes that " + std::string(name(e.type)) +
                           " wants");
    backend& owner = *state_of(e.device).backend;
    if (!is_empty) owner.check_memory(e.first);
    where.offset = is_empty ? 0 : static_cast<index_t>(-low);
    buffer_ref b = unowned_buffer(static_cast<char*>(e.first) + static_cast<index_t>(low) * each,
                                  is_empty ? 0 : static_cast<std::size_t>((high - low + 1) * each), e.device);
    b->read_only = e.read_only;
    return b;
}

}  // namespace ingot::runtime
