// Expressions: what operators return. A node holds its operands by value (a leaf is a counted buffer handle and its
// layout), so `auto e = x + y;` never dangles and means what it meant when it was written. Building one launches
// nothing; it checks shapes, dtypes and devices, and throws in the user's statement.
//
// Every node has
//   value_type, type        element type and dtype
//   program                 its postfix words (program.hpp), constexpr
//   operands, binders       how many operands and attribute words it gathers
//   gather(cursor)          writes them, in program order
//   extents(room)           its shape; `room` is used only where the node does not hold it
//   apply(view, bound)      composes a view of its result onto every layout beneath it
//   try_reshape(...)        reshapes every layout beneath it, or returns false with some of them reshaped already
//   device()                of its leaves; none where all are scalars
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

#include <boost/hana/tuple.hpp>
#include <boost/hana/unpack.hpp>

#include <ingot/buffer.hpp>
#include <ingot/door.hpp>
#include <ingot/dtype.hpp>
#include <ingot/error.hpp>
#include <ingot/export.hpp>
#include <ingot/layout.hpp>
#include <ingot/members.hpp>
#include <ingot/program.hpp>
#include <ingot/shape.hpp>

namespace ingot {

template <class T>
class array;
template <class T>
class lazy;

namespace detail {

template <class S>
struct is_complex : std::false_type {};
template <class T>
struct is_complex<std::complex<T>> : std::true_type {};

}  // namespace detail

/// An array or a tree over arrays.
template <class E>
concept array_expression = std::derived_from<std::remove_cvref_t<E>, detail::expression_base>;

/// A C++ number: beside an array it has only its kind.
template <class S>
concept weak_scalar = std::is_arithmetic_v<std::remove_cvref_t<S>> ||
                      (std::is_enum_v<std::remove_cvref_t<S>> && std::is_convertible_v<S, long long>);

template <class A>
concept operand_like = array_expression<A> || weak_scalar<A>;

namespace detail {

// ---- shapes of nodes -------------------------------------------------------------------------------------------

/// Broadcasts n shapes. Returns the index of one that already is the result, or -1 and the result in `room`; throws
/// shape_error naming `operation` and all shapes.
INGOT_API int broadcast_shapes(const char* operation, const extents_ref* shapes, int n, shape_room& room, int& rank);
[[noreturn]] INGOT_API void throw_two_devices(const char* operation, device_id a, device_id b);
[[noreturn]] INGOT_API void throw_does_not_fit(const char* operation, long long value, bool is_unsigned, dtype type);
[[noreturn]] INGOT_API void throw_negative_exponent(long long value, dtype type);

/// Writes operands and attribute words in program order.
struct cursor {
    operand* operands;
    word* attributes;
};

// ---- leaves ----------------------------------------------------------------------------------------------------

/// Elements of a buffer seen through a layout.
template <class T>
class leaf : public expression_members<leaf<T>> {
public:
    using value_type = T;
    static constexpr dtype type = dtype_of<T>;
    static constexpr std::array<word, 1> program{make_word(word_kind::leaf, type)};
    static constexpr int operands = 1, binders = 0, nodes = 1;

    leaf() = default;
    leaf(buffer_ref memory, layout where) : memory_(std::move(memory)), where_(std::move(where)) {}
    leaf(const leaf&) = default;
    leaf(leaf&&) = default;
    leaf& operator=(const leaf&) & = default;  // of lvalues alone: x(0) = y(0) of const arrays does not compile
    leaf& operator=(leaf&&) & = default;

    const buffer_ref& memory() const noexcept { return memory_; }
    const layout& where() const noexcept { return where_; }
    buffer_ref& memory() noexcept { return memory_; }
    layout& where() noexcept { return where_; }

    void gather(cursor& c) const {
        operand& o = *c.operands++;
        o.kind = operand_kind::array;
        o.type = type;
        o.where = &where_;
        o.memory = memory_.get();
    }
    extents_ref extents(shape_room&) const noexcept { return {where_.shape(), where_.rank()}; }
    void apply(const axis_view& v, int bound) { where_ = compose(where_, v, bound); }
    bool try_reshape(std::span<const index_t> shape, int bound) { return detail::try_reshape(where_, shape, bound); }
    device_id on_device() const noexcept { return memory_ ? memory_->device : no_device; }
    /// How many references to `b` this tree holds.
    std::uint32_t count(const buffer* b) const noexcept { return memory_.get() == b ? 1u : 0u; }

private:
    buffer_ref memory_;
    layout where_;
};

inline constinit thread_local std::uint64_t scalar_serial = 0;
/// A number no other scalar of the process has: the thread's block, drawn once, and a count.
INGOT_API std::uint64_t new_serial_block() noexcept;
inline std::uint64_t next_serial() noexcept {
    if ((++scalar_serial & 0xffffffffu) <= 1) scalar_serial = new_serial_block() << 32 | 2u;
    return scalar_serial;
}

/// One value, already in the dtype that its node computes in.
class scalar_leaf : public expression_base {
public:
    static constexpr int operands = 1, binders = 0, nodes = 1;

