// Graphs through the interpreter: layouts, folds, scans, gathers, reshapes, random leaves, and trees of any depth.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <ingot/core/error.hpp>
#include <ingot/core/gather.hpp>
#include <ingot/core/philox.hpp>

#include "runtime/kernels/interpreter.hpp"

namespace {

using namespace ingot;
using codegen::node_id;
using codegen::node_kind;
using detail::fold;
using detail::op;
using strides = std::vector<std::int64_t>;

/// A graph with its key and operands, built node by node. Axes come first: those of the outputs, then each binder's.
class program {
public:
    program(std::vector<std::int64_t> outputs, std::vector<std::int64_t> bound_by_binder_0 = {},
            std::vector<std::int64_t> bound_by_binder_1 = {}) {
        const std::vector<std::int64_t>* groups[] = {&outputs, &bound_by_binder_0, &bound_by_binder_1};
        for (std::uint8_t owner = 0; owner < 3; ++owner)
            for (const std::int64_t n : *groups[owner]) {
                key_.axes.push_back({.owner = owner});
                extents_.push_back(n);
            }
    }

    template <class T>
    node_id array(const std::vector<T>& data, strides along, std::int64_t offset = 0) {
        return operand(detail::operand_kind::array, detail::dtype_of<T>, {data.data(), {}, offset, nullptr},
                       std::move(along), 0);
    }
    template <class T>
    node_id random(detail::generator_kind kind, std::uint64_t seed, std::uint64_t call, strides along,
                   std::int64_t offset = 0) {
        return operand(detail::operand_kind::generator, detail::dtype_of<T>, {nullptr, {seed, call}, offset, nullptr},
                       std::move(along), static_cast<std::uint16_t>(kind));
    }
    std::uint16_t pick(strides along, std::int64_t offset = 0) {
        add_operand(detail::operand_kind::pick, dtype::i8, {nullptr, {}, offset, nullptr}, std::move(along));
        return static_cast<std::uint16_t>(operands_.size() - 1);
    }
    node_id constant(dtype t, double value) {
        codegen::node n;
        n.kind = node_kind::constant;
        n.value = value;
        return add(n, t, {});
    }
    node_id map(op row, node_id a, node_id b) {
        codegen::node n;
        n.kind = node_kind::map;
        n.code = static_cast<std::uint16_t>(row);
        return add(n, graph_.nodes[a].type, {a, b});
    }
    node_id map(op row, node_id a) {
        codegen::node n;
        n.kind = node_kind::map;
        n.code = static_cast<std::uint16_t>(row);
        return add(n, graph_.nodes[a].type, {a});
    }
    node_id reduce(fold f, std::uint16_t binder, node_id a, dtype result) {
        return bind(node_kind::reduce, static_cast<std::uint16_t>(f), binder, 0, result, {a});
    }
    node_id scan(fold f, std::uint16_t binder, node_id a, std::uint16_t place) {
        return bind(node_kind::scan, static_cast<std::uint16_t>(f), binder, place, graph_.nodes[a].type, {a});
    }
    node_id gather(index_mode mode, std::uint16_t binder, node_id a, node_id index) {
        return bind(node_kind::gather, static_cast<std::uint16_t>(mode), binder, 0, graph_.nodes[a].type, {a, index});
    }
    node_id unravel(std::uint16_t binder, node_id a, std::uint16_t place) {
        return bind(node_kind::unravel, 0, binder, place, graph_.nodes[a].type, {a});
    }

    /// The values of `root` over the outputs' axes, in C order.
    template <class T>
    std::vector<T> values(node_id root) {
        REQUIRE(graph_.nodes[root].type == detail::dtype_of<T>);
        strides along(extents_.size(), 0);
        std::int64_t size = 1;
        for (std::size_t a = extents_.size(); a-- > 0;)
            if (key_.axes[a].owner == 0) {
                along[a] = size;
                size *= extents_[a];
            }
        const auto out = std::make_unique<T[]>(static_cast<std::size_t>(size));
        graph_.roots = {root};
        key_.outputs = {{{.type = graph_.nodes[root].type}, {}}};
        for (std::size_t i = 0; i < operands_.size(); ++i) operands_[i].strides = strides_[i].data();
        const runtime::bound_output output{out.get(), along.data()};
        runtime::interpret(key_, graph_, operands_, {&output, 1}, extents_);
        return std::vector<T>(out.get(), out.get() + size);
    }

private:
    void add_operand(detail::operand_kind kind, dtype t, runtime::bound_operand bound, strides along) {
        along.resize(extents_.size(), 0);
        key_.operands.push_back({{.kind = kind, .type = t}, {}});
        operands_.push_back(bound);
        strides_.push_back(std::move(along));
    }

