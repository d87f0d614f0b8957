// Sparse matrices against SciPy: conversions, products, elementwise functions and files, of all types and of shapes at
// the edges. One process of Python draws all matrices, another compares all results.
#include <doctest/doctest.h>

#include <complex>
#include <cstdlib>
#include <string>

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
    add("plus", a + b);
    add("minus", a - b);
    add("multiply", multiply(a, b));
    add("multiply_dense", multiply(a, dense));
    add("plus_dense", c + dense);
    add("dense_minus", dense - a);
    add("scaled", a * 3);
    add("divided", a / 4);
    add("negated", -a);
    add("abs", abs(a));
    add("conj", conj(a));
    add("square", square(a));
    add("sin", sin(a));
    add("wide", sparse::coo<T, std::int64_t>(values("values"), integers("rows"), integers("columns"), shape).to_csr());
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
    const auto run = [&]<class T>(std::type_identity<T>) {
        const std::string name(ingot::name(detail::dtype_of<T>));
        for (int k = 0; cases.contains(name + '.' + std::to_string(k) + ".shape"); ++k)
            run_case<T>(cases, name + '.' + std::to_string(k), to);
        run_files<T>(folder, name, to);
    };
    run(std::type_identity<float>{});
    run(std::type_identity<std::complex<double>>{});
    if (current_device().is_host()) {  // an emulated GPU takes its time
        run(std::type_identity<double>{});
        run(std::type_identity<std::complex<float>>{});
    }
    const int count = to.close();
    CHECK(count > 800);
    CHECK(oracle("compare") == std::to_string(count) + '\n');
}
