// array<T>: a value, as std::vector is. Copies share the buffer and split when one of them is written.
// An array that Ingot allocated is in C order and starts where its buffer does.
#pragma once

#include <initializer_list>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <ingot/core/assignment.hpp>
#include <ingot/core/expression.hpp>
#include <ingot/core/host_values.hpp>
#include <ingot/core/memory.hpp>
#include <ingot/core/selection.hpp>

namespace ingot {

namespace detail {

template <class T>
class element;
template <class T>
using braces = std::initializer_list<element<T>>;

/// Thrown where braces differ in length, or a value stands beside braces.
[[noreturn]] INGOT_API void throw_ragged(std::size_t given, std::size_t wanted);
[[noreturn]] INGOT_API void throw_values_beside_braces();

/// One element of a list in braces: nested braces, or a value of any type that makes a T, so that integers and doubles
/// mix. It lives as long as the statement. Values convert as in `full`, which throws dtype_error where an integer does
/// not fit.
template <class T>
class element {
public:
    template <class U>
        requires std::constructible_from<T, U> && (!std::same_as<std::remove_cvref_t<U>, element>)
    element(U u) : value_(make(u)) {}
    element(braces<T> row) : is_row_(true), count_(row.size()) { row_ = row.begin(); }

    /// The shape of braces and their values in C order. Throws shape_error where rows differ in shape.
    struct contents {
        std::vector<index_t> shape;
        value_room<T> values;

        contents(braces<T> outermost) {
            std::size_t n = outermost.size();
            shape.push_back(static_cast<index_t>(n));
            for (const element* e = outermost.begin(); n > 0 && e->is_row_; n *= e->count_, e = e->row_)
                shape.push_back(static_cast<index_t>(e->count_));
            values = value_room<T>(n);
            T* to = values.get();
            take(outermost.begin(), 0, to);
        }

    private:
        void take(const element* row, std::size_t axis, T*& to) {
            const auto wanted = [&](std::size_t at) { return static_cast<std::size_t>(shape[at]); };
            for (const element& e : std::span(row, wanted(axis))) {
                if (e.is_row_ != (axis + 1 < shape.size())) throw_values_beside_braces();
                if (!e.is_row_) {
                    *to++ = e.value_;
                } else {
                    if (e.count_ != wanted(axis + 1)) throw_ragged(e.count_, wanted(axis + 1));
                    take(e.row_, axis + 1, to);
                }
            }
        }
    };

private:
    template <class U>
    static T make(U u) {
        if constexpr (weak_scalar<U>)
            return element_value<T>("array", u);
        else
            return static_cast<T>(u);
    }

    T value_{};
    bool is_row_ = false;
    std::size_t count_ = 0;
    const element* row_ = nullptr;
};

/// A new array on the current device with these bytes in C order.
INGOT_API void create_from_host(buffer_ref& memory, layout& where, std::span<const index_t> shape, const void* values,
                                std::size_t bytes_each);
/// Whether the leaf is its whole buffer in C order, so that an array may share it.
INGOT_API bool is_whole(const buffer_ref& memory, const layout& where, std::size_t bytes_each) noexcept;
/// Gives the array its own buffer if others share it.
INGOT_API void make_unique(buffer_ref& memory);
/// A new buffer on device `to` with the same bytes.
INGOT_API buffer_ref copy_of(const buffer_ref& memory, device_id to);
/// Copies the elements into new memory on the same device; in C order where they were not in Ingot's memory.
INGOT_API void copy_elements(const buffer_ref& from, const layout& from_where, destination to);
/// The leaf of an array's copy: it has the same buffer, unless something else may write through that.
template <class T>
leaf<T> copied(const leaf<T>& of) {
    if (!of.memory() ||
        !(of.memory()->externally_visible || of.memory()->unowned || runtime::current_of_thread.records))
        return of;
    leaf<T> own;
    copy_elements(of.memory(), of.where(), {dtype_of<T>, own.memory(), own.where()});
    return own;
}
/// Whether an assignment to the whole array must write in place, because the memory is not Ingot's. Throws shape_error
/// where the shapes then differ.
INGOT_API bool keeps_memory(const buffer_ref& memory, const layout& where, extents_ref assigned);

/// A tag that tells a leaf to adopt from an expression to evaluate.
struct adopted {};

inline layout empty_layout() {
    layout l(1);
    l.shape()[0] = 0;
    l.strides()[0] = 1;
    return l;
}

}  // namespace detail

/// An n-dimensional array of T on a device; rank and shape are dynamic. It is a value, as std::vector is: a copy shares
/// memory until one of the two is written. It also has the members of every expression (members.hpp). T is bool, an
/// integer, float16, bfloat16, float, double, or std::complex of one of these two.
///
///     array<double> m{{1, 2, 3}, {4, 5, 6}}, copy = m;
///     copy += 10;
///     std::cout << m << '\n' << copy;
///     // prints: [[1. 2. 3.]
///     //          [4. 5. 6.]]
///     //         [[11. 12. 13.]
///     //          [14. 15. 16.]]
template <class T>
class array : public detail::expression_members<array<T>> {
    static_assert(
        element_type<T>,
        "array<T>: T must be bool, an integer, a float of 16, 32 or 64 bits, or std::complex of one of 32 or 64");

public:
    using value_type = T;
    static constexpr ingot::dtype type = detail::dtype_of<T>;

