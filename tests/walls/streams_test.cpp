// Copy-on-write, streams and the pool together: random statements over a few arrays from several streams, with copies,
// writes to views, pending expressions and frees in between, against plain vectors. On a GPU the kernels of different
// streams really overlap, and a missing wait or a block reused too early shows as a wrong number.
#include <doctest/doctest.h>

#include <cstdlib>
#include <random>
#include <vector>

#include <ingot/ingot.hpp>

using namespace ingot;

namespace {

using model = std::vector<std::uint32_t>;

struct world {
    std::mt19937_64 random;
    index_t n;
    std::vector<array<std::uint32_t>> arrays;
    std::vector<model> models;

    std::size_t any() { return random() % arrays.size(); }

    void step() {
        const std::size_t a = any(), b = any(), c = any();
        const auto k = static_cast<std::uint32_t>(random() % 7);
        const index_t from = static_cast<index_t>(random() % 64), to = n - static_cast<index_t>(random() % 64);
        switch (random() % 8) {
            case 0:  // a copy shares
                arrays[a] = arrays[b];
                models[a] = models[b];
                break;
            case 1:
                arrays[a] = arrays[b] + arrays[c] * k;
                models[a] = computed([&](std::size_t i) { return models[b][i] + models[c][i] * k; });
                break;
            case 2:  // in place, or split where a copy shares
                arrays[a] += arrays[b];
                models[a] = computed([&](std::size_t i) { return models[a][i] + models[b][i]; });
                break;
            case 3:
                arrays[a](slice(from, to)) = arrays[b](slice(from, to)) - k;
                for (index_t i = from; i < to; ++i) models[a][at(i)] = models[b][at(i)] - k;
                break;
            case 4: {  // overlapping sides: as if the right one had been computed first
                const model before = models[a];
                arrays[a](slice(1, none)) = arrays[a](slice(0, -1)) + 1;
                for (index_t i = 1; i < n; ++i) models[a][at(i)] = before[at(i - 1)] + 1;
                break;
            }
            case 5: {  // an expression means what it meant when it was written
                const auto pending = arrays[a] + 1;
                const model meant = computed([&](std::size_t i) { return models[a][i] + 1; });
                arrays[a] += k;
                for (auto& v : models[a]) v += k;
                arrays[b] = pending;
                models[b] = meant;
                break;
            }
            case 6:  // frees, and takes what was freed
                arrays[a] = array<std::uint32_t>();
                arrays[a] = full<std::uint32_t>({n}, k);
                models[a].assign(at(n), k);
                break;
            default: {
                const auto [sum, difference] = eval(arrays[a] + arrays[b], arrays[a] - arrays[b]);
                const model first = computed([&](std::size_t i) { return models[a][i] + models[b][i]; });
                const model second = computed([&](std::size_t i) { return models[a][i] - models[b][i]; });
                arrays[b] = sum;
                arrays[c] = difference;
                models[b] = first;
                models[c] = second;
            }
        }
        if (random() % 4 == 0) {
            arrays[a] = arrays[a] % 1000;
            for (auto& v : models[a]) v %= 1000;
        }
    }

    static std::size_t at(index_t i) { return static_cast<std::size_t>(i); }

    template <class F>
    model computed(F f) const {
        model m(at(n));
        for (std::size_t i = 0; i < m.size(); ++i) m[i] = static_cast<std::uint32_t>(f(i));
        return m;
    }
};

}  // namespace

TEST_CASE("statements from several streams read and write as if they ran in the order they were written") {
    const char* given = std::getenv("INGOT_TEST_SEED");
    const std::uint64_t seed = given ? std::strtoull(given, nullptr, 10) : 20260102;
    MESSAGE("seed " << seed);
    for (const index_t n : {index_t{300}, index_t{70000}, index_t{1} << 20}) {
        world w{std::mt19937_64(seed), n, {}, {}};
        for (std::uint32_t i = 0; i < 5; ++i) {
            w.arrays.push_back(astype<std::uint32_t>(arange(n) % 100 + i));
            w.models.push_back(w.computed([&](std::size_t j) { return static_cast<std::uint32_t>(j % 100) + i; }));
        }
        std::vector<stream> streams(4);
        const int steps = n > 100000 ? 60 : 300;
        for (int i = 0; i < steps; ++i) {
            const with_stream on(streams[w.random() % streams.size()]);
            w.step();
            if (w.random() % 16 == 0) streams[w.random() % streams.size()] = stream();  // ends with work still queued
        }
        for (std::size_t i = 0; i < w.arrays.size(); ++i) CHECK(w.arrays[i].to_host() == w.models[i]);
    }
}
