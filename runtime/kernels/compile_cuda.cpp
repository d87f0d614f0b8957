#include "runtime/kernels/compile_cuda.hpp"

#include <algorithm>
#include <cstdlib>

#include "runtime/kernels/nvrtc.hpp"
#include "runtime/system/handle.hpp"

namespace ingot::runtime {

std::vector<std::string> cuda_options(const source_text& source) {
    const auto is_standard = [](const std::string& o) { return o.starts_with("-std") || o.starts_with("--std"); };
    std::vector<std::string> options;
    if (std::ranges::none_of(source.options, is_standard)) options.emplace_back("-std=c++20");
    options.insert(options.end(), source.options.begin(), source.options.end());
    return options;
}

#ifdef INGOT_HAS_CUDA_HEADERS

namespace {

struct program_traits {
    using type = nvrtcProgram;
    static constexpr nvrtcProgram none = nullptr;
    static void close(nvrtcProgram program) noexcept { nvrtc()->nvrtcDestroyProgram(&program); }
};
using program_handle = unique_handle<program_traits>;

const nvrtc_api& need_nvrtc() {
    if (const nvrtc_api* const api = nvrtc()) return *api;
    throw library_error(
        "[compile] no NVRTC 12 or 13 found. It comes with the CUDA toolkit and as the package cuda-nvrtc; set "
        "CUDA_HOME to "
        "the toolkit or put the folder of libnvrtc.so in LD_LIBRARY_PATH");
}

/// The architecture option: the exact architecture; PTX if compute_90 or the like is wanted; or, for a GPU newer than
/// NVRTC, the newest PTX that NVRTC knows.
struct architecture_choice {
    std::string option;
    bool ptx = false;
};

architecture_choice choose_architecture(const nvrtc_api& api, const std::string& wanted) {
    if (wanted.starts_with("compute_")) return {"--gpu-architecture=" + wanted, true};
    int count = 0;
    check(api.nvrtcGetNumSupportedArchs(&count), "list architectures");
    std::vector<int> known(static_cast<std::size_t>(count));
    check(api.nvrtcGetSupportedArchs(known.data()), "list architectures");

    const int number = wanted.starts_with("sm_") ? std::atoi(wanted.c_str() + 3) : 0;
    const auto newer = std::upper_bound(known.begin(), known.end(), number);
    if (newer == known.begin()) {
        throw library_error("[compile] NVRTC knows no architecture as old as " + wanted + "; its oldest is sm_" +
                            (known.empty() ? "?" : std::to_string(known.front())));
    }
    const int nearest = *(newer - 1);
    if (nearest == number) return {"--gpu-architecture=" + wanted, false};
    return {"--gpu-architecture=compute_" + std::to_string(nearest), true};
}

/// Whether to leave out declarations of textures and of CUDA's API. They are half of the front end's input, generated
/// sources do not use them, and the code is the same. The front end runs under NVRTC's one lock, the rest of a compile
/// in parallel.
bool leaves_out_unused(const nvrtc_api& api, const source_text& source) {
    if (!source.is_generated) return false;
    int major = 0, minor = 0;
    check(api.nvrtcVersion(&major, &minor), "ask NVRTC's version");
    return major > 12 || (major == 12 && minor >= 4);
}

template <typename GetSize, typename Get>
std::vector<std::byte> output_of(const program_handle& program, GetSize get_size, Get get, const char* doing) {
    std::size_t size = 0;
    check(get_size(program.get(), &size), doing);
    std::vector<std::byte> bytes(size);
    check(get(program.get(), reinterpret_cast<char*>(bytes.data())), doing);
    return bytes;
}

std::string log_of(const nvrtc_api& api, const program_handle& program) {
    const auto bytes = output_of(program, api.nvrtcGetProgramLogSize, api.nvrtcGetProgramLog, "read NVRTC's log");
    return std::string(reinterpret_cast<const char*>(bytes.data()));
}

}  // namespace

compilation compile_cuda(const source_text& source) {
    const nvrtc_api& api = need_nvrtc();
    const architecture_choice architecture = choose_architecture(api, source.architecture);
    std::vector<std::string> options = cuda_options(source);
    options.push_back(architecture.option);
    if (leaves_out_unused(api, source)) options.emplace_back("-minimal");
    std::vector<const char*> pointers;
    for (const std::string& option : options) pointers.push_back(option.c_str());

    program_handle program;
    check(api.nvrtcCreateProgram(program.out(), source.text.c_str(), "ingot_kernel.cu", 0, nullptr, nullptr),
          "create NVRTC program");
    for (const std::string& name : source.name_expressions)
        check(api.nvrtcAddNameExpression(program.get(), name.c_str()), "add a name expression");
    const nvrtcResult status =
        api.nvrtcCompileProgram(program.get(), static_cast<int>(pointers.size()), pointers.data());
    if (status == NVRTC_ERROR_COMPILATION) return {.accepted = false, .code = {}, .log = log_of(api, program)};
    if (status == NVRTC_ERROR_INVALID_OPTION) throw library_error("[compile] NVRTC: " + log_of(api, program));
    check(status, "compile with NVRTC");
    std::vector<std::byte> code = architecture.ptx
                                      ? output_of(program, api.nvrtcGetPTXSize, api.nvrtcGetPTX, "read PTX")
                                      : output_of(program, api.nvrtcGetCUBINSize, api.nvrtcGetCUBIN, "read cubin");
    std::vector<std::string> names;
    for (const std::string& name : source.name_expressions) {
        const char* lowered = nullptr;
        check(api.nvrtcGetLoweredName(program.get(), name.c_str(), &lowered), "read a name in the code");
        names.emplace_back(lowered);
    }
    if (!names.empty()) code = with_names(std::move(code), names);
    return {.accepted = true, .code = std::move(code), .log = {}};
}

#else

compilation compile_cuda(const source_text&) {
    throw library_error("[compile] this Ingot was built without CUDA's headers and has the host target alone");
}

#endif

}  // namespace ingot::runtime
