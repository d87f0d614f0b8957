// libnvrtc for tests without a GPU: "compiles" CUDA C++ with the system's C++ compiler, for driver.cpp to load. Where
// EMULATOR_NVRTC names NVIDIA's library, each program must compile there, too.
#include <dlfcn.h>
#include <nvrtc.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include "image.hpp"
#include "translate.hpp"

namespace fs = std::filesystem;

struct _nvrtcProgram {
    std::string source, name, log, image;
    std::deque<std::pair<std::string, std::string>> named{};  // an expression and the name that it gets; they stay
};

namespace {

std::string text_of(const fs::path& file) {
    std::ostringstream out;
    out << std::ifstream(file, std::ios::binary).rdbuf();
    return std::move(out).str();
}

class temporary_folder {
public:
    temporary_folder() {
        std::string name = (fs::temp_directory_path() / "emulated-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder for temporary files");
        path_ = name;
    }
    temporary_folder(const temporary_folder&) = delete;
    ~temporary_folder() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    fs::path operator/(const char* file) const { return path_ / file; }

private:
    fs::path path_;
};

/// The functions found by name after loading: how to run each kernel, its kind, and where shared memory is.
std::string entries_of(const emulator::translation& t, const _nvrtcProgram& program) {
    std::string out;
    const auto add = [&](const std::string& text) {
        out += "extern \"C\" __attribute__((visibility(\"default\"))) " + text + "\n";
    };
    const auto add_kernel = [&](const std::string& name, const std::string& kernel) {
        add("void emulated_" + name + "(void** arguments) { emulator::call(" + kernel + ", arguments); }");
        add("const std::size_t* emulated_sizes_" + name + "() { return emulator::sizes(" + kernel + "); }");
    };
    // If kernels are named, all of them must be: a text's own conditions and comments are not read here.
    if (program.named.empty())
        for (const emulator::kernel_name& k : t.kernels) add_kernel(k.name, "&" + k.namespaces + k.name);
    for (const auto& [expression, name] : program.named) add_kernel(name, "&" + expression);
    out += "extern \"C\" __attribute__((visibility(\"hidden\"))) char __bss_start[], _end[];\n";
    add("const char emulated_source[] = R\"____(" + program.source + ")____\";");
    add("char* emulated_shared(bool end) { return end ? _end : __bss_start; }");
    return out;
}

std::string flags_of(int count, const char* const* options) {
    std::string flags = " -ffp-contract=fast";
    for (int i = 0; i < count; ++i) {
        const std::string_view option = options[i];
        if (option == "-fmad=false") flags += " -ffp-contract=off";
        if (option.starts_with("-D")) flags += " '" + std::string(option) + "'";
        if (const auto at = option.find("_"); option.starts_with("--gpu-architecture") && at != option.npos)
            flags += " -DEMULATED_ARCHITECTURE=" + std::string(option.substr(at + 1)) + '0';
    }
    return flags;
}

/// Compiles with the library of that path. The log is the program's where that fails.
nvrtcResult compile_with(const char* path, _nvrtcProgram& program, int count, const char* const* options) {
    static void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return program.log = dlerror(), NVRTC_ERROR_COMPILATION;
    const auto function = [](auto* like, const char* name) {
        return reinterpret_cast<decltype(like)>(dlsym(library, name));
    };
    nvrtcProgram given = nullptr;
    function(&nvrtcCreateProgram, "nvrtcCreateProgram")(&given, program.source.c_str(), program.name.c_str(), 0,
                                                        nullptr, nullptr);
    for (const auto& named : program.named)
        function(&nvrtcAddNameExpression, "nvrtcAddNameExpression")(given, named.first.c_str());
    const nvrtcResult result = function(&nvrtcCompileProgram, "nvrtcCompileProgram")(given, count, options);
    if (result != NVRTC_SUCCESS) {
        std::size_t size = 0;
        function(&nvrtcGetProgramLogSize, "nvrtcGetProgramLogSize")(given, &size);
        program.log.resize(size);
        function(&nvrtcGetProgramLog, "nvrtcGetProgramLog")(given, program.log.data());
    }
    function(&nvrtcDestroyProgram, "nvrtcDestroyProgram")(&given);
    return result;
}

nvrtcResult compile(_nvrtcProgram& program, int count, const char* const* options) {
    if (const char* const path = std::getenv("EMULATOR_NVRTC"); path != nullptr && *path != '\0')
        if (const nvrtcResult result = compile_with(path, program, count, options); result != NVRTC_SUCCESS)
            return result;
    const emulator::translation t = emulator::translate(program.source);
    const temporary_folder folder;
    std::ofstream(folder / "kernel.cpp") << "#include \"device.hpp\"\n#line 1 \"" << program.name << "\"\n"
                                         << t.text << '\n'
                                         << entries_of(t, program);
    const std::string command = EMULATOR_COMPILER " " EMULATOR_FLAGS + flags_of(count, options) +
                                " -shared -nostdlib -o " + (folder / "kernel.so").string() + ' ' +
                                (folder / "kernel.cpp").string() + " " EMULATOR_HOOKS " -lgcc 2> " +
                                (folder / "log").string();
    const int status = std::system(command.c_str());
    program.log = text_of(folder / "log");
    if (status != 0) return NVRTC_ERROR_COMPILATION;
    program.image = emulator::pack_image(text_of(folder / "kernel.so"));
    return NVRTC_SUCCESS;
}

nvrtcResult copy(const std::string& text, char* to) { return std::memcpy(to, text.data(), text.size()), NVRTC_SUCCESS; }

}  // namespace

