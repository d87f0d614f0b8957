// Expressions are the results of operators. A node holds its operands by value, and a tree over leaves alone is one
// list of them (leaves.hpp); so `auto e = x + y;` never dangles and keeps the meaning it was written with. Building one
// launches nothing; it checks shapes, dtypes and devices, and throws in the user's statement.
//
// Every node has
//   value_type, type        element type and dtype
//   program                 its postfix words (program.hpp), constexpr
//   operands, binders       numbers of operands and attribute words that it gathers
//   gather(cursor)          writes them, in program order
//   extents(room)           its shape; `room` is used only where the node does not hold it
//   apply(view, bound)      composes a view of its result onto every layout beneath it
//   try_reshape(...)        reshapes every layout beneath it, or returns false with some of them reshaped already
//   on_device()             the device of its leaves; none where all are scalars
//   count(buffer)           number of references to the buffer in the tree
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include <ingot/core/buffer.hpp>
#include <ingot/core/door.hpp>
#include <ingot/core/dtype.hpp>
#include <ingot/core/error.hpp>
#include <ingot/core/export.hpp>
#include <ingot/core/layout.hpp>
#include <ingot/core/leaves.hpp>
#include <ingot/core/members.hpp>
#include <ingot/core/program.hpp>
#include <ingot/core/shape.hpp>

namespace ingot {

template <class T>
class array;
template <class T>
class lazy;

/// An array or a tree over arrays.
template <class E>
concept array_expression =
    std::is_convertible_v<std::remove_cvref_t<E>*, const detail::expression_base*>;  // E may be incomplete

/// A C++ number. Beside an array only its kind counts for the dtype.
template <class S>
concept weak_scalar = std::is_arithmetic_v<std::remove_cvref_t<S>> || detail::half_float<std::remove_cvref_t<S>> ||
                      detail::complex_number<std::remove_cvref_t<S>> ||
                      (std::is_enum_v<std::remove_cvref_t<S>> && std::is_convertible_v<S, long long>);

/// An operand of an operator: an expression or a number.
template <class A>
concept operand_like = array_expression<A> || weak_scalar<A>;

namespace detail {

/// Broadcasts n shapes. Returns the index of a shape that equals the result, or -1 with the result in `room`. Throws
/// shape_error naming `operation` and all shapes.
INGOT_API int broadcast_shapes(const char* operation, const extents_ref* shapes, int n, shape_room& room, int& rank);
[[noreturn]] INGOT_API void throw_two_devices(const char* operation, device_id a, device_id b);
[[noreturn]] INGOT_API void throw_does_not_fit(const char* operation, long long value, bool is_unsigned, dtype type);

template <class E>
constexpr operand_type operand_type_of() {
    if constexpr (array_expression<E>)
        return {std::remove_cvref_t<E>::type, false};
    else
        return {weak_dtype<std::remove_cvref_t<E>>(), true};
}

/// The signature of one row of the operator table, for all operand types with these dtypes.
template <op O, operand_type... T>
inline constexpr signature signature_for = [] {
    constexpr operand_type types[] = {T...};
    return resolve(O, types);
}();
template <op O, class... A>
constexpr const signature& signature_of() {
    return signature_for<O, operand_type_of<A>()...>;
}

// ---- elementwise nodes -----------------------------------------------------------------------------------------

template <std::size_t... N>
constexpr auto join_words(const std::array<word, N>&... parts) {
    std::array<word, (N + ... + 0)> all{};
    word* to = all.data();
    const auto append = [&to](const word* from, std::size_t n) {
        for (const word* end = from + n; from != end; ++from) *to++ = *from;
    };
    (append(parts.data(), N), ...);
    return all;
}

/// A node that is a plain list of leaves.
template <class N>
concept flat_node = requires { requires N::flat; };
template <class N>
inline constexpr int leaves_of = 0;
template <flat_node N>
inline constexpr int leaves_of<N> = N::leaves;

/// A placeholder for an operand whose leaves are in the node's list.
struct listed {};
template <class N>
using held = std::conditional_t<flat_node<N>, listed, N>;
template <class N, class A>
decltype(auto) hold(A&& a) {
    if constexpr (flat_node<N>)
        return listed{};
    else
        return std::forward<A>(a);
}

/// A node's operands by value: a tuple with only these functions, which compiles in a tenth of std::tuple's time.
template <std::size_t I, class T>
struct held_operand {
    [[no_unique_address]] T value;
};
template <class Indices, class... T>
struct held_operands;
template <std::size_t... I, class... T>
struct held_operands<std::index_sequence<I...>, T...> : held_operand<I, T>... {
    template <class... A>
    explicit held_operands(std::in_place_t, A&&... a) : held_operand<I, T>{std::forward<A>(a)}... {}

