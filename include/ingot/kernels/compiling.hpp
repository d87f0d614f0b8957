// Ahead-of-time compilation: kernels of expressions in the background, and a program's kernels in one file that ships
// with it.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

#include <ingot/kernels/measure.hpp>

namespace ingot {

namespace runtime {
struct precompile_state;
struct bundle_state;
}  // namespace runtime

inline namespace v1 {

/// Adds the kernels that a statement needs.
INGOT_API void precompile_statement(runtime::precompile_state&, const detail::joint_outputs&);

}  // namespace v1

namespace detail {

INGOT_API runtime::precompile_state* begin_precompile();
INGOT_API void start_precompile(runtime::precompile_state&);
INGOT_API void keep_precompile(runtime::precompile_state&) noexcept;
INGOT_API void drop_precompile(runtime::precompile_state&) noexcept;

}  // namespace detail

/// Kernels that are being compiled. Dropping the handle does not stop the compilation.
class precompiled {
public:
    // Inner
    explicit precompiled(runtime::precompile_state* state) noexcept : state_(state) {}
    precompiled(const precompiled& other) noexcept : state_(other.state_) { detail::keep_precompile(*state_); }
    precompiled& operator=(precompiled other) noexcept {
        std::swap(state_, other.state_);
        return *this;
    }
    ~precompiled() { detail::drop_precompile(*state_); }

    /// Waits until all are compiled and loaded; throws the first compile error.
    ///
    ///     array<float> x{1, 2, 3};
    ///     const precompiled kernels = precompile(x * 3 + 1, sum(x));
    ///     kernels.wait();
    ///     std::cout << kernels.done();
    ///     // prints: 1
    INGOT_API void wait() const;
    /// Whether all are compiled and loaded.
    INGOT_API bool done() const;

private:
    runtime::precompile_state* state_;
};

/// Compiles in the background, on all cores, the kernels of these expressions, each as evaluated into a new array. An
/// evaluation before its kernel is ready waits for it. Kernels are compiled for the arrays' present dtypes, ranks,
/// strides and class of shape, not for their values or sizes. Throws the evaluation's errors about shapes; compile
/// errors come from the evaluation, or from wait().
///
///     array<double> x = arange<double>(1000);
///     precompile(sin(x) * exp(-x), mean(x * x));
///     std::cout << mean(x * x);
///     // prints: 332833.5
template <array_expression... E>
    requires(sizeof...(E) > 0)
precompiled precompile(const E&... e) {
    runtime::precompile_state* const all_of_them = detail::begin_precompile();
    const precompiled kernels(all_of_them);
    (detail::with_statement([&](const detail::joint_outputs& trees) { v1::precompile_statement(*all_of_them, trees); },
                            detail::as_node(e)),
     ...);
    detail::start_precompile(*all_of_them);
    return kernels;
}

/// A file of compiled kernels, used while this object lives: a kernel in it is not compiled, and needs neither NVRTC
/// nor a host compiler; a kernel that is compiled meanwhile, or found in the disk cache, is added to the file at the
/// end. A missing file begins empty. Kernels are for a GPU's exact architecture, or for a CPU's features: a file may
/// have those of several. All threads of the process use it; of several bundles the last one counts.
///
///     {
///         with_cache_bundle kernels("example.kernels");
///         raw_kernel("extern \"C\" __global__ void bundled(int* x) { *x = 1; }", "bundled").compile();
///         kernels.save();
///     }
///     with_cache_bundle again("example.kernels");
///     std::cout << again.size() << ' ' << std::remove("example.kernels");
///     // prints: 1 0
class with_cache_bundle {
public:
    /// Throws file_error where the file cannot be read, is damaged, is no bundle, or is from another version of Ingot.
    [[nodiscard]] INGOT_API explicit with_cache_bundle(std::string_view path);
    with_cache_bundle(const with_cache_bundle&) = delete;
    with_cache_bundle& operator=(const with_cache_bundle&) = delete;
    /// Saves new kernels. A file that cannot be written only causes a warning here.
    INGOT_API ~with_cache_bundle();

    /// Writes the file if there are new kernels. Throws file_error.
    INGOT_API void save() const;
    /// The number of kernels.
    INGOT_API std::size_t size() const;

private:
    runtime::bundle_state* state_;
};

}  // namespace ingot