    /// An empty array, of shape (0,).
    array() : leaf_({}, detail::empty_layout()) {}

    /// Values in nested braces, a level for each axis, on the current device: a column is {{1}, {2}}. Throws
    /// shape_error where rows differ in length, dtype_error where an integer does not fit T.
    array(detail::braces<T> values) {
        const typename detail::element<T>::contents given(values);
        detail::create_from_host(leaf_.memory(), leaf_.where(), given.shape, given.values.get(), sizeof(T));
    }

    /// Evaluates an expression in one kernel, converting in it as NumPy's `out=` does: to the same kind of type or a
    /// wider one; other conversions must be explicit: `array<int> k = astype<int>(e)`. A view of a whole buffer is
    /// shared instead. Throws what the evaluation throws: compile_error, out_of_memory, device_error, shape_error for
    /// more axes than a kernel has.
    template <array_expression E>
        requires(!std::same_as<std::remove_cvref_t<E>, array> && detail::same_kind(E::type, type))
    array(const E& e, const source_place& at = source_place::current()) : leaf_(evaluated(e, at)) {}
    INGOT_REJECTED("an expression of a greater kind is converted by name: array<int> k = astype<int>(e); real(e)",
                   (array_expression E), !detail::same_kind(E::type, type), array(const E&))
    INGOT_REJECTED("numbers in parentheses are no shape: zeros<T>({3, 4}), ones, full, empty", (std::integral... I),
                   (sizeof...(I) > 1), explicit array(I...))
    // Inner: a leaf as it is, which nothing evaluates.
    array(detail::adopted, detail::leaf<T> l) : leaf_(std::move(l)) {}

    /// Shares the buffer until one of them is written. The copy is deep after mutable_data(), and over memory that is
    /// not Ingot's: there only the original array writes.
    array(const array& other) : leaf_(detail::copied(other.leaf_)) {}
    /// Moves the handle.
    array(array&& other) noexcept : leaf_(std::move(other).as_leaf()) {}
    ~array() = default;

    /// Takes the shape of `other`. Over memory that is not Ingot's it writes in place: another shape throws
    /// shape_error, another device device_error.
    array& operator=(const array& other) & {
        if (detail::keeps_memory(leaf_.memory(), leaf_.where(), other.leaf_.kept().extents())) {
            detail::write("assign", *this, other);
        } else if (this != &other) {
            *this = array(other);
        }
        return *this;
    }
    /// Writes in place over memory that is not Ingot's, which may throw; else moves the handle.
    // NOLINTNEXTLINE(performance-noexcept-move-constructor)
    array& operator=(array&& other) & {
        if (detail::keeps_memory(leaf_.memory(), leaf_.where(), other.leaf_.kept().extents())) {
            detail::write("assign", *this, std::move(other));
        } else {
            leaf_ = std::move(other).as_leaf();
        }
        return *this;
    }
    /// Evaluates an expression, converting in it to the same kind of type or a wider one, and takes its shape; the
    /// buffer is reused where it fits and nothing else holds it.
    template <array_expression E>
        requires(!std::same_as<std::remove_cvref_t<E>, array> && detail::same_kind(std::remove_cvref_t<E>::type, type))
    array& operator=(E&& e) & {
        const auto& node = detail::as_node(std::forward<E>(e));
        detail::assign_array(detail::gather_as<T>(node), {type, leaf_.memory(), leaf_.where()},
                             1 + detail::own_references<E>(node, leaf_.memory().get()));
        return *this;
    }
    INGOT_REJECTED("an expression of a greater kind is converted by name: k = astype<int>(e), or by k(all) = e",
                   (array_expression E), !detail::same_kind(std::remove_cvref_t<E>::type, type), array& operator=(E&&))

