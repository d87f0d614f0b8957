// See foreign_memory.hpp.
#include "runtime/device/foreign_memory.hpp"

#include <algorithm>
#include <string>

#include <ingot/core/array.hpp>
#include <ingot/core/error.hpp>
#include <ingot/core/memory.hpp>
#include <ingot/core/shape.hpp>

#include "runtime/device/device.hpp"
#include "runtime/device/ordering.hpp"

namespace ingot::runtime {

using detail::index_t;

namespace {

std::string in_brackets(const char* operation) { return "[" + std::string(operation) + "] "; }

/// Alignment in bytes; a complex element is aligned as one of its parts.
std::size_t alignment_of(dtype t) {
    return detail::size_of(detail::kind_of(t) == detail::kind::complex ? detail::part_of(t) : t);
}

/// Whether an element occurs several times, as along a broadcast axis: NumPy marks such arrays read-only.
bool is_repeated(const detail::layout& where) {
    if (where.size() == 0) return false;
    for (int j = 0; j < where.rank(); ++j)
        if (where.shape()[j] > 1 && where.strides()[j] == 0) return true;
    return false;
}

}  // namespace

stream_state& stream_for_foreign_use(const char* operation, device_id device, const stream* named) {
    if (named == nullptr) {
        stream_state& current = *runtime::current().stream;
        return current.device == device ? current : *state_of(device).default_stream;
    }
    if (named->device() == device) return named->state();
    throw device_error(in_brackets(operation) + "a stream of " + to_string(named->device()) +
                       " cannot be in order with memory of " + to_string(device));
}

void order_foreign_use(buffer& b, const stream_state& s, bool only_reads) {
    if (only_reads)
        order_read(b, s);
    else
        order_write(b, s);
}

void expose_for_writing(buffer_ref& memory) {
    detail::make_unique(memory);
    if (memory) memory->externally_visible = true;
}

}  // namespace ingot::runtime

ingot::detail::buffer_ref ingot::detail::given_memory(void* data, std::size_t bytes, detail::device_id device) {
    runtime::backend& owner = *runtime::state_of(device).backend;
    if (data == nullptr && bytes != 0)
        throw device_error("[unowned_memory] a null pointer was given for " + std::to_string(bytes) + " bytes");
    const auto address = reinterpret_cast<std::uintptr_t>(data);
    if (address + bytes < address)
        throw device_error("[unowned_memory] " + std::to_string(bytes) +
                           " bytes reach beyond the end of the address space");
    if (bytes != 0) owner.check_memory(data, bytes);
    return unowned_buffer(data, bytes, device);
}

namespace ingot::runtime {

buffer_ref buffer_over(const foreign_elements& e, detail::layout& where) {
    detail::check_extents(e.operation, e.shape);
    where = detail::contiguous_layout(e.shape);
    const bool is_empty = where.size() == 0;
    const auto each = static_cast<index_t>(detail::size_of(e.type));
    index_t low = 0, high = 0;  // the range of elements, from the first one
    bool is_beyond = false;
    for (int j = 0; !is_empty && j < where.rank(); ++j) {
        if (where.shape()[j] == 1) continue;  // an axis of extent 1: its stride is ignored
        if (e.strides) where.strides()[j] = e.strides[j];
        index_t far = 0;
        is_beyond |= __builtin_mul_overflow(where.strides()[j], where.shape()[j] - 1, &far);
        index_t& end = far < 0 ? low : high;
        is_beyond |= __builtin_add_overflow(end, far, &end);
    }
    const auto address = reinterpret_cast<std::uintptr_t>(e.first);
    index_t low_bytes = 0, high_bytes = 0, lowest = 0, highest = 0;
    is_beyond = is_beyond || __builtin_mul_overflow(low, each, &low_bytes) ||
                __builtin_mul_overflow(high, each, &high_bytes) ||
                __builtin_add_overflow(address, low_bytes, &lowest) || lowest < 0 ||
                __builtin_add_overflow(address, high_bytes, &highest) || highest > INT64_MAX - each;
    if (!is_empty && is_beyond)
        throw shape_error(in_brackets(e.operation) + "shape " + detail::to_text(e.shape) + " of " +
                          std::string(name(e.type)) + " reaches beyond the end of the address space");
    if (!is_empty && e.first == nullptr)
        throw device_error(in_brackets(e.operation) + "a null pointer was given for shape " + detail::to_text(e.shape));
    if (!is_empty && reinterpret_cast<std::uintptr_t>(e.first) % alignment_of(e.type) != 0)
        throw device_error(in_brackets(e.operation) + "the memory is not aligned to the " +
                           std::to_string(alignment_of(e.type)) + " bytes that " + std::string(name(e.type)) +
                           " wants");
    backend& owner = *state_of(e.device).backend;
    char* const data = static_cast<char*>(e.first) + low_bytes;
    const std::size_t bytes = is_empty ? 0 : static_cast<std::size_t>(high_bytes - low_bytes + each);
    if (!is_empty) owner.check_memory(data, bytes);
    where.offset = -low;
    buffer_ref b = unowned_buffer(data, bytes, e.device);
    b->read_only = e.read_only || is_repeated(where);
    return b;
}

}  // namespace ingot::runtime