    scalar_leaf(std::uint64_t bits, dtype t, exponent_class exponent = exponent_class::none)
        : bits_(bits), serial_(next_serial()), type_(t), exponent_(exponent) {}

    void gather(cursor& c) const {
        operand& o = *c.operands++;
        o.kind = operand_kind::scalar;
        o.type = type_;
        o.exponent = exponent_;
        o.bits[0] = bits_;
        o.serial = serial_;
    }
    extents_ref extents(shape_room&) const noexcept { return {nullptr, 0}; }
    void apply(const axis_view&, int) noexcept {}
    bool try_reshape(std::span<const index_t>, int) const noexcept { return true; }
    device_id on_device() const noexcept { return no_device; }
    std::uint32_t count(const buffer*) const noexcept { return 0; }

private:
    std::uint64_t bits_;
    std::uint64_t serial_;
    dtype type_;
    exponent_class exponent_;
};

/// A weak scalar inside a node.
class weak_leaf : public scalar_leaf {
public:
    using scalar_leaf::scalar_leaf;
    static constexpr std::array<word, 1> program{make_word(word_kind::scalar, dtype::b1)};
};

/// scalar<T>(v): a value with a dtype of its own, strong as a 0-d array is.
template <class T>
class strong_leaf : public scalar_leaf {
public:
    using value_type = T;
    static constexpr dtype type = dtype_of<T>;
    static constexpr std::array<word, 1> program{make_word(word_kind::scalar, type)};
    using scalar_leaf::scalar_leaf;
};

template <class T>
std::uint64_t bits_of_value(T value) noexcept {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    return bits;
}

/// The bits of `value` as dtype D, by C++'s conversions; integers must fit (checked by the caller).
template <class S>
std::uint64_t scalar_bits(S value, dtype d) {
    using enum dtype;
    switch (d) {
        case b1: return bits_of_value(value != S(0));
        case f4: return bits_of_value(static_cast<float>(value));
        case f8: return bits_of_value(static_cast<double>(value));
        default:
            if constexpr (std::is_floating_point_v<S>)
                return 0;  // a float beside integers computes in f8: never here
            else
                return bits_of_value(static_cast<std::int64_t>(value)) &
                       (size_of(d) == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * size_of(d))) - 1);
    }
}

/// Whether an integer value is in the range of integer dtype D.
template <class S>
constexpr bool fits(S value, dtype d) {
    if (kind_of(d) != kind::integer) return true;
    const int bits = static_cast<int>(8 * size_of(d));
    if (is_signed(d)) {
        const std::int64_t top = bits == 64 ? std::numeric_limits<std::int64_t>::max() : (std::int64_t{1} << (bits - 1)) - 1;
        return std::in_range<std::int64_t>(value) && static_cast<std::int64_t>(value) <= top &&
               static_cast<std::int64_t>(value) >= -top - 1;
    }
    const std::uint64_t top = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
    return std::in_range<std::uint64_t>(value) && static_cast<std::uint64_t>(value) <= top;
}

/// The number behind a weak scalar: enumerations and characters as integers, long double as double.
template <class S>
constexpr auto plain_number(S value) {
    if constexpr (std::is_same_v<S, bool>) return value;
    else if constexpr (std::is_enum_v<S>) return static_cast<long long>(value);
    else if constexpr (std::is_same_v<S, long double>) return static_cast<double>(value);
    else if constexpr (std::is_floating_point_v<S>) return value;
    else if constexpr (std::is_signed_v<S>) return static_cast<std::int64_t>(value);
    else return static_cast<std::uint64_t>(value);
}

/// The dtype whose kind a weak scalar has; its size counts only where scalars alone decide.
template <class S>
constexpr dtype weak_dtype() {
    if constexpr (std::is_enum_v<S>) return dtype::i8;
    else if constexpr (std::is_same_v<S, long double>) return dtype::f8;
    else if constexpr (std::is_integral_v<S> && !std::is_same_v<S, bool> && sizeof(S) < 4) return dtype::i4;
    else return dtype_of<S>;
}

