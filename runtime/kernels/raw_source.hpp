// A user's CUDA C++ as it is given to a compiler: which kernels are in it, and the lines that Ingot adds. Behind the
// text stand, for each kernel, words that say what its parameters are, made by the compiler from the kernel's own type:
// no type is parsed here. On the host the text stands between a prelude, in which CUDA's words mean what a CPU has, and
// a function a kernel that runs blocks of its grid. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <ingot/kernels/raw_kernels.hpp>

namespace ingot::runtime {

/// The kernels that a text defines, with their namespaces; not templates, overloads, nor what stands behind an #if.
std::vector<std::string> kernels_in(std::string_view text);

/// What is compiled, so that `kernels`, names or name expressions, can be found. Lines of the user's text keep their
/// numbers.
std::string cuda_text(std::string_view text, const std::vector<std::string>& kernels);
std::string host_text(std::string_view text, const std::vector<std::string>& kernels);

/// The file of the lines behind the text, in what a compiler says of them.
inline constexpr std::string_view names_file = "ingot_names";

/// Symbols of kernel i: the words on its parameters (their number, then each), and on the host what runs its blocks.
std::string parameters_symbol(std::size_t i);
std::string runner_symbol(std::size_t i);

/// For the host's compiler, of options for NVRTC: macros, folders, the standard; it has no use for others.
std::vector<std::string> host_compiler_options(const std::vector<std::string>& options);

/// What a word says of a parameter.
struct raw_parameter {
    detail::raw_kind kind;  // of a value, or of what a pointer points at
    bool is_pointer, is_const, is_void;
    std::size_t bytes;  // of that; 0 of void

    explicit raw_parameter(std::uint64_t word)
        : kind(static_cast<detail::raw_kind>(word & 15u)),
          is_pointer((word & 16u) != 0),
          is_const((word & 32u) != 0),
          is_void((word & 64u) != 0),
          bytes(static_cast<std::size_t>(word >> 8)) {}
};

/// How the host's function of a kernel is called: its blocks from begin to end, each by all its threads in turn.
struct raw_grid {
    unsigned grid[3], block[3];
    void (*run_threads)(unsigned threads, void (*body)(void*, unsigned), void* argument);  // block_threads.hpp
    void (*wait)(bool warp);
    void* shared;  // dynamic shared memory, the caller's own
};
using raw_runner = void (*)(void** arguments, const raw_grid*, unsigned long long begin, unsigned long long end);

}  // namespace ingot::runtime
