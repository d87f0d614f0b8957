// Random numbers as leaves of a tree. A call draws a seed and a call number at once; element i is a function of these
// and of i in the unviewed leaf (philox.hpp), however the tree is viewed, cut or launched, and however often it is
// evaluated.
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <ingot/core/expression.hpp>
#include <ingot/core/host_values.hpp>

namespace ingot {
namespace detail {

/// Everything that a call's numbers depend on.
struct random_call {
    std::uint64_t seed;
    std::uint64_t number;
    std::uint32_t last = 0;  // integers only: the largest
};

template <class T, generator_kind K>
class random_leaf : public node_members<random_leaf<T, K>> {
public:
    using value_type = T;
    static constexpr dtype type = dtype_of<T>;
    static constexpr std::array<word, 1> program{make_word(word_kind::generator, type, static_cast<std::uint32_t>(K))};
    static constexpr int operands = 1, binders = 0, nodes = 1;

    random_leaf(random_call call, layout counter, ingot::device device = current_device())
        : call_(call), counter_(std::move(counter)), device_(device) {}

    const layout& where() const noexcept { return counter_; }
    random_call call() const noexcept { return call_; }

    void gather(cursor& c) const {
        operand& o = *c.operands++;
        o.kind = operand_kind::generator;
        o.type = type;
        o.device = device_;
        o.where = &counter_;
        o.bits[0] = call_.seed;
        o.bits[1] = call_.number;
        o.serial = call_.last;
    }
    extents_ref extents(shape_room&) const noexcept { return {counter_.shape(), counter_.rank()}; }
    void apply(const axis_view& v, int bound) { counter_ = compose(counter_, v, bound); }
    bool try_reshape(std::span<const index_t> shape, int bound) { return detail::try_reshape(counter_, shape, bound); }
    device_id on_device() const noexcept { return device_; }
    std::uint32_t count(const buffer*) const noexcept { return 0; }

private:
    random_call call_;
    layout counter_;
    device_id device_;
};

/// A seed that Philox makes from another seed, a number and a position.
INGOT_API std::uint64_t mixed_seed(std::uint64_t seed, std::uint64_t number, std::uint64_t place) noexcept;

/// Integers that form a seed together: a range of the host, or an expression, for which it waits.
template <class R>
concept seed_words =
    (values_of_host<R> && std::integral<value_of<R>>) || (array_expression<R> && std::integral<typename R::value_type>);
/// The seed formed by several words; one word is the seed itself.
template <seed_words R>
std::uint64_t seed_of(const R& words) {
    if constexpr (array_expression<R>) {
        return seed_of(words.to_host());
    } else {
        std::uint64_t seed = 0, place = 0;
        for (const auto given : words) {
            const auto bits = static_cast<std::uint64_t>(given);
            seed = place == 0 ? bits : mixed_seed(seed, bits, place);
            ++place;
        }
        return seed;
    }
}

/// float32 numbers, rounded to T.
template <half_float T, class E>
auto as_half(E&& numbers) {
    return make_node<op::astype, dtype_of<T>>("astype", std::forward<E>(numbers));
}

}  // namespace detail

namespace random {

/// Element types of random numbers: the floating types.
template <class T>
concept floating_element = element_type<T> && (std::floating_point<T> || detail::half_float<T>);

/// Types of a generator's own words: 32 or 64 bits.
template <class T>
concept word_element =
    element_type<T> && std::unsigned_integral<T> && !std::same_as<T, bool> && (sizeof(T) == 4 || sizeof(T) == 8);

/// A stream of calls: the same seed and the same calls give the same numbers. Several threads may call it. The numbers
/// are leaves of an expression: they take no memory, and element i depends on the seed, the call and i alone.
///
///     random::generator g(42);
///     array<float> first = g.uniform<float>({3});
///     g.seed(42);
///     std::cout << first << ' ' << g.uniform<float>({3}) << '\n' << round(g.normal<double>({2}), 4);
///     std::cout << ' ' << g.bits<std::uint64_t>({2, 3}).shape();
///     // prints: [0.61295986 0.4685865  0.0732317 ] [0.61295986 0.4685865  0.0732317 ]
///     //         [-0.486  -1.9756] (2, 3)
class generator {
    // Defined before its callers, whose result types are deduced.
    template <class T, detail::generator_kind K>
    auto make(const char* operation, const shape_like& shape) {
        detail::check_extents(operation, shape.values());
        const detail::random_call call{seed_.load(std::memory_order_relaxed),
                                       calls_.fetch_add(1, std::memory_order_relaxed)};
        return detail::random_leaf<T, K>(call, detail::contiguous_layout(shape.values()));
    }

public:
    explicit generator(std::uint64_t seed) noexcept : seed_(seed) {}
    /// A generator seeded by several integers: a range of the host or an array. A single integer is the seed itself.
    ///
    ///     random::generator g(std::vector<int>{2026, 11}), same(array<int>{2026, 11}), other(2026);
    ///     const shape_like three{3};
    ///     const array<float> x = g.uniform<float>(three);
    ///     std::cout << array_equal(x, same.uniform<float>(three)) << array_equal(x, other.uniform<float>(three));
    ///     // prints: TrueFalse
    template <detail::seed_words R>
    explicit generator(const R& words) : seed_(detail::seed_of(words)) {}
    /// Continues the other's calls; the other must not be used any more.
    generator(generator&& other) noexcept
        : seed_(other.seed_.load(std::memory_order_relaxed)), calls_(other.calls_.load(std::memory_order_relaxed)) {}
    generator(const generator&) = delete;
    generator& operator=(const generator&) = delete;