/// The class of an exponent that power turns into multiplies, a square root or a reciprocal. Throws dtype_error where an
/// integer power has a negative exponent.
template <class S>
exponent_class exponent_class_of(S value, dtype d) {
    if (value == S(2)) return exponent_class::two;
    if (value == S(3)) return exponent_class::three;
    if (kind_of(d) == kind::floating) {
        const double e = static_cast<double>(value);
        return e == 0.5    ? exponent_class::half
               : e == -0.5 ? exponent_class::minus_half
               : e == -1   ? exponent_class::minus_one
                           : exponent_class::none;
    }
    if constexpr (std::is_signed_v<S>)
        if (value < 0) throw_negative_exponent(static_cast<long long>(value), d);
    return exponent_class::none;
}

template <class A>
constexpr operand_type operand_type_of() {
    using E = std::remove_cvref_t<A>;
    if constexpr (array_expression<E>) return {E::type, false};
    else return {weak_dtype<E>(), true};
}

template <op O, class... A>
constexpr signature signature_of() {
    constexpr operand_type types[] = {operand_type_of<A>()...};
    return resolve(O, types);
}

// ---- elementwise nodes -----------------------------------------------------------------------------------------

template <std::size_t... N>
constexpr auto join_words(const std::array<word, N>&... parts) {
    std::array<word, (N + ... + 0)> all{};
    std::size_t at = 0;
    ((std::copy_n(parts.data(), N, all.data() + at), at += N), ...);
    return all;
}

/// An elementwise operator over its operands. R: dtype of the result.
template <op O, dtype R, class... Args>
class map : public node_members<map<O, R, Args...>> {
public:
    using value_type = type_of<R>;
    static constexpr dtype type = R;
    static constexpr auto program =
        join_words(Args::program..., std::array<word, 1>{make_word(word_kind::map, R, static_cast<std::uint32_t>(O))});
    static constexpr int operands = (Args::operands + ...), binders = (Args::binders + ...);
    static constexpr int nodes = (Args::nodes + ... + 1);

    struct made {};  // a tag: a variadic constructor would hijack copying
    template <class... A>
    explicit map(made, A&&... a) : arguments_(std::forward<A>(a)...) { check_operands(); }

    void gather(cursor& c) const {
        boost::hana::unpack(arguments_, [&](const Args&... a) { (a.gather(c), ...); });
    }
    extents_ref extents(shape_room& room) const {
        return boost::hana::unpack(arguments_, [&](const Args&... a) {
            extents_ref result{nullptr, 0};
            int i = 0;
            (void)((i++ == shape_source_ && (result = a.extents(room), true)) || ...);
            if (shape_source_ < 0) result = broadcast_again(room, a...);
            return result;
        });
    }
    void apply(const axis_view& v, int bound) {
        boost::hana::unpack(arguments_, [&](Args&... a) { (a.apply(v, bound), ...); });
        shape_source_ = 0;
        constexpr bool is_scalar[] = {std::derived_from<Args, scalar_leaf>...};
        while (is_scalar[shape_source_] && shape_source_ + 1 < static_cast<int>(sizeof...(Args))) ++shape_source_;
    }
    bool try_reshape(std::span<const index_t> shape, int bound) {
        return boost::hana::unpack(arguments_, [&](Args&... a) { return (a.try_reshape(shape, bound) && ...); });
    }
    device_id on_device() const noexcept {
        return boost::hana::unpack(arguments_, [](const Args&... a) {
            device_id d = no_device;
            ((d == no_device ? void(d = a.on_device()) : void()), ...);
            return d;
        });
    }
    std::uint32_t count(const buffer* b) const noexcept {
        return boost::hana::unpack(arguments_, [&](const Args&... a) { return (a.count(b) + ...); });
    }

private:
    void check_operands() {
        boost::hana::unpack(arguments_, [&](const Args&... a) {
            device_id d = no_device;
            ((check_device(d, a.on_device())), ...);
            shape_room rooms[sizeof...(Args)];
            int i = 0;
            const extents_ref shapes[] = {a.extents(rooms[i++])...};
            // One operand with a shape, or all alike: nothing to compute.
            int source = 0;
            bool alike = true;
            for (int k = 1; k < static_cast<int>(sizeof...(Args)); ++k) {
                if (shapes[k].rank == 0) continue;
                if (shapes[source].rank == 0) source = k;
                else if (!same_extents(shapes[source], shapes[k])) alike = false;
            }
            if (!alike) {
                shape_room room;
                int rank = 0;
                source = broadcast_shapes(facts(O).name.data(), shapes, static_cast<int>(sizeof...(Args)), room, rank);
            }
            shape_source_ = static_cast<std::int8_t>(source);
        });
    }
    static void check_device(device_id& d, device_id other) {
        if (other == no_device) return;
        if (d == no_device) d = other;
        else if (!(d == other)) throw_two_devices(facts(O).name.data(), d, other);
    }
    static extents_ref broadcast_again(shape_room& room, const Args&... a) {
        shape_room rooms[sizeof...(Args)];
        int i = 0, rank = 0;
        const extents_ref shapes[] = {a.extents(rooms[i++])...};
        const int source = broadcast_shapes(facts(O).name.data(), shapes, static_cast<int>(sizeof...(Args)), room, rank);
        if (source >= 0) {
            rank = shapes[source].rank;
            std::copy_n(shapes[source].data, rank, room);
        }
        return {room, rank};
    }

