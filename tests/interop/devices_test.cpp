// Several devices together: what they are, copies between them in order with both, views across them.
#include <vector>

#include "runtime/device/device.hpp"
#include "tests/arrays/expect.hpp"
#include "tests/untested.hpp"

using namespace ingot;

namespace {

/// Two GPUs, where there are as many, else two hosts.
std::pair<device, device> two_devices() {
    if (device::cuda_count() > 1) return {device::cuda(0), device::cuda(1)};
    return {device::host(0), device::host(1)};
}

bool no_two_gpus() {
    if (device::cuda_count() > 1) return false;
    test::untested("there are no two GPUs here");
    return true;
}

}  // namespace

TEST_CASE("a device says what it is") {
    std::vector<device> all_there_are{device::host(), device::host(1)};
    for (int i = 0; i < device::cuda_count(); ++i) all_there_are.push_back(device::cuda(i));
    for (const device d : all_there_are) {
        const device_properties p = properties_of(d);
        CHECK(p.name == d.name());
        CHECK(p.total_memory > 0);
        CHECK(p.free_memory <= p.total_memory);
        CHECK(p.multiprocessors > 0);
        CHECK(p.compute_capability >= (d.is_cuda() ? 50 : 0));
        CHECK(p.uuid.size() == (d.is_cuda() ? 32u : 0u));
        CHECK((p.warp_size > 0) == d.is_cuda());
        CHECK((p.copy_engines > 0) == d.is_cuda());
        CHECK(can_access(d, d));
    }
    const device absent = device::cuda(63);
    CHECK(thrown<device_error>([&] { (void)properties_of(absent); }).starts_with("[device] there is no cuda:63"));
    CHECK(thrown<device_error>([&] { (void)can_access(device::host(), absent); }).starts_with("[device] there is no"));
    // A number out of range does not become another device's.
    CHECK(thrown<device_error>([] { (void)device::host(300); }) == "[device] there is no host:300; numbers end at 63");
    CHECK(thrown<device_error>([] { (void)device::cuda(-1); }) == "[device] there is no cuda:-1; numbers end at 63");
    CHECK_THROWS_AS((void)device(device_kind::other, 256), device_error);
    CHECK_THROWS_AS((void)array<int>{1}.to(device::host(64)), device_error);
    static_assert(device::host(63).index() == 63);
}

TEST_CASE("events may block, and may be without a time, on every device") {
    for (const device d : {device::host(), current_device()}) {
        const with_device there(d);
        event plain, asleep(blocking), untimed(no_timing), both(no_timing, blocking);
        for (event* const e : {&plain, &asleep, &untimed, &both}) {
            e->record();
            e->synchronize();
            CHECK(e->done());
        }
        event later(blocking);
        later.record();
        CHECK(elapsed(plain, later) >= 0);
        CHECK(thrown<device_error>([&] { elapsed(plain, untimed); }) ==
              "[elapsed] an event of no_timing; events with a time are wanted");
        CHECK_THROWS_AS(elapsed(both, plain), device_error);
        // The event's options move with it.
        event moved = std::move(untimed);
        moved.record();
        CHECK_THROWS_AS(elapsed(plain, moved), device_error);
    }
}

TEST_CASE("copies between devices are in order with the streams of both") {
    const auto [first, second] = two_devices();
    const stream of_first(first), of_second(second);
    for (int turn = 0; turn < 20; ++turn) {
        array<int> x, y, back;
        {
            const with_stream in(of_first);
            x = full<int>(5000, turn);
            x += 1;
        }
        {
            const with_stream in(turn % 2 ? of_first : of_second);
            y = x.to(second);  // behind what writes x
        }
        {
            const with_stream in(of_first);
            x.fill(-1);  // behind the copy
        }
        {
            const with_stream in(of_second);
            y *= 2;
            back = y.to(first);
            y.fill(-2);
        }
        CHECK(y.device() == second);
        CHECK(all(back == 2 * (turn + 1)).item());
        CHECK(all(x == -1).item());
        CHECK(all(y == -2).item());
    }
}

TEST_CASE("transfers write into an array of any device, pinned ones too, and copies stay what they were") {
    const auto [first, second] = two_devices();
    array<int> staging = empty_pinned<int>({3, 4});
    const int* const memory = staging.data();
    CHECK(staging.device() == device::host());
    const stream of_second(second);
    array<int> there;
    {
        const with_stream in(of_second);
        there = counted({3, 4}) * 2;
        transfer(staging, there);
        there.fill(-1);
    }
    CHECK(staging.data() == memory);
    CHECK(holds(staging, {3, 4}, (counted({3, 4}) * 2).to_host()));
    const array<int> copy = staging;
    array<int> elsewhere = zeros<int>({3, 4}).to(first);
    transfer(elsewhere, staging);
    transfer(staging, there);
    CHECK(holds(copy, {3, 4}, (counted({3, 4}) * 2).to_host()));
    CHECK(holds(elsewhere, {3, 4}, (counted({3, 4}) * 2).to_host()));
    CHECK(all(staging == -1).item());
    transfer(staging, staging);
    CHECK(thrown<shape_error>([&] { transfer(staging, zeros<int>(12)); }) ==
          "[transfer] shape (12,) into shape (3, 4)");
    CHECK(empty_pinned<float>({0, 3}).size() == 0);
    CHECK_THROWS_AS((void)empty_pinned<float>({-1}), shape_error);
}

