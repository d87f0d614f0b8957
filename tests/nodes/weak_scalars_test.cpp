// All comparisons of arrays of one dtype with a number are one C++ type, whatever the number's kind and range: the
// dtype of the comparison is determined at each evaluation.
#include <doctest/doctest.h>

#include <cstdint>
#include <variant>
#include <vector>

#include <ingot/ingot.hpp>

using namespace ingot;

namespace {

using number = std::variant<bool, int, std::int64_t, std::uint64_t, float, double>;

const std::vector<number> numbers{3,    3.5,  2.5f, true, 100, 300, -1, std::int64_t{1} << 40, ~std::uint64_t{0},
                                  1e20, -0.5, 5.0};

/// The six comparisons of v with every number, each after every other one of the same type.
template <class T, class Compare>
std::size_t wrong_after_another(Compare compare) {
    const std::vector<T> elements{0, 1, 2, 3, 4, 5};
    const array<T> v = asarray(elements);
    std::size_t wrong = 0;
    for (const number& first : numbers)
        for (const number& second : numbers) {
            const auto answer = [&](const number& t) {
                return std::visit([&](auto n) { return array<bool>(compare(v, n)).to_host(); }, t);
            };
            static_cast<void>(answer(first));
            const std::vector<bool> got = answer(second);
            for (std::size_t i = 0; i < elements.size(); ++i)
                wrong += got[i] !=
                         std::visit(
                             [&](auto n) {
                                 return compare(static_cast<long double>(elements[i]), static_cast<long double>(n));
                             },
                             second);
        }
    return wrong;
}

template <class T>
void compare_all() {
    CHECK(wrong_after_another<T>([](const auto& v, auto n) { return v > n; }) == 0);
    CHECK(wrong_after_another<T>([](const auto& v, auto n) { return v >= n; }) == 0);
    CHECK(wrong_after_another<T>([](const auto& v, auto n) { return v < n; }) == 0);
    CHECK(wrong_after_another<T>([](const auto& v, auto n) { return v <= n; }) == 0);
    CHECK(wrong_after_another<T>([](const auto& v, auto n) { return v == n; }) == 0);
    CHECK(wrong_after_another<T>([](const auto& v, auto n) { return v != n; }) == 0);
}

}  // namespace

TEST_CASE_TEMPLATE("a comparison with a number is never taken for one with a number of another kind or range", T,
                   std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t, std::int64_t,
                   std::uint64_t) {
    compare_all<T>();
}

TEST_CASE("maps that contain a comparison are told apart by its number too") {
    const array<int> v{0, 1, 2, 3, 4, 5};
    const auto picked = [&](auto n) { return array<int>(where(v > n, v, -v)).to_host(); };
    CHECK(picked(3.5) == std::vector<int>{0, -1, -2, -3, 4, 5});
    CHECK(picked(2) == std::vector<int>{0, -1, -2, 3, 4, 5});
    CHECK(picked(-1e9) == std::vector<int>{0, 1, 2, 3, 4, 5});
    CHECK(picked(std::int64_t{1} << 40) == std::vector<int>{0, -1, -2, -3, -4, -5});
}

TEST_CASE("a lazy compared with numbers of any kind is told apart by them too") {
    const array<int> v{0, 1, 2, 3, 4, 5};
    const auto above = [&](auto n) {
        const lazy<int> shifted = v + 0;
        const lazy<bool> b = shifted > n;
        return array<bool>(b).to_host();
    };
    CHECK(above(3.5) == std::vector<bool>{false, false, false, false, true, true});
    CHECK(above(3) == std::vector<bool>{false, false, false, false, true, true});
    CHECK(above(2) == std::vector<bool>{false, false, false, true, true, true});
    CHECK(above(2.5f) == std::vector<bool>{false, false, false, true, true, true});
    CHECK(above(-1) == std::vector<bool>(6, true));
    CHECK(above(std::int64_t{1} << 40) == std::vector<bool>(6, false));
}
