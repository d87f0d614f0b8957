// The CUDA driver as a typed table, opened on first use. Building, linking and starting need no driver; without CUDA's
// headers (INGOT_HAS_CUDA_HEADERS undefined) there is no table and has_driver() is false. cuda.h renames some functions
// by macro (cuMemAlloc to cuMemAlloc_v2), and the members with them: call driver()->cuMemAlloc(...), the plain name, in
// files that include this one.
#pragma once

#include <string>

#ifdef INGOT_HAS_CUDA_HEADERS
#include <cuda.h>
#include <cudaTypedefs.h>
#endif

namespace ingot::runtime {

/// Whether there is a driver of 12.0 or newer with at least one GPU.
bool has_driver();

/// Why there is none: "libcuda.so.1: cannot open shared object file", "cuInit: CUDA_ERROR_NO_DEVICE", ...
const std::string& why_no_driver();

#ifdef INGOT_HAS_CUDA_HEADERS

struct driver_api {
#define INGOT_DRIVER_ENTRY(name, version) PFN_##name##_v##version name;
#include "runtime/device/driver_entries.inc"
};

/// The initialised driver, or nullptr where has_driver() is false. It is opened once; the table lives for ever.
const driver_api* driver();

/// The driver if it has been opened, else nullptr; this function opens nothing.
const driver_api* opened_driver() noexcept;

/// The driver; throws device_error, which says what was being done and why there is none.
const driver_api& need_driver(const char* doing);

/// Throws the error of a failed driver call; after the driver has shut down the message says so.
[[noreturn]] void throw_driver_error(CUresult status, const char* doing);

/// Throws out_of_memory or device_error, "[doing] CUDA_ERROR_...: what the driver says".
inline void check(CUresult status, const char* doing) {
    if (status != CUDA_SUCCESS) [[unlikely]]
        throw_driver_error(status, doing);
}

/// Replaces the driver by a test's own table until its end, not while other threads compute.
class driver_replacement {
public:
    explicit driver_replacement(const driver_api& table);
    driver_replacement(const driver_replacement&) = delete;
    ~driver_replacement();

private:
    const driver_api* replaced_;
};

#endif

}  // namespace ingot::runtime
