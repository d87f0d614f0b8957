// Windows that overlap, neighbours of narrow elements, and folds of pairs: each against loops on the host. On CUDA a
// thread loads the windows of its elements at once, rows of bytes are cast as they are read, rows that begin anywhere
// are stored by aligned vectors, and lanes share the folds of several results.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <ingot/ingot.hpp>

using namespace ingot;

namespace {

template <class T>
std::vector<double> host_of(const array<T>& x) {
    return array<double>(astype<double>(x)).to_host();
}

/// The greatest difference from `wanted`.
template <class T>
double error_of(const array<T>& got, const std::vector<double>& wanted) {
    const std::vector<double> values = host_of(got);
    REQUIRE(values.size() == wanted.size());
    double worst = 0;
    for (std::size_t i = 0; i < values.size(); ++i) worst = std::max(worst, std::abs(values[i] - wanted[i]));
    return worst;
}

template <class T>
array<T> drawn(const shape_like& shape) {
    if constexpr (std::is_same_v<T, bool>)
        return random::uniform<float>(shape) > 0.8f;
    else if constexpr (std::is_integral_v<T>)
        return random::integers<T>(0, 100, shape);
    else
        return astype<T>(random::uniform<float>(shape));
}

template <class T>
void check_windows(double tolerance) {
    const array<T> x = drawn<T>({1203});
    const std::vector<double> all_of_them = host_of(x);
    for (const index_t width : {3, 16})
        for (const index_t begin : {0, 1, 2}) {
            const auto part = x(slice(begin, none));
            const auto windows = sliding_window_view(part, width);
            std::vector<double> greatest, total;
            for (auto first = static_cast<std::size_t>(begin);
                 first + static_cast<std::size_t>(width) <= all_of_them.size(); ++first) {
                const auto at = all_of_them.begin() + static_cast<std::ptrdiff_t>(first);
                greatest.push_back(*std::max_element(at, at + width));
                total.push_back(std::accumulate(at, at + width, 0.0));
            }
            CAPTURE(width);
            CAPTURE(begin);
            CHECK(error_of(array<T>(max(windows, -1)), greatest) == 0);
            CHECK(error_of(array<double>(sum(astype<double>(windows), -1)), total) <= tolerance);
        }
}

/// The sum of a three by three neighbourhood of elements cast to float, cast back: at most 900, of bytes saturated.
template <class T>
void check_neighbours(index_t rows, index_t columns, double most, double tolerance) {
    const array<T> x = drawn<T>({rows, columns});
    const std::vector<double> values = host_of(x);
    const slice parts[] = {slice(0, -2), slice(1, -1), slice(2, none)};
    const auto f = astype<float>(x);
    lazy<float> total = f(parts[0], parts[0]);
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            if (i + j > 0) total = total + f(parts[i], parts[j]);
    std::vector<double> wanted;
    for (index_t r = 0; r + 2 < rows; ++r)
        for (index_t c = 0; c + 2 < columns; ++c) {
            double sum = 0;
            for (index_t i = 0; i < 3; ++i)
                for (index_t j = 0; j < 3; ++j) sum += values[static_cast<std::size_t>((r + i) * columns + c + j)];
            wanted.push_back(std::min(sum, most));
        }
    CAPTURE(columns);
    CHECK(error_of(array<T>(astype<T>(total)), wanted) <= tolerance);
}

}  // namespace

TEST_CASE("folds over windows of a vector that begins anywhere") {
    check_windows<float>(1e-4);
    check_windows<std::uint8_t>(0);
    check_windows<double>(1e-12);
}

TEST_CASE("folds over windows of elements without vectors, and of few results") {
    check_windows<bfloat16>(1e-12);
    check_windows<bool>(0);
    // Threads have all results of an innermost axis: 3, 5 and 7 of them.
    for (const index_t results : {3, 5, 7}) {
        const array<float> x = drawn<float>({50, results + 3});
        const std::vector<double> values = host_of(x);
        std::vector<double> wanted;
        for (index_t r = 0; r < 50; ++r)
            for (index_t c = 0; c < results; ++c) {
                const auto at = values.begin() + static_cast<std::ptrdiff_t>(r * (results + 3) + c);
                wanted.push_back(*std::max_element(at, at + 4));
            }
        CHECK(error_of(array<float>(max(sliding_window_view(x, 4, 1), 2)), wanted) == 0);
    }
}