    node_id operand(detail::operand_kind kind, dtype t, runtime::bound_operand bound, strides along,
                    std::uint16_t code) {
        add_operand(kind, t, bound, std::move(along));
        codegen::node n;
        n.index = static_cast<std::uint16_t>(operands_.size() - 1);
        n.code = code;
        n.axes = axes_of(n.index);
        return add(n, t, {});
    }

    node_id bind(node_kind kind, std::uint16_t code, std::uint16_t binder, std::uint16_t place, dtype result,
                 std::initializer_list<node_id> arguments) {
        codegen::node n;
        n.kind = kind;
        n.code = code;
        n.index = binder;
        n.pick = place;
        if (kind == node_kind::scan || kind == node_kind::unravel) n.axes |= axes_of(place);
        const node_id id = add(n, result, arguments);
        for (std::size_t a = 0; a < key_.axes.size(); ++a)
            if (key_.axes[a].owner == binder + 1) graph_.nodes[id].axes &= ~(std::uint64_t{1} << a);
        return id;
    }

    node_id add(codegen::node n, dtype t, std::initializer_list<node_id> arguments) {
        n.type = t;
        for (const node_id a : arguments) {
            n.arguments[n.arity++] = a;
            n.axes |= graph_.nodes[a].axes;
        }
        graph_.nodes.push_back(n);
        return static_cast<node_id>(graph_.nodes.size() - 1);
    }

    std::uint64_t axes_of(std::uint16_t operand) const {
        std::uint64_t axes = 0;
        for (std::size_t a = 0; a < strides_[operand].size(); ++a)
            if (strides_[operand][a] != 0) axes |= std::uint64_t{1} << a;
        return axes;
    }

    codegen::key key_;
    codegen::graph graph_;
    std::vector<runtime::bound_operand> operands_;
    std::vector<strides> strides_;
    std::vector<std::int64_t> extents_;
};

template <class T>
std::vector<T> counted(std::size_t n, T first = 0) {
    std::vector<T> v(n);
    std::iota(v.begin(), v.end(), first);
    return v;
}

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

template <class T>
T folded(fold f, dtype result, const std::vector<float>& values) {
    program p({1}, {static_cast<std::int64_t>(values.size())});
    const node_id x = p.array(values, {0, 1});
    return p.values<T>(p.reduce(f, 0, x, result))[0];
}

}  // namespace

TEST_CASE("operands are read through any strides and broadcast") {
    const std::vector<int> x = counted<int>(6), row{10, 20, 30};
    program p({2, 3});
    const node_id flipped = p.array(x, {-3, -1}, 5), broadcast = p.array(row, {0, 1});
    CHECK(p.values<int>(p.map(op::add, flipped, broadcast)) == std::vector<int>{15, 24, 33, 12, 21, 30});
}

TEST_CASE("blocks end where they must: every size around a block's") {
    for (const std::int64_t n : {0, 1, 1023, 1024, 1025, 2048, 5000}) {
        const std::vector<double> x = counted<double>(static_cast<std::size_t>(n));
        program p({n});
        const std::vector<double> y = p.values<double>(p.map(op::negative, p.array(x, {1})));
        REQUIRE(y.size() == x.size());
        for (std::size_t i = 0; i < x.size(); ++i) REQUIRE(y[i] == -x[i]);
    }
}

