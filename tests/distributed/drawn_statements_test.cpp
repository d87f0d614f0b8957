// Drawn statements over drawn partitions, beside the same statements over ordinary arrays. All numbers are small
// integers, so that sums are exact in every order and results are equal bit by bit.
#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <ingot/distributed.hpp>
#include <ingot/ingot.hpp>

#include "tests/drawn.hpp"

using namespace ingot;
namespace dist = ingot::distributed;

namespace {

class drawer {
public:
    drawer(dist::session& s, std::uint64_t seed)
        : session_(s), draw_(seed), late_(seed + static_cast<unsigned>(s.rank())) {}

    void run() {
        const int across = session_.size() % 2 == 0 && coin() ? 2 : 1;
        mesh_ = dist::mesh(session_, {"y", "x"}, {session_.size() / across, across});
        rows_ = below(9);
        columns_ = 1 + below(9);
        for (int k = 0; k < 3; ++k) {
            const array<double> whole = drawn({rows_, columns_});
            leaves_.push_back({dist::redistribute(whole, partition(*mesh_)), whole});
        }
        for (int k = 0; k < 6; ++k) {
            wait();
            coin() ? assign_new() : write_part();
            if (failed_) return;
        }
    }
    const std::string& told() const { return told_; }

private:
    struct value {
        lazy<double> parts, whole;
    };
    struct leaf {
        array<double> parts, whole;
    };

    int below(int n) { return static_cast<int>(draw_() % static_cast<unsigned>(n)); }
    bool coin() { return below(2) == 0; }
    void wait() {
        if (late_() % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(late_() % 500));
    }
    array<double> drawn(const shape_like& shape) {
        array<double> made = zeros<double>(shape);
        std::vector<double> numbers(static_cast<std::size_t>(made.size()));
        for (double& x : numbers) x = below(17) - 8;
        made.set(numbers);
        return made;
    }
    dist::partition partition(const dist::mesh& m) {
        const dist::ghost layers(below(3));
        switch (below(5)) {
            case 0:
                return dist::split(m, {"y", "x"}, layers);
            case 1:
                return dist::split(m, {"x", "y"}, layers);
            case 2:
                return dist::split(m, {"", "y"}, layers);
            case 3:
                return dist::replicated(m);
            default:
                return dist::split(m, {"y"}, layers);
        }
    }
    void say(const std::string& text) { told_ += text + "; "; }

    /// A value of the leaves' shape.
    value drawn_value(int depth) {
        if (depth == 0 || below(5) == 0) {
            const auto k = static_cast<std::size_t>(below(static_cast<int>(leaves_.size())));
            say("leaf " + std::to_string(k));
            return {leaves_[k].parts, leaves_[k].whole};
        }
        const auto both = [&](const char* name, auto f) {
            const value a = drawn_value(depth - 1);
            const value b = drawn_value(depth - 1);
            say(name);
            return value{f(a.parts, b.parts), f(a.whole, b.whole)};
        };
        const auto one = [&](const std::string& name, auto f) {
            const value a = drawn_value(depth - 1);
            say(name);
            return value{f(a.parts), f(a.whole)};
        };
        switch (below(9)) {
            case 0:
                return both("add", [](const auto& a, const auto& b) { return lazy<double>(a + b); });
            case 1:
                return both("maximum", [](const auto& a, const auto& b) { return lazy<double>(maximum(a, b)); });
            case 2:
                return both("where", [](const auto& a, const auto& b) { return lazy<double>(where(a > b, a - 1, b)); });
            case 3:
                return one("flip", [axis = below(2)](const auto& a) { return lazy<double>(flip(a, axis)); });
            case 4:
                return one("minus the greatest", [axis = below(2), empty = rows_ == 0](const auto& a) {
                    return empty ? lazy<double>(a) : lazy<double>(a - max(a, axis, keepdims));
                });
            case 5:
                return one("plus the sum", [axis = below(2)](const auto& a) {
                    return lazy<double>(minimum(a + sum(a, axis, keepdims), 50));
                });
            case 6:
                return one("clipped sum of all", [](const auto& a) { return lazy<double>(a + minimum(sum(a), 9)); });
            case 7:
                return one("broadcast row", [n = rows_, m = columns_](const auto& a) {
                    return n == 0 ? lazy<double>(a) : lazy<double>(a + broadcast_to(a(n / 2, all), {n, m}));
                });
            default:
                return one("times two, clipped", [](const auto& a) { return lazy<double>(clip(a * 2, -50, 50)); });
        }
    }

