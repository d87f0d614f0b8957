// Random numbers of cuRAND's generators, for agreement with other programs that use them, or for sequences of low
// discrepancy. A call fills an array at once; `random::generator` makes expressions, which take no memory, and needs no
// library.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>

#include <ingot/core/creation.hpp>
#include <ingot/core/random.hpp>

namespace ingot {

namespace runtime {
class curand_state;
}

namespace random {

/// cuRAND's generators: xorwow and mrg32k3a are pseudo-random; sobol is quasi-random, with 32-bit numbers.
enum class curand_kind : std::uint8_t { xorwow, mrg32k3a, sobol };
/// Short names of cuRAND's generators.
inline constexpr curand_kind xorwow = curand_kind::xorwow, mrg32k3a = curand_kind::mrg32k3a, sobol = curand_kind::sobol;

}  // namespace random

namespace detail {

/// The distribution to draw, and its two parameters.
struct curand_draw {
    enum class distribution : std::uint8_t { bits, uniform, normal, lognormal, poisson } of;
    double first = 0, second = 0;
};

}  // namespace detail

namespace random {

/// Element types that cuRAND draws: float32 and float64.
template <class T>
concept curand_element = std::same_as<T, float> || std::same_as<T, double>;

/// One of cuRAND's generators (`xorwow`, `mrg32k3a`, `sobol`), on the device that is current when it is made. On a GPU
/// cuRAND works on the stream that is current at a call; on the host cuRAND's own host generator needs no GPU. A call
/// fills an array with the next numbers, as cuRAND's C functions do. Several threads may call it, one after the other.
///
/// sobol has points of `dimensions` coordinates, 1 to 20000, and its seed is the number of the first point. With
/// several dimensions an array's first axis is that of the coordinates: shape {dimensions, points}.
///
/// Throws library_error where cuRAND is missing or fails, error where there are no such dimensions, device_error where
/// a graph is recorded.
///
///     random::curand_generator g(7, random::xorwow), same(7, random::xorwow);
///     array<float> x = g.normal<float>({1000});
///     std::cout << array_equal(x, same.normal<float>({1000})) << array_equal(x, g.normal<float>({1000})) << '\n';
///     g.seed(7);
///     std::cout << g.bits<std::uint32_t>({4}) << ' ' << g.poisson(4, {4}) << '\n';
///     std::cout << all(g.lognormal<double>({100}) > 0) << ' ' << (g.kind() == random::xorwow) << '\n';
///     random::curand_generator points(1, random::sobol, 2);
///     std::cout << points.uniform<float>({2, 4}) << (device(points.device()) == current_device());
///     // prints: TrueFalse
///     //         [1294048771 1299393676   73050411 1232676824] [2 5 3 2]
///     //         True 1
///     //         [[0.5   0.75  0.25  0.375]
///     //          [0.5   0.25  0.75  0.375]]1
class INGOT_API curand_generator {
    // Declared before its callers, whose result types are deduced.
    void fill(const char* operation, detail::curand_draw, detail::buffer&, dtype, std::span<const index_t> shape);

    template <class T>
    array<T> filled(const char* operation, detail::curand_draw what, const shape_like& shape) {
        detail::check_extents(operation, shape.values());
        array<T> made(detail::adopted{}, detail::new_leaf<T>(operation, shape.values(), device()));
        if (made.size() != 0) fill(operation, what, *made.as_leaf().memory(), detail::dtype_of<T>, shape.values());
        return made;
    }

public:
    explicit curand_generator(std::uint64_t seed, curand_kind kind = xorwow, index_t dimensions = 1);
    curand_generator(const curand_generator&) = delete;
    curand_generator& operator=(const curand_generator&) = delete;
    ~curand_generator();

    /// The device on which it draws.
    ingot::device device() const noexcept;
    /// The kind of cuRAND's generator.
    curand_kind kind() const noexcept;

    /// Restarts with another seed; sobol restarts at the point of this number.
    void seed(std::uint64_t value);

    /// Words of 32 random bits; xorwow and mrg32k3a also give 64, as two of 32, the lower one first. Throws shape_error
    /// where an extent is negative or the first one is not sobol's dimensions, dtype_error where sobol should give 64
    /// bits.
    template <word_element T>
    array<T> bits(const shape_like& shape) {
        return filled<T>("bits", {detail::curand_draw::distribution::bits}, shape);
    }
    /// Uniform numbers as cuRAND draws them, without 0 and with 1: 0 < u <= 1. Throws shape_error as `bits`.
    template <curand_element T>
    array<T> uniform(const shape_like& shape) {
        return filled<T>("uniform", {detail::curand_draw::distribution::uniform}, shape);
    }
    /// Normal numbers of this mean and deviation. xorwow and mrg32k3a draw them in pairs: for an odd number one is
    /// discarded. Throws shape_error as `bits`, dtype_error where a parameter is not finite or the deviation is
    /// negative.
    template <curand_element T>
    array<T> normal(const shape_like& shape, double mean = 0, double deviation = 1) {
        return filled<T>("normal", {detail::curand_draw::distribution::normal, mean, deviation}, shape);
    }
    /// Numbers whose logarithm is normal, of this mean and deviation. Throws as `normal`.
    template <curand_element T>
    array<T> lognormal(const shape_like& shape, double mean = 0, double deviation = 1) {
        return filled<T>("lognormal", {detail::curand_draw::distribution::lognormal, mean, deviation}, shape);
    }
    /// The number of events where `lam` are expected, as cuRAND's words. Throws shape_error as `bits`, dtype_error
    /// where lam is not positive and finite.
    array<std::uint32_t> poisson(double lam, const shape_like& shape);

private:
    runtime::curand_state* state_;  // owned
};

}  // namespace random
}  // namespace ingot
