// Nodes are rebuilt in order, each over its new arguments: a real node, or the two parts of a complex one.
#include "codegen/graph/complex_parts.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <ingot/core/error.hpp>
#include <ingot/core/folds.hpp>

#include "codegen/graph/builder.hpp"

namespace ingot::codegen {

using namespace detail;

namespace {

bool is_complex(dtype t) { return kind_of(t) == kind::complex; }

/// A value: both parts of a complex one, else the first alone.
struct value {
    node_id re, im = no_node;
};

class splitting : graph_builder {
public:
    explicit splitting(graph& g) : from_(g) {}

    void run() {
        graph_.loop_axis = from_.loop_axis;
        graph_.texts = from_.texts;
        for (const node& n : from_.nodes) became_.push_back(rebuild(n));
        for (const node_id r : from_.roots) graph_.roots.push_back(whole(became_[r]));
        drop_unused(graph_);
        from_ = std::move(graph_);
    }

private:
    // ---- real arithmetic; both arguments of one dtype

    node_id apply(op o, node_id a) { return map(o, at(a).type, {a}); }
    node_id apply(op o, node_id a, node_id b) { return map(o, at(a).type, {a, b}); }
    node_id predicate(op o, node_id a, node_id b) { return map(o, dtype::b1, {a, b}); }
    node_id plus(node_id a, node_id b) { return apply(op::add, a, b); }
    node_id minus(node_id a, node_id b) { return apply(op::subtract, a, b); }
    node_id times(node_id a, node_id b) { return apply(op::multiply, a, b); }
    node_id over(node_id a, node_id b) { return apply(op::divide, a, b); }
    node_id negated(node_id a) { return apply(op::negative, a); }
    node_id number(double x, node_id like) { return constant(at(like).type, x); }
    node_id choose(node_id c, node_id a, node_id b) { return map(op::where, at(a).type, {c, a, b}); }
    node_id both(node_id a, node_id b) { return predicate(op::logical_and, a, b); }
    node_id either(node_id a, node_id b) { return predicate(op::logical_or, a, b); }
    node_id zero(node_id a) { return predicate(op::equal, a, number(0, a)); }
    node_id is_zero(value z) { return both(zero(z.re), zero(z.im)); }

    // ---- complex arithmetic

    value plus(value a, value b) { return {plus(a.re, b.re), plus(a.im, b.im)}; }
    value minus(value a, value b) { return {minus(a.re, b.re), minus(a.im, b.im)}; }
    value negated(value z) { return {negated(z.re), negated(z.im)}; }
    value conjugate(value z) { return {z.re, negated(z.im)}; }
    value times(value a, value b) {
        return {minus(times(a.re, b.re), times(a.im, b.im)), plus(times(a.re, b.im), times(a.im, b.re))};
    }
    value times(value z, node_id x) { return {times(z.re, x), times(z.im, x)}; }
    value choose(node_id c, value a, value b) { return {choose(c, a.re, b.re), choose(c, a.im, b.im)}; }
    value constant_like(double re, value z) { return {number(re, z.re), number(0, z.re)}; }
    /// Division scaled by the larger part (Smith, 1962), for squares would leave the range; by 0, by the absolute
    /// value.
    value over(value a, value b) {
        const node_id positive = absolute(b.re);
        const node_id by_re = predicate(op::greater_equal, positive, absolute(b.im));
        const node_id large = choose(by_re, b.re, b.im), small = choose(by_re, b.im, b.re);
        const node_id of_zero = zero(large), ratio = over(small, large);
        const node_id scale = choose(of_zero, positive, plus(large, times(small, ratio)));
        const node_id p = choose(by_re, a.re, a.im), q = choose(by_re, a.im, a.re);
        const node_id crossed = times(p, ratio);
        const value scaled{plus(p, times(q, ratio)), choose(by_re, minus(q, crossed), minus(crossed, q))};
        const value dividend = choose(of_zero, a, scaled);
        return {over(dividend.re, scale), over(dividend.im, scale)};
    }
    /// 1 / z by the same scheme. Both parts of 1 / 0 are NaN, as in NumPy.
    value reciprocal(value z) {
        const node_id by_re = predicate(op::less_equal, absolute(z.im), absolute(z.re));
        const node_id large = choose(by_re, z.re, z.im), small = choose(by_re, z.im, z.re);
        const node_id ratio = over(small, large), scale = plus(large, times(small, ratio));
        const node_id whole = over(number(1, z.re), scale), part = over(ratio, scale);
        return {choose(by_re, whole, part), negated(choose(by_re, part, whole))};
    }
    /// A function whose two parts are rows over z's parts.
    value parts(op re, op im, value z) { return {apply(re, z.re, z.im), apply(im, z.re, z.im)}; }
    value exponential(value z) { return parts(op::exp_re, op::exp_im, z); }
    value root(value z) { return parts(op::sqrt_re, op::sqrt_im, z); }
    value logarithm(value z) { return {apply(op::log_re, z.re, z.im), apply(op::arctan2, z.im, z.re)}; }
    value times_i(value z) { return {negated(z.im), z.re}; }
    value over_i(value z) { return {z.im, negated(z.re)}; }