    void check(const array<double>& parts, const array<double>& whole) {
        const array<double> found = dist::gather(parts);
        if (found.shape() == whole.shape() && array_equal(found, whole).item()) return;
        failed_ = true;
        std::ostringstream text;
        text << told_ << "\nfound " << found << "\nwanted " << whole;
        MESSAGE(text.str());
        CHECK(!failed_);
    }

    void assign_new() {
        const value v = drawn_value(3);
        const auto k = static_cast<std::size_t>(below(static_cast<int>(leaves_.size())));
        say("to leaf " + std::to_string(k));
        const int way = below(3);
        if (way == 0) {
            leaves_[k] = {array<double>(v.parts), array<double>(v.whole)};
        } else if (way == 1) {
            say("moved");
            leaves_[k] = {dist::redistribute(v.parts, partition(*mesh_)), array<double>(v.whole)};
        } else {
            leaves_[k].parts(all, all) = v.parts;
            leaves_[k].whole(all, all) = v.whole;
        }
        check(leaves_[k].parts, leaves_[k].whole);
    }

    /// Writes shifted views, as stencils do.
    void write_part() {
        if (rows_ < 3) return;
        const auto to = static_cast<std::size_t>(below(static_cast<int>(leaves_.size())));
        const auto from = static_cast<std::size_t>(below(static_cast<int>(leaves_.size())));
        const index_t width = 1 + below(2);
        if (rows_ <= 2 * width) return;
        const slice in(width, -width), low(0, -2 * width), high(2 * width, none);
        say("leaf " + std::to_string(to) + "(in) = neighbours of leaf " + std::to_string(from) + " at " +
            std::to_string(width));
        const array<double> before = leaves_[to].parts, whole_before = leaves_[to].whole;
        leaves_[to].parts(in, all) = clip(leaves_[from].parts(low, all) + leaves_[from].parts(high, all), -50, 50);
        leaves_[to].whole(in, all) = clip(leaves_[from].whole(low, all) + leaves_[from].whole(high, all), -50, 50);
        check(leaves_[to].parts, leaves_[to].whole);
        check(before, whole_before);
    }

    dist::session& session_;
    std::mt19937_64 draw_, late_;
    std::optional<dist::mesh> mesh_;
    int rows_ = 0, columns_ = 0;
    std::vector<leaf> leaves_;
    std::string told_;
    bool failed_ = false;
};

std::uint64_t first_seed() {
    const char* const given = std::getenv("INGOT_TEST_SEED");
    return given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device()();
}

}  // namespace

TEST_CASE("drawn statements over drawn partitions are those over ordinary arrays") {
    const std::uint64_t seed = first_seed();
    const int draws = test::number_of_draws(40);
    for (int k = 0; k < draws; ++k) {
        const std::uint64_t own = seed + static_cast<std::uint64_t>(k);
        CAPTURE(own);
        std::string told;
        try {
            dist::run_local(1 + static_cast<int>(own % 4), [&](dist::session& s) {
                drawer d(s, own);
                try {
                    d.run();
                } catch (...) {
                    if (s.rank() == 0) told = d.told();
                    throw;
                }
            });
        } catch (const std::exception& e) {
            FAIL_CHECK("seed " << own << ": " << std::string(e.what()) << "\n" << told);
        }
    }
}
