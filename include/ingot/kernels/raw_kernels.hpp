// Raw kernels: whole CUDA kernels of a user, as CuPy's RawKernel and RawModule. They are text, or a file that nvcc
// made, launched on the current stream over Ingot's arrays.
//
// The compiler tells a kernel's parameters, so a call checks its arguments: an array must have the dtype of the
// pointer's target, a number exactly the parameter's type. A kernel writes only arrays given as out(x) and inout(x), so
// these go to pointers to non-const; all others go to pointers to const.
#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <ingot/core/array.hpp>
#include <ingot/core/written_arguments.hpp>

namespace ingot {

namespace runtime {
struct raw_program;
struct raw_function;
}  // namespace runtime

/// The extent of a grid in blocks, or of a block in threads: a number, or up to three in braces.
///
///     const launch_extent blocks{4, 2};
///     std::cout << blocks.x << blocks.y << blocks.z;
///     // prints: 421
struct launch_extent {
    std::uint32_t x = 1, y = 1, z = 1;

    constexpr launch_extent() = default;
    template <std::integral I>
    constexpr launch_extent(I along_x) : x(static_cast<std::uint32_t>(along_x)) {}
    template <std::integral I, std::integral J>
    constexpr launch_extent(I along_x, J along_y)
        : x(static_cast<std::uint32_t>(along_x)), y(static_cast<std::uint32_t>(along_y)) {}
    template <std::integral I, std::integral J, std::integral K>
    constexpr launch_extent(I along_x, J along_y, K along_z)
        : x(static_cast<std::uint32_t>(along_x)),
          y(static_cast<std::uint32_t>(along_y)),
          z(static_cast<std::uint32_t>(along_z)) {}
};

/// The settings of a launch. `cluster`: blocks that run together on one processor group (sm_90 and newer);
/// `cooperative`: all blocks run at once and may wait for each other. The host has neither.
///
///     const launch_settings how{.grid = 8, .block = {32, 4}, .shared_bytes = 1024};
///     std::cout << how.grid.x << ' ' << how.block.y << ' ' << how.shared_bytes << ' ' << how.cluster.x;
///     std::cout << ' ' << how.cooperative;
///     // prints: 8 4 1024 1 0
struct launch_settings {
    launch_extent grid{}, block{};
    std::size_t shared_bytes = 0;  // dynamic, beyond the kernel's static one
    launch_extent cluster{};
    bool cooperative = false;
};

/// The compiled kernel's attributes on the current device. On the host: the greatest block, and zeros.
struct kernel_attributes {
    int registers = 0;                         // per thread
    std::size_t shared_bytes = 0;              // per block, static
    std::size_t const_bytes = 0;               // declared by the kernel's module
    std::size_t local_bytes = 0;               // per thread, for values without a register
    int max_threads_per_block = 0;             // with this number of registers
    std::size_t max_dynamic_shared_bytes = 0;  // limit for a launch
    int ptx_version = 0, binary_version = 0;   // 90 for sm_90
};

namespace detail {

enum class raw_kind : std::uint8_t { other, boolean, signed_integer, unsigned_integer, floating, complex };

template <class T>
constexpr raw_kind raw_kind_of() {
    if constexpr (std::is_same_v<T, bool>)
        return raw_kind::boolean;
    else if constexpr (std::is_integral_v<T>)
        return std::is_signed_v<T> ? raw_kind::signed_integer : raw_kind::unsigned_integer;
    else if constexpr (std::is_floating_point_v<T>)
        return raw_kind::floating;
    else if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>)
        return raw_kind::complex;
    else
        return raw_kind::other;
}

/// An argument in the library's form.
struct raw_argument {
    enum class role : std::uint8_t { value, pointer, input, output, inout };
    role how = role::value;
    raw_kind kind = raw_kind::other;  // of a value, or of a pointer's target
    bool is_const = false;            // of a pointer's target
    std::size_t bytes = 0;            // size of the value or target; 0 for void
    const void* value = nullptr;      // address of the value or the pointer
    dtype type{};                     // an array's
    const buffer_ref* memory = nullptr;
    const layout* where = nullptr;
};

/// Holds an argument during the call; an expression is evaluated.
template <class T>
const array<T>& hold_argument(const array<T>& a) {
    return a;
}
template <class T>
const written_argument<T>& hold_argument(const written_argument<T>& a) {
    return a;
}
template <array_expression E>
array<typename E::value_type> hold_argument(const E& e) {
    return array<typename E::value_type>(e);
}
template <class V>
    requires(!array_expression<V>)
const V& hold_argument(const V& v) {
    return v;
}

template <class T>
raw_argument describe_argument(const array<T>& a) {
    const leaf<T>& l = a.as_leaf();
    return {.how = raw_argument::role::input, .type = dtype_of<T>, .memory = &l.memory(), .where = &l.where()};
}
template <class T>
raw_argument describe_argument(const written_argument<T>& a) {
    const leaf<T>& l = access::target(a.to);
    return {.how = a.is_read ? raw_argument::role::inout : raw_argument::role::output,
            .type = dtype_of<T>,
            .memory = &l.memory(),
            .where = &l.where()};
}
template <class V>
    requires std::is_trivially_copyable_v<V>
raw_argument describe_argument(const V& v) {
    if constexpr (std::is_pointer_v<V> || std::is_null_pointer_v<V>) {
        using pointee = std::conditional_t<std::is_pointer_v<V>, std::remove_pointer_t<V>, void>;
        using plain = std::remove_cv_t<pointee>;
        raw_argument a{
            .how = raw_argument::role::pointer, .kind = raw_kind_of<plain>(), .is_const = std::is_const_v<pointee>};
        if constexpr (!std::is_void_v<plain>) a.bytes = sizeof(plain);
        a.value = &v;
        return a;
    } else {
        return {.how = raw_argument::role::value, .kind = raw_kind_of<V>(), .bytes = sizeof(V), .value = &v};
    }
}

/// An argument of a kernel: an array or an expression, out(x), inout(x), a number, a struct, a pointer.
template <class A>
concept kernel_argument = array_expression<A> || is_written_argument<std::remove_cvref_t<A>> ||
                          (std::is_trivially_copyable_v<std::remove_cvref_t<A>> && !std::is_array_v<A>);

INGOT_API void launch_raw(const runtime::raw_function&, const launch_settings&, std::span<const raw_argument>);

/// A module variable's memory and its number of elements.
struct module_variable {
    buffer_ref memory;
    index_t count;
};
INGOT_API module_variable variable_of(const runtime::raw_program&, std::string_view name, dtype);

}  // namespace detail