    INGOT_REJECTED("a range of the host's is copied by asarray(values), asarray<T>(values)", (detail::values_of_host R),
                   !array_expression<R>, array(const R&))
    INGOT_REJECTED("a number is no array: every element is written by x.fill(value), x(all) = value", (weak_scalar S),
                   true, array& operator=(S))

    /// Bytes from one element to the next along each axis.
    ///
    ///     std::cout << zeros<float>({2, 3}).strides();
    ///     // prints: (12, 4)
    detail::integer_list strides() const {
        const auto rank = static_cast<std::size_t>(leaf_.where().rank());
        index_t bytes[detail::max_rank];
        for (std::size_t j = 0; j < rank; ++j) bytes[j] = leaf_.where().strides()[j] * itemsize();
        return std::span<const index_t>(bytes, rank);
    }

    /// Bytes of an element.
    ///
    ///     array<float> a = zeros<float>({2, 3});
    ///     std::cout << a.itemsize() << ' ' << a.nbytes();
    ///     // prints: 4 24
    static constexpr index_t itemsize() noexcept { return sizeof(T); }
    /// Bytes of all elements.
    index_t nbytes() const noexcept { return leaf_.where().size() * itemsize(); }

    /// The element type.
    ///
    ///     std::cout << name(array<float>{1, 2}.dtype());
    ///     // prints: float32
    static constexpr ingot::dtype dtype() noexcept { return type; }

    /// The first element, on device(); null where there are none, or they lie in parts on several ranks. The pointer is
    /// valid until the array is next assigned to. The call does not wait for the array's kernels.
    const T* data() const noexcept { return address(); }

    /// A pointer to write through. The array un-shares its buffer, and its later copies are deep.
    ///
    ///     with_device on_the_host(device::host());
    ///     array<int> a{1, 2, 3};
    ///     a.mutable_data()[1] = 7;
    ///     std::cout << a << ' ' << (a.data() == a.mutable_data());
    ///     // prints: [1 7 3] 1
    T* mutable_data() {
        detail::make_unique(leaf_.memory());
        if (leaf_.memory()) leaf_.memory()->externally_visible = true;
        return address();
    }

    /// A copy of the array on another device; on its own device the array itself, which shares memory until one of both
    /// is written. Throws device_error where there is no such device.
    ///
    ///     array<int> a{1, 2, 3};
    ///     std::cout << a.to(device::host()).device() << ' ' << a.to(device::host());
    ///     // prints: host:0 [1 2 3]
    array to(ingot::device where) const {
        if (!leaf_.memory() || leaf_.memory()->device == where) return *this;
        if (leaf_.memory()->unowned) return array(*this).to(where);
        return array(detail::adopted{}, detail::leaf<T>(detail::copy_of(leaf_.memory(), where), leaf_.where()));
    }

    /// Writes every element from values of the host, converted and in C order; the shape stays. Throws shape_error
    /// where the number of values differs.
    ///
    ///     array<int> a = zeros<int>({2, 2});
    ///     a.set({1, 2, 3, 4});
    ///     std::cout << a;
    ///     // prints: [[1 2]
    ///     //          [3 4]]
    template <detail::values_of_host R>
        requires std::constructible_from<T, detail::value_of<R>>
    void set(const R& values);
    void set(detail::braces<T> values) {
        const typename detail::element<T>::contents given(values);
        index_t count = 1;
        for (const index_t extent : given.shape) count *= extent;
        write_all(given.values.get(), static_cast<std::size_t>(count));
    }

