// NVRTC as a typed table, opened on the first compile. The path of the file is found without opening it, so that a warm
// start can name the compiler of its cached kernels and leave 100 MB unopened.
#pragma once

#include <filesystem>
#include <optional>

#ifdef INGOT_HAS_CUDA_HEADERS
#include <nvrtc.h>

#include "runtime/system/opened_library.hpp"
#endif

namespace ingot::runtime {

/// NVRTC 13 or 12, the newest whose major version the driver knows; without a driver, the newest. The search runs once.
const std::optional<std::filesystem::path>& nvrtc_path();

#ifdef INGOT_HAS_CUDA_HEADERS

struct nvrtc_api : api_table {
    using api_table::api_table;
    static library_files files();

    decltype(&::nvrtcVersion) nvrtcVersion = function("nvrtcVersion");
    decltype(&::nvrtcGetErrorString) nvrtcGetErrorString = function("nvrtcGetErrorString");
    decltype(&::nvrtcGetNumSupportedArchs) nvrtcGetNumSupportedArchs = function("nvrtcGetNumSupportedArchs");
    decltype(&::nvrtcGetSupportedArchs) nvrtcGetSupportedArchs = function("nvrtcGetSupportedArchs");
    decltype(&::nvrtcCreateProgram) nvrtcCreateProgram = function("nvrtcCreateProgram");
    decltype(&::nvrtcDestroyProgram) nvrtcDestroyProgram = function("nvrtcDestroyProgram");
    decltype(&::nvrtcCompileProgram) nvrtcCompileProgram = function("nvrtcCompileProgram");
    decltype(&::nvrtcAddNameExpression) nvrtcAddNameExpression = function("nvrtcAddNameExpression");
    decltype(&::nvrtcGetLoweredName) nvrtcGetLoweredName = function("nvrtcGetLoweredName");
    decltype(&::nvrtcGetProgramLogSize) nvrtcGetProgramLogSize = function("nvrtcGetProgramLogSize");
    decltype(&::nvrtcGetProgramLog) nvrtcGetProgramLog = function("nvrtcGetProgramLog");
    decltype(&::nvrtcGetCUBINSize) nvrtcGetCUBINSize = function("nvrtcGetCUBINSize");
    decltype(&::nvrtcGetCUBIN) nvrtcGetCUBIN = function("nvrtcGetCUBIN");
    decltype(&::nvrtcGetPTXSize) nvrtcGetPTXSize = function("nvrtcGetPTXSize");
    decltype(&::nvrtcGetPTX) nvrtcGetPTX = function("nvrtcGetPTX");
};

/// Opened once, for ever; null where there is none.
const nvrtc_api* nvrtc();

/// Throws library_error: "[doing] NVRTC_ERROR_...".
void check(nvrtcResult status, const char* doing);

#endif

}  // namespace ingot::runtime
