// DLPack: conversion of its codes, and tensors over arrays and arrays over tensors.
#include <ingot/interop/dlpack.hpp>

#include <array>
#include <memory>
#include <string>

#include <ingot/core/error.hpp>

#include "runtime/device/device.hpp"
#include "runtime/device/foreign_memory.hpp"

namespace ingot::detail {

struct exported_tensor {
    dtype type;
    buffer_ref memory;
    layout where;
    device_id device;
    bool shared;
};

namespace {

enum type_code : std::uint8_t {
    integer = 0,
    unsigned_integer = 1,
    floating = 2,
    bfloat = 4,
    complex_pair = 5,
    boolean = 6
};

constexpr dlpack::data_type code_of(dtype t) {
    const auto bits = static_cast<std::uint8_t>(8 * size_of(t));
    if (t == dtype::bf) return {bfloat, bits, 1};
    switch (kind_of(t)) {
        case kind::boolean:
            return {boolean, bits, 1};
        case kind::integer:
            return {is_signed(t) ? integer : unsigned_integer, bits, 1};
        case kind::floating:
            return {floating, bits, 1};
        case kind::complex:
            break;
    }
    return {complex_pair, bits, 1};
}

std::string describe(dlpack::device_ref d) {
    static constexpr const char* names[] = {"",          "CPU",
                                            "CUDA",      "CUDA host memory",
                                            "OpenCL",    "",
                                            "",          "Vulkan",
                                            "Metal",     "VPI",
                                            "ROCm",      "ROCm host memory",
                                            "extension", "CUDA managed memory",
                                            "oneAPI",    "WebGPU",
                                            "Hexagon",   "MAIA"};
    const auto type = static_cast<std::size_t>(d.device_type);
    const char* const known = type < std::size(names) ? names[type] : "";
    return "device type " + std::to_string(d.device_type) + (*known ? std::string(" (") + known + ")" : "") +
           ", number " + std::to_string(d.device_id);
}

device_id device_of(dlpack::device_ref d) {
    if (d.device_type == dlpack::cpu || d.device_type == dlpack::cuda_host) return device::host();
    if (d.device_type != dlpack::cuda && d.device_type != dlpack::cuda_managed)
        throw device_error("[from_dlpack] the tensor is on " + describe(d) + ", which Ingot cannot reach");
    if (d.device_id < 0 || d.device_id >= device::cuda_count())
        throw device_error("[from_dlpack] the tensor is on " + describe(d) +
                           "; usable GPUs: " + std::to_string(device::cuda_count()));
    return device::cuda(d.device_id);
}

dlpack::device_ref code_of(device_id d) {
    if (d.is_host()) return {dlpack::cpu, 0};
    if (d.is_cuda()) return {dlpack::cuda, d.index()};
    throw device_error("[to_dlpack] DLPack has no name for " + to_string(d));
}

}  // namespace

exported_tensor& export_tensor(dtype type, const buffer_ref& memory, const layout& where, bool shared,
                               const stream* for_stream) {
    const device_id device = memory ? memory->device : runtime::current().device;
    code_of(device);
    auto made = std::make_unique<exported_tensor>(exported_tensor{type, memory, where, device, shared});
    if (memory) {
        runtime::order_foreign_use(*memory, runtime::stream_for_foreign_use("to_dlpack", device, for_stream), !shared);
        if (shared) memory->exports.fetch_add(1, std::memory_order_relaxed);
    }
    return *made.release();
}

exported_tensor& export_to_write(dtype type, buffer_ref& memory, const layout& where, const stream* for_stream) {
    const bool shared = !(memory && memory->read_only);
    if (memory && shared) {
        code_of(memory->device);
        runtime::stream_for_foreign_use("to_dlpack", memory->device, for_stream);
        runtime::expose_for_writing(memory);
    }
    return export_tensor(type, memory, where, shared, for_stream);
}

dlpack::tensor described(exported_tensor& e) noexcept {
    char* const base = e.memory ? static_cast<char*>(e.memory->data) : nullptr;
    return {base + e.where.offset * static_cast<index_t>(size_of(e.type)),
            code_of(e.device),
            e.where.rank(),
            code_of(e.type),
            e.where.shape(),
            e.where.strides(),
            0};
}

bool is_read_only(const exported_tensor& e) noexcept { return !e.shared; }

void end_export(void* exported) noexcept {
    const std::unique_ptr<exported_tensor> ended(static_cast<exported_tensor*>(exported));
    // Before the reference is dropped; meanwhile the buffer seems to have one more holder, which costs a copy at most.
    if (ended->memory && ended->shared) ended->memory->exports.fetch_sub(1, std::memory_order_release);
}

void throw_needs_version() {
    throw read_only_error("[to_dlpack] the array is read-only, which only a versioned tensor can say");
}
void throw_no_tensor() { throw error("[from_dlpack] a null tensor was given"); }
void throw_unknown_version(std::uint32_t major, std::uint32_t minor) {
    throw error("[from_dlpack] the tensor is of DLPack " + std::to_string(major) + "." + std::to_string(minor) +
                "; version 1 is known");
}

dtype dtype_of_tensor(const dlpack::tensor& t) {
    static constexpr auto codes = [] {
        std::array<dlpack::data_type, dtype_count> all{};
        for (std::size_t i = 0; i < dtype_count; ++i) all[i] = code_of(static_cast<dtype>(i));
        return all;
    }();
    const dlpack::data_type d = t.dtype;
    for (std::size_t i = 0; i < dtype_count && d.lanes == 1; ++i)
        if (codes[i].code == d.code && codes[i].bits == d.bits) return static_cast<dtype>(i);
    throw dtype_error("[from_dlpack] elements of code " + std::to_string(d.code) + ", " + std::to_string(d.bits) +
                      " bits and " + std::to_string(d.lanes) + " lanes" +
                      (d.lanes != 1 ? ": vectors are no elements of an array" : " are of no dtype of Ingot"));
}

void import_tensor(destination to, const foreign_tensor& t, const stream* on) {
    const dtype type = dtype_of_tensor(t.what);
    if (type != to.type)
        throw dtype_error("[from_dlpack] the tensor holds " + std::string(name(type)) + ", and " +
                          std::string(name(to.type)) + " is wanted");
    if (t.what.ndim < 0 || t.what.ndim > max_rank || (t.what.ndim > 0 && t.what.shape == nullptr))
        throw shape_error("[from_dlpack] a tensor of " + std::to_string(t.what.ndim) + " axes; an array has 0 to " +
                          std::to_string(max_rank));
    const device_id device = device_of(t.what.device);
    runtime::stream_state& ready_on = runtime::stream_for_foreign_use("from_dlpack", device, on);
    std::uintptr_t at = 0;
    if (__builtin_add_overflow(reinterpret_cast<std::uintptr_t>(t.what.data), t.what.byte_offset, &at))
        throw shape_error("[from_dlpack] the elements begin " + std::to_string(t.what.byte_offset) +
                          " bytes behind the tensor's pointer, beyond the end of the address space");
    char* const first = t.what.data ? static_cast<char*>(t.what.data) + t.what.byte_offset : nullptr;
    layout where;
    buffer_ref memory = runtime::buffer_over({"from_dlpack",
                                              type,
                                              device,
                                              first,
                                              {t.what.shape, static_cast<std::size_t>(t.what.ndim)},
                                              t.what.strides,
                                              t.read_only},
                                             where);
    // Nothing throws from here on: the buffer owns the tensor.
    if (!ready_on.synchronous) memory->writer.store(ready_on.index, std::memory_order_relaxed);
    memory->end_argument = t.self;
    memory->end = t.end;
    to.memory = std::move(memory);
    to.where = std::move(where);
}

}  // namespace ingot::detail