    template <class F>
    void visit(const F& f) {
        f(held_operand<I, T>::value...);
    }
    template <class F>
    void visit(const F& f) const {
        f(held_operand<I, T>::value...);
    }
};

/// Pseudo-rows of the operator table for the functions of a user's text.
constexpr op user_op(int output) { return static_cast<op>(0x8000 + output); }
constexpr op user_op(user_part p) { return user_op(static_cast<int>(p)); }
constexpr bool is_user_op(op o) { return static_cast<int>(o) >= 0x8000; }
constexpr const char* operation_of(op o) { return is_user_op(o) ? "kernel" : facts(o).name.data(); }
constexpr word map_word(op o, dtype result, std::size_t arity) {
    if (!is_user_op(o)) return make_word(word_kind::map, result, static_cast<std::uint32_t>(o));
    const auto which = static_cast<std::uint32_t>(o) - 0x8000u;
    return make_word(word_kind::user, result, static_cast<std::uint32_t>(arity) | which << 8);
}

/// An elementwise operator over its operands. R: dtype of the result. The leaves of flat operands are in the node's
/// list; where all operands are flat, the node is flat too. Other operands (binders, random numbers, lazies) are held
/// whole.
template <op O, dtype R, class... Args>
class map : public expression_members<map<O, R, Args...>> {
public:
    using value_type = type_of<R>;
    static constexpr dtype type = R;
    static constexpr word code = map_word(O, R, sizeof...(Args));
    static constexpr auto program = join_words(Args::program..., std::array<word, 1>{code});
    static constexpr int operands = (Args::operands + ...), binders = (Args::binders + ...);
    static constexpr int nodes = (Args::nodes + ... + 1);
    static constexpr bool flat = (flat_node<Args> && ...);
    static constexpr int leaves = (leaves_of<Args> + ...);

    struct made {  // a variadic constructor would hijack copying
        const char* operation = operation_of(O);
    };
    template <class... A>
        requires flat
    explicit map(made m, A&&... a) {
        if constexpr (requires { leaves_.join(m.operation, std::forward<A>(a).kept()...); }) {
            leaves_.join(m.operation, std::forward<A>(a).kept()...);
        } else {
            const leaf_part parts[] = {std::forward<A>(a).part()...};
            leaves_.join(m.operation, parts, sizeof...(Args));
        }
    }
    template <class... A>
        requires(!flat)
    explicit map(made m, A&&... a) : others_(std::in_place, hold<Args>(std::forward<A>(a))...) {
        others_.visit([&](const auto&... other) {
            shape_room rooms[sizeof...(Args)];
            other_operand facts_of[sizeof...(Args)];
            int i = 0;
            const auto part = [&]<class T, class N>(T&& operand, const N& other_node) -> leaf_part {
                const int k = i++;
                if constexpr (std::is_same_v<N, listed>) {
                    return std::forward<T>(operand).part();
                } else {
                    facts_of[k] = {other_node.on_device(), other_node.extents(rooms[k])};
                    return {.other = &facts_of[k]};
                }
            };
            const leaf_part parts[] = {part(std::forward<A>(a), other)...};
            leaves_.join(m.operation, parts, sizeof...(Args));
        });
    }
    map(const map&) = default;
    map(map&&) noexcept = default;
    map& operator=(const map&) = delete;  // else exp(x) = exp(y) would overwrite a temporary
    INGOT_REJECTED("an expression is not written; x(0) = 3 is, of an array x", (class E),
                   (!std::same_as<std::remove_cvref_t<E>, map>), void operator=(E&&) const)

