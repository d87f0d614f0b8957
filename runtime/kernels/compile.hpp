// Source text to machine code: calls one of the two compilers. Nothing is cached here; kernel_module.hpp does that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ingot/core/error.hpp>
#include <span>
#include <string>
#include <vector>

#include "codegen/text/user_text.hpp"

namespace ingot::runtime {

enum class target : std::uint8_t { host, cuda };

/// Everything that decides a kernel's code, and notes for people.
struct source_text {
    target where = target::host;
    std::string architecture;                     ///< "sm_90"; for the host host_architecture() or a flag list like it
    std::string text;                             ///< header-free C++ or CUDA C++
    std::vector<std::string> options;             ///< beyond those that compiler_options adds
    std::vector<std::string> kernels;             ///< the extern "C" functions in the text
    std::vector<std::string> name_expressions{};  ///< of kernels that have other names in the code; for CUDA
    bool reads_files = false;                     ///< a user's, which may change: the code is kept by no file
    std::string expression{};                     ///< what it computes, for people; decides nothing
    std::vector<codegen::text_range> user_texts{};  ///< where texts of users stand in it, for people too
    bool is_generated = false;  ///< whole: it has nothing of textures, of launches and of CUDA's API, which take time
};

/// There is no host compiler, or it ended without a verdict on the source (killed, crashed, no room for its files). The
/// interpreter takes over; nothing outside the runtime sees this error.
class compiler_unavailable : public error {
public:
    using error::error;
};

/// A compiler's result: the code, or the log of errors.
struct compilation {
    bool accepted = false;
    std::vector<std::byte> code;
    std::string log;
};

/// The text with line numbers.
std::string numbered(const std::string& text);

/// Appends the names of name expressions to the code. A loader finds the end of the code itself.
std::vector<std::byte> with_names(std::vector<std::byte> code, const std::vector<std::string>& names);
/// The appended names; empty where the code has none.
std::vector<std::string> appended_names(std::span<const std::byte> code);

/// The full option list given to the compiler.
std::vector<std::string> compiler_options(const source_text& source);

/// The compiler's real path, size and time of change, read without running or opening it; "none" where there is none.
std::string compiler_identity(target where);

/// A cubin (PTX where the GPU is newer than NVRTC) or a shared object. Throws (1) compile_error with the log, the
/// numbered source and the path of the file where the source was saved; (2) library_error without NVRTC; (3)
/// compiler_unavailable.
std::vector<std::byte> compile(const source_text& source);

}  // namespace ingot::runtime
