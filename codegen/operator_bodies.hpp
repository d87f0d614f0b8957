// The operator table's texts: the bodies of its rows, what replaces them on a target, the routines and functions that
// they call, and the further names of rows. A user's program reads none of it (ingot/core/operators.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <ingot/core/dtype.hpp>
#include <ingot/core/operators.hpp>

namespace ingot::detail {

/// A row's bodies by kind; `none` where there is none.
struct row_bodies {
    std::string_view boolean, integer, floating;

    /// The body for a kind that is not complex.
    constexpr std::string_view of(kind k) const {
        return k == kind::boolean ? boolean : k == kind::integer ? integer : floating;
    }
};
inline constexpr row_bodies body_table[] = {
#define INGOT_OPERATOR(name, arity, r, cost, ulp, b, i, f) {#b, #i, #f},
#include <ingot/core/operators.def>
    {"return a;", "return a;", "return a;"},
    {"return a;", "return a;", "return a;"},
};
constexpr const row_bodies& bodies_of(op o) { return body_table[static_cast<std::size_t>(o)]; }
static_assert([] {
    for (std::size_t i = 0; i < op_count; ++i)
        for (const kind k : {kind::boolean, kind::integer, kind::floating})
            if (op_table[i].has(k) != (body_table[i].of(k) != "none")) return false;
    return true;
}());

/// Other names of rows.
struct alias_facts {
    std::string_view name;
    op of;
};
inline constexpr alias_facts alias_table[] = {
#define INGOT_ALIAS(alias, name) {#alias, op::name},
#include <ingot/core/operators.def>
};

/// The reasons of bounds above 4 last places.
struct wide_bound_facts {
    op of;
    std::string_view reason;
};
inline constexpr wide_bound_facts wide_bound_table[] = {
#define INGOT_WIDE_BOUND(name, reason) {op::name, reason},
#include <ingot/core/operators.def>
};

/// The functions that bodies may call, overloaded for float and double.
struct function_facts {
    std::string_view name;
    std::uint8_t arity;
};
inline constexpr function_facts function_table[] = {
#define INGOT_FUNCTION(name, arity) {#name, arity},
#include <ingot/core/operators.def>
};

/// The table's own functions that several bodies call.
struct routine_facts {
    std::string_view name;
    std::uint8_t arity;
    std::string_view body;
};
inline constexpr routine_facts routine_table[] = {
#define INGOT_ROUTINE(name, arity, body) {#name, arity, #body},
#include <ingot/core/operators.def>
};

/// The evaluators of a body: `host` and `cuda` are numbered as the targets of a key.
enum class evaluator : std::uint8_t { host, cuda, interpreter };

/// A body of its own for one dtype, everywhere or on one target.
struct spelling_facts {
    enum class reach : std::uint8_t { host, cuda, all };
    op of;
    reach where;
    dtype type;
    float ulp;
    std::string_view body;
};
inline constexpr spelling_facts spelling_table[] = {
#define INGOT_SPELLING(name, where, type, ulp, body) \
    {op::name, spelling_facts::reach::where, dtype::type, float(ulp), #body},
#include <ingot/core/operators.def>
};

/// Comparisons of an i8 with a u8, whose operands differ in type.
struct mixed_facts {
    op of;
    std::string_view body;
};
inline constexpr mixed_facts mixed_table[] = {
#define INGOT_MIXED(name, body) {op::name, #body},
#include <ingot/core/operators.def>
};

/// The text that `where` prints for row `o` over operands of these dtypes, with the bound on its error.
struct body_text {
    std::string_view text;
    float ulp = 0;
};
constexpr body_text body_of(op o, evaluator where, dtype first, dtype second) {
    if (first != second && facts(o).rule == rule::comparison)
        for (const mixed_facts& m : mixed_table)
            if (m.of == o) return {m.body, 0};
    // For complex numbers bodies only take the parts.
    if (kind_of(first) == kind::complex) return {o == op::imag ? "return imag(a);" : "return real(a);", 0};
    for (const spelling_facts& s : spelling_table)
        if (s.of == o && s.type == first &&
            (s.where == spelling_facts::reach::all || static_cast<int>(s.where) == static_cast<int>(where)))
            return {s.body, s.ulp};
    float ulp = kind_of(first) == kind::floating ? facts(o).ulp : 0.0f;
    if (facts(o).rule == rule::special && first == dtype::f4) ulp = 1;  // rounded from float64
    return {bodies_of(o).of(kind_of(first)), ulp};
}
constexpr body_text body_of(op o, evaluator where, dtype type) { return body_of(o, where, type, type); }

}  // namespace ingot::detail