    boost::hana::tuple<Args...> arguments_;
    std::int8_t shape_source_ = 0;
};

// ---- operands of a node ----------------------------------------------------------------------------------------

/// What a node stores for an expression: itself, or the leaf of an array or selection.
template <class E>
decltype(auto) as_node(E&& e) {
    if constexpr (requires { std::forward<E>(e).as_leaf(); }) return std::forward<E>(e).as_leaf();
    else return std::forward<E>(e);
}

/// What a node stores for operand number I of an application with signature S.
template <op O, std::size_t I, signature S, class A>
decltype(auto) as_argument(A&& a) {
    if constexpr (array_expression<A>) {
        return as_node(std::forward<A>(a));
    } else {
        const auto value = plain_number(static_cast<std::remove_cvref_t<A>>(a));
        using number = std::remove_const_t<decltype(value)>;
        dtype d = S.computes[I];
        exponent_class exponent = exponent_class::none;
        if constexpr (facts(O).name == "power" && I == 1) exponent = exponent_class_of(value, d);
        if constexpr (std::is_integral_v<number> && !std::is_same_v<number, bool>)
            if (!fits(value, d)) {
                if constexpr (facts(O).rule != rule::comparison)
                    throw_does_not_fit(facts(O).name.data(), static_cast<long long>(value), std::is_unsigned_v<number>, d);
                d = fits(value, dtype::i8) ? dtype::i8 : dtype::u8;  // compares exactly, out of range as it is
            }
        return weak_leaf(scalar_bits(value, d), d, exponent);
    }
}

template <op O, class... A>
concept applicable = (operand_like<A> && ...) && (array_expression<A> || ...) && signature_of<O, A...>().legal;

/// More nodes than this and a tree's type is no longer static.
inline constexpr int static_nodes = 64;

template <op O, std::size_t... I, class... A>
auto make_map(std::index_sequence<I...>, A&&... a) {
    constexpr signature s = signature_of<O, A...>();
    using result = map<O, s.result, std::remove_cvref_t<decltype(as_argument<O, I, s>(std::forward<A>(a)))>...>;
    if constexpr (result::nodes > static_nodes)
        return lazy<typename result::value_type>::template applied<result>(as_argument<O, I, s>(std::forward<A>(a))...);
    else
        return result(typename result::made{}, as_argument<O, I, s>(std::forward<A>(a))...);
}

/// Applies row O of the operator table.
template <op O, class... A>
    requires applicable<O, A...>
auto apply_operator(A&&... a) {
    return make_map<O>(std::index_sequence_for<A...>{}, std::forward<A>(a)...);
}

// ---- evaluation ------------------------------------------------------------------------------------------------

/// One slot a statement's type. Hidden, so that a shared object that uses it can unload.
template <class... E>
struct [[gnu::visibility("hidden")]] slot_of {
    static inline constinit slot cache{};
};

/// Evaluates `e` into one output.
template <class T, class E>
void evaluate_into(const E& e, buffer_ref& memory, layout& where) {
    operand operands[E::operands];
    word attributes[E::binders + 1];
    cursor c{operands, attributes};
    e.gather(c);
    const output out{dtype_of<T>, &memory, &where};
    v1::evaluate(slot_of<T, E>::cache, E::program, operands, {attributes, static_cast<std::size_t>(E::binders)},
                 {&out, 1});
}

}  // namespace detail
}  // namespace ingot
