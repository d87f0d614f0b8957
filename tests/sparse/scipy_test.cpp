// Sparse matrices against SciPy: conversions, products, elementwise functions and files, of all types and of shapes at
// the edges. One process of Python draws all matrices, another compares all results.
#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <cstdlib>
#include <string>
#include <vector>

#include <ingot/ingot.hpp>
#include <ingot/sparse.hpp>

#include "tests/cache/fixture.hpp"
#include "tests/untested.hpp"

using namespace ingot;
using namespace ingot::test;

namespace {

std::string answer_of(const std::string& command) {
    std::FILE* const pipe = popen(command.c_str(), "r");
    REQUIRE(pipe != nullptr);
    std::string text;
    for (int c; (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
    CHECK(pclose(pipe) == 0);
    return text;
}

class results {
public:
    explicit results(const std::string& path) : file_(path) {}

    template <class T>
    void add(const std::string& name, const array<T>& x) {
        file_.save(name, x);
        ++count_;
    }
    template <class T, class I>
    void add(const std::string& name, const sparse::csr<T, I>& a) {
        file_.save(name + ".values", a.values());
        file_.save(name + ".indices", a.indices());
        file_.save(name + ".indptr", a.indptr());
        file_.save(name + ".shape", array<index_t>{a.shape()[0], a.shape()[1]});
        ++count_;
    }
    void counted() { ++count_; }
    int close() {
        file_.close();
        return count_;
    }

private:
    npz_writer file_;
    int count_ = 0;
};

template <class T>
void run_case(const npz_file& cases, const std::string& name, results& to) {
    const auto values = [&](const char* part) { return cases.load<T>(name + '.' + part); };
    const auto integers = [&](const char* part) { return cases.load<index_t>(name + '.' + part); };
    const shape_like shape(integers("shape").to_host());
    const sparse::coo<T> c(values("values"), integers("rows"), integers("columns"), shape);
    const sparse::csr<T> a = c.to_csr();
    const sparse::csr<T> b =
        sparse::coo<T>(values("values_b"), integers("rows_b"), integers("columns_b"), shape).to_csr();
    const array<T> x = values("x"), xs = values("xs"), left = values("left"), lefts = values("lefts"),
                   dense = values("dense");
    const auto add = [&](const char* what, const auto& result) { to.add(name + '.' + what, result); };
    add("a", a);
    add("coo", sparse::coo<T>(a.to_coo()).to_csr());
    add("dense_to_csr", sparse::csr<T>(dense));
    add("transposed", a.transpose().to_csr());
    add("coo_transposed", c.transpose().to_csr());
    add("to_dense", a.to_dense());
    add("diagonal", a.diagonal(0));
    add("diagonal_up", a.diagonal(1));
    add("diagonal_down", a.diagonal(-2));
    add("sum", full<T>({}, a.sum()));
    add("sum_0", a.sum(0));
    add("sum_1", a.sum(1));
    add("times_x", matmul(a, x));
    add("times_xs", matmul(a, xs));
    add("left", matmul(left, a));
    add("lefts", matmul(lefts, a));
    add("transposed_times", matmul(a.transpose(), left));
    add("transposed_times_matrix", a.transpose().dot(transpose(lefts)));
    add("slice", a(slice(1, -1)));
    add("slice_by_2", a(slice(none, none, 2)));
    add("reversed", a(slice(none, none, -3)));
    if (shape[0] != 0) add("row", a(-1));
    // Two types stand for all of those, so that fewer kernels are made.
    if constexpr (std::same_as<T, double> || std::same_as<T, std::complex<float>>) return;
    add("plus", a + b);
    add("minus", a - b);
    add("multiply", multiply(a, b));
    add("multiply_dense", multiply(a, dense));
    add("not_equal", a != b);
    add("not_equal_0", a != 0);
    add("equal_1", a == 1);
    if constexpr (std::same_as<T, float>) {
        add("less", a < b);
        add("greater", a > b);
        add("less_number", a < -0.5);
        add("greater_number", a > 0);
        add("at_most", a <= -1);
        add("at_least", a >= 0.5);
    }
    add("plus_dense", c + dense);
    add("dense_minus", dense - a);
    add("scaled", a * 3);
    add("divided", a / 4);
    add("negated", -a);
    add("abs", abs(a));
    add("conj", conj(a));
    add("square", square(a));
    add("sin", sin(a));
    const sparse::csr<T, std::int64_t> wide =
        sparse::coo<T, std::int64_t>(values("values"), integers("rows"), integers("columns"), shape).to_csr();
    add("wide", wide);
    add("wide_times_x", matmul(wide, x));
}

void run_built(const npz_file& cases, const std::string& name, results& to) {
    using T = float;
    const auto made = [&](int k, const std::string& which = "") {
        const std::string of = name + '.' + std::to_string(k) + '.';
        const auto integers = [&](const std::string& part) { return cases.load<index_t>(of + part + which); };
        return sparse::coo<T>(cases.load<T>(of + "values" + which), integers("rows"), integers("columns"),
                              shape_like(cases.load<index_t>(of + "shape").to_host()))
            .to_csr();
    };
    const sparse::csr<T> nothing = made(1), column = made(6), tall = made(7), wide = made(8);
    const auto add = [&](const char* what, const auto& result) { to.add(name + '.' + what, result); };
    add("product", matmul(tall, wide));
    add("other_product", matmul(wide, made(8, "_b").transpose().to_csr()));
    add("no_product", matmul(sparse::csr<T>({3, 7}), wide));
    add("kron", kron(column, tall));
    add("kron_of_nothing", kron(nothing, tall));
    add("vstack", sparse::vstack({tall, made(7, "_b"), tall}));
    add("hstack", sparse::hstack({made(9), made(9, "_b")}));
    add("block_diag", sparse::block_diag(std::vector{tall, nothing, wide}));
    add("eye", sparse::eye<T>(5, 7, -2));
    add("eye_outside", sparse::eye<T>(5, 7, 9));
    const array<T> x = cases.load<T>(name + ".7.x"), one = x(slice(0, 1));
    add("diags", sparse::diags<T>({x, one, x(slice(0, 5))}, {0, 1, -2}));
    add("diags_in", sparse::diags<T>({x, one}, {2, -1}, {8, 9}));
    const sparse::csr<T> small = tall * 0.125;
    add("arcsin", arcsin(small));
    add("arcsinh", arcsinh(small));
    add("arctan", arctan(small));
    add("arctanh", arctanh(small));
    add("ceil", ceil(small));
    add("deg2rad", deg2rad(small));
    add("expm1", expm1(small));
    add("floor", floor(small));
    add("log1p", log1p(small));
    add("rad2deg", rad2deg(small));
    add("rint", rint(small));
    add("sign", sign(small));
    add("sinh", sinh(small));
    add("tan", tan(small));
    add("tanh", tanh(small));
    add("trunc", trunc(small));
    add("sqrt", sqrt(abs(tall)));
    add("power", power(tall, 3));
}

template <class T>
void run_files(const std::string& folder, const std::string& name, results& to) {
    for (const char* const kind : {"csr", "csc", "coo", "matrix"})
        to.add(name + '.' + kind, sparse::load_npz<T>(folder + '/' + name + '.' + kind + ".npz"));
    sparse::save_npz(folder + '/' + name + ".saved.npz",
                     sparse::load_npz<T, std::int64_t>(folder + '/' + name + ".csr.npz"));
    to.counted();
}

}  // namespace

TEST_CASE("sparse matrices are SciPy's: conversions, products, elementwise functions, files") {
    const char* const python = std::getenv("INGOT_PYTHON");
    if (!python) return untested("INGOT_PYTHON names no Python with SciPy, as tests/run does");
    const scratch_directory scratch;
    const std::string folder = scratch.path().string();
    const auto oracle = [&](const char* action) {
        return answer_of("'" + std::string(python) + "' '" INGOT_TEST_SOURCES "/oracle/sparse.py' " + action + " '" +
                         folder + "'");
    };
    CHECK(oracle("make").empty());
    const npz_file cases = load_npz(folder + "/cases.npz");
    results to(folder + "/results.npz");
    // An emulated GPU takes its time: it has half of the types, and half of the cases of each.
    const bool on_host = current_device().is_host();
    const auto run = [&]<class T>(std::type_identity<T>) {
        const std::string name(ingot::name(detail::dtype_of<T>));
        for (int k = 0; cases.contains(name + '.' + std::to_string(k) + ".shape"); ++k)
            if (on_host || (k % 2 == 1) == std::same_as<T, float>)
                run_case<T>(cases, name + '.' + std::to_string(k), to);
        run_files<T>(folder, name, to);
        if constexpr (std::same_as<T, float>) run_built(cases, name, to);
    };
    run(std::type_identity<float>{});
    run(std::type_identity<std::complex<double>>{});
    if (on_host) {
        run(std::type_identity<double>{});
        run(std::type_identity<std::complex<float>>{});
    }
    const int count = to.close();
    CHECK(count > (on_host ? 1400 : 400));
    CHECK(oracle("compare") == std::to_string(count) + '\n');
}

TEST_CASE("a matrix is what its parts say, and moves to another device") {
    const sparse::coo<double> c({1, 0, 3}, {1, 0, 1}, {2, 1, 0}, {2, 3});
    CHECK(c.values().to_host() == std::vector<double>{0, 3, 1});
    CHECK(c.rows().to_host() == std::vector<std::int32_t>{0, 1, 1});
    CHECK(c.columns().to_host() == std::vector<std::int32_t>{1, 0, 2});
    CHECK(c.nnz() == 3);
    CHECK(c.device() == current_device());
    const sparse::csr<double> a = c.to_csr();
    CHECK(a.nnz() == 3);
    CHECK(a.eliminate_zeros().nnz() == 2);
    CHECK(a.map_values([](const auto& v) { return v + 1; }).values().to_host() == std::vector<double>{1, 4, 2});
    const sparse::csc<double> t = a.transpose();
    CHECK(t.nnz() == 3);
    CHECK(t.values().data() == a.values().data());
    CHECK(t.indices().data() == a.indices().data());
    CHECK(t.indptr().to_host() == std::vector<std::int32_t>{0, 1, 3});
    CHECK(t.device() == current_device());
    CHECK(array_equal(t.to_dense(), transpose(c.to_dense())).item());
    const device there = device::host(1);
    CHECK(a.to(there).device() == there);
    CHECK(c.to(there).device() == there);
    CHECK(array_equal(a.to(there).to_dense().to(current_device()), a.to_dense()).item());
    CHECK(matmul(a.to(there), array<double>{1, 10, 100}.to(there)).to_host() == std::vector<double>{0, 103});
    CHECK_THROWS_AS(matmul(a.to(there), array<double>{1, 10, 100}), device_error);
}

TEST_CASE("random sparse matrices have as many entries as their density wants, at different places") {
    random::seed(5);
    for (const double share : {0.0, 0.01, 0.2, 0.7, 1.0}) {
        const sparse::csr<double> a = sparse::random<double>(120, 50, share);
        CHECK(a.nnz() == std::lround(share * 6000));
        CHECK(count_nonzero(a.to_dense()).item() == a.nnz());
        const sparse::csr<double> checked(a.values(), a.indices(), a.indptr(), a.shape());
        CHECK(array_equal(checked.indices(), a.indices()).item());
    }
    const array<double> of_rows = sparse::random<double>(100, 1000, 0.1).sum(1);
    CHECK(min(of_rows).item() > 25);
    CHECK(max(of_rows).item() < 75);
}

TEST_CASE("elementwise functions of two matrices merge rows of every length and pattern") {
    const index_t long_row = current_device().is_cuda() ? 3000 : 100000;
    const auto drawn = [](const shape_like& shape, double share) {
        const array<float> numbers = round(8 * random::uniform<float>(shape) - 4);  // many are 0, and many sums
        return array<float>(where(random::uniform<float>(shape) < share, numbers, 0.0f));
    };
    const auto check = [&]<class I>(std::type_identity<I>, const array<float>& x, const array<float>& y) {
        CAPTURE(x.shape());
        const sparse::csr<float, I> a(x), b(y);
        const auto is = [&](const sparse::csr<float, I>& made, const array<float>& wanted) {
            CHECK(array_equal(made.to_dense(), wanted).item());
            CHECK(made.nnz() == count_nonzero(wanted).item());
            const sparse::csr<float, I> sorted_again(made.values(), made.indices(), made.indptr(), made.shape());
            CHECK(array_equal(sorted_again.indices(), made.indices()).item());
        };
        is(a + b, x + y);
        is(a - b, x - y);
        is(multiply(a, b), x * y);
        is(a != b, astype<float>(x != y));
        is(a < b, astype<float>(x < y));
        is(a > b, astype<float>(x > y));
    };
    const auto check_all = [&]<class I>(std::type_identity<I> indices) {
        for (const shape_like& shape : {shape_like{0, 4}, {4, 0}, {1, 1}, {1, long_row}, {long_row, 1}, {70, 90}}) {
            const array<float> x = drawn(shape, 0.5);
            check(indices, x, drawn(shape, 0.5));
            check(indices, x, x);
            check(indices, x, array<float>(-x));
            check(indices, x, zeros<float>(shape));
            check(indices, drawn(shape, 0.01), x);
        }
        const array<float> x = drawn({70, 90}, 0.5), even = astype<float>(arange<int>(90) % 2);
        check(indices, x * even, x * (1 - even));  // no column of both
        array<float> one_long = drawn({300, 2000}, 0.001);
        one_long(150) = round(100 * random::uniform<float>(2000));
        check(indices, one_long, drawn({300, 2000}, 0.002));
    };
    check_all(std::type_identity<std::int32_t>{});
    check_all(std::type_identity<std::int64_t>{});
    const sparse::csr<float> explicit_zero({0, 1}, {0, 1}, {0, 2}, {1, 3}), infinite({HUGE_VALF}, {1}, {0, 1}, {1, 3});
    CHECK((explicit_zero + explicit_zero).nnz() == 1);
    CHECK(multiply(infinite, explicit_zero).values().to_host() == std::vector<float>{HUGE_VALF});
    CHECK(std::isnan(multiply(infinite, sparse::csr<float>({1}, {0}, {0, 1}, {1, 3})).sum()));
}