TEST_CASE("softmax: reductions of trees feed trees") {
    constexpr std::int64_t rows = 3, columns = 700;
    std::vector<double> x(rows * columns);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<double>(i)) * 5;
    program p({rows, columns}, {columns}, {columns});
    const node_id outside = p.array(x, {columns, 1}), under_max = p.array(x, {columns, 0, 1}),
                  under_sum = p.array(x, {columns, 0, 0, 1});
    const node_id greatest = p.reduce(fold::max, 0, under_max, dtype::f8);
    const node_id total = p.reduce(fold::sum, 1, p.map(op::exp, p.map(op::subtract, under_sum, greatest)), dtype::f8);
    const std::vector<double> y =
        p.values<double>(p.map(op::divide, p.map(op::exp, p.map(op::subtract, outside, greatest)), total));
    for (std::size_t r = 0; r < rows; ++r) {
        double sum = 0;
        for (std::size_t c = 0; c < columns; ++c) sum += std::exp(x[r * columns + c]);
        for (std::size_t c = 0; c < columns; ++c)
            REQUIRE(y[r * columns + c] == doctest::Approx(std::exp(x[r * columns + c]) / sum));
    }
}

TEST_CASE("a sum has the same bits wherever its row lies, and an error that grows slowly") {
    constexpr std::size_t length = 3001;
    std::vector<float> row(length), rows;
    for (std::size_t i = 0; i < length; ++i) row[i] = 1.0f / static_cast<float>(i + 1);
    for (int r = 0; r < 5; ++r) rows.insert(rows.end(), row.begin(), row.end());
    const float alone = folded<float>(fold::sum, dtype::f4, row);
    program p({5}, {length});
    for (const float s : p.values<float>(p.reduce(fold::sum, 0, p.array(rows, {length, 1}), dtype::f4)))
        CHECK(s == alone);
    double exact = 0;
    for (const float v : row) exact += v;
    CHECK(std::abs(alone - exact) < 4e-7 * exact);
}

TEST_CASE("every fold, NaN and nothing included") {
    const std::vector<float> some{2, -1, 5, -1, 5}, with_nan{2, not_a_number, 5, not_a_number}, nothing;
    CHECK(folded<float>(fold::sum, dtype::f4, some) == 10);
    CHECK(folded<float>(fold::prod, dtype::f4, some) == 50);
    CHECK(folded<float>(fold::min, dtype::f4, some) == -1);
    CHECK(folded<float>(fold::max, dtype::f4, some) == 5);
    CHECK(folded<std::int64_t>(fold::argmin, dtype::i8, some) == 1);
    CHECK(folded<std::int64_t>(fold::argmax, dtype::i8, some) == 2);
    CHECK(folded<bool>(fold::all, dtype::b1, some));
    CHECK_FALSE(folded<bool>(fold::all, dtype::b1, {1, 0}));
    CHECK(folded<bool>(fold::any, dtype::b1, {0, 1}));
    CHECK(folded<std::int64_t>(fold::count_nonzero, dtype::i8, {0, 1, 0, 3}) == 2);
    CHECK(std::isnan(folded<float>(fold::max, dtype::f4, with_nan)));
    CHECK(std::isnan(folded<float>(fold::min, dtype::f4, with_nan)));
    CHECK(folded<std::int64_t>(fold::argmax, dtype::i8, with_nan) == 1);
    CHECK(folded<std::int64_t>(fold::argmin, dtype::i8, with_nan) == 1);
    CHECK(folded<float>(fold::sum, dtype::f4, nothing) == 0);
    CHECK(folded<float>(fold::prod, dtype::f4, nothing) == 1);
    CHECK(folded<bool>(fold::all, dtype::b1, nothing));
    CHECK_FALSE(folded<bool>(fold::any, dtype::b1, nothing));
}

TEST_CASE("a reduction under another is computed once for each place that it depends on") {
    const std::vector<int> x = counted<int>(6), y = counted<int>(6, 1);  // (2, 3) and, summed over axis 0, (2, 3)
    program p({2}, {3}, {2});  // sum(x * sum(y, 0), 1): j of x is bound by binder 0, i of y by binder 1
    const node_id column_sums = p.reduce(fold::sum, 1, p.array(y, {0, 1, 3}), dtype::i4);
    const node_id product = p.map(op::multiply, p.array(x, {3, 1}), column_sums);
    CHECK(p.values<int>(p.reduce(fold::sum, 0, product, dtype::i4)) == std::vector<int>{7 + 18, 15 + 28 + 45});
}

