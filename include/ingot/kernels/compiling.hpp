// Compiling ahead: kernels of expressions in the background, and a program's kernels in one file that ships with it.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

#include <ingot/kernels/measure.hpp>

namespace ingot {

namespace runtime {
struct prefetch_state;
struct bundle_state;
}  // namespace runtime

inline namespace v1 {

/// Adds the kernels that a statement needs.
INGOT_API void prefetch_statement(runtime::prefetch_state&, const joint_outputs&);

}  // namespace v1

namespace detail {

INGOT_API runtime::prefetch_state* begin_prefetch();
INGOT_API void start_prefetch(runtime::prefetch_state&);
INGOT_API void keep_prefetch(runtime::prefetch_state&) noexcept;
INGOT_API void drop_prefetch(runtime::prefetch_state&) noexcept;

}  // namespace detail

/// Kernels that are being compiled. It may be dropped at any time, they are compiled all the same.
class prefetched {
public:
    // Inner
    explicit prefetched(runtime::prefetch_state* state) noexcept : state_(state) {}
    prefetched(const prefetched& other) noexcept : state_(other.state_) { detail::keep_prefetch(*state_); }
    prefetched& operator=(prefetched other) noexcept {
        std::swap(state_, other.state_);
        return *this;
    }
    ~prefetched() { detail::drop_prefetch(*state_); }

    /// Waits until all are compiled and loaded; throws the first error of one that is not.
    ///
    ///     array<float> x{1, 2, 3};
    ///     const prefetched kernels = prefetch(x * 3 + 1, sum(x));
    ///     kernels.wait();
    ///     std::cout << kernels.done();
    ///     // prints: 1
    INGOT_API void wait() const;
    /// Whether all are.
    INGOT_API bool done() const;

private:
    runtime::prefetch_state* state_;
};

/// Compiles the kernels of these expressions, each as it would be evaluated into a new array, in the background and as
/// many at once as the machine has cores. An evaluation that comes before its kernel is there waits for it. What is
/// compiled is what the arrays are now: their dtypes, ranks, strides and class of shape, not their values nor sizes.
/// Throws what the evaluation would throw of shapes; compile errors come from the evaluation, or from wait().
///
///     array<double> x = arange<double>(1000);
///     prefetch(sin(x) * exp(-x), mean(x * x));
///     std::cout << mean(x * x);
///     // prints: 332833.5
template <array_expression... E>
    requires(sizeof...(E) > 0)
prefetched prefetch(const E&... e) {
    runtime::prefetch_state* const all_of_them = detail::begin_prefetch();
    const prefetched kernels(all_of_them);
    (detail::with_statement([&](const joint_outputs& trees) { v1::prefetch_statement(*all_of_them, trees); },
                            detail::as_node(e)),
     ...);
    detail::start_prefetch(*all_of_them);
    return kernels;
}

/// A file of compiled kernels, for as long as it lives: a kernel that is in it is not compiled, and needs neither NVRTC
/// nor a host's compiler; one that is compiled meanwhile, or found in the disk cache, is put into the file at the end.
/// A file that is not there begins empty. Kernels are of a GPU's exact architecture, or of a CPU's features: a file may
/// have those of several. All threads of the process use it; of several the last.
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
    /// Throws file_error where the file cannot be read, is damaged, is no bundle or one of another version of Ingot.
    [[nodiscard]] INGOT_API explicit with_cache_bundle(std::string_view path);
    with_cache_bundle(const with_cache_bundle&) = delete;
    with_cache_bundle& operator=(const with_cache_bundle&) = delete;
    /// Saves what is new. A file that cannot be written is a warning here.
    INGOT_API ~with_cache_bundle();

    /// Writes the file where a kernel is new. Throws file_error.
    INGOT_API void save() const;
    /// How many kernels there are.
    INGOT_API std::size_t size() const;

private:
    runtime::bundle_state* state_;
};

}  // namespace ingot
