// Views that reach beyond 2^31 and 2^32 bytes, over a mapping that reserves no memory: on the host, compiled, and
// interpreted in a child process that has no compiler.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <numeric>

#include "count.hpp"
#include "tests/arrays/expect.hpp"
#include "tests/cache/fixture.hpp"
#include "tests/untested.hpp"

using namespace ingot;

namespace {

/// 24 GiB of zeros; only touched pages take memory.
class far_memory {
public:
    far_memory() {
        constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
        data_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
        if (data_ == MAP_FAILED) throw std::runtime_error("no address space");
    }
    far_memory(const far_memory&) = delete;
    ~far_memory() { munmap(data_, bytes); }

    /// `shape` over the mapping from `first` on, strides in elements.
    template <class T>
    array<T> as(index_t first, const shape_like& shape, std::vector<index_t> strides) const {
        for (index_t& s : strides) s *= static_cast<index_t>(sizeof(T));
        T* const start = static_cast<T*>(data_) + first;
        const unowned_memory rest(start, bytes - static_cast<std::size_t>(first) * sizeof(T), device::host());
        return asarray<T>(rest, shape, strides);
    }

private:
    static constexpr std::size_t bytes = std::size_t{24} << 30;
    void* data_;
};

/// Reads and writes through views of `T` with outer strides of `pitch` elements, odd or not; returns the number of
/// wrong statements.
template <class T>
int wrong_statements(index_t pitch, index_t first) {
    const with_device g(device::host());
    const far_memory memory;
    constexpr index_t rows = 4, columns = 70;
    const array<T> near = astype<T>(arange<int>(rows * columns) % 100);
    const array<T> m = reshape(near, {rows, columns});
    const std::vector<T> v = near.to_host();
    array<T> x = memory.as<T>(first, {rows, columns}, {pitch, 1});
    int wrong = 0;
    const auto expect = [&](const auto& e, auto element) {
        const auto got = e.to_host();
        bool right = true;
        for (index_t i = 0; i < rows; ++i)
            for (index_t j = 0; j < columns; ++j) {
                const auto at = [&](index_t r, index_t c) { return v[static_cast<std::size_t>(r * columns + c)]; };
                right = right && got[static_cast<std::size_t>(i * columns + j)] == static_cast<T>(element(at, i, j));
            }
        wrong += !right;
    };
    assign(x, m);  // a far target
    expect(x + m, [](auto at, index_t i, index_t j) { return at(i, j) + at(i, j); });
    expect(flip(x) + 1, [](auto at, index_t i, index_t j) { return at(rows - 1 - i, columns - 1 - j) + 1; });
    expect(x(slice(none, none, -1)) - m, [](auto at, index_t i, index_t j) { return at(rows - 1 - i, j) - at(i, j); });
    expect(x + x(all, slice(0, 1)), [](auto at, index_t i, index_t j) { return at(i, j) + at(i, 0); });
    x(slice(0, -1)) = x(slice(1)) + 1;  // overlaps, far apart
    expect(x(all), [](auto at, index_t i, index_t j) { return i + 1 < rows ? at(i + 1, j) + 1 : at(i, j); });
    transpose(x)(slice(none, none, -1)) = transpose(m);
    expect(x * 1, [](auto at, index_t i, index_t j) { return at(i, columns - 1 - j); });
    x(all, slice(1)) += 2;
    expect(x(all), [](auto at, index_t i, index_t j) { return at(i, columns - 1 - j) + (j > 0 ? 2 : 0); });
    if constexpr (std::is_integral_v<T>) {
        const auto sums = sum(x, 0).to_host();
        const auto row_sums = sum(x.T() * 1, 0).to_host();
        for (index_t j = 0; j < columns; ++j) {
            std::int64_t wanted = 0;
            for (index_t i = 0; i < rows; ++i)
                wanted += static_cast<T>(v[static_cast<std::size_t>((i + 1) * columns - 1 - j)] + (j > 0 ? 2 : 0));
            wrong += static_cast<std::int64_t>(sums[static_cast<std::size_t>(j)]) != wanted;
        }
        const auto total = [](const auto& all) { return std::accumulate(all.begin(), all.end(), 0ll); };
        wrong += total(sums) != total(row_sums);
    }
    return wrong;
}

int wrong_everywhere() {
    constexpr index_t gib = index_t{1} << 30;
    return wrong_statements<std::int8_t>(gib / 2 + 16, 0)    // reaches to 1.5 GiB: 32-bit offsets
           + wrong_statements<std::int8_t>(gib - 64, 3)      // beyond 2^31 bytes, misaligned
           + wrong_statements<std::uint8_t>(2 * gib + 1, 0)  // beyond 2^32 bytes, an odd pitch
           + wrong_statements<float>(gib / 4, 0)             // rows 2^30 bytes apart: beyond 2^31
           + wrong_statements<float>(gib + 3, 1)             // beyond 2^32 bytes, misaligned
           + wrong_statements<double>(gib / 2 + 2, 0)        // aligned
           + wrong_statements<std::int64_t>(gib / 4 - 1, 5);
}

}  // namespace

TEST_CASE("far views without a compiler" * doctest::skip()) {
    const std::uint64_t before = counters().interpreter_runs;
    CHECK(wrong_everywhere() == 0);
    CHECK(counters().interpreter_runs - before >= 70);
}

// In a process of its own, for this one may have compiled kernels that serve here.
TEST_CASE("views beyond 2^31 and 2^32 bytes, interpreted") {
    if (thread_sanitizer) return ingot::test::untested("not under the thread sanitizer");
    const int status = test::exit_status(test::start_child([] {
        setenv("INGOT_CXX", "/nonexistent", 1);
        setenv("INGOT_TEST_ARCHITECTURES", "", 1);
        execl("/proc/self/exe", "test", "--no-skip", "--minimal", "--test-case=far views without a compiler", nullptr);
        return 127;
    }));
    CHECK(status == 0);
}

TEST_CASE("views beyond 2^31 and 2^32 bytes, compiled") { CHECK(wrong_everywhere() == 0); }

TEST_CASE("sums over more than 2^31 elements count them all") {
    const with_device g(device::host());
    const array<std::int8_t> x = asarray(std::vector<std::int8_t>{1, 2, 3});
    constexpr index_t n = (index_t{1} << 31) + 5;
    CHECK(holds(sum(x(all, newaxis) + broadcast_to(x(slice(0, 1)), {3, n}), 1), {3}, {2 * n, 3 * n, 4 * n}));
}
