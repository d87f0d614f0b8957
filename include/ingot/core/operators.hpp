// The operator table as constexpr data, and the rules that give a node its dtypes. The templates, the lowerer and the
// tests all call `resolve`, so that a node's dtype is decided in one place.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include <ingot/core/dtype.hpp>

namespace ingot::detail {

/// The elementwise operators, one enumerator for each row of operators.def, and the casts, which have no body of their
/// own.
enum class op : std::uint16_t {
#define INGOT_OPERATOR(name, ...) name,
#include <ingot/core/operators.def>
    astype,
    bit_cast,
};

/// How the dtypes of a row's operands give its computation and result dtypes.
enum class rule : std::uint8_t {
    arithmetic,  // promoted, result the same
    widened,     // as arithmetic, with bool as i1, as in NumPy for shifts, powers and integer division
    division,    // promoted, integers to f8
    floating,    // promoted, bool and integers to a float that holds them
    comparison,  // promoted, result b1; i8 with u8 stays mixed and compares exactly
    logical,     // each operand's truth, result b1
    predicate,   // a test of floats: operand not converted, result b1
    selection,   // first operand's truth, the others promoted
    doubled,     // promoted, all but f8 to f8, complex ones to c16
    special,     // computed in f8, result the float that holds the operands: one body for both, f4 to half an ulp
    scaling,     // first operand a float as in `floating`, second an integer, computed in as i8
    counting,    // an integer not converted, bool as i1, result u1
    exponent,    // a float as in `floating`, result i4
    part,        // not callable: a part of a complex function, over the parts of its arguments
    words,       // not callable: over unsigned integers of 32 or 64 bits, promoted, result the same
};

/// The result of a row over complex dtypes.
enum class complex_result : std::uint8_t { none, same, real };
struct complex_row {
    op of;
    complex_result gives;
    float ulp;
};
inline constexpr complex_row complex_table[] = {
#define INGOT_COMPLEX(name, gives, ulp) {op::name, complex_result::gives, float(ulp)},
#include <ingot/core/operators.def>
};
constexpr complex_result complex_result_of(op o) {
    for (const complex_row& b : complex_table)
        if (b.of == o) return b.gives;
    return complex_result::none;
}
/// The bound on a row's error over complex numbers, in last places of the result's absolute value.
constexpr float complex_bound(op o) {
    for (const complex_row& b : complex_table)
        if (b.of == o) return b.ulp;
    return 0;
}

/// The facts of a row without the text of its bodies, which user programs need not parse (codegen/operator_bodies.hpp).
struct op_facts {
    std::string_view name;
    std::uint8_t arity;
    detail::rule rule;
    std::uint16_t cost;
    float ulp;
    bool of_booleans, of_integers, of_floats;  // whether there is a body
    complex_result complex;

