// NVRTC as a typed table, opened on the first compile. The path of the file is found without opening it, so that a warm
// start can name the compiler of its cached kernels and leave 100 MB unopened.
#pragma once

#include <filesystem>
#include <optional>

#ifdef INGOT_HAS_CUDA_HEADERS
#include <nvrtc.h>
#endif

namespace ingot::runtime {

/// NVRTC 13 or 12, the newest whose major version the driver knows; without a driver, the newest. The search runs once.
const std::optional<std::filesystem::path>& nvrtc_path();

#ifdef INGOT_HAS_CUDA_HEADERS

struct nvrtc_api {
    decltype(&::nvrtcVersion) nvrtcVersion;
    decltype(&::nvrtcGetErrorString) nvrtcGetErrorString;
    decltype(&::nvrtcGetNumSupportedArchs) nvrtcGetNumSupportedArchs;
    decltype(&::nvrtcGetSupportedArchs) nvrtcGetSupportedArchs;
    decltype(&::nvrtcCreateProgram) nvrtcCreateProgram;
    decltype(&::nvrtcDestroyProgram) nvrtcDestroyProgram;
    decltype(&::nvrtcCompileProgram) nvrtcCompileProgram;
    decltype(&::nvrtcAddNameExpression) nvrtcAddNameExpression;
    decltype(&::nvrtcGetLoweredName) nvrtcGetLoweredName;
    decltype(&::nvrtcGetProgramLogSize) nvrtcGetProgramLogSize;
    decltype(&::nvrtcGetProgramLog) nvrtcGetProgramLog;
    decltype(&::nvrtcGetCUBINSize) nvrtcGetCUBINSize;
    decltype(&::nvrtcGetCUBIN) nvrtcGetCUBIN;
    decltype(&::nvrtcGetPTXSize) nvrtcGetPTXSize;
    decltype(&::nvrtcGetPTX) nvrtcGetPTX;
};

/// Opened once, for ever; null where there is none.
const nvrtc_api* nvrtc();

/// Throws library_error: "[doing] NVRTC_ERROR_...".
void check(nvrtcResult status, const char* doing);

#endif

}  // namespace ingot::runtime
