// A reshape whose axes merge is a view of its operand: operations that do not fuse read it there, without a kernel or a
// copy.
#include <algorithm>

#include "tests/arrays/expect.hpp"
#include "tests/linalg/has_blas.hpp"
#include "tests/walls/count.hpp"

using namespace ingot;

namespace {

/// 0, 7, 14, ... modulo 64.
array<float> numbers(const shape_like& shape) {
    index_t n = 1;
    for (const index_t extent : shape) n *= extent;
    return array<float>(reshape(arange<float>(n) * 7 % 64, shape));
}

template <class F>
std::uint64_t bytes_allocated(F&& f) {
    const std::uint64_t before = counters().bytes_allocated;
    f();
    return counters().bytes_allocated - before;
}

}  // namespace

TEST_CASE("what a mask of several axes selects is copied from where it lies") {
    const array<float> x = numbers({256, 256});
    const array<bool> mask = (x < 2).eval();
    const std::vector<float> values = x.to_host();
    std::vector<float> wanted;
    for (const float v : values)
        if (v < 2) wanted.push_back(v);
    const array<float> flat = array<float>(ravel(x)), inner = x(slice(2, -2), slice(3, none));
    const array<bool> flat_mask = array<bool>(ravel(mask));
    array<float> kept, extracted, chosen, part;
    array<index_t> places;
    const std::uint64_t bytes = bytes_allocated([&] {
        CHECK(launches([&] {
                  kept = x(mask);
                  extracted = extract(mask, x);
                  chosen = compress(flat_mask, x);
                  part = x(slice(64, 128), all)(mask(slice(64, 128), all));
                  places = flatnonzero(mask);
              }) == 0);
    });
    const std::uint64_t a_mask = 256 * 256;  // less than a copy of it for each of those that take it whole
    CHECK(bytes < 2 * a_mask);
    CHECK(kept.to_host() == wanted);
    CHECK(extracted.to_host() == wanted);
    CHECK(chosen.to_host() == wanted);
    CHECK(take(flat, places, 0).to_host() == wanted);
    CHECK(array<float>(x(slice(64, 128), all)).to_host() ==
          std::vector<float>(values.begin() + 64 * 256, values.begin() + 128 * 256));
    CHECK(part.size() == count_nonzero(mask(slice(64, 128), all)).item());
    CHECK(compress(array<bool>{true, false, true}, flat).to_host() == std::vector<float>{0, 14});
    // Other layouts can be selected from too.
    const auto across = transpose(x);
    CHECK(across(transpose(mask)).size() == kept.size());
    CHECK(sum(x(slice(2, -2), slice(3, none))(inner < 2)).item() == sum(where(inner < 2, inner, 0.0f)).item());
    CHECK(array<float>()(array<bool>()).size() == 0);
    CHECK(zeros<float>({0, 3})(zeros<bool>({0, 3})).size() == 0);
}

TEST_CASE("an array of a reshape shares its memory until one of the two is written") {
    const array<float> x = numbers({4, 6});
    array<float> y, z;
    CHECK(launches([&] {
              y = array<float>(reshape(x, {3, 8, 1}));
              z = array<float>(lazy<float>(ravel(x)));
              CHECK(reshape(x, {2, 12}).to_host() == x.to_host());
          }) == 0);
    CHECK(y.data() == x.data());
    CHECK(z.data() == x.data());
    CHECK(y.strides() == array<float>(ones<float>({3, 8, 1})).strides());
    y += 1;
    CHECK(y.data() != x.data());
    CHECK(y.to_host() == array<float>(x + 1).to_host());
    CHECK(z.to_host() == x.to_host());
}

TEST_CASE("libraries take reshapes from where their operands lie, and write into reshaped results") {
    const array<float> x = numbers({12, 10});
    array<float> sorted, columns;
    CHECK(launches([&] { sorted = array<float>(sort(ravel(x))); }) == 0);
    std::vector<float> wanted = x.to_host();
    std::ranges::sort(wanted);
    CHECK(sorted.to_host() == wanted);
    CHECK(launches([&] { columns = array<float>(sort(reshape(x, {6, 20}), 1)); }) == 0);
    CHECK(columns.to_host() == sort(array<float>(reshape(x, {6, 20}) + 0)).to_host());
    CHECK(launches([&] { columns = array<float>(reshape(sort(ravel(x)), {6, 20})); }) == 0);
    CHECK(columns.to_host() == wanted);
    CHECK(launches([&] { sorted = array<float>(sort(astype<float>(x))); }) == 0);
    CHECK(sorted.to_host() == sort(x).to_host());
    if (!test::has_blas()) return;
    const array<float> b = numbers({20, 3});
    const array<float> product = matmul(array<float>(reshape(x, {6, 20}) + 0), b);
    array<float> flat;
    CHECK(launches([&] { flat = array<float>(ravel(matmul(reshape(x, {6, 20}), b))); }) == 0);
    CHECK(flat.to_host() == product.to_host());
}
