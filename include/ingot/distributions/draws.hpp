// Random numbers of the usual distributions, as expressions over a generator's leaves: they take no memory, fuse with
// the expressions around them, and give the same numbers however often they are evaluated and however they are viewed.
// The last arguments of a call are the numbers' shape and, unless it is the default one, the generator:
//
//   array<float> t = random::exponential<float>(2.0, {1000});
//   array<float> noisy = random::normal<float>(signal, 0.1, signal.shape(), g);
//
// A parameter is a number, or an expression that broadcasts to the shape. A number outside the distribution's domain
// throws dtype_error; an expression's values are not checked: they make NaN, or arbitrary integers.
//
// Distributions up to `geometric` transform a leaf, by the inverse of the distribution function except for the normal
// ones. Their integers and bools are the same on every target, as are uniforms whose high - low is a power of two;
// others agree within the ulps of their functions. Later distributions reject, in a loop that calls Philox: element i
// depends on seed, call and i alone, but a last bit that differs between targets may change a decision. They are texts,
// which the interpreter does not take.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include <ingot/core/composed_functions.hpp>
#include <ingot/core/functions.hpp>
#include <ingot/core/philox.hpp>
#include <ingot/core/random.hpp>
#include <ingot/core/scalar_functions.hpp>
#include <ingot/core/views.hpp>
#include <ingot/kernels/user_kernels.hpp>

namespace ingot {
namespace detail {

/// A parameter of a distribution: a real number, or an expression of them.
template <class P>
concept real_parameter = argument_like<P> && kind_of(type_of_argument<P>()) != kind::complex;
/// A parameter that is an integer, or an expression of them.
template <class P>
concept integer_parameter = real_parameter<P> && kind_of(type_of_argument<P>()) == kind::integer;

/// The domains of parameters.
enum class domain {
    number,
    finite,
    not_negative,
    positive,
    probability,
    positive_probability,
    above_one,
    below_one,
    count
};

/// Throws dtype_error where the parameter is outside the domain.
INGOT_API void check_parameter(const char* operation, const char* name, double given, domain wanted);
/// Throws dtype_error where the first is not less than the second, or not less or equal.
INGOT_API void check_order(const char* operation, const char* first_name, double first, const char* second_name,
                           double second, bool may_be_equal);
/// Throws dtype_error where the difference of two numbers is infinite in the type in which it is computed.
INGOT_API void check_width(const char* operation, double low, double high, double width);
[[noreturn]] INGOT_API void throw_bad_range(const char* operation, const std::string& low, const std::string& high,
                                            dtype of, bool endpoint);

/// Kernels of distributions by rejection.
using poisson_text = elementwise_kernel<"int64 number, double lam, uint64 seed, uint64 call", "double y">;
using gamma_text = elementwise_kernel<"int64 number, double k, uint64 seed, uint64 call", "double y">;
using beta_text = elementwise_kernel<"int64 number, double a, double b, uint64 seed, uint64 call", "double y">;
using binomial_text = elementwise_kernel<"int64 number, double n, double p, uint64 seed, uint64 call", "double y">;
INGOT_API const poisson_text& poisson_kernel();
INGOT_API const gamma_text& gamma_kernel();
INGOT_API const gamma_text& log_gamma_kernel();
INGOT_API const beta_text& beta_kernel();
INGOT_API const binomial_text& binomial_kernel();

/// The state of one call of a distribution with numbers of type T.
template <class T>
class draw {
public:
    using real = std::conditional_t<half_float<T> || std::same_as<T, float>, float, double>;
    using word = std::conditional_t<sizeof(real) == 4, std::uint32_t, std::uint64_t>;

    draw(const char* operation, const shape_like& shape, random::generator& g)
        : operation_(operation), shape_(shape), generator_(g) {
        check_extents(operation, shape.values());
    }