TEST_CASE("an array of another device is read where it is, as it was when the view was made") {
    const auto [first, second] = two_devices();
    if (!can_access(first, second)) {
        return test::untested("the devices have no access to each other");
    }
    const stream of_first(first), of_second(second);
    array<double> x, r;
    {
        const with_stream in(of_second);
        x = arange<double>(4000) + 1.0;
    }
    {
        const with_stream in(of_first);
        array<double> seen = peer_view(x, first);
        CHECK(seen.device() == first);
        if (device::cuda_count() > 1) CHECK(seen.data() == x.data());
        {
            const with_stream in_second(of_second);
            x.fill(7);  // elsewhere
        }
        r = seen * 2 + sum(seen);
        CHECK(thrown<read_only_error>([&] { seen += 1; }).find("read-only") != std::string::npos);
        const array<double> copy = seen;
        CHECK(copy.device() == first);
        CHECK(copy.data() != seen.data());
        // The view goes before its reader has run, and its memory with the reader.
    }
    array<double> others;
    {
        const with_stream in(of_second);
        others = full<double>(4000, 3.0);
    }
    CHECK(r(0).item() == 2 + 4000.0 * 4001 / 2);
    CHECK(r(3999).item() == 8000 + 4000.0 * 4001 / 2);
    CHECK(all(x == 7).item());
    CHECK(peer_view(x, second).data() == x.data());  // its own
    CHECK(peer_view(array<double>(), first).size() == 0);
    // A view of a view is of the same memory, and of its own device the memory itself.
    CHECK(peer_view(peer_view(x, first), second).data() == x.data());
    if (device::cuda_count() > 2) CHECK(all(peer_view(peer_view(x, first), device::cuda(2)) == 7).item());
    // An array that others may write is viewed as a copy.
    double* const written = x.mutable_data();
    CHECK(peer_view(x, first).data() != written);
    CHECK(thrown<device_error>([&] { (void)eval(x + r); }).find(to_string(second)) != std::string::npos);
}

TEST_CASE("GPUs whose access to each other is refused say so and copy all the same") {
    if (device::cuda_count() > 0) {
        const array<float> x = array<float>{1, 2}.to(device::host());
        const std::string text = thrown<device_error>([&] { (void)peer_view(x, device::cuda()); });
        CHECK(text == "[peer_view] cuda:0 has no access to the memory of host:0; copy the array, by .to(device)");
    }
    if (no_two_gpus()) return;
    if (can_access(device::cuda(0), device::cuda(1))) {
        return test::untested("the GPUs have access to each other");
    }
    const array<float> x = array<float>{1, 2}.to(device::cuda(1));
    CHECK(thrown<device_error>([&] { (void)peer_view(x, device::cuda(0)); }) ==
          "[peer_view] cuda:0 has no access to the memory of cuda:1; copy the array, by .to(device)");
    CHECK(holds(x.to(device::cuda(0)) * 2, {2}, {2, 4}));
}

TEST_CASE("what a device's solver makes lies on its operand's device") {
    const auto [first, second] = two_devices();
    array<double> a, b;
    {
        const with_device there(second);
        a = array<double>{{0, 1}, {1, 1}, {2, 1}};
        b = array<double>{1, 3, 5};
    }
    const with_device here(first);
    const auto [x, sums, rank, s] = linalg::lstsq(a, b);
    CHECK(x.device() == second);
    CHECK(sums.device() == second);
    CHECK(rank.device() == second);
    CHECK(s.device() == second);
    CHECK(std::get<1>(linalg::lstsq(a(slice(0, 1)), b(slice(0, 1)))).device() == second);  // there are none
}

TEST_CASE("the variables of a module are in order with its launches, whatever their streams") {
    const raw_module module(R"(
        extern "C" {
        __device__ int total[1];
        __global__ void add_to_total(int n) { total[0] += n; }
        __global__ void read_total(int* to) { to[0] = total[0]; }
        })");
    const raw_kernel add = module.get_function("add_to_total"), read = module.get_function("read_total");
    const stream one, two;
    {
        const with_stream in(one);
        add(1, 1, 100);  // before an array is over the variable
    }
    const with_stream in(two);
    array<int> total = module.get_global<int>("total"), seen = zeros<int>(1);
    CHECK(total(0).item() == 100);
    for (int turn = 1; turn <= 20; ++turn) {
        {
            const with_stream in_one(one);
            total.fill(turn);
        }
        add(1, 1, 10);
        {
            const with_stream in_one(one);
            array<int> same = module.get_global<int>("total");
            same *= 2;
        }
        read(1, 1, out(seen));
        CHECK(seen(0).item() == 2 * (turn + 10));
    }
}