    /// Restarts with another seed.
    void seed(std::uint64_t value) noexcept {
        seed_.store(value, std::memory_order_relaxed);
        calls_.store(0, std::memory_order_relaxed);
    }
    /// Restarts with several integers, as the constructor takes them.
    template <detail::seed_words R>
    void seed(const R& words) {
        seed(detail::seed_of(words));
    }
    /// n generators, for instance one for each thread or task, whose numbers are independent of this one's and of each
    /// other's; the next split gives others. As with NumPy's `spawn`, the same seed and the same calls before give the
    /// same generators.
    ///
    ///     random::generator g(7);
    ///     std::vector<random::generator> parts = g.split(2);
    ///     const array<int> a = random::integers<int>(0, 100, {20}, parts[0]);
    ///     const array<int> b = random::integers<int>(0, 100, {20}, parts[1]);
    ///     g.seed(7);
    ///     std::cout << array_equal(a, b) << array_equal(a, random::integers<int>(0, 100, {20}, g.split(1)[0]));
    ///     // prints: FalseTrue
    std::vector<generator> split(std::size_t n) {
        const std::uint64_t parent = detail::mixed_seed(seed_.load(std::memory_order_relaxed),
                                                        calls_.fetch_add(1, std::memory_order_relaxed), 0);
        std::vector<generator> all;
        for (std::size_t i = 0; i < n; ++i) all.push_back(generator(detail::mixed_seed(parent, i, 0)));
        return all;
    }
    /// Uniform numbers, 0 <= u < 1, of this shape on the current device. float16 and bfloat16 are rounded from float32,
    /// so u <= 1. Throws shape_error where an extent is negative.
    template <floating_element T>
    auto uniform(const shape_like& shape) {
        if constexpr (detail::half_float<T>)
            return detail::as_half<T>(make<float, detail::generator_kind::uniform>("uniform", shape));
        else
            return make<T, detail::generator_kind::uniform>("uniform", shape);
    }
    /// Normal numbers of mean 0 and deviation 1, of this shape; on the current device. Throws shape_error where an
    /// extent is negative.
    template <floating_element T>
    auto normal(const shape_like& shape) {
        if constexpr (detail::half_float<T>)
            return detail::as_half<T>(make<float, detail::generator_kind::normal>("normal", shape));
        else
            return make<T, detail::generator_kind::normal>("normal", shape);
    }

    /// The generator's words, all of whose bits are random: uint32 or uint64, the same on every target; of this shape
    /// on the current device. Throws shape_error where an extent is negative.
    template <word_element T>
    auto bits(const shape_like& shape) {
        return make<T, detail::generator_kind::bits>("bits", shape);
    }

private:
    std::atomic<std::uint64_t> seed_;
    std::atomic<std::uint64_t> calls_{0};
};

/// The generator of the functions below. It is seeded from the system until a program seeds it.
///
///     random::default_generator().seed(1);
///     const float u = random::uniform<float>({}).item();
///     std::cout << (u >= 0 && u < 1);
///     // prints: 1
INGOT_API generator& default_generator();

/// Seeds the default generator, which makes later numbers repeatable.
///
///     random::seed(1);
///     array<double> a = random::normal<double>({100});
///     random::seed(1);
///     std::cout << array_equal(a, random::normal<double>({100}));
///     // prints: True
inline void seed(std::uint64_t value) { default_generator().seed(value); }
template <detail::seed_words R>
void seed(const R& words) {
    default_generator().seed(words);
}

/// n generators whose numbers are independent of the default one's and of each other's: see `generator`.
///
///     random::seed(1);
///     std::cout << random::split(3).size();
///     // prints: 3
INGOT_API std::vector<generator> split(std::size_t n);

/// Uniform numbers, 0 <= u < 1, of this shape, from the default generator; an expression on the current device. float16
/// and bfloat16 are rounded from float32, so u <= 1. Throws shape_error where an extent is negative.
///
///     array<float> u = random::uniform<float>({1000});
///     std::cout << all(u >= 0 && u < 1) << ' ' << (abs(mean(u) - 0.5) < 0.1);
///     // prints: True True
template <floating_element T>
auto uniform(const shape_like& shape, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return default_generator().uniform<T>(shape);
}
INGOT_REJECTED_ALWAYS("the type is named: random::uniform<float>({3, 4})",
                      ::ingot::detail::rejected uniform(const shape_like&))

/// Normal numbers of mean 0 and deviation 1, of this shape, from the default generator; an expression, on the current
/// device. Throws shape_error where an extent is negative.
///
///     std::cout << (abs(mean(random::normal<double>({10000}))) < 0.1);
///     // prints: True
template <floating_element T>
auto normal(const shape_like& shape, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return default_generator().normal<T>(shape);
}
INGOT_REJECTED_ALWAYS("the type is named: random::normal<float>({3, 4})",
                      ::ingot::detail::rejected normal(const shape_like&))

/// Words of 32 or 64 random bits, uint32 or uint64, of this shape, from the default generator; an expression, on the
/// current device. Four words of 32 bits, or two of 64, are one Philox4x32-10 of (seed, call, number), as in Random123,
/// so they are the same on every target. Throws shape_error where an extent is negative.
///
///     random::seed(0);
///     std::cout << random::bits<std::uint32_t>({4});
///     // prints: [1713891541 3781805453 3159862348 2600524760]
template <word_element T>
auto bits(const shape_like& shape, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return default_generator().bits<T>(shape);
}
INGOT_REJECTED_ALWAYS("the type is named: random::bits<std::uint32_t>({3, 4})",
                      ::ingot::detail::rejected bits(const shape_like&))

}  // namespace random
}  // namespace ingot
