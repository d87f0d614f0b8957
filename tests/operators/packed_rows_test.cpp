// Maps, folds and row programs over short rows on the host, whose strips are several rows: an element's value does not
// depend on its position in a strip, on the layout of its operands or on the surrounding shape.
#include <doctest/doctest.h>

#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <ingot/ingot.hpp>

using namespace ingot;

namespace {

template <class T>
std::vector<unsigned char> bytes_of(const array<T>& x) {
    std::vector<unsigned char> bytes;
    for (const T value : x.to_host()) {
        unsigned char of_one[sizeof(T)];
        std::memcpy(of_one, &value, sizeof(T));
        bytes.insert(bytes.end(), of_one, of_one + sizeof(T));
    }
    return bytes;
}

/// Different numbers in (0, 2).
template <class T>
array<T> numbers(const shape_like& shape) {
    index_t n = 1;
    for (const index_t extent : shape) n *= extent;
    return reshape((astype<T>(arange<index_t>(n) * 7919 % 10007) + T(1)) / T(5004), shape);
}

/// The operand with an element for each of the result's, in one run of memory.
template <class T, class E>
array<T> flat(const E& operand, const shape_like& shape) {
    const array<T> whole = zeros<T>(shape) + operand;
    return reshape(whole, {-1}).eval();
}

const std::vector<index_t> lengths{1, 2, 3, 4, 5, 7, 8, 13, 16, 17, 29, 31, 32, 33, 63, 65, 100, 255, 257, 300};
const std::vector<index_t> counts{1, 2, 3, 15, 16, 17, 33, 100};

}  // namespace

TEST_CASE("an element of a short row has the bits that it has in a long one") {
    const with_device host(device::host());
    for (const index_t n : lengths)
        for (const index_t rows : counts) {
            const shape_like shape{rows, n};
            const array<double> m = numbers<double>(shape), v = numbers<double>({n}), c = numbers<double>({rows, 1});
            const array<double> got = log(m + v) * c;
            const array<double> fm = flat<double>(m, shape), fv = flat<double>(v, shape), fc = flat<double>(c, shape);
            CAPTURE(n);
            CAPTURE(rows);
            CHECK(bytes_of(got) == bytes_of<double>(eval(log(fm + fv) * fc)));
        }
}

TEST_CASE("what is one all along a row has the bits of an element") {
    const with_device host(device::host());
    for (const index_t n : {2, 7, 31, 33, 100, 511, 600})
        for (const index_t rows : {2, 3, 17, 100}) {
            const shape_like shape{rows, n};
            const array<double> m = numbers<double>(shape), c = numbers<double>({rows, 1}),
                                d = numbers<double>({rows, 1});
            const array<double> fm = flat<double>(m, shape), fc = flat<double>(c, shape), fd = flat<double>(d, shape);
            CAPTURE(n);
            CAPTURE(rows);
            CHECK(bytes_of<double>(eval(log(m) * exp(c + d) + c)) ==
                  bytes_of<double>(eval(log(fm) * exp(fc + fd) + fc)));
        }
}

TEST_CASE("strips take in rows along every axis that is short") {
    const with_device host(device::host());
    for (const auto& shape : {shape_like{2, 2, 2, 2}, shape_like{300, 3, 2, 5}, shape_like{5, 300, 2, 3},
                              shape_like{2, 3, 700, 2}, shape_like{9, 11, 13, 7}, shape_like{3, 2, 2, 300}}) {
        const array<float> x = numbers<float>(shape);
        const array<float> a = numbers<float>({shape[1], 1, shape[3]}), b = numbers<float>({shape[0], 1, shape[2], 1});
        const array<float> fx = flat<float>(x, shape), fa = flat<float>(a, shape), fb = flat<float>(b, shape);
        const array<float> exact = x * a - b, inexact = power(x, a) + b;
        CHECK(bytes_of(exact) == bytes_of<float>(eval(fx * fa - fb)));
        CHECK(bytes_of(inexact) == bytes_of<float>(eval(power(fx, fa) + fb)));
    }
}

