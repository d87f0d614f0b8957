#include "runtime/kernels/compile_host.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <cstring>
#include <iterator>
#include <sstream>

#include "runtime/system/environment.hpp"
#include "runtime/system/memory_file.hpp"
#include "runtime/system/subprocess.hpp"

namespace ingot::runtime {

namespace {

/// Whether the log has a diagnosis of the source, "<stdin>:12:5: error: ...". A driver's own "c++: fatal error: Killed
/// signal terminated program cc1plus" has no line number; a crash says "internal compiler error".
bool judges_source(std::string_view log) {
    for (std::size_t at = 0; (at = log.find("error: ", at)) != log.npos; ++at) {
        std::string_view before = log.substr(0, at);
        if (before.ends_with("fatal ")) before.remove_suffix(6);
        if (!before.ends_with(": ")) continue;
        before.remove_suffix(2);
        const std::size_t digits = before.find_last_not_of("0123456789");
        if (digits != before.npos && before[digits] == ':' && digits + 1 < before.size()) return true;
    }
    return false;
}

std::vector<std::string> words_of(const std::string& text) {
    std::istringstream stream(text);
    return {std::istream_iterator<std::string>(stream), {}};
}

bool is_shared_object(const std::vector<std::byte>& code) {
    return code.size() > 4 && std::memcmp(code.data(), "\177ELF", 4) == 0;
}

std::string describe(const program_end& end) {
    switch (end.how) {
        case program_end::kind::killed:
            return "was killed by signal " + std::to_string(end.value);
        case program_end::kind::not_started:
            return std::string("cannot be started: ") + std::strerror(end.value);
        default:
            return "ended with status " + std::to_string(end.value) + " without judging the source";
    }
}

}  // namespace

std::filesystem::path host_compiler() {
    if (const auto given = environment_text("INGOT_CXX")) return find_program(*given);
    for (const char* const name : {"c++", "g++", "clang++"}) {
        std::filesystem::path path = find_program(name);
        if (!path.empty()) return path;
    }
    return {};
}

std::vector<std::string> host_options(const source_text& source) {
    std::vector<std::string> options =
        words_of("-O3 -std=c++20 -shared -fPIC -pipe -w -fno-math-errno -fno-trapping-math -fno-exceptions -fno-rtti");
#ifdef __SANITIZE_THREAD__
    options.emplace_back("-fsanitize=thread");  // else it sees their library calls, not their order
#endif
    for (const std::string& feature : words_of(source.architecture)) options.push_back(feature);
    options.insert(options.end(), source.options.begin(), source.options.end());
    for (const std::string& option : words_of(environment_text("INGOT_CXXFLAGS").value_or("")))
        options.push_back(option);
    // There are no start files and no libc to link: the process has them. libm stays, because a process that loaded
    // Ingot privately does not offer its libm to others; its linker script adds libmvec where that is used. libgcc has
    // the complex products. -Bsymbolic binds the text's own names: a user's kernel may be called `read`.
    for (const std::string& last : words_of("-Wl,-Bsymbolic -nostdlib -x c++ - -x none -lm -lgcc"))
        options.push_back(last);
    return options;
}

compilation compile_host(const source_text& source) {
    const std::filesystem::path compiler = host_compiler();
    if (compiler.empty()) {
        throw compiler_unavailable("[compile] no host compiler: " +
                                   environment_text("INGOT_CXX").value_or("none of c++, g++, clang++ is in PATH"));
    }
    const memory_file text("ingot source", std::as_bytes(std::span(source.text)));
    const memory_file log("ingot compiler log");
    const memory_file object("ingot object");
    std::vector<std::string> command{compiler.string()};
    for (std::string& option : host_options(source)) command.push_back(std::move(option));
    // The linker is the compiler's grandchild and inherits the descriptors, so its own /proc names the same file.
    command.insert(command.end(), {"-o", "/proc/self/fd/3"});

    const int descriptors[] = {text.descriptor(), log.descriptor(), log.descriptor(), object.descriptor()};
    const program_end end = run_program(command, descriptors);
    compilation result{.accepted = false, .code = object.content(), .log = {}};
    const bool finished =
        end.how == program_end::kind::unknown || (end.how == program_end::kind::exited && end.value == 0);
    result.accepted = finished && is_shared_object(result.code);
    if (result.accepted) return result;

    const std::vector<std::byte> printed = log.content();
    result.log.assign(reinterpret_cast<const char*>(printed.data()), printed.size());
    if (end.how == program_end::kind::exited && judges_source(result.log)) return result;
    throw compiler_unavailable("[compile] " + compiler.string() + " " + describe(end) + "\n" + result.log);
}

namespace {

#if defined(__x86_64__)

std::string detect_architecture() {
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    const bool leaf1 = __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0;
    const bool f16c_movbe = leaf1 && (ecx & bit_F16C) != 0 && (ecx & bit_MOVBE) != 0;
    const bool extended = __get_cpuid(0x80000001, &eax, &ebx, &ecx, &edx) != 0;
    const bool lzcnt = extended && (ecx & bit_LZCNT) != 0;

    // __builtin_cpu_supports also asks the operating system whether it saves the wide registers.
    if (!(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
          __builtin_cpu_supports("bmi2") && f16c_movbe && lzcnt)) {
        return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt") ? "-march=x86-64-v2"
                                                                                    : "-march=x86-64";
    }
    if (!(__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
          __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
          __builtin_cpu_supports("avx512vl"))) {
        return "-march=x86-64-v3";
    }
    // Only features that every compiler since g++ 12 and clang 14 knows by name; an unknown one would be an error.
    std::string features = "-march=x86-64-v4";
    if (__builtin_cpu_supports("avx512vbmi")) features += " -mavx512vbmi";
    if (__builtin_cpu_supports("avx512vpopcntdq")) features += " -mavx512vpopcntdq";
    if (__builtin_cpu_supports("avx512bitalg")) features += " -mavx512bitalg";
    return features;
}

#elif defined(__aarch64__)

std::string detect_architecture() { return "-march=armv8-a"; }

#else

std::string detect_architecture() { return ""; }

#endif

}  // namespace

const std::string& host_architecture() {
    static const std::string& features = *new std::string(detect_architecture());
    return features;
}

}  // namespace ingot::runtime