    constexpr bool has(kind k) const {
        switch (k) {
            case kind::boolean:
                return of_booleans;
            case kind::integer:
                return of_integers;
            case kind::complex:
                return complex != complex_result::none;
            default:
                return of_floats;
        }
    }
};
constexpr bool is_body(const char* text) { return text[0] != 'n'; }  // not `none`

// The lengths are given, since a compiler counts the letters of a constant more slowly than it reads them.
inline constexpr op_facts op_table[] = {
#define INGOT_OPERATOR(name, arity, r, cost, ulp, b, i, f)                                                \
    {{#name, sizeof(#name) - 1}, arity, rule::r, cost, float(ulp), is_body(#b), is_body(#i), is_body(#f), \
     complex_result_of(op::name)},
#include <ingot/core/operators.def>
    {"astype", 1, rule::arithmetic, 0, 0, true, true, true, complex_result::same},
    {"bit_cast", 1, rule::part, 0, 0, true, true, true, complex_result::same},
};

constexpr const op_facts& facts(op o) { return op_table[static_cast<std::size_t>(o)]; }
/// Whether users can call the row by its name.
constexpr bool has_function(op o) { return facts(o).rule != rule::part && facts(o).rule != rule::words; }
inline constexpr std::size_t op_count = sizeof(op_table) / sizeof(op_table[0]);

/// The dtype that a row's body returns where it computes in `t`.
constexpr dtype body_result(rule r, dtype t) {
    switch (r) {
        case rule::comparison:
        case rule::logical:
        case rule::predicate:
            return dtype::b1;
        case rule::counting:
            return dtype::u1;
        case rule::exponent:
            return dtype::i4;
        default:
            return t;
    }
}

/// The dtypes of one application of a row: what each operand is cast to, and the result.
struct signature {
    bool legal = false;
    std::array<dtype, 3> computes{};
    dtype result = dtype::b1;
};

/// An operand for promotion: a dtype, or a weak scalar's kind with the dtype of its C++ type.
struct operand_type {
    dtype type;
    bool weak = false;
};

/// The float that an integer or bool becomes in a function such as exp.
constexpr dtype floating_of(dtype t) {
    if (kind_of(t) >= kind::floating) return t;
    return size_of(t) <= 2 ? dtype::f4 : dtype::f8;
}

/// Promotes the operands [first, n): strong ones by the table, then weak ones by kind; scalars alone by their C++
/// types.
constexpr dtype promote_operands(const operand_type* operands, int first, int n) {
    bool strong = false;
    dtype result = dtype::b1;
    for (int i = first; i < n; ++i)
        if (!operands[i].weak) {
            result = strong ? promote(result, operands[i].type) : operands[i].type;
            strong = true;
        }
    if (!strong) {  // C++'s own rules: float beats every integer, and stays a float
        result = operands[first].type;
        for (int i = first + 1; i < n; ++i) {
            const dtype other = operands[i].type;
            if (kind_of(other) == kind_of(result))
                result = promote(result, other);
            else if (kind_of(other) > kind_of(result))
                result = other;
        }
        return result;
    }
    for (int i = first; i < n; ++i)
        if (operands[i].weak) result = promote_weak(result, kind_of(operands[i].type));
    return result;
}

/// Promotion of operands that become floats: integers of several dtypes promote to the float that holds each of them,
/// so i2 and u2 to f4, although they promote to i4, which needs f8. Small ones stay the 16-bit floats to which they
/// promote.
constexpr dtype promote_floats(const operand_type* operands, int n) {
    if (const dtype common = promote_operands(operands, 0, n); is_half(common)) return common;
    std::array<operand_type, 3> floats{};
    bool strong = true;
    for (int i = 0; i < n; ++i) {
        floats[static_cast<std::size_t>(i)] = {floating_of(operands[i].type)};
        strong = strong && !operands[i].weak;
    }
    return promote_operands(strong ? floats.data() : operands, 0, n);
}

/// The dtypes in which `o` computes over these operands; not legal where the row has no body for them.
constexpr signature resolve(op o, const operand_type* operands) {
    const op_facts& row = facts(o);
    signature s;
    const int n = row.arity;
    const bool select = row.rule == rule::selection;
    dtype common = promote_operands(operands, select ? 1 : 0, n);
    const bool to_float =
        row.rule == rule::floating || row.rule == rule::special || row.rule == rule::exponent || row.rule == rule::part;
    if (row.rule == rule::scaling) common = floating_of(operands[0].type);
    if (to_float) common = floating_of(promote_floats(operands, n));
    if ((row.rule == rule::widened || row.rule == rule::counting) && common == dtype::b1) common = dtype::i1;
    if (row.rule == rule::doubled) common = kind_of(common) == kind::complex ? dtype::c16 : dtype::f8;
    if (row.rule == rule::division && kind_of(common) < kind::floating) common = dtype::f8;
    for (int i = 0; i < n; ++i) s.computes[static_cast<std::size_t>(i)] = common;
    s.result = common;
    kind body_kind = kind_of(common);
    switch (row.rule) {
        case rule::selection:
            s.computes[0] = dtype::b1;
            break;
        case rule::logical:
            for (int i = 0; i < n; ++i) s.computes[static_cast<std::size_t>(i)] = dtype::b1;
            s.result = dtype::b1;
            body_kind = kind::boolean;
            break;
        case rule::predicate:
            s.result = dtype::b1;
            break;
        case rule::comparison: {
            s.result = dtype::b1;
            if (n == 2 && kind_of(operands[0].type) == kind::integer && kind_of(operands[1].type) == kind::integer) {
                // A weak integer beside an integer array is i8 or u8, so that values out of range compare exactly; the
                // node narrows it to the array's dtype where it fits.
                const dtype a = operands[0].type, b = operands[1].type;
                if ((a == dtype::u8 && is_signed(b)) || (b == dtype::u8 && is_signed(a))) {
                    s.computes[0] = is_signed(a) ? dtype::i8 : dtype::u8;
                    s.computes[1] = is_signed(b) ? dtype::i8 : dtype::u8;
                    body_kind = kind::integer;
                }
            }
            break;
        }
        case rule::special:
            if (body_kind == kind::floating) s.computes = {dtype::f8, dtype::f8, dtype::f8};
            break;
        case rule::scaling:
            s.computes[1] = dtype::i8;
            break;
        case rule::counting:
            s.result = dtype::u1;
            break;
        case rule::exponent:
            s.result = dtype::i4;
            break;
        default:
            break;
    }
    s.legal = row.has(body_kind);
    // An unsigned 64-bit number cannot be an exponent's shift, unless it is a literal, whose value is checked.
    if (row.rule == rule::scaling &&
        (kind_of(operands[1].type) > kind::integer || (operands[1].type == dtype::u8 && !operands[1].weak)))
        s.legal = false;
    if (row.rule == rule::words) s.legal = common == dtype::u4 || common == dtype::u8;
    if (body_kind == kind::complex && row.complex == complex_result::real) s.result = part_of(common);
    if (o == op::complex_of && s.legal) {
        s.computes = {computed_in(common), computed_in(common)};
        s.result = common == dtype::f8 ? dtype::c16 : dtype::c8;
    }
    // A 16-bit float's next number is not that of float32, in which it would be computed.
    if ((o == op::nextafter || o == op::spacing) && is_half(common)) s.legal = false;
    return s;
}

}  // namespace ingot::detail
