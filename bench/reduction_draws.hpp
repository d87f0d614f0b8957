// Random reductions and row programs: a kind of shape, a size from 128 MiB to 1 GiB, an expression. Each is compared
// with a streaming kernel that moves as many bytes (the nearest mix of reads and writes). Both use rotating positions
// of one array of 1 GiB, so that nothing is in a cache; some of the results are compared with double's.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <ingot/ingot.hpp>

#include "drawing.hpp"
#include "drawn_set.hpp"
#include "gpu.hpp"
#include "host_data.hpp"
#include "report.hpp"
#include "session.hpp"

namespace bench {

/// Reduced is the middle one of three axes; where another has extent 1 the array does not have it.
struct draw {
    const char* kind;
    const char* expression;
    std::uint64_t outer, length, inner;
    bool doubles;

    std::uint64_t elements() const { return outer * length * inner; }
    std::uint64_t results() const { return outer * inner; }
    std::uint64_t item() const { return doubles ? 8 : 4; }
    bool is(const char* name) const { return std::string_view(expression) == name; }
    bool is_map() const { return is("softmax"); }
    /// A row of more than 2 MiB along memory, or 1 MiB across it, is read twice by a row program: a cluster does not
    /// hold it, or no faster. Across memory a row brings its neighbours of 32 bytes.
    bool read_twice() const {
        const std::uint64_t most = std::uint64_t{1} << (inner == 1 ? 21 : 20), sector = 32;
        return is_map() && length * std::min(std::max(item(), sector), item() * inner) > most;
    }
    std::uint64_t read() const { return elements() * item() * (read_twice() ? 2 : 1); }
    std::uint64_t written() const { return (is_map() ? elements() : results()) * item(); }

    std::vector<ingot::index_t> shape() const {
        std::vector<ingot::index_t> s;
        for (const std::uint64_t extent : {outer, length, inner})
            if (extent != 1 || extent == length) s.push_back(static_cast<ingot::index_t>(extent));
        return s;
    }
    ingot::index_t axis() const { return outer == 1 ? 0 : 1; }
    std::string text() const {
        return std::string(expression) + (doubles ? " f8" : " f4") + ", " + ingot::detail::to_text(shape()) +
               ", axis " + std::to_string(axis()) + ", " + kind;
    }
};

/// Draws of a seed, one after the other.
class draws {
public:
    explicit draws(std::uint64_t seed) : random_(mixed(seed + 1)) {}

    draw next() {
        draw d{"", random_.one_of({"sum", "max", "mean", "var", "softmax"}), 1, 1, 1, below(8) == 0};
        const auto total = static_cast<std::uint64_t>(std::exp2(27 + 3 * random_.fraction())) / d.item();
        switch (below(5)) {
            case 0:
                d.kind = "rows of 2 to 32";
                d.length = 2 + below(31);
                d.outer = total / d.length;
                break;
            case 1:
                d.kind = "odd lengths";
                d.length = logarithmic(33, 200000) | 1;
                d.outer = total / d.length;
                break;
            case 2:
                d.kind = "few rows of millions";
                d.outer = 1 + below(total >> 22);
                d.length = total / d.outer;
                break;
            case 3:
                d.kind = "narrow columns";
                d.inner = 1 + below(64);
                d.length = total / d.inner;
                break;
            default:
                d.kind = "middle axes";
                d.inner = logarithmic(1, 5000);
                d.length = logarithmic(2, total / d.inner / 2);
                d.outer = std::max<std::uint64_t>(2, total / d.inner / d.length);
        }
        return d;
    }

private:
    std::uint64_t below(std::uint64_t n) { return random_.below(n); }
    std::uint64_t logarithmic(std::uint64_t low, std::uint64_t high) {
        return static_cast<std::uint64_t>(random_.logarithmic(static_cast<double>(low), static_cast<double>(high)));
    }

    drawing random_;
};

/// Kernels that stream the nearest mix of reads and writes to some bytes, from one array into another of its size.
class streams {
public:
    streams(const ingot::array<float>& from, ingot::array<float>& to)
        : from_(from.data()), to_(to.mutable_data()), floats_(static_cast<std::size_t>(from.size())) {
        for (const mix& m : mixes)
            for (const launch_shape& shape : shapes) {
                std::vector<std::string> options = shape.options();
                if (m.is_fold()) options.push_back("-DREADS=" + std::to_string(m.reads));
                kernels_.push_back(std::make_unique<hand_kernel>("roof.cu", m.kernel, options));
            }
    }

