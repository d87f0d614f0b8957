// Memory for new arrays, and copies of values to and from the host.
#include <ingot/core/creation.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>

#include <ingot/core/array.hpp>
#include <ingot/core/error.hpp>
#include <ingot/core/host.hpp>

#include "runtime/device/copy_view.hpp"
#include "runtime/device/device.hpp"
#include "runtime/device/graphs.hpp"
#include "runtime/device/transfer.hpp"
#include "runtime/front/evaluate.hpp"
#include "runtime/system/number_text.hpp"

namespace ingot::detail {

namespace {

__extension__ typedef __int128 wide_integer;  // holds sums and products of any 64-bit numbers

std::string in_brackets(const char* operation) { return "[" + std::string(operation) + "] "; }

std::size_t bytes_of(const layout& where, std::size_t bytes_each) {
    return static_cast<std::size_t>(where.size()) * bytes_each;
}

}  // namespace

void allocate_array(const char* operation, destination to, std::span<const index_t> shape, device_id device) {
    check_extents(operation, shape);
    to.where = contiguous_layout(shape);
    runtime::stream_state& stream = *runtime::current().stream;
    to.memory = allocate_buffer(bytes_of(to.where, size_of(to.type)), device,
                                stream.device == device ? stream : *runtime::state_of(device).default_stream);
}

void fill_zeros(const buffer_ref& memory) { runtime::fill(*memory, 0, memory->bytes, 0, *runtime::current().stream); }

layout layout_within(const char* operation, dtype type, const buffer* memory, index_t first,
                     std::span<const index_t> shape, const integer_list* strides) {
    check_extents(operation, shape);
    layout where = contiguous_layout(shape);
    const auto each = static_cast<index_t>(size_of(type));
    if (strides) {
        if (strides->count() != where.rank())
            throw shape_error(in_brackets(operation) + std::to_string(strides->count()) + " strides for shape " +
                              to_text(shape));
        for (int j = 0; j < where.rank(); ++j) {
            if ((*strides)[j] % each != 0)
                throw shape_error(in_brackets(operation) + "stride " + std::to_string((*strides)[j]) +
                                  " is no multiple of the " + std::to_string(each) + " bytes of " +
                                  std::string(name(type)));
            // Along an axis of extent 1 the stride is ignored, however large.
            if (where.size() > 0 && where.shape()[j] > 1) where.strides()[j] = (*strides)[j] / each;
        }
    }
    // The range of elements. A product has up to 127 bits, and 64 of them may exceed 128 bits, so the sums saturate.
    wide_integer low = first, high = first;
    const wide_integer bytes = memory ? memory->bytes : 0, beyond = wide_integer{1} << 120;
    for (int j = 0; where.size() > 0 && j < where.rank(); ++j) {
        const wide_integer far = static_cast<wide_integer>(where.strides()[j]) * (where.shape()[j] - 1);
        low = std::max(-beyond, low + std::min(far, wide_integer{0}));
        high = std::min(beyond, high + std::max(far, wide_integer{0}));
    }
    if (where.size() > 0 && (low < 0 || (high + 1) * each > bytes))
        throw shape_error(in_brackets(operation) + "shape " + to_text(shape) +
                          (strides ? " with strides " + to_text(strides->values()) : "") + " of " +
                          std::string(name(type)) + " reaches beyond the " +
                          std::to_string(memory ? memory->bytes : 0) + " bytes given");
    where.offset = first;
    return where;
}

void adopt_memory(destination to, const buffer_ref& memory, std::span<const index_t> shape,
                  const integer_list* strides) {
    to.where = layout_within("asarray", to.type, memory.get(), 0, shape, strides);
    to.memory = memory;
}

index_t arange_count(double start, double stop, double step) {
    const double count = std::ceil((stop - start) / step);
    if (step == 0 || std::isnan(count))
        throw shape_error(in_brackets("arange") + "no number of steps of " + runtime::number_text(step) +
                          " leads from " + runtime::number_text(start) + " to " + runtime::number_text(stop));
    if (count >= 0x1p59) {
        char number[32];
        std::snprintf(number, sizeof number, "%.0f", count);
        throw shape_error(in_brackets("arange") + "shape (" + number + ",) has too many elements");
    }
    return count <= 0 ? 0 : static_cast<index_t>(count);
}

index_t arange_count(any_number start, any_number stop, any_number step) {
    const auto value = [](any_number n) -> wide_integer {
        return n.is_unsigned ? wide_integer{n.bits} : wide_integer{static_cast<std::int64_t>(n.bits)};
    };
    const auto text = [](any_number n) {
        return n.is_unsigned ? std::to_string(n.bits) : std::to_string(static_cast<std::int64_t>(n.bits));
    };
    const wide_integer by = value(step), way = value(stop) - value(start);
    if (by == 0)
        throw shape_error(in_brackets("arange") + "no number of steps of 0 leads from " + text(start) + " to " +
                          text(stop));
    const wide_integer count = by > 0 ? (way + by - 1) / by : (-way - by - 1) / -by;
    if (count > std::numeric_limits<index_t>::max())
        throw shape_error(in_brackets("arange") + "too many elements from " + text(start) + " to " + text(stop) +
                          " by " + text(step));
    return count <= 0 ? 0 : static_cast<index_t>(count);
}

double even_point(double start, double stop, index_t count, bool endpoint, index_t i) noexcept {
    if (endpoint && i > 0 && i == count - 1) return stop;
    const auto parts = static_cast<double>(endpoint ? count - 1 : count), k = static_cast<double>(i);
    const double range = stop - start, step = range / parts;
    if (parts == 0) return k * range + start;  // a single value
    return (step == 0 ? k / parts * range : k * step) + start;
}

array<double> powers_between(double start, double stop, index_t count, bool endpoint, double base) {
    if (count < 0) throw_negative_count("logspace", count);
    return generated<double>("logspace", count,
                             [=](index_t i) { return std::pow(base, even_point(start, stop, count, endpoint, i)); });
}

index_t rows_around_diagonal(index_t length, index_t offset) {
    const wide_integer rows =
        static_cast<wide_integer>(length) + (offset < 0 ? -static_cast<wide_integer>(offset) : offset);
    if (rows > std::numeric_limits<index_t>::max())
        throw shape_error(in_brackets("diag") + std::to_string(length) + " elements on diagonal " +
                          std::to_string(offset) + " need a matrix with too many elements");
    return static_cast<index_t>(rows);
}

void throw_no_host_memory(std::size_t count, std::size_t bytes_each) {
    throw out_of_memory(in_brackets("allocate") + "out of memory on the host: " + std::to_string(count) +
                        " values of " + std::to_string(bytes_each) + " bytes were wanted");
}

void throw_wrong_rank(const char* operation, int rank, const char* wanted) {
    throw shape_error(in_brackets(operation) + "wants an operand of rank " + wanted + ", given one of rank " +
                      std::to_string(rank));
}
void throw_negative_count(const char* operation, index_t count) {
    throw shape_error(in_brackets(operation) + "a count of " + std::to_string(count) + " is negative");
}
void throw_ragged(std::size_t given, std::size_t wanted) {
    throw shape_error(in_brackets("array") + "braces hold " + std::to_string(given) + " values where others hold " +
                      std::to_string(wanted));
}
void throw_values_beside_braces() { throw shape_error(in_brackets("array") + "a value stands beside braces"); }
void throw_not_one(const char* operation, extents_ref shape) {
    throw shape_error(in_brackets(operation) + "shape " + to_text(shape.span()) + " has " +
                      std::to_string(shape.size()) + " elements; one is wanted");
}

void throw_wrong_count(const char* operation, std::size_t given, extents_ref shape) {
    throw shape_error(in_brackets(operation) + std::to_string(given) + (given == 1 ? " value" : " values") +
                      " for an array of shape " + to_text(shape.span()));
}

void create_from_host(buffer_ref& memory, layout& where, std::span<const index_t> shape, const void* values,
                      std::size_t bytes_each) {
    check_extents("array", shape);
    where = contiguous_layout(shape);
    // In a capture, values are copied once, now: the graph reads them from memory outside its pool.
    runtime::graph_capture* const capture = runtime::capture_of_thread();
    runtime::stream_state& stream =
        capture != nullptr ? *runtime::state_of(runtime::current().device).default_stream : *runtime::current().stream;
    memory = allocate_buffer(bytes_of(where, bytes_each), stream.device, stream);
    runtime::copy_from_host(*memory, 0, bytes_of(where, bytes_each), values, stream);
    if (capture != nullptr) capture->keep(memory);
}

bool is_contiguous(const layout& where) noexcept {
    index_t stride = 1;
    for (int j = where.rank() - 1; j >= 0; --j) {
        if (where.shape()[j] != 1 && where.strides()[j] != stride) return where.size() == 0;
        stride *= where.shape()[j];
    }
    return true;
}

bool is_whole(const buffer_ref& memory, const layout& where, std::size_t bytes_each) noexcept {
    return memory && !memory->unowned && where.offset == 0 && memory->bytes == bytes_of(where, bytes_each) &&
           is_contiguous(where) &&
           (memory->device.kind() != device_kind::distributed ||
            runtime::for_distributed.load()->has_shape(*memory, where.extents()));
}

void read_values(const buffer_ref& memory, const layout& where, std::size_t bytes_each, void* to) {
    if (where.size() == 0) return;
    runtime::copy_to_host(*memory, static_cast<std::size_t>(where.offset) * bytes_each, bytes_of(where, bytes_each), to,
                          *runtime::current().stream);
}

void write_values(destination to, const void* from) {
    const std::size_t bytes = bytes_of(to.where, size_of(to.type));
    if (bytes == 0) return;
    runtime::check_stream_of_capture(*runtime::current().stream);
    if (!is_contiguous(to.where)) {  // memory that is not Ingot's: copies through an array
        buffer_ref memory;
        layout where;
        create_from_host(memory, where, to.where.extents(), from, size_of(to.type));
        if (!(memory->device == to.memory->device)) memory = copy_of(memory, to.memory->device);
        return runtime::copy_view(to.type, *memory, where, to.memory, to.where);
    }
    if (!to.memory->unowned && !to.memory.unique()) {
        buffer_ref fresh;
        layout where;
        allocate_array("set", {to.type, fresh, where}, to.where.extents(), to.memory->device);
        runtime::copy_from_host(*fresh, 0, bytes, from, *runtime::current().stream);
        runtime::move_to(to.memory, std::move(fresh));
        to.where = std::move(where);
        return;
    }
    runtime::copy_from_host(*to.memory, static_cast<std::size_t>(to.where.offset) * size_of(to.type), bytes, from,
                            *runtime::current().stream);
}

}  // namespace ingot::detail