    /// Writes one value to every element. Throws dtype_error where an integer does not fit T.
    ///
    ///     array<int> a = zeros<int>(3);
    ///     a.fill(7);
    ///     std::cout << a;
    ///     // prints: [7 7 7]
    template <weak_scalar S>
    void fill(S value) {
        detail::write("fill", *this, value);
    }

    // Inner
    const detail::leaf<T>& as_leaf() const& noexcept { return leaf_; }
    detail::leaf<T> as_leaf() && noexcept {
        return {std::move(leaf_.memory()), std::exchange(leaf_.where(), detail::empty_layout())};
    }
    selection<T> as_selection() & { return selection<T>(leaf_); }

private:
    friend struct detail::access;

    void check_count(std::size_t count) const;
    void write_all(const void* values, std::size_t count);
    template <class E>
    static detail::leaf<T> evaluated(const E& e, const source_place& at) {
        const detail::in_statement of_the_user(at);
        const auto& node = detail::as_node(e);
        if constexpr (detail::may_be_leaf<std::remove_cvref_t<decltype(node)>> && E::type == type)
            if (const auto seen = leaf_of(node))
                if (detail::is_whole(seen->memory(), seen->where(), sizeof(T)))
                    return detail::copied(
                        detail::leaf<T>(seen->memory(), detail::contiguous_layout(seen->where().extents())));
        detail::leaf<T> result;
        detail::evaluate_into<T>(node, result.memory(), result.where());
        return result;
    }
    T* address() const noexcept {
        return leaf_.memory() ? static_cast<T*>(leaf_.memory()->data) + leaf_.where().offset : nullptr;
    }

    detail::leaf<T> leaf_;
};

/// `array r = x + y;` has the expression's dtype.
template <array_expression E>
array(const E&) -> array<typename E::value_type>;
/// `array{1, 2, 3}` has the type of its values, the common one of several.
template <weak_scalar S>
array(std::initializer_list<S>) -> array<S>;
template <weak_scalar S>
array(std::initializer_list<std::initializer_list<S>>) -> array<S>;
template <weak_scalar S>
array(std::initializer_list<std::initializer_list<std::initializer_list<S>>>) -> array<S>;
template <weak_scalar A, weak_scalar B, weak_scalar... More>
array(A, B, More...) -> array<std::common_type_t<A, B, More...>>;

namespace detail {

template <class E>
auto expression_members<E>::eval(const source_place& at) const {
    const in_statement of_the_user(at);
    return array<typename E::value_type>(self());
}

/// Evaluates trees together. Trees of one shape and device take the shorter path.
template <class... N>
auto evaluate_together(const N&... nodes) {
    std::tuple<leaf<typename N::value_type>...> results;
    std::apply(
        [&](auto&... result) {
            const output outputs[] = {{N::type, &result.memory(), &result.where()}...};
            const gathered_trees<N...> trees(nodes...);
            const joint_outputs s = trees.with(outputs);
            slot& cache = slot_of<N...>::cache;
            if (s.shapes.empty())
                v1::evaluate(cache, s.program, s.operands, s.attributes, s.outputs);
            else
                v1::evaluate_joint_outputs(cache, s);
        },
        results);
    return std::apply([](auto&... result) { return std::tuple(array(adopted{}, std::move(result))...); }, results);
}

}  // namespace detail

/// Evaluates an expression to an array of its type; several, or a tuple of them, to a tuple of arrays, in as few
/// kernels as possible. Throws what an evaluation throws: compile_error, out_of_memory, device_error.
///
///     array<double> x{1, 2, 3};
///     auto [squares, sums] = eval(x * x, cumsum(x));
///     std::cout << squares << ' ' << sums << ' ' << eval(x + 1);
///     // prints: [1. 4. 9.] [1. 3. 6.] [2. 3. 4.]
template <array_expression E>
auto eval(const E& e, const source_place& at = source_place::current()) {
    const detail::in_statement of_the_user(at);
    return array<typename E::value_type>(e);
}
template <array_expression E, array_expression F, array_expression... More>
auto eval(const E& e, const F& f, const More&... more) {
    return detail::evaluate_together(detail::as_node(e), detail::as_node(f), detail::as_node(more)...);
}
template <array_expression E, array_expression F, array_expression... More>
auto eval(const std::tuple<E, F, More...>& several) {
    return std::apply([](const auto&... e) { return eval(e...); }, several);
}

}  // namespace ingot
