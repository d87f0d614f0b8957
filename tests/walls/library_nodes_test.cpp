// Library functions as nodes of trees: their steps, the operands that they read in place, and that views, reductions,
// lazies and other library functions above and beneath them mean the same as elsewhere.
#include "library_functions.hpp"

#include <sstream>

#include "count.hpp"
#include "runtime/front/classify.hpp"
#include "runtime/front/evaluate.hpp"
#include "runtime/front/launch.hpp"
#include "tests/arrays/expect.hpp"

using namespace ingot;

namespace {

using library_functions::matrix_product;
using library_functions::reverse_rows;

/// The kind of each step: k(ernel), l(ibrary call), f(ill).
template <class E>
std::string steps(const E& e) {
    std::string kinds;
    for (const kernel_explanation& k : explain(e).kernels) kinds += "klf"[static_cast<std::size_t>(k.kind)];
    return kinds;
}
template <class E>
std::string reason_of_call(const E& e) {
    for (const kernel_explanation& k : explain(e).kernels)
        if (k.kind == step_kind::library_call) return k.reason;
    return "no call";
}
/// The reversed rows, by slices.
template <class E>
auto backwards(const E& e) {
    return e(ellipsis, slice(none, none, -1), all);
}
template <class A, class B>
auto product(const A& a, const B& b) {
    return sum(expand_dims(a, -1) * expand_dims(b, -3), -2);
}
template <class A, class B>
bool same(const A& a, const B& b) {
    const auto want = eval(b);
    return holds(a, want.shape(), want.to_host());
}

}  // namespace

TEST_CASE("a map beneath a library function is a kernel, and so is all that is above it") {
    const array<float> x = counted<float>({3, 5});
    const auto e = exp(reverse_rows(x + 1) * 2 - 20);
    CHECK(steps(e) == "klk");
    const counter_values before = counters();
    CHECK(same(e, exp(backwards(x + 1) * 2 - 20)));
    CHECK(counters().library_calls == before.library_calls + 1);
}

TEST_CASE("explain names a library's function, its bytes and operations, and runs nothing") {
    const array<float> a = counted<float>({4, 6}), b = counted<float>({6, 10});
    const std::uint64_t before = counters().library_calls;
    const explanation e = explain(matrix_product(a, b) + 1);
    REQUIRE(e.kernels.size() == 2);
    CHECK(e.kernels[0].kind == step_kind::library_call);
    CHECK(e.kernels[0].name == "matrix_product");
    CHECK(e.kernels[0].bytes_read == 4 * (24 + 60));
    CHECK(e.kernels[0].bytes_written == 4 * 40);
    CHECK(e.kernels[0].flops == 2 * 4 * 6 * 10);
    CHECK(e.kernels[1].kind == step_kind::kernel);
    CHECK(e.kernels[1].bytes_read == 4 * 40);
    std::ostringstream text;
    text << e;
    CHECK(text.str().find("1 kernel, 1 library call") != std::string::npos);
    CHECK(text.str().find("matrix_product: library call; reads 336 bytes, writes 160, 480 operations") !=
          std::string::npos);
    CHECK(!source(matrix_product(a, b) + 1).empty());
    CHECK(counters().library_calls == before);
}

TEST_CASE("an array that lies as a library takes it is given to it, another is copied first") {
    const array<float> x = counted<float>({4, 4});
    CHECK(steps(reverse_rows(x) + 1) == "lk");
    CHECK(reason_of_call(reverse_rows(x) + 1) == "operands as they lie");
    CHECK(steps(reverse_rows(x(slice(1), all)) + 1) == "lk");  // rows of an array, still without gaps
    CHECK(steps(reverse_rows(transpose(x)) + 1) == "klk");
    CHECK(steps(reverse_rows(x(all, slice(1))) + 1) == "klk");
    CHECK(same(reverse_rows(transpose(x)) + 1, backwards(transpose(x)) + 1));
    CHECK(same(reverse_rows(x(all, slice(1))) + 1, backwards(x(all, slice(1))) + 1));
    CHECK(same(reverse_rows(x(slice(1), all)) + 1, backwards(x(slice(1), all)) + 1));
}