TEST_CASE("short rows that are strided, reversed, transposed or written in place") {
    const with_device host(device::host());
    for (const index_t rows : counts) {
        const shape_like shape{rows, 3};
        const array<double> wide = numbers<double>({2 * rows, 9});
        const auto strided = wide(slice(0, 2 * rows, 2), slice(1, 9, 3));
        const auto backwards = wide(slice(2 * rows - 1, none, -2), slice(8, 5, -1));
        const array<double> columns = numbers<double>({3, rows});
        const array<double> fs = flat<double>(strided, shape), fr = flat<double>(backwards, shape);
        const array<double> ft = flat<double>(transpose(columns), shape);
        const array<double> expected = eval(log(fs + fr) * ft);
        CAPTURE(rows);
        CHECK(bytes_of<double>(eval(log(strided + backwards) * transpose(columns))) == bytes_of(expected));
        array<double> into = wide;
        into(slice(0, 2 * rows, 2), slice(1, 9, 3)) = log(strided + backwards) * transpose(columns);
        CHECK(bytes_of<double>(eval(into(slice(0, 2 * rows, 2), slice(1, 9, 3)))) == bytes_of(expected));
        CHECK(bytes_of<double>(eval(into(slice(1, 2 * rows, 2), all))) ==
              bytes_of<double>(eval(wide(slice(1, 2 * rows, 2), all))));
        array<double> m = numbers<double>(shape);
        const array<double> before = flat<double>(m, shape);
        m += exp(m) * array<double>{1, 2, 3};
        CHECK(bytes_of(m) ==
              bytes_of<double>(eval(before + exp(before) * flat<double>(array<double>{1, 2, 3}, shape))));
        const auto [sum, logs] = eval(strided + backwards, log(strided * backwards));
        CHECK(bytes_of(sum) == bytes_of<double>(eval(fs + fr)));
        CHECK(bytes_of(logs) == bytes_of<double>(eval(log(fs * fr))));
    }
    CHECK(eval(log(zeros<double>({0, 3}) + array<double>{1, 2, 3})).size() == 0);
}

TEST_CASE("random leaves of short rows are those of a run of memory") {
    const with_device host(device::host());
    for (const index_t n : {1, 2, 3, 31, 33, 200}) {
        random::seed(5);
        const array<double> got = random::normal<double>({130, n}) * (zeros<double>({n}) + 1);
        random::seed(5);
        CHECK(bytes_of(got) == bytes_of<double>(random::normal<double>({130 * n}).eval()));
    }
}

TEST_CASE_TEMPLATE("a random number has its bits wherever a view begins and however it steps", T, float, double) {
    const with_device host(device::host());
    random::generator g(11);
    const auto check = [](const auto& leaf) {  // of 40 rows of 25
        const array<T> whole = leaf;
        for (const index_t first : {0, 1, 2, 3, 5})
            for (const index_t n : {1, 4, 15, 17}) {
                const auto part = [&](const auto& x) { return x(ellipsis, slice(first, first + n)); };
                CHECK(bytes_of<T>(part(leaf).eval()) == bytes_of<T>(part(whole).eval()));
                // A number alone is computed by the scalar function, which is as near but need not be the same.
                if (n == 1)
                    CHECK(allclose(part(leaf(7)), part(whole(7)), 4.0 * std::numeric_limits<T>::epsilon(), 0.0).item());
                else
                    CHECK(bytes_of<T>(part(leaf(7)).eval()) == bytes_of<T>(part(whole(7)).eval()));
            }
        CHECK(bytes_of<T>(transpose(leaf).eval()) == bytes_of<T>(transpose(whole).eval()));
        const auto back = [](const auto& x) { return x(3)(slice(none, none, -2)); };
        CHECK(bytes_of<T>(back(leaf).eval()) == bytes_of<T>(back(whole).eval()));
    };
    check(g.uniform<T>({40, 25}));
    check(g.normal<T>({40, 25}));
}