extern "C" {

const char* nvrtcGetErrorString(nvrtcResult result) {
    return result == NVRTC_SUCCESS             ? "NVRTC_SUCCESS"
           : result == NVRTC_ERROR_COMPILATION ? "NVRTC_ERROR_COMPILATION"
                                               : "NVRTC_ERROR_INTERNAL_ERROR";
}
nvrtcResult nvrtcVersion(int* major, int* minor) { return *major = 13, *minor = 0, NVRTC_SUCCESS; }
nvrtcResult nvrtcGetNumSupportedArchs(int* count) { return *count = 4, NVRTC_SUCCESS; }
nvrtcResult nvrtcGetSupportedArchs(int* known) {
    for (const int number : {75, 80, 90, 100}) *known++ = number;
    return NVRTC_SUCCESS;
}
nvrtcResult nvrtcCreateProgram(nvrtcProgram* program, const char* source, const char* name, int, const char* const*,
                               const char* const*) {
    *program = new _nvrtcProgram{source, name != nullptr ? name : "program", {}, {}};
    return NVRTC_SUCCESS;
}
nvrtcResult nvrtcDestroyProgram(nvrtcProgram* program) {
    delete *program;
    *program = nullptr;
    return NVRTC_SUCCESS;
}
nvrtcResult nvrtcAddNameExpression(nvrtcProgram program, const char* expression) {
    program->named.emplace_back(expression, "named_" + std::to_string(program->named.size()));
    return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetLoweredName(nvrtcProgram program, const char* expression, const char** name) {
    for (const auto& [known, lowered] : program->named)
        if (known == expression) return *name = lowered.c_str(), NVRTC_SUCCESS;
    return NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
}
nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int count, const char* const* options) try {
    return compile(*program, count, options);
} catch (const std::exception& failure) {
    program->log = failure.what();
    return NVRTC_ERROR_COMPILATION;
}
nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t* size) {
    return *size = program->log.size() + 1, NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char* log) {
    return std::memcpy(log, program->log.c_str(), program->log.size() + 1), NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t* size) {
    return *size = program->image.size(), NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char* image) { return copy(program->image, image); }
nvrtcResult nvrtcGetPTXSize(nvrtcProgram program, size_t* size) { return nvrtcGetCUBINSize(program, size); }
nvrtcResult nvrtcGetPTX(nvrtcProgram program, char* image) { return copy(program->image, image); }
}
