// A driver that does nothing at once: every call succeeds, launches and copies included. What is left is Ingot's own
// time, on a machine without a GPU too. Memory is the host's; nothing in it is ever computed.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "runtime/device/driver.hpp"

namespace bench {

/// The GPU that the driver claims to have.
struct stub_gpu {
    const char* name = "stub";
    int architecture = 90, processors = 132;
    bool reaches_pageable = false;  // memory of the host's own
};
inline constinit stub_gpu claimed_gpu;

template <class... A>
auto succeed(CUresult (*)(A...)) {
    return +[](A...) { return CUDA_SUCCESS; };
}

inline ingot::runtime::driver_api stub_driver() {
    ingot::runtime::driver_api api{};
#define INGOT_DRIVER_ENTRY(name, version) api.name = succeed(api.name);
#include "runtime/device/driver_entries.inc"

    static char something;
    static constexpr auto give = [](auto* handle) {
        *handle = reinterpret_cast<std::remove_pointer_t<decltype(handle)>>(&something);
        return CUDA_SUCCESS;
    };
    api.cuDriverGetVersion = [](int* version) { return *version = 13000, CUDA_SUCCESS; };
    api.cuGetErrorName =
        api.cuGetErrorString = [](CUresult, const char** text) { return *text = "stub", CUDA_SUCCESS; };
    api.cuDeviceGetCount = [](int* count) { return *count = 1, CUDA_SUCCESS; };
    api.cuDeviceGet = [](CUdevice* device, int) { return *device = 0, CUDA_SUCCESS; };
    api.cuDeviceGetName = [](char* name, int size, CUdevice) {
        return std::strncpy(name, claimed_gpu.name, static_cast<std::size_t>(size)), CUDA_SUCCESS;
    };
    api.cuDeviceGetAttribute = [](int* value, CUdevice_attribute attribute, CUdevice) {
        switch (attribute) {
            case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
                *value = claimed_gpu.architecture / 10;
                break;
            case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
                *value = claimed_gpu.architecture % 10;
                break;
            case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
                *value = claimed_gpu.processors;
                break;
            case CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS:
                *value = claimed_gpu.reaches_pageable;
                break;
            default:
                *value = 1;
        }
        return CUDA_SUCCESS;
    };
    api.cuDevicePrimaryCtxRetain = [](CUcontext* context, CUdevice) { return give(context); };
    api.cuCtxGetCurrent = [](CUcontext* context) { return give(context); };
    api.cuCtxGetDevice = [](CUdevice* device) { return *device = 0, CUDA_SUCCESS; };
    api.cuStreamGetCtx = [](CUstream, CUcontext* context) { return give(context); };
    api.cuStreamGetId = [](CUstream s, unsigned long long* id) {
        return *id = reinterpret_cast<std::uintptr_t>(s), CUDA_SUCCESS;
    };
    api.cuPointerGetAttribute = [](void* value, CUpointer_attribute asked, CUdeviceptr) {
        if (asked == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL) return *static_cast<int*>(value) = 0, CUDA_SUCCESS;
        if (asked == CU_POINTER_ATTRIBUTE_MEMORY_TYPE || asked == CU_POINTER_ATTRIBUTE_IS_MANAGED)
            return *static_cast<unsigned*>(value) = CU_MEMORYTYPE_HOST, CUDA_SUCCESS;
        return give(static_cast<CUcontext*>(value));
    };
    api.cuPointerGetAttributes = [](unsigned count, CUpointer_attribute* asked, void** values, CUdeviceptr p) {
        for (unsigned i = 0; i < count; ++i)
            if (asked[i] == CU_POINTER_ATTRIBUTE_MEMORY_TYPE)
                *static_cast<unsigned*>(values[i]) = CU_MEMORYTYPE_DEVICE;
            else if (asked[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
                *static_cast<int*>(values[i]) = 0;
            else if (asked[i] == CU_POINTER_ATTRIBUTE_RANGE_START_ADDR)
                *static_cast<CUdeviceptr*>(values[i]) = p;
            else
                *static_cast<std::size_t*>(values[i]) = std::size_t{1} << 40;
        return CUDA_SUCCESS;
    };
    api.cuMemGetAddressRange = [](CUdeviceptr* base, std::size_t* bytes, CUdeviceptr p) {
        return *base = p, *bytes = std::size_t{1} << 40, CUDA_SUCCESS;
    };
    api.cuMemGetInfo = [](std::size_t* free, std::size_t* total) {
        return *free = *total = std::size_t{1} << 37, CUDA_SUCCESS;
    };
    api.cuMemAlloc = [](CUdeviceptr* data, std::size_t bytes) {
        *data = reinterpret_cast<CUdeviceptr>(std::aligned_alloc(512, (bytes + 511) / 512 * 512));
        return *data != 0 ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    };
    api.cuMemFree = [](CUdeviceptr data) { return std::free(reinterpret_cast<void*>(data)), CUDA_SUCCESS; };
    api.cuMemHostAlloc = [](void** data, std::size_t bytes, unsigned) {
        *data = std::aligned_alloc(512, (bytes + 511) / 512 * 512);
        return *data != nullptr ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    };
    api.cuMemFreeHost = [](void* data) { return std::free(data), CUDA_SUCCESS; };
    api.cuStreamCreate = [](CUstream* stream, unsigned) { return give(stream); };
    api.cuStreamCreateWithPriority = [](CUstream* stream, unsigned, int) { return give(stream); };
    api.cuEventCreate = [](CUevent* event, unsigned) { return give(event); };
    api.cuEventElapsedTime = [](float* milliseconds, CUevent, CUevent) { return *milliseconds = 1, CUDA_SUCCESS; };
    api.cuLibraryLoadData = [](CUlibrary* library, const void*, CUjit_option*, void**, unsigned, CUlibraryOption*,
                               void**, unsigned) { return give(library); };
    api.cuLibraryGetKernel = [](CUkernel* kernel, CUlibrary, const char*) { return give(kernel); };
    api.cuKernelGetFunction = [](CUfunction* function, CUkernel) { return give(function); };
    return api;
}

}  // namespace bench
