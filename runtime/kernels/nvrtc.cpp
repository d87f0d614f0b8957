#include "runtime/kernels/nvrtc.hpp"

#ifdef INGOT_HAS_CUDA_HEADERS

#include <ingot/core/error.hpp>
#include <string>

#include "runtime/device/driver.hpp"
#include "runtime/system/warning.hpp"

namespace ingot::runtime {

namespace {

std::optional<std::filesystem::path> find_nvrtc() {
    int version = 13000;
    if (const driver_api* const api = driver()) check(api->cuDriverGetVersion(&version), "driver version");
    return version >= 13000 ? find_cuda_library("nvrtc", {13, 12}) : find_cuda_library("nvrtc", {12});
}

}  // namespace

const std::optional<std::filesystem::path>& nvrtc_path() {
    static const auto& path = *new std::optional<std::filesystem::path>(find_nvrtc());
    return path;
}

library_files nvrtc_api::files() {
    const auto& path = nvrtc_path();
    return path ? library_files{{path->string()}, {}} : library_files{};
}

const nvrtc_api* nvrtc() {
    const nvrtc_api* const api = opened_library<nvrtc_api>::find();
    if (api == nullptr && nvrtc_path()) warn_once(opened_library<nvrtc_api>::absence());
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