TEST_CASE("scans fold from the left and are read where the pick says") {
    const std::vector<double> x = counted<double>(2000, 1);
    program p({2000}, {2000});
    const node_id under = p.array(x, {0, 1});
    const std::vector<double> forward = p.values<double>(p.scan(fold::sum, 0, under, p.pick({1})));
    const std::vector<double> flipped = p.values<double>(p.scan(fold::sum, 0, under, p.pick({-1}, 1999)));
    for (std::size_t i = 0; i < 2000; ++i) {
        const double n = static_cast<double>(i + 1);
        REQUIRE(forward[i] == n * (n + 1) / 2);
        REQUIRE(flipped[1999 - i] == forward[i]);
    }
}

TEST_CASE("gathers read an unevaluated tree, by the index mode") {
    const std::vector<int> x{10, 20, 30};
    const std::vector<std::int64_t> inside{2, -1, 0, -3}, outside{3, -4, 7, 0};
    const auto taken = [&](index_mode mode, const std::vector<std::int64_t>& index) {
        program p({4}, {3});
        const node_id negated = p.map(op::negative, p.array(x, {0, 1}));
        return p.values<int>(p.gather(mode, 0, negated, p.array(index, {1})));
    };
    CHECK(taken(index_mode::check, inside) == std::vector<int>{-30, -30, -10, -10});
    CHECK(taken(index_mode::wrap, outside) == std::vector<int>{-10, -30, -20, -10});
    CHECK(taken(index_mode::clip, outside) == std::vector<int>{-30, -10, -30, -10});
    CHECK_THROWS_WITH_AS(taken(index_mode::check, outside), "[take] index 3 is outside an axis of 3", index_error);
}

TEST_CASE("a reshape reads the digits of the place") {
    const std::vector<int> x = counted<int>(6);  // (2, 3), seen as its transpose (3, 2), reshaped to (6)
    program p({6}, {3, 2});
    const node_id transposed = p.array(x, {0, 1, 3});
    CHECK(p.values<int>(p.unravel(0, transposed, p.pick({1}))) == std::vector<int>{0, 3, 1, 4, 2, 5});
}

TEST_CASE("a random leaf is a function of seed, call and element, whatever the view") {
    const auto uniform = detail::generator_kind::uniform, normal = detail::generator_kind::normal;
    program p({5000});
    const std::vector<float> u = p.values<float>(p.random<float>(uniform, 7, 3, {1}));
    const std::vector<float> back = p.values<float>(p.random<float>(uniform, 7, 3, {-1}, 4999));
    const std::vector<double> n = p.values<double>(p.random<double>(normal, 7, 3, {1}));
    CHECK(u[5] == detail::philox::uniform(detail::philox::words(7, 3, 1)[1]));
    double mean = 0, normal_mean = 0, variance = 0;
    for (std::size_t i = 0; i < u.size(); ++i) {
        REQUIRE(u[i] == back[4999 - i]);
        REQUIRE((u[i] >= 0 && u[i] < 1));
        mean += u[i] / 5000;
        normal_mean += n[i] / 5000;
        variance += n[i] * n[i] / 5000;
    }
    CHECK(mean == doctest::Approx(0.5).epsilon(0.03));
    CHECK(std::abs(normal_mean) < 0.06);
    CHECK(variance == doctest::Approx(1).epsilon(0.08));
    CHECK(u != p.values<float>(p.random<float>(uniform, 7, 4, {1})));
    CHECK(u != p.values<float>(p.random<float>(uniform, 8, 3, {1})));
}

TEST_CASE("a chain of 10^5 nodes needs neither deep recursion nor a buffer a node") {
    const std::vector<int> x{1, 2};
    program p({2});
    const node_id one = p.constant(dtype::i4, 1);
    node_id sum = p.array(x, {1});
    for (int i = 0; i < 100'000; ++i) sum = p.map(op::add, sum, one);
    CHECK(p.values<int>(sum) == std::vector<int>{100'001, 100'002});
}

TEST_CASE("an operand that does not fit the key is refused") {
    codegen::key key;
    codegen::graph graph;
    const runtime::bound_operand extra;
    CHECK_THROWS_AS(runtime::interpret(key, graph, {&extra, 1}, {}, {}), error);
}
