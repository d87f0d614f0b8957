// Compiles a CUDA source by NVRTC when Ingot is built, where no GPU and no nvcc need be:
//   compile_kernels NVRTC SOURCE sm_90|compute_90 OUTPUT [OPTION...]
// Writes a cubin for sm_NN; for compute_NN PTX, with the zero at its end that the driver wants.
#include <dlfcn.h>
#include <nvrtc.h>

#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

class nvrtc {
public:
    explicit nvrtc(const char* path) : library_(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
        if (library_ == nullptr) throw std::runtime_error(dlerror());
    }
    template <class F>
    F find(const char* name) const {
        void* const found = dlsym(library_, name);
        if (found == nullptr) throw std::runtime_error(std::string(name) + " is not in NVRTC");
        return reinterpret_cast<F>(found);
    }

private:
    void* library_;
};

std::string read(const char* path) {
    std::ifstream file(path);
    if (!file) throw std::runtime_error("cannot read " + std::string(path));
    return {std::istreambuf_iterator<char>(file), {}};
}

std::string compile(const nvrtc& library, const char* path, const std::string& architecture,
                    const std::vector<std::string>& more) {
#define INGOT_NVRTC(name) library.find<decltype(&::name)>(#name)
    const auto check = [&](nvrtcResult status, const char* doing) {
        if (status != NVRTC_SUCCESS)
            throw std::runtime_error(std::string(doing) + ": " + INGOT_NVRTC(nvrtcGetErrorString)(status));
    };
    const std::string text = read(path);
    nvrtcProgram program = nullptr;
    check(INGOT_NVRTC(nvrtcCreateProgram)(&program, text.c_str(), path, 0, nullptr, nullptr), "create program");
    const std::size_t number = architecture.find('_') + 1;
    std::vector<std::string> options{"--gpu-architecture=" + architecture, "--std=c++17", "-default-device",
                                     "-DINGOT_ARCHITECTURE=" + architecture.substr(number)};
    options.insert(options.end(), more.begin(), more.end());
    std::vector<const char*> spelled;
    for (const std::string& option : options) spelled.push_back(option.c_str());
    const nvrtcResult status =
        INGOT_NVRTC(nvrtcCompileProgram)(program, static_cast<int>(spelled.size()), spelled.data());
    if (status != NVRTC_SUCCESS) {
        std::size_t size = 0;
        check(INGOT_NVRTC(nvrtcGetProgramLogSize)(program, &size), "log");
        std::string log(size, '\0');
        check(INGOT_NVRTC(nvrtcGetProgramLog)(program, log.data()), "log");
        throw std::runtime_error(log);
    }
    const bool ptx = architecture.starts_with("compute_");
    std::size_t size = 0;
    check(ptx ? INGOT_NVRTC(nvrtcGetPTXSize)(program, &size) : INGOT_NVRTC(nvrtcGetCUBINSize)(program, &size), "size");
    std::string code(size, '\0');
    check(ptx ? INGOT_NVRTC(nvrtcGetPTX)(program, code.data()) : INGOT_NVRTC(nvrtcGetCUBIN)(program, code.data()),
          "code");
    check(INGOT_NVRTC(nvrtcDestroyProgram)(&program), "destroy program");
#undef INGOT_NVRTC
    return code;
}

}  // namespace

int main(int argc, char** argv) try {
    if (argc < 5) throw std::runtime_error("compile_kernels NVRTC SOURCE ARCHITECTURE OUTPUT [OPTION...]");
    const std::string code = compile(nvrtc(argv[1]), argv[2], argv[3], {argv + 5, argv + argc});
    std::ofstream out(argv[4], std::ios::binary);
    out.write(code.data(), static_cast<std::streamsize>(code.size()));
    out.close();
    if (!out) throw std::runtime_error("cannot write " + std::string(argv[4]));
} catch (const std::exception& failure) {
    std::fprintf(stderr, "compile_kernels: %s\n", failure.what());
    return 1;
}