TEST_CASE("folds over windows of two axes") {
    const index_t rows = 37, columns = 150;
    const array<float> x = drawn<float>({rows, columns});
    const std::vector<double> values = host_of(x);
    std::vector<double> wanted;
    for (index_t r = 0; r + 2 <= rows; ++r)
        for (index_t c = 0; c + 5 <= columns; ++c) {
            double greatest = 0;
            for (index_t i = 0; i < 2; ++i)
                for (index_t j = 0; j < 5; ++j)
                    greatest = std::max(greatest, values[static_cast<std::size_t>((r + i) * columns + c + j)]);
            wanted.push_back(greatest);
        }
    CHECK(error_of(array<float>(max(sliding_window_view(x, {2, 5}), {2, 3})), wanted) == 0);
}

TEST_CASE("neighbours in rows of every length, of narrow and wide elements") {
    for (const index_t columns : {1101, 1102, 1120}) {
        check_neighbours<std::uint8_t>(21, columns, 255, 0);
        check_neighbours<std::uint16_t>(19, columns, 65535, 0);
        check_neighbours<float>(19, columns, 1e9, 1e-5);
        check_neighbours<double>(11, columns, 1e9, 1e-5);  // summed in float
        check_neighbours<bfloat16>(11, columns, 1e9, 0.04);
    }
    check_neighbours<std::uint8_t>(40, 31, 255, 0);  // several rows a warp
}

TEST_CASE("folds of pairs, whose results share the operand that a loop reads") {
    const index_t results = 32770, folded = 1030;  // two results behind the last whole vector
    const array<float> x = drawn<float>({results, 3}), y = drawn<float>({folded, 3});
    const auto difference = x(all, newaxis) - y(newaxis);
    const array<float> least = min(sum(difference * difference, -1), 1);
    const std::vector<double> a = host_of(x), b = host_of(y), got = host_of(least);
    for (std::size_t r = 0; r < got.size(); r += r < 32000 ? 997 : 1) {
        double wanted = 1e9;
        for (std::size_t k = 0; k < static_cast<std::size_t>(folded); ++k) {
            double square = 0;
            for (std::size_t d = 0; d < 3; ++d) square += std::pow(a[3 * r + d] - b[3 * k + d], 2);
            wanted = std::min(wanted, square);
        }
        CHECK(got[r] == doctest::Approx(wanted).epsilon(1e-4));
    }
    if (current_device().is_cuda())
        CHECK(explain(min(sum(difference * difference, -1), 1)).kernels[0].shape.find("32 lanes") != std::string::npos);
}

TEST_CASE("folds over windows of windows of a value are those of an array") {
    const array<double> x = arange<double>(28) * 7.0 % 23.0;
    const auto sums = [](const lazy<double>& of, bool flipped) {
        const lazy<double> windows = sliding_window_view(sliding_window_view(of, 13, 0), 13, 0);
        const lazy<double> some = windows(all, slice(none, none, 3), slice(none, none, 6));
        return array<double>(
            sum(flipped ? lazy<double>(flip(some, 1)) * arange<double>(5)(all, newaxis) : some, {1, 2}));
    };
    const lazy<double> values[] = {roll(x, 3, 0),
                                   concatenate({lazy<double>(x(slice(9, none)) + 1), lazy<double>(x(slice(0, 9)))}, 0),
                                   pad(x(slice(2, -2)), 2, 1.0), cumsum(x)};
    for (const lazy<double>& of : values)
        for (const bool flipped : {false, true})
            CHECK(array_equal(sums(of, flipped), sums(array<double>(of), flipped)).item());
    CHECK(array_equal(sums(roll(x, 3, 0), false), array<double>{221, 165, 109, 202}).item());
}
