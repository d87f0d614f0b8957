// Work that is recorded once and launched as one, and loops that end by a value on the device.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "runtime/device/graphs.hpp"
#include "runtime/kernels/compile.hpp"
#include "runtime/kernels/nvrtc.hpp"
#include "tests/arrays/expect.hpp"
#include "tests/untested.hpp"
#include "tests/walls/count.hpp"

using namespace ingot;

TEST_CASE("a graph does nothing when it is recorded, and with each launch what was recorded") {
    array<float> x{1, 2, 3}, y = zeros<float>(3);
    const graph g = capture([&] {
        y = x * x;
        x += 1;
        y += sum(x);
    });
    CHECK(holds(x, {3}, {1, 2, 3}));
    CHECK(holds(y, {3}, {0, 0, 0}));
    CHECK(g.size() >= 3);
    CHECK(launches([&] { g.launch(); }) == 1);
    CHECK(holds(y, {3}, {10, 13, 18}));
    CHECK(holds(x, {3}, {2, 3, 4}));
    g.launch();
    CHECK(holds(y, {3}, {16, 21, 28}));
    x.fill(0);  // in place
    g.launch();
    CHECK(holds(y, {3}, {3, 3, 3}));
}

TEST_CASE("numbers of a graph are arrays without axes, which are set between launches") {
    array<double> x = arange<double>(1000), by = full<double>({}, 2.0), r;
    const graph g = capture([&] { r = sum(x * by); });
    for (const double factor : {2.0, 3.0, 0.5}) {
        by.set(std::vector<double>{factor});
        g.launch();
        CHECK(r.item() == factor * 499500);
    }
}

TEST_CASE("a graph holds what it touches, and what it took is nobody else's while it lives") {
    graph g;
    array<double> total;
    {
        array<double> x = arange<double>(5000);
        g = capture([&, scale = full<double>({}, 3.0)] {
            const array<double> square = x * x, root = sqrt(square) + 0.0 * sum(square);
            total = sum(root * scale);
        });
    }
    const array<double> others = full<double>(5000, 7.0), more = others + 1;  // memory that is taken anew
    g.launch();
    CHECK(total.item() == 3.0 * 4999 * 5000 / 2);
    CHECK(all(others == 7.0).item());
    CHECK(all(more == 8.0).item());
    array<double> copy = total;  // a value: later launches do not change it
    total.fill(0);
    g.launch();
    CHECK(total.item() == copy.item());
    const array<double> kept = std::move(total);
    g = graph();  // its results outlive it
    const array<double> again = ones<double>(5000) + others;
    CHECK(kept.item() == copy.item());
    CHECK(all(again == 8.0).item());
}

TEST_CASE("an array that is made of numbers while a graph is recorded has them with every launch") {
    array<double> x = zeros<double>(2), y;
    const graph g = capture([&] {
        array<double> sums{10, 20};
        x += sums;
        sums += x;
        y = sums * array<double>{1, 100};
    });
    for (const double turn : {1.0, 2.0}) {
        g.launch();
        CHECK(holds(y, {2}, {10 + 10 * turn, 100 * (20 + 20 * turn)}));
    }
    CHECK_THROWS_AS((void)capture([&] {
                        array<double> count{0};
                        loop_while([&] { return all(count < 3); }, [&] { count += 1; });
                    }),
                    error);
}

TEST_CASE("launches are in order with other work, on other streams too") {
    array<int> x = zeros<int>(2000);
    const graph g = capture([&] { x += 1; });
    stream one, two;
    for (int i = 0; i < 5; ++i) {
        {
            with_stream in(one);
            g.launch();
        }
        with_stream in(two);
        x *= 2;
        g.launch();
    }
    CHECK(all(x == 93).item());
}

TEST_CASE("raw kernels, copies, fills and sorted rows are recorded") {
    const raw_kernel next(
        "extern \"C\" __global__ void next(const int* x, int* y, int n) { y[threadIdx.x] = x[threadIdx.x] + n; }",
        "next");
    array<int> x{3, 1, 2}, y = zeros<int>(3), sorted, old;
    const graph g = capture([&] {
        old = y;
        next(1, 3, x, out(y), 10);
        sorted = sort(y);
        x.fill(5);
        x(1) = 7;
    });
    g.launch();
    CHECK(holds(sorted, {3}, {11, 12, 13}));
    CHECK(holds(old, {3}, {0, 0, 0}));
    CHECK(holds(x, {3}, {5, 7, 5}));
    g.launch();
    CHECK(holds(sorted, {3}, {15, 15, 17}));
    CHECK(holds(old, {3}, {13, 11, 12}));
}

