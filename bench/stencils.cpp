// Stencils on a GPU: microseconds, each the least of many calls between two events, compared with copies of as many
// bytes by the driver and by Ingot, with the thread layout of the plan.
//   stencils RESULTS.jsonl [SHRINK [PART_OF_A_NAME]]
// SHRINK is how often the extents are halved.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <ingot/ingot.hpp>

#include "gpu.hpp"
#include "report.hpp"

namespace {

using namespace ingot;

constexpr int rounds = 15;
const slice low(0, -2), middle(1, -1), high(2, none);

/// The name of the layout of threads of an expression's kernel.
template <class E>
std::string layout_of(const E& e) {
    std::ostringstream text;
    text << explain(e);
    const std::string all = text.str();
    for (const char* name : {"stencil", "packed", "spread", "tiled", "along", "flat"})
        if (all.find(std::string(name) + ": ") != all.npos) return name;
    return "?";
}

const auto five_points = [](const auto& u) {
    return 0.25f * ((u(low, middle) + u(high, middle)) + (u(middle, low) + u(middle, high)));
};
const auto nine_points = [](const auto& u) {
    return (u(low, low) + u(low, middle) + u(low, high) + u(middle, low) + u(middle, middle) + u(middle, high) +
            u(high, low) + u(high, middle) + u(high, high)) /
           9.0f;
};
/// The heat equation in three dimensions, by an explicit step.
const auto seven_points = [](const auto& u) {
    return u(middle, middle, middle) +
           0.1f * ((u(low, middle, middle) + u(high, middle, middle)) +
                   (u(middle, low, middle) + u(middle, high, middle)) +
                   (u(middle, middle, low) + u(middle, middle, high)) - 6.0f * u(middle, middle, middle));
};
const auto three_points = [](const auto& u) { return 0.5f * (u(low) + u(high)) - u(middle); };
const auto five_rolled = [](const auto& u) {
    return 0.25f * ((roll(u, 1, 0) + roll(u, -1, 0)) + (roll(u, 1, 1) + roll(u, -1, 1)));
};
const auto seven_rolled = [](const auto& u) {
    return u + 0.1f * ((roll(u, 1, 0) + roll(u, -1, 0)) + (roll(u, 1, 1) + roll(u, -1, 1)) +
                       (roll(u, 1, 2) + roll(u, -1, 2)) - 6.0f * u);
};
const auto five_padded = [](const auto& u) { return five_points(pad(u, 1, pad_mode::edge)); };
const auto five_beside_zeros = [](const auto& u) { return five_points(pad(u, 1)); };
const auto life = [](const auto& u) {
    const auto up = roll(u, 1, 0), down = roll(u, -1, 0);
    const auto near = up + down + roll(u, 1, 1) + roll(u, -1, 1) + roll(up, 1, 1) + roll(up, -1, 1) + roll(down, 1, 1) +
                      roll(down, -1, 1);
    return astype<std::uint8_t>(near == 3 || (near == 2 && u == 1));
};
const auto life_inside = [](const auto& u) {
    const auto near = u(low, low) + u(low, middle) + u(low, high) + u(middle, low) + u(middle, high) + u(high, low) +
                      u(high, middle) + u(high, high);
    return astype<std::uint8_t>(near == 3 || (near == 2 && u(middle, middle) == 1));
};

template <class T>
array<T> noise(const shape_like& shape) {
    if constexpr (std::is_same_v<T, std::uint8_t>)
        return astype<T>(random::uniform<float>(shape) < 0.3f).eval();
    else
        return random::uniform<T>(shape).eval();
}

class table {
public:
    table(bench::report& out, int shrink, std::string_view only) : out_(out), shrink_(shrink), only_(only) {}

    int run() {
        of_type<float>("float32", 16384, 640);
        of_type<double>("float64", 16384, 512);
        of_life();
        return failures_;
    }

private:
    index_t shrunk(index_t n) const { return std::max<index_t>(n >> shrink_, 8); }

    /// `copy` is the time of a copy of as many bytes; 0 for no comparison.
    void add(const std::string& name, double time, double bytes, double copy, const std::string& note) const {
        out_.add({.section = "stencils",
                  .name = name,
                  .unit = "us",
                  .time = time,
                  .baseline = copy > 0 ? "copy by the driver" : "",
                  .baseline_time = copy,
                  .bytes = static_cast<std::uint64_t>(bytes),
                  .note = note});
        std::printf("    %.0f GB/s  %s\n", bytes / time * 1e-3, note.c_str());
        std::fflush(stdout);
    }
    /// The least time of each of some statements.
    std::vector<double> least(const std::vector<std::function<void()>>& statements, int repeats = 1) const {
        std::vector<bench::work> candidates;
        for (const auto& s : statements) candidates.push_back([&s](int) { s(); });
        std::vector<double> times;
        for (const std::vector<double>& t : bench::time_in_turn(candidates, rounds, repeats))
            times.push_back(*std::ranges::min_element(t));
        return times;
    }
    bool wanted(const std::string& name) const { return name.find(only_) != name.npos; }
    template <class F>
    void guarded(const std::string& name, F f) try {
        if (wanted(name)) f();
    } catch (const std::exception& reason) {
        std::fprintf(stderr, "%s FAILED: %s\n", name.c_str(), reason.what());
        out_.add({.section = "failed", .name = name, .unit = "us", .time = std::nan(""), .note = reason.what()});
        ++failures_;
    }

