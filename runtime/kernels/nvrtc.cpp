#include "runtime/kernels/nvrtc.hpp"

#ifdef INGOT_HAS_CUDA_HEADERS

#include <ingot/core/error.hpp>
#include <memory>
#include <string>

#include "runtime/device/driver.hpp"
#include "runtime/system/dynamic_library.hpp"
#include "runtime/system/warning.hpp"

namespace ingot::runtime {

namespace {

std::optional<std::filesystem::path> find_nvrtc() {
    int version = 13000;
    if (const driver_api* const api = driver()) check(api->cuDriverGetVersion(&version), "driver version");
    return version >= 13000 ? find_cuda_library("nvrtc", {13, 12}) : find_cuda_library("nvrtc", {12});
}

const nvrtc_api* open_nvrtc() try {
    if (!nvrtc_path()) return nullptr;
    dynamic_library library(nvrtc_path()->string());
    auto api = std::make_unique<nvrtc_api>();
    library.get(api->nvrtcVersion, "nvrtcVersion");
    library.get(api->nvrtcGetErrorString, "nvrtcGetErrorString");
    library.get(api->nvrtcGetNumSupportedArchs, "nvrtcGetNumSupportedArchs");
    library.get(api->nvrtcGetSupportedArchs, "nvrtcGetSupportedArchs");
    library.get(api->nvrtcCreateProgram, "nvrtcCreateProgram");
    library.get(api->nvrtcDestroyProgram, "nvrtcDestroyProgram");
    library.get(api->nvrtcCompileProgram, "nvrtcCompileProgram");
    library.get(api->nvrtcAddNameExpression, "nvrtcAddNameExpression");
    library.get(api->nvrtcGetLoweredName, "nvrtcGetLoweredName");
    library.get(api->nvrtcGetProgramLogSize, "nvrtcGetProgramLogSize");
    library.get(api->nvrtcGetProgramLog, "nvrtcGetProgramLog");
    library.get(api->nvrtcGetCUBINSize, "nvrtcGetCUBINSize");
    library.get(api->nvrtcGetCUBIN, "nvrtcGetCUBIN");
    library.get(api->nvrtcGetPTXSize, "nvrtcGetPTXSize");
    library.get(api->nvrtcGetPTX, "nvrtcGetPTX");
    library.keep_loaded();
    return api.release();  // leaked on purpose, as the library is
} catch (const library_error& reason) {
    warn_once(reason.what());
    return nullptr;
}

}  // namespace

const std::optional<std::filesystem::path>& nvrtc_path() {
    static const auto& path = *new std::optional<std::filesystem::path>(find_nvrtc());
    return path;
}

const nvrtc_api* nvrtc() {
    static const nvrtc_api* const api = open_nvrtc();
    return api;
}

void check(nvrtcResult status, const char* doing) {
    if (status != NVRTC_SUCCESS) {
        throw library_error("[" + std::string(doing) + "] " + nvrtc()->nvrtcGetErrorString(status));
    }
}

}  // namespace ingot::runtime

#else

namespace ingot::runtime {

const std::optional<std::filesystem::path>& nvrtc_path() {
    static const std::optional<std::filesystem::path> none;
    return none;
}

}  // namespace ingot::runtime

#endif