TEST_CASE("what has to wait for a result cannot be recorded, and leaves everything usable") {
    array<float> x{1, 2, 3};
    const auto reading = [&] { return thrown<device_error>([&] { (void)capture([&] { (void)sum(x).item(); }); }); };
    CHECK(reading() == "[graph] reading on the host waits for a result, which cannot be recorded");
    CHECK_THROWS_AS((void)capture([&] { (void)x.to_host(); }), device_error);
    CHECK_THROWS_AS((void)capture([&] { x.set(std::vector<float>{1, 2, 3}); }), device_error);
    CHECK_THROWS_AS((void)capture([&] { synchronize(); }), device_error);
    CHECK_THROWS_AS((void)capture([&] { event().record(); }), device_error);
    CHECK_THROWS_AS((void)capture([&] { (void)capture([&] { x += 1; }); }), device_error);
    CHECK(thrown<device_error>([&] {
              const array<float> there = x.to(device::host(1));
              (void)capture([&] { (void)eval(there + 1); });
          }) == "[graph] work on another stream or device cannot be recorded");
    // Work on another device is not run at once either.
    const array<float> there = array<float>{7, 8, 9}.to(device::host(1));
    array<float> back = zeros<float>(3), elsewhere = zeros<float>(3).to(device::host(1));
    const stream beside;
    for (const auto& copy :
         std::vector<std::function<void()>>{[&] { transfer(back, there); }, [&] { (void)there.to(back.device()); },
                                            [&] {
                                                const with_stream in(beside);
                                                transfer(back, x);
                                            },
                                            [&] {
                                                const with_stream in(beside);
                                                back.set({7, 8, 9});
                                            },
                                            [&] {
                                                const with_device on(device::host(1));
                                                (void)zeros<float>(3);
                                            }}) {
        CHECK_THROWS_AS((void)capture([&] { copy(); }), device_error);
        CHECK(holds(back, {3}, {0, 0, 0}));
    }
    CHECK_THROWS_AS((void)capture([&] {
                        x += 1;
                        throw shape_error("mine");
                    }),
                    shape_error);
    CHECK_THROWS_AS(graph().launch(), device_error);
    const graph g = capture([&] { x += 1; });
    CHECK_THROWS_AS((void)capture([&] { g.launch(); }), device_error);
    CHECK(holds(x, {3}, {1, 2, 3}));
    g.launch();
    CHECK(holds(x, {3}, {2, 3, 4}));
    array<float> fresh = zeros<float>(2), same = fresh;
    CHECK(thrown<error>([&] {
              (void)capture([&] { fresh += 1; });
          }).starts_with("[graph] an array is written that shares its memory with a copy"));
    fresh += 1;  // has its own from here on
    capture([&] { fresh += 1; }).launch();
    CHECK(holds(fresh - same, {2}, {2, 2}));
    // An array that is given other memory would be read where it was.
    CHECK(thrown<error>([&] {
              (void)capture([&] { x = concatenate({x, x}); });
          }).starts_with("[graph] what is recorded moved an array to new memory"));
}

TEST_CASE("indices that are out of range are told by whoever waits after a launch") {
    const array<float> table{1, 2, 3};
    array<int> i{0, 2};
    array<float> r;
    const graph g = capture([&] { r = take(table, i); });
    g.launch();
    CHECK(holds(r, {2}, {1, 3}));
    i.fill(5);
    g.launch();
    CHECK_THROWS_AS(synchronize(), index_error);
    i.fill(1);
    g.launch();
    CHECK(holds(r, {2}, {2, 2}));
}