    /// `statement` writes v from u; both are passed once through memory.
    template <class T>
    void beside_copy(const std::string& name, const array<T>& u, array<T>& v, const std::function<void()>& statement,
                     const std::string& layout) {
        const auto bytes = static_cast<std::size_t>(u.nbytes());
        const auto* const from = u.data();
        T* const to = v.mutable_data();
        const auto driver_copy = [=] {
            if (current_device().is_cuda())
                runtime::check(runtime::driver()->cuMemcpyDtoDAsync(reinterpret_cast<CUdeviceptr>(to),
                                                                    reinterpret_cast<CUdeviceptr>(from), bytes,
                                                                    bench::native_stream()),
                               "copying on the device");
        };
        const std::vector<double> t = least({statement, [&] { assign(v, u); }, driver_copy});
        const double moved = 2.0 * static_cast<double>(bytes);
        char by_ingot[48];
        std::snprintf(by_ingot, sizeof by_ingot, "; a copy by Ingot %.1f us", t[1]);
        add(name, t[0], moved, current_device().is_cuda() ? t[2] : 0, layout + by_ingot);
    }

    template <class T, class Step, class... Where>
    void step_inside(const std::string& name, const shape_like& shape, Step step, Where... where) {
        guarded(name, [&] {
            const array<T> u = noise<T>(shape);
            array<T> v = zeros<T>(shape);
            v.mutable_data();  // written in place from now on
            beside_copy<T>(name, u, v, [&] { v(where...) = step(u); }, layout_of(step(u)));
            const std::vector<double> fresh = least({[&] { (void)eval(step(u)); }});
            add(name + ", into a fresh array", fresh[0], 2.0 * static_cast<double>(u.nbytes()), 0, "");
        });
    }

    template <class T, class Step>
    void step_of_all(const std::string& name, const shape_like& shape, Step step) {
        guarded(name, [&] {
            const array<T> u = noise<T>(shape);
            array<T> v = zeros<T>(shape);
            v.mutable_data();
            beside_copy<T>(name, u, v, [&] { assign(v, step(u)); }, layout_of(step(u)));
        });
    }

    /// Times that many steps by iterate beside as many statements.
    template <class T, class Step, class... Where>
    void steps(const std::string& name, const shape_like& shape, Step step, Where... where) {
        guarded(name, [&] {
            constexpr int n = 8;
            const array<T> u = noise<T>(shape);
            array<T> a = u, b = u;
            a.mutable_data(), b.mutable_data();
            const auto by_hand = [&] {
                for (int i = 0; i < n; ++i)
                    if (i % 2 == 0)
                        b(where...) = step(a);
                    else
                        a(where...) = step(b);
            };
            array<T> got = iterate(n, u, step);
            by_hand();
            if (!array_equal(got, a).item()) throw std::runtime_error("other bits than statements give");
            const std::vector<double> t = least({by_hand, [&] { got = iterate(n, u, step); }});
            const double moved = 2.0 * n * static_cast<double>(u.nbytes());
            add(name + ", 8 statements", t[0], moved, 0, "");
            char share[32];
            std::snprintf(share, sizeof share, "%.2f of the statements", t[1] / t[0]);
            add(name + ", iterate(8)", t[1], moved, 0, share);
        });
    }

    template <class T>
    void of_type(const std::string& type, index_t plane, index_t cube) {
        const index_t n = shrunk(plane), m = shrunk(cube);
        step_inside<T>("5 points " + type, {n, n}, five_points, middle, middle);
        step_inside<T>("9 points " + type, {n, n}, nine_points, middle, middle);
        step_inside<T>("7 points (heat, 3-D) " + type, {m, m, m}, seven_points, middle, middle, middle);
        step_inside<T>("3 points (1-D) " + type, {n * n}, three_points, middle);
        step_of_all<T>("5 points by roll " + type, {n, n}, five_rolled);
        step_of_all<T>("7 points by roll (3-D) " + type, {m, m, m}, seven_rolled);
        step_of_all<T>("5 points by pad, the edge " + type, {n, n}, five_padded);
        step_of_all<T>("5 points by pad, zeros " + type, {n, n}, five_beside_zeros);
        steps<T>("5 points " + type, {n, n}, five_points, middle, middle);
        steps<T>("7 points (heat, 3-D) " + type, {m, m, m}, seven_points, middle, middle, middle);
    }

    void of_life() {
        const index_t n = shrunk(32768);
        step_of_all<std::uint8_t>("life by roll, bytes", {n, n}, life);
        step_inside<std::uint8_t>("life inside, bytes", {n, n}, life_inside, middle, middle);
    }

    bench::report& out_;
    int shrink_, failures_ = 0;
    std::string_view only_;
};

int run(int argc, char** argv) {
    const int shrink = argc > 2 ? std::atoi(argv[2]) : 0;
    if (argc < 2 || shrink < 0 || shrink > 20)
        return std::fprintf(stderr, "usage: stencils RESULTS.jsonl [SHRINK, 0 to 20 [PART]]\n"), 2;
    bench::report out(argv[1]);
    std::printf("%s\n", current_device().name().c_str());
    return table(out, shrink, argc > 3 ? argv[3] : "").run() == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try { return run(argc, argv); } catch (const std::exception& reason) {
    std::fprintf(stderr, "stencils: %s\n", reason.what());
    return 1;
}
