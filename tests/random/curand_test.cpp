// cuRAND's generators: the numbers that its C functions make, in the order in which they make them.
#include <algorithm>
#include <cstdlib>

#include "runtime/system/dynamic_library.hpp"
#include "tests/arrays/expect.hpp"
#include "tests/cache/fixture.hpp"
#include "tests/random/sample.hpp"
#include "tests/untested.hpp"
#include "tests/walls/count.hpp"

#if defined(INGOT_HAS_CUDA_HEADERS) && __has_include(<curand.h>)
#include <curand.h>

using namespace ingot;

namespace {

/// Reports that cuRAND is missing.
bool has_curand() {
    try {
        const random::curand_generator g(1);
        return true;
    } catch (const library_error& missing) {
        CHECK(std::string(missing.what()).find("[curand_generator] ") == 0);
        test::untested(missing.what());
        return false;
    }
}

/// The library itself, called by hand, on the host.
class by_hand {
public:
    by_hand(curandRngType_t type, unsigned long long seed, unsigned dimensions)
        : library_(runtime::find_cuda_library("curand", {10})->string()) {
        REQUIRE(get<&::curandCreateGeneratorHost>("curandCreateGeneratorHost")(&generator_, type) == 0);
        if (type == CURAND_RNG_QUASI_SOBOL32) {
            REQUIRE(get<&::curandSetQuasiRandomGeneratorDimensions>("curandSetQuasiRandomGeneratorDimensions")(
                        generator_, dimensions) == 0);
            REQUIRE(get<&::curandSetGeneratorOffset>("curandSetGeneratorOffset")(generator_, seed) == 0);
        } else {
            REQUIRE(get<&::curandSetPseudoRandomGeneratorSeed>("curandSetPseudoRandomGeneratorSeed")(generator_,
                                                                                                     seed) == 0);
        }
    }
    by_hand(const by_hand&) = delete;
    by_hand& operator=(const by_hand&) = delete;
    ~by_hand() { get<&::curandDestroyGenerator>("curandDestroyGenerator")(generator_); }

    /// n numbers of a function of the library, which takes these parameters.
    template <auto function, class T, class... P>
    std::vector<T> draw(const char* name, std::size_t n, P... parameters) {
        std::vector<T> made(n);
        REQUIRE(get<function>(name)(generator_, made.data(), n, parameters...) == 0);
        return made;
    }

private:
    template <auto function>
    decltype(function) get(const char* name) const {
        decltype(function) found;
        library_.get(found, name);
        return found;
    }

    runtime::dynamic_library library_;
    curandGenerator_t generator_ = nullptr;
};

/// Whether a GPU gives the host's numbers; its functions differ, perhaps in the last bit.
template <class T>
bool same(const array<T>& made, const std::vector<T>& wanted) {
    const auto given = made.to_host();
    if (given.size() != wanted.size()) return false;
    if constexpr (std::integral<T>) return given == wanted;
    const double ulps = made.device().is_cuda() ? 64 : 0;
    for (std::size_t i = 0; i < wanted.size(); ++i)
        if (!(std::abs(static_cast<double>(given[i]) - static_cast<double>(wanted[i])) <=
              ulps * std::numeric_limits<T>::epsilon() * (1 + std::abs(static_cast<double>(wanted[i])))))
            return false;
    return true;
}

}  // namespace

TEST_CASE("cuRAND's generators give the numbers of its C functions, one call after the other") {
    if (!has_curand()) return;
    struct {
        random::curand_kind kind;
        curandRngType_t type;
        unsigned dimensions;
    } const kinds[] = {{random::xorwow, CURAND_RNG_PSEUDO_XORWOW, 1},
                       {random::mrg32k3a, CURAND_RNG_PSEUDO_MRG32K3A, 1},
                       {random::sobol, CURAND_RNG_QUASI_SOBOL32, 1},
                       {random::sobol, CURAND_RNG_QUASI_SOBOL32, 3}};
    for (const auto& k : kinds) {
        CAPTURE(static_cast<int>(k.kind));
        CAPTURE(k.dimensions);
        const index_t d = k.dimensions, n = 400;
        const std::size_t count = static_cast<std::size_t>(d * n);
        random::curand_generator g(42, k.kind, d);
        CHECK(g.kind() == k.kind);
        CHECK(device(g.device()) == current_device());
        by_hand wanted(k.type, 42, k.dimensions);
        CHECK(same(g.bits<std::uint32_t>({d, n}),
                   wanted.draw<&::curandGenerate, std::uint32_t>("curandGenerate", count)));
        const array<float> u = g.uniform<float>({d, 4, n / 4});
        CHECK(u.shape() == shape_like{d, 4, n / 4});
        CHECK(same(u, wanted.draw<&::curandGenerateUniform, float>("curandGenerateUniform", count)));
        CHECK(same(g.uniform<double>({d, n}),
                   wanted.draw<&::curandGenerateUniformDouble, double>("curandGenerateUniformDouble", count)));
        CHECK(same(g.normal<float>({d, n}, 3, 2),
                   wanted.draw<&::curandGenerateNormal, float>("curandGenerateNormal", count, 3.0F, 2.0F)));
        CHECK(same(g.normal<double>({d, n}),
                   wanted.draw<&::curandGenerateNormalDouble, double>("curandGenerateNormalDouble", count, 0.0, 1.0)));
        CHECK(same(g.lognormal<float>({d, n}, 0.5, 0.25),
                   wanted.draw<&::curandGenerateLogNormal, float>("curandGenerateLogNormal", count, 0.5F, 0.25F)));
        CHECK(same(g.lognormal<double>({d, n}), wanted.draw<&::curandGenerateLogNormalDouble, double>(
                                                    "curandGenerateLogNormalDouble", count, 0.0, 1.0)));
        CHECK(same(g.poisson(7.5, {d, n}),
                   wanted.draw<&::curandGeneratePoisson, std::uint32_t>("curandGeneratePoisson", count, 7.5)));
        g.seed(42);
        by_hand anew(k.type, 42, k.dimensions);
        CHECK(
            same(g.bits<std::uint32_t>({d, n}), anew.draw<&::curandGenerate, std::uint32_t>("curandGenerate", count)));
    }
}