    // A zero's sign tells on which side of a cut z is, so 1 - z has the opposite sign.
    value one_less(value z) { return {minus(number(1, z.re), z.re), negated(z.im)}; }
    value one_more(value z) { return {plus(z.re, number(1, z.re)), z.im}; }

    node_id infinite(value z) { return either(map(op::isinf, dtype::b1, {z.re}), map(op::isinf, dtype::b1, {z.im})); }
    node_id absolute(node_id x) { return apply(op::absolute, x); }

    // Kahan's formulas (Branch cuts for complex elementary functions, 1987), with C's values for infinities and for a
    // zero beside a NaN.
    value arc_sine(value z) {
        const value below = root(one_less(z)), above = root(one_more(z));
        const node_id product = minus(times(below.re, above.re), times(below.im, above.im));
        const value finite{choose(zero(z.re), z.re, apply(op::arctan2, z.re, product)),
                           apply(op::arcsinh, minus(times(below.re, above.im), times(below.im, above.re)))};
        const node_id infinity = apply(op::hypot, z.re, z.im);
        return choose(infinite(z), {apply(op::arctan2, z.re, absolute(z.im)), apply(op::copysign, infinity, z.im)},
                      finite);
    }
    value arc_cosine(value z) {
        const value below = root(one_less(z)), above = root(one_more(z));
        const node_id turned = times(number(2, z.re), apply(op::arctan2, below.re, above.re));
        const value finite{choose(zero(z.re), number(1.5707963267948966, z.re), turned),
                           apply(op::arcsinh, minus(times(above.re, below.im), times(above.im, below.re)))};
        const node_id infinity = apply(op::hypot, z.re, z.im);
        return choose(infinite(z),
                      {apply(op::arctan2, absolute(z.im), z.re), apply(op::copysign, infinity, negated(z.im))}, finite);
    }
    value hyperbolic_arc_cosine(value z) {
        const value below = root({minus(z.re, number(1, z.re)), z.im}), above = root(one_more(z));
        const value finite{apply(op::arcsinh, plus(times(below.re, above.re), times(below.im, above.im))),
                           times(number(2, z.re), apply(op::arctan2, below.im, above.re))};
        return choose(infinite(z), {apply(op::hypot, z.re, z.im), apply(op::arctan2, z.im, z.re)}, finite);
    }
    value hyperbolic_arc_tangent(value z) {
        const node_id quarter_turn = apply(op::copysign, number(1.5707963267948966, z.re), z.im);
        const value limit{apply(op::copysign, number(0, z.re), z.re),
                          choose(map(op::isnan, dtype::b1, {z.im}), z.im, quarter_turn)};
        return choose(infinite(z), limit, finite_hyperbolic_arc_tangent(z));
    }
    value finite_hyperbolic_arc_tangent(value z) {
        const node_id size = apply(op::absolute, z.re);  // the function is odd, and loses digits for negative arguments
        const node_id one = number(1, z.re), left = minus(one, size), right = plus(one, size);
        const node_id square = times(z.im, z.im), quarter = number(0.25, z.re), half = number(0.5, z.re);
        const node_id grown = over(times(number(4, z.re), size), plus(times(left, left), square));
        const node_id length = apply(op::copysign, times(quarter, apply(op::log1p, grown)), z.re);
        return {choose(zero(z.re), z.re, length),
                times(half, apply(op::arctan2, plus(z.im, z.im), minus(times(left, right), square)))};
    }
    /// Whole exponents below 100 are computed by multiplication, as in NumPy.
    value power(value z, value w) {
        const dtype part = at(z.re).type;
        const value general = exponential(times(w, logarithm(z)));
        const value by_squares{map(op::whole_power_re, part, {z.re, z.im, w.re}),
                               map(op::whole_power_im, part, {z.re, z.im, w.re})};
        const value none = constant_like(0, z), one = constant_like(1, z);
        const node_id whole =
            both(predicate(op::equal, w.re, apply(op::rint, w.re)), predicate(op::equal, w.im, none.re));
        const node_id small = predicate(op::less, apply(op::absolute, w.re), number(100, z.re));
        const node_id nan = over(none.re, none.re);
        const value of_zero = choose(predicate(op::greater, w.re, none.re), none, value{nan, nan});
        const value other = choose(both(whole, small), by_squares, general);
        return choose(is_zero(w), one, choose(is_zero(z), of_zero, other));
    }

