// Arrays in files: NumPy's .npy, and .npz, which is a zip archive of them. It reads all that NumPy writes, of any byte
// order, order of axes and version; it writes what NumPy writes for the same array in C order, to the byte. Elements
// pass in pieces, a GPU's through pinned memory, so that a file needs no memory of its size beside the array's.
#pragma once

#include <cstddef>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <ingot/core/array.hpp>
#include <ingot/core/host.hpp>

namespace ingot {

namespace runtime {
class npz_archive;
class npz_output;
}  // namespace runtime

/// The header of a .npy file.
struct npy_header {
    dtype type;          // of the elements
    shape_like shape;    // of the array
    bool fortran_order;  // whether the first axis is the fastest in the file; a loaded array is in C order
};

namespace detail {

INGOT_API void save_elements(const std::string& path, dtype type, const buffer_ref& memory, const layout& where);
INGOT_API void load_elements(const std::string& path, destination to);
INGOT_API npy_header npy_header_of(const char* operation, const std::string& path);

/// Calls f with a dtype's element type, as a std::type_identity.
template <std::size_t I = 0, class F>
decltype(auto) with_element_type(dtype t, const F& f) {
    if constexpr (I + 1 < dtype_count)
        if (static_cast<std::size_t>(t) != I) return with_element_type<I + 1>(t, f);
    return f(std::type_identity<type_of<static_cast<dtype>(I)>>{});
}

}  // namespace detail

/// Writes the values of an expression to a .npy file with exactly this name. The file appears when it is complete: a
/// failed save leaves the old file. Throws file_error where it cannot be written, dtype_error for bfloat16, which NumPy
/// lacks, and what an evaluation throws.
///
///     array<float> x{{1, 2, 3}, {4, 5, 6}};
///     save("doubled.npy", x * 2);
///     std::cout << load<float>("doubled.npy");
///     // prints: [[ 2.  4.  6.]
///     //          [ 8. 10. 12.]]
template <array_expression E>
void save(const std::string& path, const E& e, const source_place& at = source_place::current()) {
    const detail::in_statement of_the_user(at);
    const auto values = detail::contiguous_values_as<typename E::value_type>(e);
    detail::save_elements(path, E::type, values.memory(), values.where());
}

/// The array in a .npy file, on the current device. Throws dtype_error where the file has another dtype, file_error
/// where it cannot be read, or is cut short, too long, or no .npy file.
///
///     save("counts.npy", array<int>{1, 2, 3});
///     std::cout << load<int>("counts.npy") << '\n';
///     try {
///         load<double>("counts.npy");
///     } catch (const dtype_error& e) {
///         std::cout << e.what();
///     }
///     // prints: [1 2 3]
///     //         [load] counts.npy: holds int32, and float64 is wanted
template <element_type T>
array<T> load(const std::string& path, const source_place& at = source_place::current()) {
    const detail::in_statement of_the_user(at);
    detail::leaf<T> l;
    detail::load_elements(path, {detail::dtype_of<T>, l.memory(), l.where()});
    return array<T>(detail::adopted{}, std::move(l));
}
INGOT_REJECTED_ALWAYS("the type is named: load<float>(path); of any type load_any(path)",
                      ::ingot::detail::rejected load(const std::string&))

/// The header of a .npy file; its elements are not read. Throws file_error, and dtype_error where Ingot does not have
/// the dtype.
///
///     save("grid.npy", zeros<float>({2, 3}));
///     const npy_header h = npy_info("grid.npy");
///     std::cout << name(h.type) << ' ' << h.shape << ' ' << h.fortran_order;
///     // prints: float32 (2, 3) 0
INGOT_API npy_header npy_info(const std::string& path);

/// Calls f with the array in a .npy file of any dtype; f must return one type. Throws what `load` does.
///
///     save("counts.npy", array<std::int16_t>{1, 2, 3});
///     std::cout << load_any("counts.npy", [](const auto& x) { return astype<double>(x).eval(); }) / 2;
///     // prints: [0.5 1.  1.5]
template <class F>
decltype(auto) load_any(const std::string& path, const F& f) {
    return detail::with_element_type(
        detail::npy_header_of("load_any", path).type,
        [&]<class T>(std::type_identity<T>) -> decltype(auto) { return f(load<T>(path)); });
}

/// The arrays of a .npz file, which stays open; each is read on request.
///
///     savez("pair.npz", named("x", arange<float>(3)), named("y", ones<int>({2, 2})));
///     const npz_file f = load_npz("pair.npz");
///     std::cout << f.load<float>("x") << ' ' << name(f.dtype("y")) << ' ' << f.shape("y") << '\n';
///     for (const std::string& array : f.names()) f.load_any(array, [](const auto& a) { std::cout << sum(a) << ' '; });
///     std::cout << f.contains("z") << f.info("y").fortran_order;
///     // prints: [0. 1. 2.] int32 (2, 2)
///     //         3.0 4 00
class npz_file {
public:
    // Inner
    explicit npz_file(runtime::npz_archive* archive) noexcept : archive_(archive) {}

    npz_file(npz_file&& other) noexcept : archive_(std::exchange(other.archive_, nullptr)) {}
    npz_file& operator=(npz_file&& other) noexcept {
        std::swap(archive_, other.archive_);
        return *this;
    }
    INGOT_API ~npz_file();