    /// The parameter as P: a number, or an expression of the shape.
    template <class P, class A>
    auto as(const char* name, const A& given, domain wanted) const {
        if constexpr (array_expression<A>) {
            return converted<P>(viewed_to_read(given, view_broadcast, operation_, shape_.values()));
        } else {
            check_parameter(operation_, name, static_cast<double>(given), wanted);
            return static_cast<P>(given);
        }
    }
    template <class A>
    auto parameter(const char* name, const A& given, domain wanted = domain::finite) const {
        return as<real>(name, given, wanted);
    }
    template <class A, class B>
    void ordered(const char* first_name, const A& first, const char* second_name, const B& second,
                 bool may_be_equal = false) const {
        if constexpr (!array_expression<A> && !array_expression<B>)
            check_order(operation_, first_name, static_cast<double>(first), second_name, static_cast<double>(second),
                        may_be_equal);
    }

    /// The difference of `high` and `low`, both numbers or expressions of the shape.
    template <class A, class B>
    auto width(const A& low, const B& high) const {
        if constexpr (!array_expression<A> && !array_expression<B>)
            check_width(operation_, static_cast<double>(low), static_cast<double>(high),
                        static_cast<double>(high - low));
        return high - low;
    }

    template <class W = word>
    auto bits() const {
        return generator_.bits<W>(shape_);
    }
    auto normal() const { return generator_.normal<real>(shape_); }
    /// Uniform numbers, 0 <= u < 1.
    auto uniform() const { return generator_.uniform<real>(shape_); }
    /// 0 < u <= 1, with 32 or 53 bits: the finer the nearer to 0, where a logarithm needs it.
    auto above_zero() const { return above_zero_of(bits(), std::numeric_limits<word>::digits); }
    /// 0 < u < 1.
    auto inside() const { return ingot::minimum(above_zero(), 1 - std::numeric_limits<real>::epsilon() / 2); }
    /// 0 < u <= 1, and a separate sign.
    auto above_zero_and_sign() const {
        const auto words = bits();
        const auto sign = 1 - 2 * ingot::astype<real>(words & word{1});
        return std::pair(above_zero_of(words >> word{1}, std::numeric_limits<word>::digits - 1), sign);
    }
    auto exponential() const { return -ingot::log(above_zero()); }

    /// Calls a kernel by rejection with the elements' numbers, the parameters, and this call's seed and number.
    template <class K, class... P>
    auto by(const K& kernel, const P&... parameters) const {
        const random_call call = generator_.bits<std::uint64_t>(shape_).call();
        return kernel(positions(), parameters..., call.seed, call.number);
    }

    /// The numbers, of type T.
    template <class E>
    static auto numbers(E&& e) {
        return converted<T>(std::forward<E>(e));
    }

private:
    template <class P, class E>
    static auto converted(E&& e) {
        if constexpr (std::remove_cvref_t<E>::type == dtype_of<P>)
            return std::forward<E>(e);
        else
            return ingot::astype<P>(std::forward<E>(e));
    }
    /// 0 < u <= 1 from words of this many bits; the products are exact.
    template <class E>
    static auto above_zero_of(const E& words, int bits) {
        if constexpr (sizeof(real) == 4) {
            const float unit = bits == 32 ? 0x1p-32f : 0x1p-31f;
            return ingot::astype<float>(words) * unit + unit / 2;
        } else {
            return ingot::astype<double>(words >> static_cast<word>(bits - 53)) * 0x1p-53 + 0x1p-54;
        }
    }
    /// The elements' numbers, on the device of the other leaves.
    auto positions() const {
        return random_leaf<index_t, generator_kind::position>({0, 0}, contiguous_layout(shape_.values()));
    }