    node_id is_nan(value z) { return either(map(op::isnan, dtype::b1, {z.re}), map(op::isnan, dtype::b1, {z.im})); }
    /// The greater in lexicographic order, or the less; NaN where one is NaN, if NaN wins, else where both are.
    value extreme(op beyond, op not_within, bool nan_wins, value a, value b) {
        const node_id by_re = both(predicate(beyond, a.re, b.re),
                                   map(op::logical_not, dtype::b1,
                                       {either(map(op::isnan, dtype::b1, {a.im}), map(op::isnan, dtype::b1, {b.im}))}));
        const node_id by_im = both(predicate(op::equal, a.re, b.re), predicate(not_within, a.im, b.im));
        return choose(either(either(by_re, by_im), is_nan(nan_wins ? a : b)), a, b);
    }

    value apply_row(op o, const value* v) {
        const value z = v[0];
        switch (o) {
            case op::add:
                return plus(z, v[1]);
            case op::subtract:
                return minus(z, v[1]);
            case op::multiply:
                return times(z, v[1]);
            case op::square:
                return times(z, z);
            case op::divide:
                return over(z, v[1]);
            case op::reciprocal:
                return reciprocal(z);
            case op::negative:
                return negated(z);
            case op::positive:
                return z;
            case op::conjugate:
                return conjugate(z);
            case op::rint:
                return {apply(o, z.re), apply(o, z.im)};
            case op::where:
                return choose(z.re, v[1], v[2]);
            case op::equal:
                return {both(predicate(o, z.re, v[1].re), predicate(o, z.im, v[1].im))};
            case op::not_equal:
                return {either(predicate(o, z.re, v[1].re), predicate(o, z.im, v[1].im))};
            case op::maximum:
            case op::fmax:
                return extreme(op::greater, op::greater_equal, o == op::maximum, z, v[1]);
            case op::minimum:
            case op::fmin:
                return extreme(op::less, op::less_equal, o == op::minimum, z, v[1]);
            case op::absolute:
                return {apply(op::hypot, z.re, z.im)};
            case op::complex_of:
                return {z.re, v[1].re};
            case op::real:
                return {z.re};
            case op::imag:
                return {z.im};
            case op::angle:
                return {apply(op::arctan2, z.im, z.re)};
            case op::isnan:
            case op::isinf:
                return {either(map(o, dtype::b1, {z.re}), map(o, dtype::b1, {z.im}))};
            case op::isfinite:
                return {both(map(o, dtype::b1, {z.re}), map(o, dtype::b1, {z.im}))};
            case op::sign:
                return {apply(op::direction, z.re, z.im), apply(op::direction, z.im, z.re)};
            case op::exp:
                return exponential(z);
            case op::exp2:
                return parts(op::exp2_re, op::exp2_im, z);
            case op::expm1:
                return parts(op::expm1_re, op::exp_im, z);
            case op::log:
                return logarithm(z);
            case op::log2:
                return times(logarithm(z), number(1.4426950408889634, z.re));
            case op::log10:
                return times(logarithm(z), number(0.4342944819032518, z.re));
            case op::log1p:
                return {apply(op::log1p_re, z.re, z.im), apply(op::arctan2, z.im, plus(z.re, number(1, z.re)))};
            case op::sqrt:
                return root(z);
            case op::sinh:
                return parts(op::sinh_re, op::sinh_im, z);
            case op::cosh:
                return parts(op::cosh_re, op::cosh_im, z);
            case op::tanh:
                return parts(op::tanh_re, op::tanh_im, z);
            case op::sin:  // -i sinh(iz), with sinh's symmetries
                return {apply(op::sinh_im, z.im, z.re), apply(op::sinh_re, z.im, z.re)};
            case op::cos:
                return {apply(op::cosh_re, z.im, z.re), negated(apply(op::cosh_im, z.im, z.re))};
            case op::tan:
                return {apply(op::tanh_im, z.im, z.re), apply(op::tanh_re, z.im, z.re)};
            case op::arcsin:
                return arc_sine(z);
            case op::arccos:
                return arc_cosine(z);
            case op::arctan:
                return over_i(hyperbolic_arc_tangent(times_i(z)));
            case op::arcsinh:
                return over_i(arc_sine(times_i(z)));
            case op::arccosh:
                return hyperbolic_arc_cosine(z);
            case op::arctanh:
                return hyperbolic_arc_tangent(z);
            case op::power:
            case op::float_power:
                return power(z, v[1]);
            default:
                throw dtype_error("[" + std::string(facts(o).name) + "] takes no complex numbers");
        }
    }