    struct streaming {
        std::vector<work> candidates;  // every call begins at another place
        double scale;                  // from their time to that of all the bytes, where these are more than the arrays
    };
    streaming of(std::uint64_t read, std::uint64_t written) const {
        const double share = static_cast<double>(read) / static_cast<double>(read + written);
        const auto nearest =
            std::ranges::min_element(mixes, {}, [=](const mix& m) { return std::abs(m.share() - share); });
        const mix& m = *nearest;
        const auto first = static_cast<std::size_t>(nearest - mixes.begin()) * shapes.size();
        // Vectors that are read, for each of the arrays.
        const std::size_t arrays = m.is_fold() ? 1 : m.reads;
        const auto all = static_cast<double>(read + written) / 16 * m.share() / static_cast<double>(arrays);
        const auto n = std::min(static_cast<std::size_t>(all), floats_ / 4 / arrays), free = floats_ - 4 * n * arrays;
        streaming out{{}, all / static_cast<double>(n)};
        for (std::size_t s = 0; s < shapes.size(); ++s)
            out.candidates.push_back([=, this](int repeat) {
                const hand_kernel& kernel = *kernels_[first + s];
                const unsigned threads = shapes[s].threads;
                const std::size_t blocks =
                    blocks_for(n, threads, m.is_fold() ? static_cast<int>(m.reads) : shapes[s].vectors);
                const std::size_t at = static_cast<std::size_t>(repeat) * 4 * n % (free + 1) / 64 * 64;
                if (arrays == 2)
                    kernel(blocks, threads, from_ + at, from_ + at + 4 * n, to_, n);
                else
                    kernel(blocks, threads, from_ + at, to_, n);
            });
        return out;
    }

private:
    struct mix {
        const char* kernel;
        std::size_t reads;  // for as many writes
        std::size_t writes;
        double share() const { return static_cast<double>(reads) / static_cast<double>(reads + writes); }
        bool is_fold() const { return writes == 1 && reads > 2; }
    };
    static constexpr std::array<mix, 8> mixes{{{"copy", 1, 1},
                                               {"triad", 2, 1},
                                               {"fold", 4, 1},
                                               {"fold", 8, 1},
                                               {"fold", 16, 1},
                                               {"fold", 32, 1},
                                               {"fold", 64, 1},
                                               {"read", 1, 0}}};
    static constexpr std::array<launch_shape, 3> shapes{{{256, 1}, {512, 1}, {512, 2}}};
    std::vector<std::unique_ptr<hand_kernel>> kernels_;
    const float* from_;
    float* to_;
    std::size_t floats_;
};

/// The memory of draws: one array of floats, and its first half as doubles.
class drawn_arrays {
public:
    drawn_arrays(const ingot::array<float>& x, const std::vector<float>& x_host)
        : x_(x),
          x_host_(x_host),
          doubles_host_(x_host.begin(), x_host.begin() + x_host.size() / 2),
          doubles_(ingot::asarray(doubles_host_)) {}

    /// Calls use(make, values), where make(i) is the draw's expression over position i of the array with those values.
    template <class Use>
    void over(const draw& d, Use use) const {
        if (d.doubles)
            expression_over(doubles_, d, [&](auto make) { use(make, doubles_host_); });
        else
            expression_over(x_, d, [&](auto make) { use(make, x_host_); });
    }

private:
    template <class T, class Use>
    static void expression_over(const ingot::array<T>& all, const draw& d, Use use) {
        using namespace ingot;
        // Places of 256 bytes' alignment, as many as there are.
        const std::uint64_t apart = (d.elements() + 63) / 64 * 64;
        const std::uint64_t places = static_cast<std::uint64_t>(all.size()) / apart;
        const auto x = [&, places, apart](int repeat) {
            const auto from = static_cast<index_t>(static_cast<std::uint64_t>(repeat) % places * apart);
            return reshape(all(slice(from, from + static_cast<index_t>(d.elements()))), shape_like(d.shape()));
        };
        const axes along(d.axis());
        if (d.is("sum")) return use([&](int i) { return sum(x(i), along); });
        if (d.is("max")) return use([&](int i) { return max(x(i), along); });
        if (d.is("mean")) return use([&](int i) { return mean(x(i), along); });
        if (d.is("var")) return use([&](int i) { return var(x(i), along); });
        use([&](int i) { return softmax(x(i), along); });
    }

    const ingot::array<float>& x_;
    const std::vector<float>& x_host_;
    std::vector<double> doubles_host_;
    ingot::array<double> doubles_;
};

/// Times draws; every evaluation reads another position of the array.
class drawn_measurements {
public:
    drawn_measurements(session& s, const ingot::array<float>& x, const std::vector<float>& x_host)
        : s_(s), arrays_(x, x_host), room_(ingot::empty<float>(x.size())), stream_(x, room_) {}

    void measure(const draw& d) {
        arrays_.over(d, [&](auto make, const auto& values) { time(d, values, make); });
    }