    void gather(cursor& c) const {
        if (leaves_.count() != leaves) throw_tree_moved_from();
        for_each([&](const auto& part) { part.gather(c); });
    }
    /// All leaves, in program order.
    leaf_block& list() const
        requires flat
    {
        if (leaves_.count() != leaves) throw_tree_moved_from();
        return leaves_.block();
    }
    extents_ref extents(shape_room& room) const {
        if (const leaf_record* one = leaves_.holder()) return one->extents();
        if constexpr (flat) {
            return whole().extents(room);
        } else {
            shape_room rooms[sizeof...(Args)];
            extents_ref shapes[sizeof...(Args)];
            int n = 0, rank = 0;
            for_each([&](const auto& part) { shapes[n] = part.extents(rooms[n]), ++n; });
            const int source = broadcast_shapes(operation_of(O), shapes, n, room, rank);
            if (source >= 0) {
                rank = shapes[source].rank;
                for (int j = 0; j < rank; ++j) room[j] = shapes[source].data[j];
            }
            return {room, rank};
        }
    }
    void apply(const axis_view& v, int bound) {
        for_each([&](auto& part) { part.apply(v, bound); });
        leaves_.measure();
    }
    bool try_reshape(std::span<const index_t> shape, int bound) {
        bool possible = true;
        for_each([&](auto& part) { possible = possible && part.try_reshape(shape, bound); });
        leaves_.measure();
        return possible;
    }
    device_id on_device() const noexcept {
        device_id device = no_device;
        for_each([&](const auto& part) { meet(device, part.on_device()); });
        return device;
    }
    std::uint32_t count(const buffer* b) const noexcept {
        std::uint32_t references = 0;
        for_each([&](const auto& part) { references += part.count(b); });
        return references;
    }
    leaf_list&& kept() && noexcept
        requires flat
    {
        return std::move(leaves_);
    }
    leaf_part part() const& noexcept { return leaves_.part(); }
    leaf_part part() && noexcept { return std::move(leaves_).part(); }

private:
    struct nothing {};
    using others = typename std::conditional_t<
        flat, std::type_identity<nothing>,
        std::type_identity<held_operands<std::index_sequence_for<Args...>, held<Args>...>>>::type;

    leaf_span whole() const noexcept { return leaf_span(leaves_.block()); }

    /// Calls f for every operand in order: with a listed operand's leaves, or with the node itself. Where all are
    /// listed, one call has all leaves.
    template <class F>
    void for_each(const F& f) const {
        walk(*this, f);
    }
    template <class F>
    void for_each(const F& f) {
        walk(*this, f);
    }
    template <class Self, class F>
    static void walk(Self& self, const F& f) {
        if constexpr (flat) {
            leaf_span all = self.whole();
            f(all);
        } else {
            int at = 0;
            const auto visit = [&]<class N>(N& other, int n) {
                if constexpr (std::is_same_v<std::remove_const_t<N>, listed>) {
                    leaf_span own(self.leaves_.block(), at, n);
                    f(own);
                } else {
                    f(other);
                }
                at += n;
            };
            self.others_.visit([&](auto&... other) { (visit(other, leaves_of<Args>), ...); });
        }
    }