/// A CUDA kernel from its text. NVRTC compiles it on the first call on a kind of device, and the disk cache keeps it.
/// On the host the same text is C++: blocks run in parallel on all cores, the threads of a block one after the other,
/// or in turns between barriers if there are any, which takes much longer; shuffles and clusters exist only on a GPU.
/// `name` is a kernel's name, or an expression for an instance of a template, "scale<float>". Options are NVRTC's; the
/// host takes macros, folders and the standard from them.
///
///     const raw_kernel add(R"(
///     extern "C" __global__
///     void my_add(const float* x1, const float* x2, float* y) {
///         int tid = blockDim.x * blockIdx.x + threadIdx.x;
///         y[tid] = x1[tid] + x2[tid];
///     })", "my_add");
///     array<float> x1 = reshape(arange<float>(25), {5, 5}), y = zeros<float>({5, 5});
///     add(5, 5, x1, x1 + 1, out(y));  // grid, block, arguments
///     std::cout << y(4);
///     // prints: [41. 43. 45. 47. 49.]
class raw_kernel {
public:
    /// Compiles nothing yet. Throws error where the text or the name is empty, or one of these has a zero byte.
    INGOT_API raw_kernel(std::string_view source, std::string_view name, const std::vector<std::string>& options = {});
    raw_kernel(std::nullptr_t, std::string_view) = delete;
    raw_kernel(std::string_view, std::nullptr_t) = delete;
    // Inner
    explicit raw_kernel(const runtime::raw_function& function) noexcept : function_(&function) {}

    /// Launches on the device of the arrays, on the current stream where that belongs to it. Arrays and expressions are
    /// read; an expression is evaluated first; elements are in C order. out(x) and inout(x) are written. Numbers must
    /// have exactly the parameters' types; a struct is passed by its size, a user's pointer unchanged. Throws error
    /// where the number of arguments differs, dtype_error where one has another kind, shape_error where the grid or
    /// block is empty or over the limits, or a written array is not in C order, device_error where arrays are on two
    /// devices or the launch is refused, and compile_error.
    template <detail::kernel_argument... A>
    void operator()(const launch_extent& grid, const launch_extent& block, A&&... arguments) const {
        launch({.grid = grid, .block = block}, detail::hold_argument(arguments)...);
    }
    /// A launch with dynamic shared memory, clusters or cooperation: k({.grid = 4, .block = 64, .shared_bytes = 256},
    /// x, out(y)).
    template <detail::kernel_argument... A>
    void operator()(const launch_settings& how, A&&... arguments) const {
        launch(how, detail::hold_argument(arguments)...);
    }

    /// Compiles and loads the kernel for the current device, if not yet done. Throws compile_error with the compiler's
    /// log and the text's numbered lines; error where the text has no such kernel.
    ///
    ///     const raw_kernel bad("extern \"C\" __global__ void f(int* x) {\n    *x = nothing;\n}", "f");
    ///     try {
    ///         bad.compile();
    ///     } catch (const compile_error& e) {
    ///         std::cout << (e.source().find("   2      *x = nothing;") != std::string::npos);
    ///     }
    ///     // prints: 1
    INGOT_API void compile() const;
    /// The compiled kernel's attributes on the current device.
    ///
    ///     const raw_kernel one("extern \"C\" __global__ void one(int* x) { *x = 1; }", "one");
    ///     std::cout << one.attributes().max_threads_per_block << ' ' << one.attributes().shared_bytes;
    ///     // prints: 1024 0
    INGOT_API kernel_attributes attributes() const;
    /// Allows launches on the current device this many bytes of dynamic shared memory. A launch that needs more raises
    /// the limit itself. Throws device_error where the device has less; on the host it does nothing.
    ///
    ///     const raw_kernel one("extern \"C\" __global__ void one(int* x) { *x = 1; }", "one");
    ///     one.set_max_dynamic_shared_bytes(64 << 10);
    ///     std::cout << (one.attributes().max_dynamic_shared_bytes <= (227 << 10));
    ///     // prints: 1
    INGOT_API void set_max_dynamic_shared_bytes(std::size_t bytes) const;
    /// The kernel's name, or the given name expression.
    ///
    ///     std::cout << raw_kernel("template <class T> __global__ void f(T* x) { *x = 1; }", "f<int>").name();
    ///     // prints: f<int>
    INGOT_API std::string_view name() const noexcept;

private:
    template <class... H>
    void launch(const launch_settings& how, const H&... held) const {
        const std::array<detail::raw_argument, sizeof...(H)> described{detail::describe_argument(held)...};
        detail::launch_raw(*function_, how, described);
    }