TEST_CASE("pairs of normal numbers, words of 64 bits and nothing at all") {
    if (!has_curand()) return;
    random::curand_generator g(3), h(3);
    const array<double> odd = g.normal<double>({7}), even = h.normal<double>({8});
    CHECK(array_equal(odd, even(slice(0, 7))).item());
    CHECK(array_equal(g.uniform<float>({5}), h.uniform<float>({5})).item());
    const auto wide = g.bits<std::uint64_t>({2}).to_host();
    const auto words = h.bits<std::uint32_t>({4}).to_host();
    CHECK(wide == std::vector<std::uint64_t>{words[0] + (std::uint64_t{words[1]} << 32),
                                             words[2] + (std::uint64_t{words[3]} << 32)});
    CHECK(g.normal<float>({0, 3}).shape() == shape_like{0, 3});
    CHECK(g.uniform<float>({}).ndim() == 0);
    CHECK(eval(h.uniform<float>({3}) * 2 + 1).shape() == shape_like{3});
}

TEST_CASE("cuRAND's numbers are distributed as they should be") {
    if (!has_curand()) return;
    using ingot::testing::check_sample;
    const auto n = std::min<index_t>(testing::draws(), 1'000'000);
    for (const auto kind : {random::xorwow, random::mrg32k3a}) {
        random::curand_generator g(5, kind);
        check_sample("uniform", g.uniform<float>({n}), {0, 1, [](double x) { return x; }, 0.5, 1 / 12.0});
        check_sample("normal", g.normal<double>({n}), {-5, 5, testing::normal_below, 0, 1});
        check_sample("poisson", g.poisson(4, {n}), testing::poisson_of(4, 0, 40));
    }
}

TEST_CASE("what cuRAND has no numbers of is refused and said") {
    using random::sobol;
    const auto says = [](auto f) { return thrown<error>(f); };
    CHECK(says([] { random::curand_generator(1, sobol, 0); }) ==
          "[curand_generator] 0 dimensions: sobol has 1 to 20000");
    CHECK(says([] { random::curand_generator(1, sobol, 20001); }) ==
          "[curand_generator] 20001 dimensions: sobol has 1 to 20000");
    CHECK(says([] { random::curand_generator(1, random::mrg32k3a, 2); }) ==
          "[curand_generator] 2 dimensions: mrg32k3a has 1");
    CHECK(says([] { random::curand_generator(1, static_cast<random::curand_kind>(9)); }) ==
          "[curand_generator] kind 9: xorwow, mrg32k3a or sobol is wanted");
    if (!has_curand()) return;
    random::curand_generator plane(0, sobol, 2), g(1);
    CHECK(thrown<shape_error>([&] { (void)plane.uniform<float>({3, 2}); }) ==
          "[curand_generator] uniform: shape (3, 2): the first axis of sobol's points of 2 dimensions has that extent");
    CHECK(thrown<dtype_error>([&] { (void)plane.bits<std::uint64_t>({2, 2}); }) ==
          "[curand_generator] bits: sobol has words of uint32, not of uint64");
    CHECK(thrown<dtype_error>([&] { (void)g.normal<float>({2}, 0, -1); }) ==
          "[curand_generator] normal: deviation is -1, and one that is not negative is wanted");
    CHECK(thrown<dtype_error>([&] { (void)g.poisson(0, {2}); }) ==
          "[curand_generator] poisson: lam is 0, and a positive number is wanted");
    CHECK_THROWS_AS((void)g.uniform<float>({-1}), shape_error);
    CHECK(g.uniform<float>({2}).size() == 2);  // and goes on
}

#endif