TEST_CASE("a library writes what is its whole result where it is wanted") {
    const array<float> x = counted<float>({2, 4, 6});
    CHECK(steps(reverse_rows(x)) == "l");
    CHECK(steps(reverse_rows(x + 1)) == "kl");
    CHECK(steps(reverse_rows(x)(1)) == "l");  // of that matrix only
    CHECK(steps(transpose(reverse_rows(x))) == "lk");
    CHECK(steps(reverse_rows(x)(all, slice(0, 2))) == "lk");
    CHECK(steps(matrix_product(x(0), transpose(x(1)))) == "l");
    CHECK(steps(matrix_product(x, transpose(x(1)))) == "l");
    CHECK(same(matrix_product(x(0), transpose(x(1))), product(x(0), transpose(x(1)))));
    CHECK(same(matrix_product(x, transpose(x(1))), product(x, transpose(x(1)))));
    CHECK(same(reverse_rows(x + 1), backwards(x + 1)));
    CHECK(same(transpose(reverse_rows(x)), transpose(backwards(x))));
    array<float> y = zeros<float>({3, 4, 6});
    y(slice(1), ellipsis) = reverse_rows(x);
    CHECK(same(y(slice(1)), backwards(x)));
    transpose(y)(ellipsis, slice(0, 2)) = transpose(reverse_rows(x));
    CHECK(same(y(slice(0, 2)), backwards(x)));
    array<double> wide = reverse_rows(x);
    CHECK(wide(1, 3, 5).item() == 29.0);
}

TEST_CASE("a matrix may lie by rows or by columns, with gaps between them") {
    const array<float> a = counted<float>({5, 5}), b = counted<float>({5, 5});
    for (const array<float>& x : {array<float>(a), array<float>(a + 1)}) {
        CHECK(steps(matrix_product(transpose(x), b) + 1) == "lk");
        CHECK(steps(matrix_product(x(slice(1), slice(2)), b(slice(2), slice(1))) + 1) == "lk");
        CHECK(same(matrix_product(transpose(x), b) + 1, product(transpose(x), b) + 1));
        CHECK(same(matrix_product(x(slice(1), slice(2)), b(slice(2), slice(1))) + 1,
                   product(x(slice(1), slice(2)), b(slice(2), slice(1))) + 1));
        CHECK(steps(matrix_product(x(slice(none, none, 2), slice(none, none, 2)), b(slice(2), all)) + 1) == "klk");
        CHECK(steps(matrix_product(x(slice(none, none, -1), all), b) + 1) == "klk");
        CHECK(
            same(matrix_product(x(slice(none, none, -1), all), b) + 1, product(x(slice(none, none, -1), all), b) + 1));
    }
}

TEST_CASE("matrices of one row, one column, one element") {
    for (const auto& [m, k, n] : {std::array<index_t, 3>{1, 3, 4}, {3, 1, 4}, {3, 4, 1}, {1, 1, 4}, {1, 1, 1}}) {
        const array<float> a = counted<float>({m, k}) + 1, b = counted<float>({k, n}) + 2;
        CHECK(same(matrix_product(a, b) + 1, product(a, b) + 1));
        CHECK(same(matrix_product(a + 1, b * 2) + 1, product(a + 1, b * 2) + 1));
        CHECK(same(reverse_rows(a) + 1, backwards(a) + 1));
    }
    const array<float> a = zeros<float>({3, 0}), b = zeros<float>({0, 2});  // a sum over nothing
    CHECK(same(matrix_product(a + 1, b) + 1, ones<float>({3, 2})));
}