    const runtime::raw_function* function_;
};

/// Several kernels from one text, or from one file that nvcc or NVRTC made. Equal texts with equal options are one
/// module, with the same variables.
///
///     const raw_module m(R"(
///     template <typename T>
///     __global__ void fx3(T* arr, int N) {
///         unsigned int tid = blockIdx.x * blockDim.x + threadIdx.x;
///         if (tid < N) arr[tid] = arr[tid] * 3;
///     })", {"-std=c++11"}, {"fx3<float>", "fx3<double>"});
///     array<double> a = arange<double>(5);
///     m.get_function("fx3<double>")(1, 8, inout(a), 5);
///     std::cout << a;
///     // prints: [ 0.  3.  6.  9. 12.]
class raw_module {
public:
    /// Compiles nothing yet. `name_expressions`: instances of templates for get_function. Throws error where the text
    /// or an expression is empty.
    INGOT_API explicit raw_module(std::string_view source, const std::vector<std::string>& options = {},
                                  const std::vector<std::string>& name_expressions = {});
    explicit raw_module(std::nullptr_t) = delete;

    /// A module from a cubin, PTX or fatbin file, or from such a file's bytes, for GPUs only. The file does not tell
    /// its kernels' parameters: calls are checked for their number and sizes, where the driver tells those. Throws
    /// file_error where the file cannot be read, is empty or cut short.
    ///
    ///     try {
    ///         raw_module::from_file("nowhere.cubin");
    ///     } catch (const file_error& e) {
    ///         std::cout << e.what();
    ///     }
    ///     // prints: [raw_module] nowhere.cubin: No such file or directory
    INGOT_API static raw_module from_file(std::string_view path);
    /// The bytes are copied.
    ///
    ///     try {
    ///         raw_module::from_image({});
    ///     } catch (const file_error& e) {
    ///         std::cout << e.what();
    ///     }
    ///     // prints: [raw_module] the image is empty
    INGOT_API static raw_module from_image(std::span<const std::byte> image);

    /// A kernel of the module, by its qualified name or by a name expression; in a file by the name stored there.
    /// Compiles the module for the current device. Throws compile_error, and error where there is no such kernel.
    ///
    ///     const raw_module m("extern \"C\" __global__ void f(int* x) { *x = 1; }");
    ///     try {
    ///         m.get_function("g");
    ///     } catch (const error& e) {
    ///         std::cout << e.what();
    ///     }
    ///     // prints: [raw_module] there is no kernel 'g'; there are f
    INGOT_API raw_kernel get_function(std::string_view name) const;

    /// A variable of the module, __device__ or __constant__, as an array over its memory on the current device, with
    /// all its elements: kernels launched later see what is assigned to them. Throws error where there is no such
    /// variable, dtype_error where its bytes are no multiple of T's.
    ///
    ///     const raw_module m(R"(
    ///     extern "C" {
    ///     __constant__ float factors[2];
    ///     __global__ void scale(float* x) { x[threadIdx.x] *= factors[threadIdx.x]; }
    ///     })");
    ///     array<float> factors = m.get_global<float>("factors"), x{1, 2};
    ///     factors(all) = array<float>{10, 20};
    ///     m.get_function("scale")(1, 2, inout(x));
    ///     std::cout << x;
    ///     // prints: [10. 40.]
    template <element_type T>
    array<T> get_global(std::string_view name) const {
        detail::module_variable v = detail::variable_of(*program_, name, detail::dtype_of<T>);
        detail::layout where(1);
        where.shape()[0] = v.count;
        where.strides()[0] = 1;
        return array<T>(detail::adopted{}, detail::leaf<T>(std::move(v.memory), std::move(where)));
    }

    /// Compiles and loads the module for the current device, if not yet done. Throws compile_error.
    ///
    ///     const raw_module m("extern \"C\" __global__ void f(int* x) { *x = 1; }");
    ///     m.compile();
    ///     std::cout << m.get_function("f").name();
    ///     // prints: f
    INGOT_API void compile() const;

private:
    explicit raw_module(const runtime::raw_program& program) noexcept : program_(&program) {}

    const runtime::raw_program* program_;
};

}  // namespace ingot