    const char* operation_;
    const shape_like& shape_;
    random::generator& generator_;
};

/// An integer, or an expression of them, as a word modulo 2^64.
template <class A>
auto as_word(const char* operation, const A& given, const shape_like& shape) {
    if constexpr (array_expression<A>)
        return ingot::astype<std::uint64_t>(viewed_to_read(given, view_broadcast, operation, shape.values()));
    else
        return static_cast<std::uint64_t>(given);
}

/// The lower half of a 64-bit word.
template <class A>
auto as_32_bits(const A& given) {
    if constexpr (array_expression<A>)
        return ingot::astype<std::uint32_t>(given);
    else
        return static_cast<std::uint32_t>(given);
}

/// Throws dtype_error where numbers are no range of T.
template <class T, class L, class H>
void check_range(const char* operation, const L& low, const H& high, bool endpoint) {
    const auto last_fits = [endpoint](auto to, auto most) {
        return endpoint ? std::cmp_less_equal(to, most) : std::cmp_less_equal(to, most) || std::cmp_equal(to - 1, most);
    };
    bool good = true;
    std::string from = "low", to = "high";
    if constexpr (!array_expression<L>) {
        from = std::to_string(+low);
        good = std::in_range<T>(+low);
    }
    if constexpr (!array_expression<H>) {
        to = std::to_string(+high);
        good = good && std::cmp_greater_equal(+high, std::numeric_limits<T>::min()) &&
               last_fits(+high, std::numeric_limits<T>::max());
    }
    if constexpr (!array_expression<L> && !array_expression<H>)
        good = good && (endpoint ? std::cmp_less_equal(+low, +high) : std::cmp_less(+low, +high));
    if (!good) throw_bad_range(operation, from, to, dtype_of<T>, endpoint);
}

template <class T, class L, class H>
auto integers(const L& low, const H& high, const shape_like& shape, bool endpoint, random::generator& g) {
    constexpr const char* operation = "integers";
    constexpr bool known = !array_expression<L> && !array_expression<H>;
    check_extents(operation, shape.values());
    check_range<T>(operation, low, high, endpoint);
    const auto first = as_word(operation, low, shape);
    const auto range = as_word(operation, high, shape) - first + static_cast<std::uint64_t>(endpoint);
    if constexpr (sizeof(T) == 4 && known) {
        random_call call = g.bits<deferred<std::uint32_t, T>>(shape).call();
        call.last = static_cast<std::uint32_t>(range - 1);
        const random_leaf<std::uint32_t, generator_kind::integers> drawn(call, contiguous_layout(shape.values()));
        return ingot::astype<T>(drawn + as_32_bits(first));
    } else if constexpr (sizeof(T) <= 2) {
        const auto words = g.bits<deferred<std::uint32_t, T>>(shape);
        const auto scaled = apply_operator<op::multiply_high>(words, as_32_bits(range));
        return ingot::astype<T>(scaled + as_32_bits(first));
    } else if constexpr (sizeof(T) == 4) {
        // As the leaf above, for a range that an expression holds: modulo 2^32, where 0 stands for 2^32.
        const auto upper = g.bits<deferred<std::uint32_t, T>>(shape);
        layout further = upper.where();
        further.offset += static_cast<index_t>(philox::lower_half);
        const random_leaf<std::uint32_t, generator_kind::bits> lower(upper.call(), std::move(further));
        const auto words =
            ingot::astype<std::uint64_t>(upper) << std::uint64_t{32} | ingot::astype<std::uint64_t>(lower);
        const auto size = ((range - std::uint64_t{1}) & std::uint64_t{0xffffffff}) + std::uint64_t{1};
        return ingot::astype<T>(apply_operator<op::scaled_word>(words, size) + first);
    } else {
        const auto words = g.bits<deferred<std::uint64_t, T>>(shape);
        const auto any = ingot::where(ingot::equal(range, std::uint64_t{0}), ~std::uint64_t{0}, std::uint64_t{0});
        const auto scaled = apply_operator<op::multiply_high>(words, range);
        return ingot::astype<T>((scaled | (words & any)) + first);  // 0 stands for 2^64
    }
}

}  // namespace detail

namespace random {

/// Element types of random integers.
template <class T>
concept integer_element = element_type<T> && std::integral<T> && !std::same_as<T, bool>;

// ---- uniform ----------------------------------------------------------------------------------------------------

/// Uniform numbers, low <= x < high except for rounding, of this shape. Throws dtype_error where numbers are not low <
/// high or high - low is infinite in T, shape_error where an extent is negative or an expression does not broadcast to
/// the shape.
///
///     random::seed(1);
///     array<float> x = random::uniform<float>(-1, array<float>{1, 3}, {1000, 2});
///     std::cout << all(x >= -1 && x < array<float>{1, 3}) << ' ' << (abs(mean(x) - 0.5) < 0.1);
///     // prints: True True
template <floating_element T, detail::real_parameter L, detail::real_parameter H>
auto uniform(const L& low, const H& high, const shape_like& shape, generator& g = default_generator(),
             const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    const detail::draw<T> d("uniform", shape, g);
    const auto from = d.parameter("low", low);
    const auto to = d.parameter("high", high);
    d.ordered("low", low, "high", high);
    return d.numbers(from + d.width(from, to) * d.uniform());
}

/// Integers, low <= x < high, or <= high where `endpoint`, of this shape. They are the high part of a random word times
/// the range: of 32 bits for types of 8 and 16, so that a value's probability is off by up to 2^-32; of 64 bits for
/// others, off by 2^-64, which matters for a range near 2^64. Throws dtype_error where numbers are no range of T, as is
/// an empty one, shape_error where an extent is negative or an expression does not broadcast to the shape. Expressions
/// are not checked: where high is not above low, x is any number of T, the same on every target.
///
///     random::generator g(5);
///     array<int> dice = random::integers<int>(1, 6, {1000}, true, g);
///     std::cout << min(dice) << ' ' << max(dice) << ' ' << (abs(mean(dice) - 3.5) < 0.2);
///     // prints: 1 6 True
template <integer_element T, detail::integer_parameter L, detail::integer_parameter H>
auto integers(const L& low, const H& high, const shape_like& shape, bool endpoint = false,
              generator& g = default_generator(), const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return detail::integers<T>(low, high, shape, endpoint, g);
}
template <integer_element T, detail::integer_parameter L, detail::integer_parameter H>
auto integers(const L& low, const H& high, const shape_like& shape, generator& g,
              const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return detail::integers<T>(low, high, shape, false, g);
}

/// True with probability p, of this shape: from a word of 32 bits, so that p is met within 2^-32. Throws dtype_error
/// where a number p is not 0 <= p <= 1, shape_error where an extent is negative or an expression does not broadcast to
/// it.
///
///     random::seed(1);
///     array<bool> heads = random::bernoulli(0.25, {10000});
///     std::cout << (abs(mean(heads) - 0.25) < 0.05);
///     // prints: True
template <detail::real_parameter P>
auto bernoulli(const P& p, const shape_like& shape, generator& g = default_generator(),
               const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    const detail::draw<detail::deferred<double, P>> d("bernoulli", shape, g);
    const auto chance = d.parameter("p", p, detail::domain::probability);
    return ingot::less(ingot::astype<double>(d.template bits<std::uint32_t>()) * 0x1p-32, chance);
}

// ---- normal -----------------------------------------------------------------------------------------------------

/// Normal numbers of mean 0 and deviation 1, of this shape. Throws shape_error where an extent is negative.
///
///     random::seed(1);
///     std::cout << (abs(stddev(random::standard_normal<double>({10000})) - 1) < 0.05);
///     // prints: True
template <floating_element T>
auto standard_normal(const shape_like& shape, generator& g = default_generator(),
                     const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return g.normal<T>(shape);
}

/// Normal numbers of mean `loc` and deviation `scale`, of this shape. Throws dtype_error where a number scale is
/// negative, shape_error where an extent is or an expression does not broadcast to the shape.
///
///     random::seed(1);
///     array<double> x = random::normal<double>(array<double>{{0}, {100}}, 2, {2, 10000});
///     std::cout << (abs(mean(x, 1) - array<double>{0, 100}) < 0.1) << ' ' << (abs(stddev(x(0)) - 2) < 0.1);
///     // prints: [ True  True] True
template <floating_element T, detail::real_parameter L, detail::real_parameter S>
auto normal(const L& loc, const S& scale, const shape_like& shape, generator& g = default_generator(),
            const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    const detail::draw<T> d("normal", shape, g);
    const auto mean = d.parameter("loc", loc);
    const auto deviation = d.parameter("scale", scale, detail::domain::not_negative);
    return d.numbers(mean + deviation * d.normal());
}

/// Numbers whose logarithms are normal, of mean `mean` and deviation `sigma`. Throws dtype_error where a number sigma
/// is negative, shape_error where an extent is or an expression does not broadcast to the shape.
///
///     random::seed(1);
///     array<double> x = random::lognormal<double>(1, 0.5, {10000});
///     std::cout << (abs(mean(log(x)) - 1) < 0.05);
///     // prints: True
template <floating_element T, detail::real_parameter M, detail::real_parameter S>
auto lognormal(const M& mean, const S& sigma, const shape_like& shape, generator& g = default_generator(),
               const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    const detail::draw<T> d("lognormal", shape, g);
    const auto centre = d.parameter("mean", mean);
    const auto width = d.parameter("sigma", sigma, detail::domain::not_negative);
    return d.numbers(ingot::exp(centre + width * d.normal()));
}

// ---- by the inverse of the distribution function -----------------------------------------------------------------

/// Exponential numbers of mean `scale`. Throws dtype_error where a number scale is negative, shape_error where an
/// extent is or an expression does not broadcast to the shape.
///
///     random::seed(1);
///     std::cout << (abs(mean(random::exponential<float>(3, {10000})) - 3) < 0.2);
///     // prints: True
template <floating_element T, detail::real_parameter S>
auto exponential(const S& scale, const shape_like& shape, generator& g = default_generator(),
                 const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    const detail::draw<T> d("exponential", shape, g);
    return d.numbers(d.parameter("scale", scale, detail::domain::not_negative) * d.exponential());
}

/// Exponential numbers on both sides of `loc`. Throws dtype_error where a number scale is negative, shape_error where
/// an extent is or an expression does not broadcast to the shape.
///
///     random::seed(1);
///     std::cout << (abs(mean(random::laplace<double>(5, 1, {10000})) - 5) < 0.1);
///     // prints: True
template <floating_element T, detail::real_parameter L, detail::real_parameter S>
auto laplace(const L& loc, const S& scale, const shape_like& shape, generator& g = default_generator(),
             const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    const detail::draw<T> d("laplace", shape, g);
    const auto centre = d.parameter("loc", loc);
    const auto width = d.parameter("scale", scale, detail::domain::not_negative);
    const auto [u, sign] = d.above_zero_and_sign();
    return d.numbers(centre - width * (sign * ingot::log(u)));
}

/// Numbers of the logistic distribution, 1 / (1 + exp((loc - x) / scale)). Throws dtype_error where a number scale is
/// negative, shape_error where an extent is or an expression does not broadcast to the shape.
///
///     random::seed(1);
///     std::cout << (abs(mean(random::logistic<double>(5, 1, {10000})) - 5) < 0.1);
///     // prints: True
template <floating_element T, detail::real_parameter L, detail::real_parameter S>
auto logistic(const L& loc, const S& scale, const shape_like& shape, generator& g = default_generator(),
              const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    const detail::draw<T> d("logistic", shape, g);
    const auto centre = d.parameter("loc", loc);
    const auto width = d.parameter("scale", scale, detail::domain::not_negative);
    const auto [u, sign] = d.above_zero_and_sign();
    return d.numbers(centre + width * (sign * ingot::log((2 - u) / u)));
}

/// Numbers of the Gumbel distribution, exp(-exp((loc - x) / scale)). Throws dtype_error where a number scale is
/// negative, shape_error where an extent is or an expression does not broadcast to the shape.
///
///     random::seed(1);
///     std::cout << (abs(mean(random::gumbel<double>(0, 1, {10000})) - 0.5772) < 0.1);
///     // prints: True
template <floating_element T, detail::real_parameter L, detail::real_parameter S>
auto gumbel(const L& loc, const S& scale, const shape_like& shape, generator& g = default_generator(),
            const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    const detail::draw<T> d("gumbel", shape, g);
    const auto mode = d.parameter("loc", loc);
    const auto width = d.parameter("scale", scale, detail::domain::not_negative);
    return d.numbers(mode - width * ingot::log(-ingot::log1p(-d.inside())));
}

/// Numbers of the Rayleigh distribution, 1 - exp(-(x / scale)^2 / 2). Throws dtype_error where a number scale is
/// negative, shape_error where an extent is or an expression does not broadcast to the shape.
///
///     random::seed(1);
///     std::cout << (abs(mean(random::rayleigh<double>(2, {10000})) - 2.5066) < 0.1);
///     // prints: True
template <floating_element T, detail::real_parameter S>
auto rayleigh(const S& scale, const shape_like& shape, generator& g = default_generator(),
              const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    const detail::draw<T> d("rayleigh", shape, g);
    return d.numbers(d.parameter("scale", scale, detail::domain::not_negative) * ingot::sqrt(2 * d.exponential()));
}

/// Numbers of the Weibull distribution, 1 - exp(-x^a). Throws dtype_error where a number a is not positive, shape_error
/// where an extent is negative or an expression does not broadcast to the shape.
///
///     random::seed(1);
///     std::cout << (abs(mean(random::weibull<double>(2, {10000})) - 0.8862) < 0.05);
///     // prints: True
template <floating_element T, detail::real_parameter A>
auto weibull(const A& a, const shape_like& shape, generator& g = default_generator(),
             const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    const detail::draw<T> d("weibull", shape, g);
    return d.numbers(ingot::power(d.exponential(), 1 / d.parameter("a", a, detail::domain::positive)));
}

/// Numbers of the Pareto distribution of the second kind, as in NumPy: 1 - (1 + x)^-a. Throws dtype_error where a
/// number a is not positive, shape_error where an extent is negative or an expression does not broadcast to the shape.
///
///     random::seed(1);
///     std::cout << (abs(mean(random::pareto<double>(5, {10000})) - 0.25) < 0.05);
///     // prints: True
template <floating_element T, detail::real_parameter A>
auto pareto(const A& a, const shape_like& shape, generator& g = default_generator(),
            const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    const detail::draw<T> d("pareto", shape, g);
    return d.numbers(ingot::expm1(d.exponential() / d.parameter("a", a, detail::domain::positive)));
}

/// Numbers from 0 to 1 with distribution function x^a. Throws dtype_error where a number a is not positive, shape_error
/// where an extent is negative or an expression does not broadcast to the shape.
///
///     random::seed(1);
///     std::cout << (abs(mean(random::power<double>(3, {10000})) - 0.75) < 0.05);
///     // prints: True
template <floating_element T, detail::real_parameter A>
auto power(const A& a, const shape_like& shape, generator& g = default_generator(),
           const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    const detail::draw<T> d("power", shape, g);
    return d.numbers(ingot::power(d.above_zero(), 1 / d.parameter("a", a, detail::domain::positive)));
}

/// Numbers of the Cauchy distribution, 1/2 + arctan(x) / pi, which have no mean. Throws shape_error where an extent is
/// negative.
///
///     random::seed(1);
///     std::cout << (abs(mean(random::standard_cauchy<double>({10000}) < 1) - 0.75) < 0.05);
///     // prints: True
template <floating_element T>
auto standard_cauchy(const shape_like& shape, generator& g = default_generator(),
                     const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    const detail::draw<T> d("standard_cauchy", shape, g);
    const auto [u, sign] = d.above_zero_and_sign();
    using real = typename detail::draw<T>::real;
    return d.numbers(sign / ingot::tan(static_cast<real>(1.57079632679489661923) * u));
}

/// Numbers from left to right whose density is a triangle with its top at `mode`. Throws dtype_error where numbers are
/// not left <= mode <= right with left < right or right - left is infinite in T, shape_error where an extent is
/// negative or an expression does not broadcast to the shape.
///
///     random::seed(1);
///     std::cout << (abs(mean(random::triangular<double>(0, 1, 5, {10000})) - 2) < 0.1);
///     // prints: True
template <floating_element T, detail::real_parameter L, detail::real_parameter M, detail::real_parameter R>
auto triangular(const L& left, const M& mode, const R& right, const shape_like& shape,
                generator& g = default_generator(), const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    const detail::draw<T> d("triangular", shape, g);
    const auto from = d.parameter("left", left);
    const auto top = d.parameter("mode", mode);
    const auto to = d.parameter("right", right);
    d.ordered("left", left, "mode", mode, true);
    d.ordered("mode", mode, "right", right, true);
    d.ordered("left", left, "right", right);
    const auto width = d.width(from, to);
    const auto rise = top - from;
    const auto u = d.uniform();
    return d.numbers(ingot::where(ingot::less(u * width, rise), from + ingot::sqrt(u * (width * rise)),
                                  to - ingot::sqrt((1 - u) * (width * (to - top)))));
}

/// The number of trials of probability p up to the first success: integers from 1. Throws dtype_error where a number p
/// is not 0 < p <= 1, shape_error where an extent is negative or an expression does not broadcast to the shape.
///
///     random::seed(1);
///     std::cout << (abs(mean(random::geometric(0.25, {10000})) - 4) < 0.3);
///     // prints: True
template <integer_element T = std::int64_t, detail::real_parameter P>
auto geometric(const P& p, const shape_like& shape, generator& g = default_generator(),
               const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    const detail::draw<detail::deferred<double, P>> d("geometric", shape, g);
    const auto chance = d.parameter("p", p, detail::domain::positive_probability);
    const auto trials = d.exponential() / -ingot::log1p(-chance);
    return ingot::astype<T>(ingot::maximum(ingot::ceil(trials), 1));
}

// ---- by rejection -----------------------------------------------------------------------------------------------

/// The number of events where `lam` are expected: integers from 0. Computed in float64. Throws dtype_error where a
/// number lam is negative, shape_error where an extent is or an expression does not broadcast to the shape.
///
///     random::seed(1);
///     std::cout << (abs(mean(random::poisson(array<double>{2, 200}, {10000, 2})) - 101) < 1);
///     // prints: True
template <integer_element T = std::int64_t, detail::real_parameter L>
auto poisson(const L& lam, const shape_like& shape, generator& g = default_generator(),
             const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    const detail::draw<detail::deferred<double, L>> d("poisson", shape, g);
    return ingot::astype<T>(d.by(detail::poisson_kernel(), d.parameter("lam", lam, detail::domain::not_negative)));
}

/// The number of successes in n trials of probability p: integers from 0 to n. Computed in float64. Throws dtype_error
/// where a number n is negative or p not 0 <= p <= 1, shape_error where an extent is negative or an expression does not
/// broadcast to the shape.
///
///     random::seed(1);
///     std::cout << (abs(mean(random::binomial(100, array<double>{0.01, 0.5}, {10000, 2})) - 25.5) < 0.5);
///     // prints: True
template <integer_element T = std::int64_t, detail::integer_parameter N, detail::real_parameter P>
auto binomial(const N& n, const P& p, const shape_like& shape, generator& g = default_generator(),
              const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    const detail::draw<detail::deferred<double, N>> d("binomial", shape, g);
    const auto trials = d.parameter("n", n, detail::domain::count);
    const auto chance = d.parameter("p", p, detail::domain::probability);
    return ingot::astype<T>(d.by(detail::binomial_kernel(), trials, chance));
}

/// Numbers of the gamma distribution with this shape parameter and scale, of mean k * scale. Computed in float64.
/// Throws dtype_error where a number k is not positive or a number scale negative, shape_error where an extent is
/// negative or an expression does not broadcast to the shape.
///
///     random::seed(1);
///     std::cout << (abs(mean(random::gamma<double>(3, 2, {10000})) - 6) < 0.3);
///     // prints: True
template <floating_element T, detail::real_parameter K, detail::real_parameter S>
auto gamma(const K& k, const S& scale, const shape_like& shape, generator& g = default_generator(),
           const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    const detail::draw<detail::deferred<double, K>> d("gamma", shape, g);
    const auto of = d.parameter("k", k, detail::domain::positive);
    const auto times = d.parameter("scale", scale, detail::domain::not_negative);
    return detail::draw<T>::numbers(times * d.by(detail::gamma_kernel(), of));
}

/// Sums of squares of df normal numbers, df being any positive number. Computed in float64. Throws dtype_error where a
/// number df is not positive, shape_error where an extent is negative or an expression does not broadcast to the shape.
///
///     random::seed(1);
///     std::cout << (abs(mean(random::chisquare<double>(3, {10000})) - 3) < 0.2);
///     // prints: True
template <floating_element T, detail::real_parameter D>
auto chisquare(const D& df, const shape_like& shape, generator& g = default_generator(),
               const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    const detail::draw<detail::deferred<double, D>> d("chisquare", shape, g);
    const auto freedom = d.parameter("df", df, detail::domain::positive);
    return detail::draw<T>::numbers(2 * d.by(detail::gamma_kernel(), freedom / 2));
}

/// Numbers from 0 to 1 with density proportional to x^(a - 1) (1 - x)^(b - 1), of mean a / (a + b). Computed in
/// float64. Throws dtype_error where a number a or b is not positive, shape_error where an extent is negative or an
/// expression does not broadcast to the shape.
///
///     random::seed(1);
///     std::cout << (abs(mean(random::beta<double>(1, 3, {10000})) - 0.25) < 0.05);
///     // prints: True
template <floating_element T, detail::real_parameter A, detail::real_parameter B>
auto beta(const A& a, const B& b, const shape_like& shape, generator& g = default_generator(),
          const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    const detail::draw<detail::deferred<double, A>> d("beta", shape, g);
    const auto first = d.parameter("a", a, detail::domain::positive);
    const auto second = d.parameter("b", b, detail::domain::positive);
    return detail::draw<T>::numbers(d.by(detail::beta_kernel(), first, second));
}

// ---- of another array's shape and dtype --------------------------------------------------------------------------

/// Uniform numbers, low <= x < high, of e's shape and dtype. Throws as `uniform` does.
///
///     array<float> e = zeros<float>({2, 3});
///     std::cout << random::uniform_like(e).shape() << ' ' << all(random::uniform_like(e, 2, 3) >= 2);
///     // prints: (2, 3) True
template <array_expression E, detail::real_parameter L = int, detail::real_parameter H = int>
    requires floating_element<typename std::remove_cvref_t<E>::value_type>
auto uniform_like(const E& e, const L& low = 0, const H& high = 1, generator& g = default_generator(),
                  const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return uniform<typename E::value_type>(low, high, shape_like(e.shape()), g);
}

/// Normal numbers of e's shape and dtype. Throws as `normal` does.
///
///     std::cout << random::normal_like(zeros<float>({2, 3}), 5, 0);
///     // prints: [[5. 5. 5.]
///     //          [5. 5. 5.]]
template <array_expression E, detail::real_parameter L = int, detail::real_parameter S = int>
    requires floating_element<typename std::remove_cvref_t<E>::value_type>
auto normal_like(const E& e, const L& loc = 0, const S& scale = 1, generator& g = default_generator(),
                 const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return normal<typename E::value_type>(loc, scale, shape_like(e.shape()), g);
}

/// Integers, low <= x < high, of e's shape and dtype. Throws as `integers` does.
///
///     std::cout << random::integers_like(array<int>{1, 2, 3}, 7, 8);
///     // prints: [7 7 7]
template <array_expression E, detail::integer_parameter L, detail::integer_parameter H>
    requires integer_element<typename std::remove_cvref_t<E>::value_type>
auto integers_like(const E& e, const L& low, const H& high, generator& g = default_generator(),
                   const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return integers<typename E::value_type>(low, high, shape_like(e.shape()), g);
}

}  // namespace random
}  // namespace ingot