TEST_CASE("the axes before a matrix are a batch, broadcast where operands have one or none") {
    const array<float> a = counted<float>({2, 3, 4, 5}), b = counted<float>({3, 5, 2}),
                       c = counted<float>({2, 1, 5, 2});
    CHECK(same(reverse_rows(a), backwards(a)));
    CHECK(same(reverse_rows(transpose(a)), backwards(transpose(a))));
    CHECK(same(matrix_product(a, b) + 1, product(a, b) + 1));
    CHECK(same(matrix_product(a, c) + 1, product(a, c) + 1));
    CHECK(same(matrix_product(a - 1, c + b) + 1, product(a - 1, c + b) + 1));
}

TEST_CASE("a view of what a library makes is read where it lies") {
    const array<float> x = counted<float>({3, 4, 6});
    const auto r = reverse_rows(x);
    const auto w = backwards(x);
    CHECK(same(r(1), w(1)));
    CHECK(same(r(all, 2, slice(none, none, -2)), w(all, 2, slice(none, none, -2))));
    CHECK(same(transpose(r), transpose(w)));
    CHECK(same(transpose(r) + transpose(r), 2 * transpose(w)));
    CHECK(same(r(newaxis, all, slice(1, 3)), w(newaxis, all, slice(1, 3))));
    CHECK(same(diagonal(r) + 1, diagonal(w) + 1));  // along the batch and a row at once
    CHECK(same(r + x(0), w + x(0)));
    CHECK(same(reshape(r, {12, 6}) * 2, reshape(w, {12, 6}) * 2));
    CHECK(same(reshape(r + 1, {8, 9}) * 2, reshape(w + 1, {8, 9}) * 2));
}

TEST_CASE("what is written twice is called once") {
    const array<float> x = counted<float>({4, 4});
    const auto r = reverse_rows(x + 1);
    CHECK(steps(r + 2 * r) == "klk");
    CHECK(steps(r + 2 * transpose(r)) == "klk");
    CHECK(same(r + 2 * transpose(r), backwards(x + 1) + 2 * transpose(backwards(x + 1))));
    const auto p = matrix_product(x, x);
    CHECK(steps(p * p + 1) == "lk");
    CHECK(same(p * p + 1, product(x, x) * product(x, x) + 1));
}

TEST_CASE("library functions of library functions, and of two trees") {
    const array<float> x = counted<float>({4, 4}), y = x * 3;
    CHECK(same(reverse_rows(reverse_rows(x)) + 1, x + 1));
    CHECK(same(matrix_product(matrix_product(x, y) - 1, reverse_rows(y)), product(product(x, y) - 1, backwards(y))));
    CHECK(same(reverse_rows(x + 1) + reverse_rows(y + 2), backwards(x + 1) + backwards(y + 2)));
}

TEST_CASE("reductions and scans above and beneath a library function") {
    const array<float> x = counted<float>({6, 5});
    CHECK(same(sum(reverse_rows(x), 0), sum(x, 0)));
    CHECK(same(sum(reverse_rows(x) * x, 1), sum(backwards(x) * x, 1)));
    CHECK(same(reverse_rows(x - max(x, 1, keepdims)) + 1, backwards(x - max(x, 1, keepdims)) + 1));
    CHECK(same(reverse_rows(x) - max(reverse_rows(x), 1, keepdims), backwards(x) - max(backwards(x), 1, keepdims)));
    CHECK(same(reverse_rows(sum(counted<float>({2, 6, 5}), 0)), backwards(sum(counted<float>({2, 6, 5}), 0))));
    CHECK(same(cumsum(reverse_rows(x), 0), cumsum(backwards(x), 0)));
    CHECK(same(reverse_rows(cumsum(x, 0)), backwards(cumsum(x, 0))));
}