TEST_CASE("the scratch of a recorded fold is no memory that was a temporary's before it") {
    std::vector<array<float>> given, doubled(8);
    for (int k = 0; k < 8; ++k) given.push_back(ones<float>(index_t{1024} << k));
    const array<float> rows = ones<float>({40, 40'000});
    array<float> sums, total;
    const graph g = capture([&] {
        for (std::size_t k = 0; k < 8; ++k) {
            const array<float> t = given[k] + 1;
            doubled[k] = t * 2;
        }
        sums = sum(rows, 1);
        total = sum(rows);
    });
    for (int turn = 0; turn < 3; ++turn) {
        g.launch();
        CHECK(all(sums == 40'000).item());
        CHECK(total.item() == 1'600'000);
        CHECK(all(doubled[7] == 4).item());
    }
}

TEST_CASE("what a capture that failed has made is an array like others to the next one") {
    array<float> x{1, 2, 3}, y;
    CHECK_THROWS_AS((void)capture([&] {
                        y = x * 2;
                        (void)y.to_host();
                    }),
                    device_error);
    const graph g = capture([&] { y = x * 2; });
    g.launch();
    const array<float> before = y;
    x.fill(5);
    g.launch();
    CHECK(holds(y, {3}, {10, 10, 10}));
    CHECK(holds(before, {3}, {2, 4, 6}));
}

TEST_CASE("selecting is recorded; solvers wait for results, and say so") {
    array<double> x = arange<double>(100), v;
    array<std::int64_t> which;
    const graph g = capture([&] {
        auto [greatest, places] = topk(x * 2, 3);
        v = greatest;
        which = places;
    });
    g.launch();
    CHECK(holds(v, {3}, {198, 196, 194}));
    x(all) = 99.0 - arange<double>(100);
    g.launch();
    CHECK(holds(which, {3}, {0, 1, 2}));
    array<double> solved = zeros<double>(2);
    CHECK_THROWS_AS((void)capture([&] { assign(solved, linalg::solve(eye(2) * 2, ones({2}))); }), device_error);
}

TEST_CASE("a graph sees an array that is assigned a view of itself, and says which it does not see any more") {
    array<float> x = arange<float>(6), y = zeros<float>(6);
    const graph g = capture([&] { y = x * 2; });
    x = x(slice(none, none, -1));
    g.launch();
    CHECK(holds(y, {6}, {10, 8, 6, 4, 2, 0}));
    x(slice(0, 3)) = x(slice(3, 6));
    g.launch();
    CHECK(holds(y, {6}, {4, 2, 0, 4, 2, 0}));

    array<float> a{1, 2, 3}, older = a, r = zeros<float>(3);
    const graph reads = capture([&] { assign(r, a + 1); });
    reads.launch();
    CHECK(holds(r, {3}, {2, 3, 4}));
    a += 1;
    CHECK(thrown<error>([&] { reads.launch(); }).find("[graph] an array of the graph, of 12 bytes") == 0);
    CHECK(holds(older, {3}, {1, 2, 3}));
    CHECK(holds(a, {3}, {2, 3, 4}));
    for (const auto& write : std::vector<std::function<void(array<float>&)>>{
             [](array<float>& v) { v.set({7, 8, 9}); }, [](array<float>& v) { v.fill(3); },
             [](array<float>& v) { v = v * 2; }, [](array<float>& v) { v(0) = 5; },
             [](array<float>& v) { v(v > 0) = 5; }, [](array<float>& v) { (void)v.mutable_data(); }}) {
        array<float> b{1, 2, 3}, copy = b, to = zeros<float>(3);
        const graph of_b = capture([&] { to = b + 1; });
        write(b);
        CHECK_THROWS_AS(of_b.launch(), error);
        const graph anew = capture([&] { to = b + 1; });
        anew.launch();
        CHECK(all(to == b + 1).item());
    }
    {
        array<float> b{1, 2, 3}, to = zeros<float>(3);
        const graph of_b = capture([&] { to = b + 1; });
        b = array<float>{4, 5, 6, 7} + 0;  // of another shape; the graph is documented not to see it
        of_b.launch();
        CHECK(holds(to, {3}, {2, 3, 4}));
    }
}

TEST_CASE("a write that fails leaves an array where a graph looks for it") {
    array<float> x{1, 2, 3}, older = x, r = zeros<float>(3);
    const graph g = capture([&] { assign(r, x + 1); });
    memory_pool pool = default_memory_pool();
    pool.free_all_blocks();
    const std::size_t limit = pool.get_limit();
    for (const auto& write : std::vector<std::function<void()>>{
             [&] { x.set({4, 5, 6}); }, [&] { x += 1; }, [&] { x(0) = 5; }, [&] { (void)x.mutable_data(); },
             [&] { transfer(x, r); }, [&] { x(slice(0, 2)) = x(slice(1, 3)); }}) {
        std::vector<array<float>> all_that_is_free;
        pool.set_limit(std::max<std::size_t>(pool.total_bytes(), 1));
        try {
            for (;;) all_that_is_free.push_back(empty<float>(3));
        } catch (const out_of_memory&) {
        }
        CHECK_THROWS_AS(write(), out_of_memory);
        pool.set_limit(limit);
        g.launch();
        CHECK(holds(r, {3}, {2, 3, 4}));
    }
    x += 1;
    CHECK_THROWS_AS(g.launch(), error);
    CHECK(holds(older, {3}, {1, 2, 3}));
}

TEST_CASE("an array over a variable is in order with launches of graphs from before it") {
    const raw_module module(R"(
        extern "C" {
        __device__ int total[1];
        __global__ void add_to_total(int n) { for (int i = 0; i < n; ++i) total[0] += 1; }
        })");
    const raw_kernel add = module.get_function("add_to_total");
    const graph g = capture([&] { add(1, 1, 100); });
    const stream one, two;
    for (int turn = 1; turn <= 10; ++turn) {
        {
            const with_stream in(one);
            g.launch();
        }
        const with_stream in(two);
        array<int> total = module.get_global<int>("total");
        CHECK(total(0).item() == 100 + (turn > 1 ? turn : 0));
        total.fill(turn + 1);
    }
}

TEST_CASE("a loop ends by a value on the device, also within what is recorded, and in another loop") {
    array<double> x = full<double>({}, 1000.0), turns = zeros<double>({});
    const graph halve = graph::loop([&] { return x > 1; },
                                    [&] {
                                        x /= 2;
                                        turns += 1;
                                    });
    CHECK(x.item() == 1000);
    CHECK(launches([&] { halve.launch(); }) == 1);
    CHECK(x.item() == 1000.0 / 1024);
    CHECK(turns.item() == 10);
    halve.launch();  // the condition is false at once
    CHECK(turns.item() == 10);
    x.fill(3);
    halve.launch();
    CHECK(turns.item() == 12);

    array<int> v = zeros<int>(300), outer = zeros<int>({}), inner = zeros<int>({});
    const auto nested = [&] {
        v += 1;
        loop_while([&] { return outer < 3; },
                   [&] {
                       inner.fill(0);
                       loop_while([&] { return all(inner < 4 + outer); },
                                  [&] {
                                      v += arange<int>(300);
                                      inner += 1;
                                  });
                       outer += 1;
                   });
        v *= 2;
    };
    const graph g = capture(nested);
    CHECK(all(v == 0).item());
    g.launch();
    CHECK(all(v == 2 + 2 * 15 * arange<int>(300)).item());
    v.fill(0);
    outer.fill(1);
    nested();  // at once: it reads the conditions
    CHECK(all(v == 2 + 2 * 11 * arange<int>(300)).item());
}

TEST_CASE("a loop's condition has no axes, and its body writes in place") {
    array<double> x = full<double>(3, 8.0);
    CHECK(thrown<shape_error>([&] { (void)graph::loop([&] { return x > 1; }, [&] { x /= 2; }); }) ==
          "[graph] a loop's condition has no axes, and one of shape (3,) was given; any(...) and all(...) of it have "
          "none");
    CHECK(thrown<error>([&] {
              (void)capture([&] {
                  array<double> y = x * 2;
                  loop_while([&] { return any(y > 1); }, [&] { y = concatenate({y, y}) / 4; });
              });
          }).starts_with("[graph] a loop's body moved an array to new memory"));
    const graph g = graph::loop([&] { return any(x > 1); }, [&] { x /= 2; });
    g.launch();
    CHECK(all(x == 1).item());
}

TEST_CASE("NVRTC knows how a kernel sets a loop's condition") {
    if (!runtime::nvrtc_path()) return ingot::test::untested("NVRTC is not here");
    for (const unsigned architecture : {80u, 90u})
        CHECK(!runtime::compile(runtime::condition_source(architecture)).empty());
}

TEST_CASE("a graph that is dropped ends after its launches, and others take its room") {
    array<double> x = zeros<double>(4000);
    for (int i = 1; i <= 5; ++i) {
        const graph g = capture([&] {
            const array<double> y = x + 1;
            x = y * 1.0 + 0.0 * sum(y);
        });
        g.launch();
    }
    CHECK(all(x == 5).item());
}
