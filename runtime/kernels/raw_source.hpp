// A user's CUDA C++ in the form that a compiler gets: finds its kernels and adds Ingot's lines. Behind the text, for
// each kernel, stand words that describe its parameters; the compiler makes them from the kernel's type, so that no
// type is parsed here. On the host the text stands between a prelude, which defines CUDA's words for a CPU, and for
// each kernel a function that runs blocks of its grid. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <ingot/kernels/raw_kernels.hpp>

namespace ingot::runtime {

/// The kernels that a text defines, with their namespaces, except templates, overloads and those behind an #if.
std::vector<std::string> kernels_in(std::string_view text);

/// The text to compile, in which `kernels` (names or name expressions) can be found. The user's lines keep their
/// numbers.
std::string cuda_text(std::string_view text, const std::vector<std::string>& kernels);
std::string host_text(std::string_view text, const std::vector<std::string>& kernels);

/// The file name of the added lines in a compiler's messages.
inline constexpr std::string_view names_file = "ingot_names";

/// Symbols of kernel i: the words on its parameters (their number, then each), and on the host the function that runs
/// its blocks.
std::string parameters_symbol(std::size_t i);
std::string runner_symbol(std::size_t i);

/// The options for the host's compiler that correspond to NVRTC's: macros, folders, the standard; others are dropped.
std::vector<std::string> host_compiler_options(const std::vector<std::string>& options);

/// A parameter, decoded from its word.
struct raw_parameter {
    detail::raw_kind kind;  // of a value, or of a pointer's target
    bool is_pointer, is_const, is_void;
    std::size_t bytes;  // size of that; 0 for void

    explicit raw_parameter(std::uint64_t word)
        : kind(static_cast<detail::raw_kind>(word & 15u)),
          is_pointer((word & 16u) != 0),
          is_const((word & 32u) != 0),
          is_void((word & 64u) != 0),
          bytes(static_cast<std::size_t>(word >> 8)) {}
};

/// The arguments of a kernel's host function, which runs the blocks from begin to end, each by all its threads in turn.
struct raw_grid {
    unsigned grid[3], block[3];
    void (*run_threads)(unsigned threads, void (*body)(void*, unsigned), void* argument);  // block_threads.hpp
    void (*wait)(bool warp);
    void* shared;  // dynamic shared memory, owned by the caller
};
using raw_runner = void (*)(void** arguments, const raw_grid*, unsigned long long begin, unsigned long long end);

}  // namespace ingot::runtime
