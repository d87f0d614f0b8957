// Arrays over memory of other libraries, and the checks of an mdspan over an array.
#include <ingot/interop/exchange.hpp>
#include <ingot/interop/mdspan.hpp>

#include <charconv>
#include <string>
#include <string_view>

#include <ingot/core/error.hpp>

#include "runtime/device/device.hpp"
#include "runtime/device/foreign_memory.hpp"
#include "runtime/device/ordering.hpp"

namespace ingot::detail {

namespace {

constexpr const char* from = "from_cuda_array_interface";

/// NumPy's letter of the dtype's kind; 0 where it has none.
constexpr char letter_of(dtype t) {
    if (t == dtype::bf) return 0;
    constexpr char kinds[] = {'b', 'i', 'f', 'c'};
    return kind_of(t) == kind::integer && !is_signed(t) ? 'u' : kinds[static_cast<std::size_t>(kind_of(t))];
}

/// A typestr such as "<f4"; empty where there is none.
std::string typestr_of(dtype t) {
    if (letter_of(t) == 0) return "";
    return (size_of(t) == 1 ? "|" : "<") + std::string(1, letter_of(t)) + std::to_string(size_of(t));
}

/// Numbers of one byte have no byte order, but may name one.
bool is_typestr_of(std::string_view given, dtype t) {
    if (given.size() < 3 || given[1] != letter_of(t)) return false;
    std::size_t bytes = 0;
    const auto [end, failure] = std::from_chars(given.data() + 2, given.data() + given.size(), bytes);
    if (failure != std::errc{} || end != given.data() + given.size() || bytes != size_of(t)) return false;
    return given[0] == '<' || given[0] == '=' || (bytes == 1 && (given[0] == '|' || given[0] == '>'));
}

void* native_handle(const runtime::stream_state& s) {
    return reinterpret_cast<void*>(static_cast<std::uintptr_t>(s.native));
}

}  // namespace

void throw_no_strides() { throw shape_error("[asarray] the mdspan's layout has no strides"); }

void adopt_elements(destination to, const lent_elements& e) {
    to.memory = runtime::buffer_over({e.operation, to.type, e.device, const_cast<void*>(e.first), e.shape.values(),
                                      e.strides ? e.strides->begin() : nullptr, e.read_only},
                                     to.where);
}

void strides_for_mdspan(const layout& where, std::span<const index_t> wanted, index_t most, index_t* strides) {
    const std::string of = "[to_mdspan] the array has shape " + to_text(where.extents());
    if (static_cast<std::size_t>(where.rank()) != wanted.size())
        throw shape_error(of + ", and an mdspan of " + std::to_string(wanted.size()) + " axes is wanted");
    __extension__ typedef __int128 wide_integer;
    wide_integer reached = 1;
    for (int j = 0; j < where.rank(); ++j) {
        const index_t extent = where.shape()[j], fixed = wanted[static_cast<std::size_t>(j)];
        if (fixed >= 0 && extent != fixed)
            throw shape_error(of + ", and the mdspan's axis " + std::to_string(j) + " is of " + std::to_string(fixed));
        const bool moves = extent > 1 && where.size() != 0;
        if (moves && where.strides()[j] <= 0)
            throw shape_error(of + ", whose axis " + std::to_string(j) + " has a stride of " +
                              std::to_string(where.strides()[j]) + " elements; an mdspan's are positive");
        strides[j] = moves ? where.strides()[j] : 1;
        if (extent > most) reached = wide_integer{most} + 1;
        if (moves) reached += wide_integer{strides[j]} * (extent - 1);
    }
    if (reached > most)
        throw shape_error(of + ", which reaches further than the mdspan's indices count, " + std::to_string(most));
}

void throw_other_stride(const layout& where, std::size_t axis, index_t stride, index_t wanted) {
    throw shape_error("[to_mdspan] the array of shape " + to_text(where.extents()) + " has a stride of " +
                      std::to_string(stride) + " elements along axis " + std::to_string(axis) +
                      ", and the mdspan's layout has " + std::to_string(wanted));
}

namespace {

/// Throws where such an array has no interface; returns its device.
device_id check_has_interface(dtype type, const buffer_ref& memory) {
    const device_id device = memory ? memory->device : runtime::current().device;
    if (!device.is_cuda())
        throw device_error("[to_cuda_array_interface] the array is on " + to_string(device) +
                           "; the interface is for memory of GPUs");
    if (letter_of(type) == 0)
        throw dtype_error("[to_cuda_array_interface] the interface has no name for " + std::string(name(type)));
    return device;
}

}  // namespace

cuda_array_interface interface_to_write(dtype type, buffer_ref& memory, const layout& where) {
    const bool read_only = memory && memory->read_only;
    check_has_interface(type, memory);
    if (!read_only) runtime::expose_for_writing(memory);
    return interface_of(type, memory, where, read_only);
}

cuda_array_interface interface_of(dtype type, const buffer_ref& memory, const layout& where, bool read_only) {
    const device_id device = check_has_interface(type, memory);
    cuda_array_interface of;
    of.typestr = typestr_of(type);
    const auto each = static_cast<index_t>(size_of(type));
    index_t strides[max_rank];
    for (int j = 0; j < where.rank(); ++j) strides[j] = where.strides()[j] * each;
    of.shape = shape_like(where.extents());
    of.strides = shape_like(std::span<const index_t>(strides, static_cast<std::size_t>(where.rank())));
    of.read_only = read_only;
    if (!memory || where.size() == 0) return of;  // the interface requires a null pointer
    of.data = static_cast<char*>(memory->data) + where.offset * each;
    const runtime::stream_state& s = runtime::stream_for_foreign_use("to_cuda_array_interface", device, nullptr);
    runtime::order_foreign_use(*memory, s, read_only);
    of.stream = native_handle(s);
    return of;
}

void adopt_interface(destination to, const cuda_array_interface& of) {
    static constexpr auto in = [] { return "[" + std::string(from) + "] "; };
    if (of.version != 2 && of.version != 3)
        throw error(in() + "version " + std::to_string(of.version) + " of the interface was given; 2 and 3 are known");
    if (!is_typestr_of(of.typestr, to.type)) {
        const std::string wanted = typestr_of(to.type);
        throw dtype_error(in() + "the elements are " + of.typestr + ", and " + std::string(name(to.type)) +
                          (wanted.empty() ? " has no name in the interface" : ", " + wanted + ", is wanted"));
    }
    if (of.strides && of.strides->count() != of.shape.count())
        throw shape_error(in() + std::to_string(of.strides->count()) + " strides for shape " +
                          to_text(of.shape.values()));
    const auto each = static_cast<index_t>(size_of(to.type));
    index_t strides[max_rank];
    for (int j = 0; of.strides && j < of.strides->count(); ++j) {
        if ((*of.strides)[j] % each != 0)
            throw shape_error(in() + "stride " + std::to_string((*of.strides)[j]) + " is no multiple of the " +
                              std::to_string(each) + " bytes of " + std::string(name(to.type)));
        strides[j] = (*of.strides)[j] / each;
    }
    if (device::cuda_count() == 0) throw device_error(in() + "there is no GPU whose memory it could be");
    const bool is_empty = extents_ref::of(of.shape.values()).size() == 0;
    if (of.data == nullptr && !is_empty)
        throw device_error(in() + "a null pointer was given for shape " + to_text(of.shape.values()));
    const device_id current = runtime::current().device;
    const device_id device = !is_empty           ? device::cuda(runtime::gpu_of_memory(of.data))
                             : current.is_cuda() ? current
                                                 : device::cuda();
    runtime::stream_state& s = runtime::stream_for_foreign_use(from, device, nullptr);
    if (of.stream) {
        with_device on(device);  // CUDA's default streams belong to the current device
        runtime::wait_for_stream(s, stream::from_native(of.stream).state());
    }
    buffer_ref memory = runtime::buffer_over(
        {from, to.type, device, of.data, of.shape.values(), of.strides ? strides : nullptr, of.read_only}, to.where);
    if (!s.synchronous) memory->writer.store(s.index, std::memory_order_relaxed);
    to.memory = std::move(memory);
}

}  // namespace ingot::detail