    /// The names of all arrays, in the file's order.
    INGOT_API std::vector<std::string> names() const;
    /// Whether there is an array of this name.
    INGOT_API bool contains(const std::string& name) const;
    /// The header of an array; throws file_error where there is none of this name.
    INGOT_API npy_header info(const std::string& name) const;
    /// The dtype of an array.
    ingot::dtype dtype(const std::string& name) const { return info(name).type; }
    /// The shape of an array.
    shape_like shape(const std::string& name) const { return info(name).shape; }
    /// An array, on the current device. Throws dtype_error where it has another dtype; file_error where there is none
    /// of this name, or it is damaged.
    template <element_type T>
    array<T> load(const std::string& name) const {
        detail::leaf<T> l;
        load_elements(name, {detail::dtype_of<T>, l.memory(), l.where()});
        return array<T>(detail::adopted{}, std::move(l));
    }

    /// Calls f with an array of any dtype; f must return one type.
    template <class F>
    decltype(auto) load_any(const std::string& name, const F& f) const {
        return detail::with_element_type(
            info(name).type, [&]<class T>(std::type_identity<T>) -> decltype(auto) { return f(load<T>(name)); });
    }

private:
    INGOT_API void load_elements(const std::string& name, detail::destination to) const;

    runtime::npz_archive* archive_;
};

/// Opens a .npz file. Throws file_error.
///
///     savez("one.npz", array<int>{1, 2, 3});
///     std::cout << load_npz("one.npz").load<int>("arr_0");
///     // prints: [1 2 3]
INGOT_API npz_file load_npz(const std::string& path);

/// The type of `compressed`.
struct compressed_t {
    explicit compressed_t() = default;
};
/// A tag: arrays are compressed in the file.
inline constexpr compressed_t compressed{};

/// Writes a .npz file one array at a time. The file appears when it is closed, explicitly or at the end of the scope;
/// where an exception ends the scope, the old file stays.
///
///     npz_writer out("steps.npz", compressed);
///     array<float> u = ones<float>(3);
///     for (int step = 0; step < 3; ++step) {
///         out.save("step" + std::to_string(step), u);
///         u *= 2;
///     }
///     out.close();
///     std::cout << load_npz("steps.npz").load<float>("step2");
///     // prints: [4. 4. 4.]
class npz_writer {
public:
    /// Throws file_error where the file cannot be written; library_error where arrays shall be compressed and zlib is
    /// missing.
    INGOT_API explicit npz_writer(const std::string& path);
    INGOT_API npz_writer(const std::string& path, compressed_t);
    npz_writer(const npz_writer&) = delete;
    npz_writer& operator=(const npz_writer&) = delete;
    /// Closes the file. An error that keeps it from appearing only causes a warning.
    INGOT_API ~npz_writer();

    /// Writes the values of an expression. Throws file_error where there already is an array of this name or the file
    /// cannot be written, dtype_error for bfloat16, and what an evaluation throws.
    template <array_expression E>
    void save(const std::string& name, const E& e) {
        const auto values = detail::contiguous_values_as<typename E::value_type>(e);
        save_elements(name, E::type, values.memory(), values.where());
    }
    /// Makes the file appear; nothing more can be saved in it. Throws file_error.
    INGOT_API void close();

private:
    INGOT_API void save_elements(const std::string& name, dtype type, const detail::buffer_ref& memory,
                                 const detail::layout& where);

    runtime::npz_output* output_;
    int exceptions_;  // in flight when it was made
};

/// An expression and its name in a .npz file.
template <array_expression E>
struct named_expression {
    std::string name;  // without .npy
    E values;          // or a tree
};

/// Names an expression for `savez`.
///
///     savez("powers.npz", named("square", square(arange<int>(4))));
///     std::cout << load_npz("powers.npz").load<int>("square");
///     // prints: [0 1 4 9]
template <array_expression E>
auto named(std::string name, E&& e) {
    return named_expression<std::remove_cvref_t<decltype(detail::as_node(std::forward<E>(e)))>>{
        std::move(name), detail::as_node(std::forward<E>(e))};
}

namespace detail {

template <class M>
inline constexpr bool is_named = false;
template <class E>
inline constexpr bool is_named<named_expression<E>> = true;
template <class M>
concept npz_member = array_expression<M> || is_named<M>;

template <class M>
void save_member(npz_writer& out, int number, const M& member) {
    if constexpr (is_named<M>)
        out.save(member.name, member.values);
    else
        out.save("arr_" + std::to_string(number), member);
}
template <class... M>
void save_members(npz_writer& out, const M&... members) {
    int number = 0;
    (save_member(out, number++, members), ...);
    out.close();
}

}  // namespace detail

/// Writes expressions to a .npz file: each under the name that `named` gives it, else arr_0, arr_1 by its position. The
/// file appears when it is complete. Throws file_error, dtype_error for bfloat16, and what an evaluation throws.
///
///     array<double> x{1, 2, 3};
///     savez("sums.npz", x, named("sum", sum(x)));
///     const npz_file f = load_npz("sums.npz");
///     std::cout << f.load<double>("arr_0") << ' ' << f.load<double>("sum");
///     // prints: [1. 2. 3.] 6.0
template <class... M>
    requires(detail::npz_member<M> && ...)
void savez(const std::string& path, const M&... members) {
    npz_writer out(path);
    detail::save_members(out, members...);
}

/// savez with compression. Also throws library_error where zlib is missing.
///
///     savez_compressed("small.npz", named("zeros", zeros({100, 100})));
///     std::cout << load_npz("small.npz").shape("zeros");
///     // prints: (100, 100)
template <class... M>
    requires(detail::npz_member<M> && ...)
void savez_compressed(const std::string& path, const M&... members) {
    npz_writer out(path, compressed);
    detail::save_members(out, members...);
}

}  // namespace ingot