    // ---- nodes

    /// The parts of a complex node that exists as one: an operand, or a library's result.
    value parts_of_node(node_id whole) {
        const dtype part = part_of(at(whole).type);
        return {map(op::real, part, {whole}), map(op::imag, part, {whole})};
    }
    node_id whole(value z) {
        if (z.im == no_node) return z.re;
        const node &re = at(z.re), &im = at(z.im);
        const auto is_part = [](const node& n, op o) {
            return n.kind == node_kind::map && static_cast<op>(n.code) == o;
        };
        if (is_part(re, op::real) && is_part(im, op::imag) && re.arguments[0] == im.arguments[0] &&
            is_complex(at(re.arguments[0]).type))
            return re.arguments[0];
        return map(op::complex_of, at(z.re).type == dtype::f4 ? dtype::c8 : dtype::c16, {z.re, z.im});
    }
    node_id truth(value z) {
        const node_id zero = number(0, z.re);
        return either(predicate(op::not_equal, z.re, zero), predicate(op::not_equal, z.im, zero));
    }

    value cast_value(value z, dtype to) {
        if (z.im == no_node && !is_complex(to)) return {cast(z.re, to)};
        if (!is_complex(to)) {
            if (to == dtype::b1) return {truth(z)};
            throw dtype_error("[astype] makes no " + std::string(name(to)) + " of complex numbers: real(x) does");
        }
        const dtype part = part_of(to);
        return {cast(z.re, part), z.im == no_node ? constant(part, 0) : cast(z.im, part)};
    }

    /// Makes the node twice, over each part of its first argument.
    value of_each_part(const node& given, value z) {
        node n = given;
        n.type = part_of(given.type);
        const auto made = [&](node_id part) {
            n.arguments[0] = part;
            return intern(n);
        };
        return {made(z.re), made(z.im)};
    }

    value rebuild(const node& given) {
        node n = given;
        value v[most_arguments];
        bool complex = is_complex(given.type);
        for (int a = 0; a < given.arity; ++a) {
            v[a] = became_[given.arguments[a]];
            n.arguments[a] = v[a].re;
            complex = complex || v[a].im != no_node;
        }
        if (!complex) return {intern(n)};
        switch (given.kind) {
            case node_kind::operand:
                return parts_of_node(intern(n));
            case node_kind::constant:
                return {constant(part_of(given.type), given.value), constant(part_of(given.type), 0)};
            case node_kind::cast:
                return cast_value(v[0], given.type);
            case node_kind::map:
                if (static_cast<op>(given.code) == op::bit_cast) {
                    n.arguments[0] = whole(v[0]);
                    const node_id made = intern(n);
                    return is_complex(given.type) ? parts_of_node(made) : value{made};
                }
                return apply_row(static_cast<op>(given.code), v);
            case node_kind::reduce:
            case node_kind::scan: {
                const auto f = static_cast<fold>(given.code);
                if (!is_complex(given.type) && facts(f).rule != fold_rule::own) {
                    n.arguments[0] = truth(v[0]);
                    return {intern(n)};
                }
                if (f != fold::sum) throw dtype_error("[" + std::string(facts(f).name) + "] folds no complex numbers");
                return of_each_part(n, v[0]);
            }
            case node_kind::gather:
            case node_kind::unravel:
                return of_each_part(n, v[0]);
            case node_kind::scatter:
                n.arguments[0] = whole(v[0]);
                return {intern(n)};
            case node_kind::library:
            case node_kind::store:
                for (int a = 0; a < given.arity; ++a) n.arguments[a] = whole(v[a]);
                return {intern(n)};
            case node_kind::user:
                for (int a = 0; a < given.arity; ++a) n.arguments[a] = whole(v[a]);
                [[fallthrough]];
            case node_kind::view:
                return is_complex(given.type) ? parts_of_node(intern(n)) : value{intern(n)};
            default:
                throw error("[lower] a node takes no complex numbers");
        }
    }

    graph& from_;
    std::vector<value> became_;
};

}  // namespace

void split_complex(graph& g) {
    if (std::ranges::any_of(g.nodes, [](const node& n) { return is_complex(n.type); })) splitting(g).run();
}

}  // namespace ingot::codegen