    void summarise() {
        std::ranges::sort(shares_);
        if (shares_.empty()) return;
        std::printf("shares of the roof, sorted:");
        for (const double share : shares_) std::printf(" %.3f", share);
        std::printf("\n");
        bench::summarise(s_.out, "draws", "draws", shares_, {0.95, 0.85, 0.60});
    }

private:
    template <class T, class Make>
    void time(const draw& d, const std::vector<T>& host, Make make) {
        ingot::array<T> result = make(0);
        check(d, host, result);
        std::vector<work> candidates{[&](int repeat) { result = make(repeat); }};
        const auto streaming = stream_.of(d.read(), d.written());
        candidates.insert(candidates.end(), streaming.candidates.begin(), streaming.candidates.end());
        const auto times = time_in_turn(candidates, 7, 4);
        double roof = median(times[1]);
        for (std::size_t c = 2; c < times.size(); ++c) roof = std::min(roof, median(times[c]));
        roof *= streaming.scale;
        const double share = roof / median(times[0]);
        shares_.push_back(share);
        if (share >= 0.9) return static_cast<void>(std::printf("%.3f %s\n", share, d.text().c_str()));
        std::ostringstream kernels;
        for (const ingot::kernel_explanation& k : ingot::explain(make(0)).kernels)
            kernels << (kernels.tellp() > 0 ? "; " : "") << k.pattern << ", grid (" << k.grid[0] << ", " << k.grid[1]
                    << "), block " << k.block << ", " << k.reason;
        s_.out.add({.section = "drawn",
                    .name = d.text(),
                    .unit = "us",
                    .time = median(times[0]),
                    .baseline = "a stream of its bytes",
                    .baseline_time = roof,
                    .kind = promise::share,
                    .goal = 0.6,
                    .elements = d.elements(),
                    .bytes = d.read() + d.written(),
                    .note = kernels.str()});
    }

    /// Checks a few results. The bound of a sum is a share of the sum of absolute values, whatever cancels.
    template <class T>
    void check(const draw& d, const std::vector<T>& host, const ingot::array<T>& result) {
        using namespace ingot;
        const array<T> flat = ravel(result);
        const std::uint64_t samples = std::clamp<std::uint64_t>((1 << 22) / d.length, 1, 16);
        for (std::uint64_t i = 0; i < samples; ++i) {
            const std::uint64_t kept = mixed(i + 1) % d.results(), row = kept / d.inner, column = kept % d.inner;
            const auto element = [&](std::uint64_t k) {
                return static_cast<double>(host[(row * d.length + k) * d.inner + column]);
            };
            const auto total = [&](auto of) {
                double sum = 0;
                for (std::uint64_t k = 0; k < d.length; ++k) sum += of(element(k));
                return sum;
            };
            const double n = static_cast<double>(d.length), sum = total([](double x) { return x; }), mean = sum / n;
            const double size = total([](double x) { return std::abs(x); });
            const std::uint64_t picked = mixed(i + 77) % d.length;
            const auto wanted_value = [&] {
                if (d.is("sum")) return sum;
                if (d.is("mean")) return mean;
                if (d.is("var")) return total([=](double x) { return (x - mean) * (x - mean); }) / n;
                if (d.is("softmax")) return std::exp(element(picked)) / total([](double x) { return std::exp(x); });
                double largest = element(0);
                total([&](double x) { return largest = std::max(largest, x); });
                return largest;
            };
            const double wanted = wanted_value();
            const double bound = d.is("sum") ? 1e-6 * size : d.is("mean") ? 1e-6 * size / n : 1e-5 * std::abs(wanted);
            const auto place = static_cast<index_t>(d.is_map() ? (row * d.length + picked) * d.inner + column : kept);
            const auto got = static_cast<double>(flat(slice(place, place + 1)).to_host()[0]);
            require(d.text(), 1, bound, [&](std::size_t) { return std::abs(got - wanted); });
        }
    }

    session& s_;
    drawn_arrays arrays_;
    ingot::array<float> room_;
    streams stream_;
    std::vector<double> shares_;
};

/// Calls f with each of the first draws of a seed whose text contains `only`.
template <class F>
void for_draws(std::uint64_t seed, std::size_t count, const char* only, F f) {
    draws from(seed);
    for (std::size_t i = 0; i < count; ++i)
        if (const draw d = from.next(); d.text().find(only) != std::string::npos) f(d);
}

inline void measure_draws(session& s, const ingot::array<float>& x, const std::vector<float>& x_host,
                          std::uint64_t seed, std::size_t count, const char* only) {
    drawn_measurements all(s, x, x_host);
    for_draws(seed, count, only, [&](const draw& d) { s.attempt(d.text(), [&] { all.measure(d); }); });
    all.summarise();
}

/// Launches the kernels of each draw once, for a profiler, and prints their number.
inline void launch_draws(const ingot::array<float>& x, const std::vector<float>& x_host, std::uint64_t seed,
                         std::size_t count) {
    const drawn_arrays all(x, x_host);
    for_draws(seed, count, "", [&](const draw& d) {
        const std::uint64_t before = ingot::counters().kernel_launches;
        all.over(d, [](auto make, const auto&) {
            const ingot::array<typename decltype(make(0))::value_type> result = make(0);
        });
        std::printf("%d\t%s\n", static_cast<int>(ingot::counters().kernel_launches - before), d.text().c_str());
    });
}

}  // namespace bench