TEST_CASE("a reshape's digits and choices in short rows") {
    const with_device host(device::host());
    const array<double> x = numbers<double>({3, 401}), v{0.5, 1.0, 1.5};
    const array<double> y = reshape(transpose(x), {-1, 3}).eval();
    CHECK(bytes_of<double>(eval(log(reshape(transpose(x), {-1, 3}) + v))) == bytes_of<double>(eval(log(y + v))));
    const array<double> chosen = where(y > v, log(y), exp(v));
    const array<double> fy = flat<double>(y, {401, 3}), fv = flat<double>(v, {401, 3});
    CHECK(bytes_of(chosen) == bytes_of<double>(eval(where(fy > fv, log(fy), exp(fv)))));
}

TEST_CASE("folds and row programs whose rows lie beside each other along a short axis") {
    const with_device host(device::host());
    for (const index_t rows : {1, 2, 85, 86, 200})
        for (const index_t inner : {1, 2, 3, 5, 31})
            for (const index_t folded : {2, 10, 32}) {
                const array<double> q = numbers<double>({rows, folded, inner});
                const array<double> turned = transpose(q, {0, 2, 1}).eval();
                const array<double> apart = reshape(turned, {-1, folded}).eval();  // a row in one run of memory
                CAPTURE(rows);
                CAPTURE(inner);
                CAPTURE(folded);
                CHECK(bytes_of<double>(eval(sum(exp(q), 1))) == bytes_of<double>(eval(sum(exp(apart), 1))));
                CHECK(argmax(q, 1).eval().to_host() == argmax(apart, 1).eval().to_host());
                const array<double> softmax =
                    exp(q - max(q, 1, keepdims)) / sum(exp(q - max(q, 1, keepdims)), 1, keepdims);
                const array<double> of_rows =
                    exp(apart - max(apart, 1, keepdims)) / sum(exp(apart - max(apart, 1, keepdims)), 1, keepdims);
                CHECK(bytes_of<double>(eval(transpose(softmax, {0, 2, 1}))) == bytes_of(of_rows));
                const array<double> x = numbers<double>({rows, 1, folded}), w = numbers<double>({inner, folded});
                const array<double> whole = eval(reshape(x + zeros<double>({inner, folded}), {-1, folded}));
                const array<double> weights = eval(reshape(zeros<double>({rows, 1, 1}) + w, {-1, folded}));
                CHECK(bytes_of<double>(eval(sum(exp(x * w), 2))) ==
                      bytes_of<double>(eval(sum(exp(whole * weights), 1))));
            }
}

TEST_CASE("a fold over runs that are short") {
    const with_device host(device::host());
    for (const index_t n : {1, 2, 3, 31, 100}) {
        const array<double> m = numbers<double>({257, n}), v = numbers<double>({n});
        CHECK(bytes_of<double>(eval(sum(log(m + v)))) ==
              bytes_of<double>(eval(sum(log(flat<double>(m, {257, n}) + flat<double>(v, {257, n}))))));
    }
}

TEST_CASE("no lane of a short row is computed in a strip of its own") {
    const with_device host(device::host());
    const array<double> m = numbers<double>({1000, 2}), v{1, 2};
    const std::string of_logs = source(log(m + v)), of_sums = source(sum(exp(numbers<double>({1000, 10, 3})), 1));
    for (const std::string& text : {of_logs, of_sums}) {
        CHECK(text.find("for (uint32 start = strips.first(from); start < to;") != std::string::npos);
        CHECK(text.find("vector < m; vector += 8") != std::string::npos);
        CHECK(text.find("j < 256") == std::string::npos);
    }
    CHECK(source(log(numbers<double>({1000, 40}) + numbers<double>({40}))).find("vector < m; vector += 8") !=
          std::string::npos);
}
