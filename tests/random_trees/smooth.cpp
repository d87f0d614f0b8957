#include "smooth.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace ingot::tests {

namespace {

using namespace detail;

constexpr long double unknown = std::numeric_limits<long double>::infinity();

/// A function of one variable: its value, and the most that it may magnify an error within [low, high]; unknown outside
/// its domain.
struct function {
    op row;
    long double (*value)(long double);
    long double (*steepest)(long double low, long double high);
};

const function functions[] = {
    {op::negative, [](long double x) { return -x; }, [](long double, long double) { return 1.0l; }},
    {op::absolute, [](long double x) { return std::abs(x); }, [](long double, long double) { return 1.0l; }},
    {op::square, [](long double x) { return x * x; },
     [](long double a, long double b) { return 2 * std::max(std::abs(a), std::abs(b)); }},
    {op::sqrt, [](long double x) { return std::sqrt(x); },
     [](long double a, long double) { return a > 0 ? 0.5l / std::sqrt(a) : unknown; }},
    {op::exp, [](long double x) { return std::exp(x); }, [](long double, long double b) { return std::exp(b); }},
    {op::exp2, [](long double x) { return std::exp2(x); }, [](long double, long double b) { return std::exp2(b); }},
    {op::expm1, [](long double x) { return std::expm1(x); }, [](long double, long double b) { return std::exp(b); }},
    {op::log, [](long double x) { return std::log(x); },
     [](long double a, long double) { return a > 0 ? 1 / a : unknown; }},
    {op::log2, [](long double x) { return std::log2(x); },
     [](long double a, long double) { return a > 0 ? 1.5l / a : unknown; }},
    {op::log10, [](long double x) { return std::log10(x); },
     [](long double a, long double) { return a > 0 ? 0.5l / a : unknown; }},
    {op::log1p, [](long double x) { return std::log1p(x); },
     [](long double a, long double) { return a > -1 ? 1 / (1 + a) : unknown; }},
    {op::sin, [](long double x) { return std::sin(x); }, [](long double, long double) { return 1.0l; }},
    {op::cos, [](long double x) { return std::cos(x); }, [](long double, long double) { return 1.0l; }},
    {op::tanh, [](long double x) { return std::tanh(x); }, [](long double, long double) { return 1.0l; }},
    {op::erf, [](long double x) { return std::erf(x); }, [](long double, long double) { return 1.2l; }},
    {op::ndtr, [](long double x) { return std::erfc(-x * 0.70710678118654752440l) / 2; },
     [](long double, long double) { return 0.4l; }},
};
constexpr op binary[] = {op::add, op::subtract, op::multiply, op::divide, op::maximum, op::minimum};

/// The worst that any evaluator claims, in units of the last place.
float ulp_of(op row, dtype t) {
    float worst = 0.5f;
    for (const evaluator e : {evaluator::host, evaluator::cuda, evaluator::interpreter})
        worst = std::max(worst, body_of(row, e, t).ulp);
    return worst;
}

/// One unit in the last place of numbers up to `magnitude`.
long double last_place(dtype t, long double magnitude) {
    const int digits = t == dtype::f4 ? 24 : 53, least = t == dtype::f4 ? -125 : -1021;
    return std::ldexp(1.0l, std::max(magnitude > 0 ? std::ilogb(magnitude) + 1 : least, least) - digits);
}

bounded rounded(dtype t, op row, long double value, long double carried) {
    const long double most = t == dtype::f4 ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
    const long double magnitude = std::abs(value) + carried;
    if (!(magnitude < most / 4)) return {value, unknown};
    return {value, 1.001l * (carried + static_cast<long double>(ulp_of(row, t)) * last_place(t, magnitude))};
}

bounded apply(dtype t, op row, const bounded* x) {
    if (row == op::where) return x[0].value != 0 ? x[1] : x[2];
    if (row == op::greater) return {x[0].value > x[1].value ? 1.0l : 0.0l, 0};  // leaves only, which are exact
    const bounded &a = x[0], &b = x[1];
    switch (row) {
        case op::add:
            return rounded(t, row, a.value + b.value, a.error + b.error);
        case op::subtract:
            return rounded(t, row, a.value - b.value, a.error + b.error);
        case op::multiply:
            return rounded(t, row, a.value * b.value,
                           std::abs(a.value) * b.error + std::abs(b.value) * a.error + a.error * b.error);
        case op::divide: {
            const long double least = std::abs(b.value) - b.error;
            if (!(least > 0)) return {0, unknown};
            const long double q = a.value / b.value;
            return rounded(t, row, q, (a.error + std::abs(q) * b.error) / least);
        }
        case op::maximum:
            return {std::max(a.value, b.value), std::max(a.error, b.error)};
        case op::minimum:
            return {std::min(a.value, b.value), std::max(a.error, b.error)};
        default:
            break;
    }
    const function& f =
        *std::find_if(std::begin(functions), std::end(functions), [row](const function& g) { return g.row == row; });
    return rounded(t, row, f.value(a.value), f.steepest(a.value - a.error, a.value + a.error) * a.error);
}

struct grower {
    random_engine random;
    random_tree& tree;
    int left;

