// bit_cast<T>(e): the bits of elements as another type of the same size, for arrays and for unevaluated expressions.
#include <doctest/doctest.h>

#include <bit>
#include <complex>
#include <cstdint>
#include <vector>

#include <ingot/ingot.hpp>

using namespace ingot;

namespace {

template <class T, class E>
concept has_bit_cast = requires(const E& e) { bit_cast<T>(e); };

static_assert(has_bit_cast<std::int32_t, array<float>> && has_bit_cast<double, array<std::complex<float>>>);
static_assert(!has_bit_cast<std::int32_t, array<double>> && !has_bit_cast<bool, array<std::uint8_t>>);

template <class To, class From>
void check(const std::vector<From>& values) {
    std::vector<To> wanted;
    for (const From v : values) wanted.push_back(std::bit_cast<To>(v));
    const array<From> x = asarray(values);
    CHECK(array<To>(bit_cast<To>(x)).to_host() == wanted);
    // For an expression the kernel reinterprets the values, which exist only within it.
    CHECK(array<To>(bit_cast<To>(where(x == x, x, x))).to_host() == wanted);
    CHECK(array<From>(bit_cast<From>(bit_cast<To>(x(slice(none, none, -1))))).to_host() ==
          std::vector<From>(values.rbegin(), values.rend()));
}

}  // namespace

TEST_CASE("bit_cast keeps every bit") {
    check<std::int32_t, float>({0, -0.0f, 1, -2.5f, 1e-45f, HUGE_VALF});
    check<float, std::uint32_t>({0, 0x80000000u, 0x3f800000u, 1});
    check<std::uint64_t, double>({0, -0.0, 1, 5e-324});
    check<std::uint16_t, float16>({float16(1), float16(-0.0f), float16::from_bits(1), float16(65504)});
    check<bfloat16, std::int16_t>({0, 1, -1 - 0x7fff, 0x3f80});
    check<bfloat16, float16>({float16(1), float16(2)});
    check<double, std::complex<float>>({{1, 2}, {0, -1}});
    check<std::complex<float>, std::int64_t>({0, 1, 0x3f80000040000000});
    check<std::uint8_t, std::int8_t>({0, -1, 127});
    const array<bool> b{true, false};
    CHECK(array<std::uint8_t>(bit_cast<std::uint8_t>(b)).to_host() == std::vector<std::uint8_t>{1, 0});
}

TEST_CASE("bit_cast of an array is a view") {
    array<float> x{1, 2, 3, 4};
    const auto before = counters().kernel_launches;
    const auto bits = bit_cast<std::uint32_t>(x);
    CHECK(counters().kernel_launches == before);
    CHECK((bits >> 23).to_host() == std::vector<std::uint32_t>{127, 128, 128, 129});
    CHECK(counters().kernel_launches == before + 1);
    CHECK(sum(bits & 1u).item() == 0);
    // The result keeps the values that the operand had when it was written.
    x += 1;
    CHECK(bits.eval().to_host()[0] == 0x3f800000u);
}