    leaf_list leaves_;
    [[no_unique_address]] others others_;
};

// ---- operands of a node ----------------------------------------------------------------------------------------

/// The operand that a node stores for an expression: the node itself, or the leaf of an array or selection.
template <class E>
decltype(auto) as_node(E&& e) {
    if constexpr (requires { std::forward<E>(e).as_leaf(); })
        return std::forward<E>(e).as_leaf();
    else
        return std::forward<E>(e);
}

/// The leaf of a weak scalar as operand number I of row O, where the row computes in `d`.
template <op O, std::size_t I, class S>
weak_leaf as_scalar_operand(S scalar, dtype d) {
    const auto value = plain_number(scalar);
    using number = std::remove_const_t<decltype(value)>;
    exponent_class exponent = exponent_class::none;
    if constexpr (O == op::power && I == 1) exponent = exponent_class_of(value, d);
    if constexpr (std::is_integral_v<number> && !std::is_same_v<number, bool>)
        if (!fits(value, d)) {
            if constexpr (facts(O).rule != rule::comparison)
                throw_does_not_fit(facts(O).name.data(), static_cast<long long>(value), std::is_unsigned_v<number>, d);
            d = fits(value, dtype::i8) ? dtype::i8 : dtype::u8;  // out of range for the operand; compares exactly
        }
    return weak_leaf(scalar_words(value, d), d, exponent);
}

/// The operand that a node stores for argument number I of an application with signature `s`.
template <op O, std::size_t I, class A>
decltype(auto) as_argument(A&& a, const signature& s) {
    if constexpr (array_expression<A>)
        return as_node(std::forward<A>(a));
    else
        return as_scalar_operand<O, I>(static_cast<std::remove_cvref_t<A>>(a), s.computes[I]);
}

template <op O, class... A>
concept applicable = (operand_like<A> && ...) && (array_expression<A> || ...) && signature_of<O, A...>().legal;

/// A tree of more nodes than this becomes a lazy.
inline constexpr int static_nodes = 64;

/// The node that applies O to arguments that are nodes.
template <op O, dtype R, class... N>
auto make_node(const char* operation, N&&... arguments) {
    using result = map<O, R, std::remove_cvref_t<N>...>;
    if constexpr (result::nodes > static_nodes)
        return lazy<typename result::value_type>::template applied<result>(arguments...);
    else
        return result(typename result::made{operation}, std::forward<N>(arguments)...);
}

template <op O, std::size_t... I, class... A>
auto make_map(std::index_sequence<I...>, A&&... a) {
    constexpr const signature& s = signature_of<O, A...>();
    return make_node<O, s.result>(operation_of(O), as_argument<O, I>(std::forward<A>(a), s)...);
}

/// Applies row O of the operator table.
template <op O, class... A>
    requires applicable<O, A...>
auto apply_operator(A&&... a) {
    return make_map<O>(std::index_sequence_for<A...>{}, std::forward<A>(a)...);
}

// ---- evaluation ------------------------------------------------------------------------------------------------

/// One cache slot for each type of statement. It is hidden, so that a shared object that uses it can unload.
template <class... E>
struct [[gnu::visibility("hidden")]] slot_of {
    static inline constinit slot cache{};
};

/// The gathered trees of one statement, without outputs yet.
template <class... N>
class gathered_trees {
public:
    explicit gathered_trees(const N&... nodes) : devices_{device_of(nodes)...} {
        cursor c{operands_, attributes_};
        std::size_t i = 0;
        ((nodes.gather(c), shapes_[i] = nodes.extents(rooms_[i]), ++i), ...);
    }
    gathered_trees(const gathered_trees&) = delete;
    gathered_trees& operator=(const gathered_trees&) = delete;

    joint_outputs with(std::span<const output> outputs) const noexcept {
        bool alike = true;
        for (std::size_t k = 1; k < sizeof...(N); ++k)
            alike = alike && same_extents(shapes_[0], shapes_[k]) && devices_[0] == devices_[k];
        joint_outputs s{program, operands_, {attributes_, static_cast<std::size_t>((N::binders + ...))},
                        outputs, {},        devices_};
        if (!alike) s.shapes = shapes_;
        return s;
    }

private:
    static constexpr auto program = join_words(N::program...);
    operand operands_[(N::operands + ...)];
    word attributes_[(N::binders + ... + 1)];
    shape_room rooms_[sizeof...(N)];
    extents_ref shapes_[sizeof...(N)];
    device_id devices_[sizeof...(N)];
};

/// Evaluates `e` into one output.
template <class T, class E>
void evaluate_into(const E& e, buffer_ref& memory, layout& where) {
    const output out{dtype_of<T>, &memory, &where};
    if constexpr (requires { e.list(); }) {
        v1::evaluate_leaves(slot_of<T, E>::cache, E::program, e.list(), out);
    } else {
        operand operands[E::operands];
        word attributes[E::binders + 1];
        cursor c{operands, attributes};
        e.gather(c);
        v1::evaluate(slot_of<T, E>::cache, E::program, operands, {attributes, static_cast<std::size_t>(E::binders)},
                     {&out, 1});
    }
}

}  // namespace detail
}  // namespace ingot