    void grow_leaf() {
        random_leaf leaf;
        leaf.type = tree.type;
        leaf.context = tree.shape;
        const bool covers = tree.leaves.empty();  // the first has the whole shape
        leaf.where = covers ? contiguous_layout(tree.shape) : random_layout(random, tree.shape, purpose::read);
        leaf.bytes.resize(reach_of(leaf.where) * size_of(leaf.type));
        for (std::size_t i = 0; i * size_of(leaf.type) < leaf.bytes.size(); ++i) {
            const double d = 8 * random.fraction() - 4;  // -4 to 4
            const auto f = static_cast<float>(d);
            if (leaf.type == dtype::f4)
                std::memcpy(leaf.bytes.data() + 4 * i, &f, 4);
            else
                std::memcpy(leaf.bytes.data() + 8 * i, &d, 8);
        }
        tree.program.push_back(make_word(word_kind::leaf, leaf.type));
        tree.leaves.push_back(std::move(leaf));
    }
    void add(op o, dtype result) {
        tree.program.push_back(make_word(word_kind::map, result, static_cast<std::uint32_t>(o)));
    }
    void grow_node(int depth) {
        if (left-- <= 0 || depth == 0) return grow_leaf();
        const int what = random.below(10);
        if (what == 0) {
            grow_leaf();
            grow_leaf();
            add(op::greater, dtype::b1);
        }
        if (what < 5) grow_node(depth - 1);
        grow_node(depth - 1);
        const op f = random.one_of(functions).row;
        if (what == 0) return add(op::where, tree.type);
        if (what < 5) return add(random.one_of(binary), tree.type);
        if (f == op::sqrt || f == op::log || f == op::log2 || f == op::log10 || f == op::log1p)
            add(op::absolute, tree.type);  // into the domain
        add(f, tree.type);
    }
};

}  // namespace

random_tree grow_smooth(std::uint64_t seed, const extents& shape, int nodes) {
    random_tree tree;
    tree.seed = seed;
    tree.shape = shape;
    grower g{random_engine(seed), tree, nodes};
    tree.type = g.random.chance(50) ? dtype::f4 : dtype::f8;
    g.grow_leaf();
    g.grow_node(6);
    g.add(op::add, tree.type);
    return tree;
}

std::vector<bounded> bounded_value(const random_tree& tree) {
    const auto elements = static_cast<std::size_t>(size_of_shape(tree.shape));
    std::vector<std::vector<bounded>> stack;
    std::size_t leaf = 0;
    for (const word w : tree.program) {
        std::vector<bounded> result(elements);
        if (kind_of_word(w) == word_kind::map) {
            const auto arity = static_cast<std::size_t>(arity_of_word(w)), first = stack.size() - arity;
            for (std::size_t i = 0; i < elements; ++i) {
                bounded x[3];
                for (std::size_t k = 0; k < arity; ++k) x[k] = stack[first + k][i];
                result[i] = apply(tree.type, op_of_word(w), x);
            }
            stack.resize(first);
        } else {
            const std::vector<std::byte> values = materialised(tree.leaves[leaf++]);
            with_type(tree.type, [&]<class T>(T v) {
                for (std::size_t i = 0; i < elements; ++i) {
                    std::memcpy(&v, values.data() + i * sizeof(T), sizeof(T));
                    result[i].value = static_cast<long double>(v);
                }
            });
        }
        stack.push_back(std::move(result));
    }
    return stack.back();
}

std::string beyond_bound(const random_tree& tree, const std::vector<std::byte>& got, const std::vector<bounded>& wanted,
                         std::size_t& judged) {
    std::string text;
    with_type(tree.type, [&]<class T>(T v) {
        for (std::size_t i = 0; i < wanted.size() && text.empty(); ++i) {
            if (!(wanted[i].error < unknown)) continue;
            ++judged;
            std::memcpy(&v, got.data() + i * sizeof(T), sizeof(T));
            const long double off = std::abs(static_cast<long double>(v) - wanted[i].value);
            if (!(off <= wanted[i].error))
                text = "element " + std::to_string(i) + " is " + std::to_string(v) + ", off by " +
                       std::to_string(static_cast<double>(off / wanted[i].error)) + " of its bound";
        }
    });
    return text;
}

}  // namespace ingot::tests