TEST_CASE("several outputs beside a library function") {
    const array<float> x = counted<float>({4, 6});
    const auto [a, b] = eval(reverse_rows(x) + 1, x * 2);
    CHECK(same(a, backwards(x) + 1));
    CHECK(same(b, x * 2));
    array<float> to = zeros<float>({4, 6});
    to(slice(1, 3)) = reverse_rows(x)(slice(0, 2));
    CHECK(same(to(slice(1, 3)), backwards(x)(slice(0, 2))));
    array<float> y = x;
    y = reverse_rows(y);
    CHECK(same(y, backwards(x)));
    assign(y, reverse_rows(y));
    CHECK(same(y, x));
}

TEST_CASE("a lazy with a library function in it") {
    const array<float> x = counted<float>({4, 6});
    lazy<float> l = reverse_rows(x + 1);
    for (int i = 0; i < 3; ++i) l = l * 2 + x;
    CHECK(same(l, ((backwards(x + 1) * 2 + x) * 2 + x) * 2 + x));
    lazy<float> p = matrix_product(x, transpose(x));
    CHECK(same(p + transpose(p), product(x, transpose(x)) + transpose(product(x, transpose(x)))));
}

TEST_CASE("the width of a large statement's indices is that of its largest array") {
    const array<float> a = broadcast_to(array<float>{1}, {4096, 4096});
    const explanation e = explain(matrix_product(a, a) + 1);  // m n k and m n m n are beyond 32 bits
    CHECK(e.key.find("32-bit") != std::string::npos);
}

TEST_CASE("what a library makes is read by whole vectors") {
    const array<float> x = counted<float>({8, 64});
    const std::string key = source(reverse_rows(x) + 1);
    CHECK((current_device().is_host() || key.find("uint4") != std::string::npos));
}

TEST_CASE("operands that do not fit are shape errors that name them") {
    const array<float> a = zeros<float>({2, 3}), v = zeros<float>(3);
    CHECK(thrown<shape_error>([&] { matrix_product(a, a); }) == "[matrix_product] shapes (2, 3) and (2, 3) do not fit");
    CHECK(thrown<shape_error>([&] { reverse_rows(v); }) == "[reverse_rows] shape (3,) has too few axes, 2 are wanted");
}

TEST_CASE("results without elements call nothing") {
    const array<float> a = zeros<float>({0, 3});
    CHECK(eval(reverse_rows(a) + 1).shape() == shape_like{0, 3});
}

TEST_CASE("the interpreter calls a library's function on the host") {
    const array<float> x = counted<float>({2, 3, 4});
    const auto e = matrix_product(x + 1, transpose(x(0)))(all, slice(none, none, -1)) * 2;
    if (!x.device().is_host()) return;
    using node = std::remove_cvref_t<decltype(e)>;
    ingot::detail::operand operands[static_cast<std::size_t>(node::operands)];
    detail::word attributes[static_cast<std::size_t>(node::binders) + 1];
    detail::cursor c{operands, attributes};
    e.gather(c);
    const index_t shape[] = {2, 3, 3};
    ingot::detail::buffer_ref memory = ingot::detail::allocate_buffer(18 * sizeof(float));
    detail::layout where = detail::contiguous_layout(shape);
    const ingot::detail::output out{dtype::f4, &memory, &where};
    const runtime::statement s{
        node::program, operands, {attributes, static_cast<std::size_t>(node::binders)}, {&out, 1}};
    runtime::classifier classes;
    const runtime::execution_context at = runtime::context_of(s);
    const runtime::classified& classified = classes.classify(s, at.environment);
    std::vector<std::uint32_t> words;
    runtime::classifier::full_key(classified, s.program, words);
    runtime::executable interpreted;
    interpreted.key = codegen::decode(words);
    interpreted.graph = codegen::lower(interpreted.key);
    const std::uint64_t before = counters().library_calls;
    runtime::run_interpreted(interpreted, classified, s);
    CHECK(counters().library_calls == before + 1);
    const array<float> got(detail::adopted{}, detail::leaf<float>(std::move(memory), where));
    CHECK(same(got, product(x + 1, transpose(x(0)))(all, slice(none, none, -1)) * 2));
}
