// Memory of others: owners, const memory, spans and mdspans, and allocators beneath the pool.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <thread>

#include "runtime/device/device.hpp"
#include "runtime/device/driver.hpp"
#include "tests/arrays/expect.hpp"
#include "tests/untested.hpp"

using namespace ingot;

namespace {

/// A minimal mdspan, over any strides.
template <class T>
struct strided_span {
    struct shape_of {
        std::vector<std::size_t> sizes;
        std::size_t rank() const { return sizes.size(); }
        std::size_t extent(std::size_t axis) const { return sizes[axis]; }
    };
    T* data;
    shape_of shape;
    std::vector<std::ptrdiff_t> steps;
    bool strided = true;

    T* data_handle() const { return data; }
    shape_of extents() const { return shape; }
    std::ptrdiff_t stride(std::size_t axis) const { return steps[axis]; }
    bool is_strided() const { return strided; }
};
static_assert(detail::mdspan_like<strided_span<const float>>);
static_assert(!detail::mdspan_like<std::vector<float>> && !detail::mdspan_like<array<float>>);

/// Memory of the current device's kind that counts its allocations.
class counted_memory {
public:
    explicit counted_memory(std::size_t room = SIZE_MAX) : room_(room) {}

    allocator functions() {
        return allocator(
            [this](std::size_t bytes, std::size_t alignment, void* s) { return give(bytes, alignment, s); },
            [this](void* data, std::size_t bytes, std::size_t, void*) { take(data, bytes); });
    }
    std::size_t bytes() const { return bytes_; }
    bool owns(const void* p) const {
        const auto next = given_.upper_bound(static_cast<const char*>(p));
        return next != given_.begin() && p < std::prev(next)->first + std::prev(next)->second;
    }
    int wrong = 0;  // deallocations of memory that was not allocated here

private:
    void* give(std::size_t bytes, std::size_t alignment, void*) {
        CHECK(alignment == 256);
        if (bytes > room_ - bytes_) throw std::bad_alloc();
        const ingot::detail::device_id d = current_device();
        void* const data = runtime::state_of(d).backend->allocate(bytes);
        given_[static_cast<char*>(data)] = bytes;
        bytes_ += bytes;
        return data;
    }
    void take(void* data, std::size_t bytes) {
        const auto found = given_.find(static_cast<char*>(data));
        if (found == given_.end() || found->second != bytes) {
            ++wrong;
            return;
        }
        given_.erase(found);
        bytes_ -= bytes;
        runtime::state_of(current_device()).backend->release(data, bytes);
    }

    std::map<const char*, std::size_t> given_;
    std::size_t bytes_ = 0, room_;
};

bool reaches_pageable_memory([[maybe_unused]] ingot::detail::device_id d) {
    int value = 0;
#ifdef INGOT_HAS_CUDA_HEADERS
    runtime::check(
        runtime::driver()->cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, d.index()),
        "asking what memory a GPU reaches");
#endif
    return value != 0;
}

}  // namespace

TEST_CASE("an owner is held until the last array over its memory has gone") {
    auto kept = std::make_shared<std::vector<int>>(std::vector<int>{1, 2, 3, 4});
    const std::weak_ptr<std::vector<int>> watched = kept;
    {
        const std::shared_ptr<void> owner = kept;
        array<int> x = asarray<int>(unowned_memory(kept->data(), 16, device::host(), owner), {2, 2});
        array<int> moved = std::move(x);
        auto pending = moved + 1;
        kept.reset();
        moved = array<int>{{5, 6}, {7, 8}}.to(device::host());  // in place
        CHECK_FALSE(watched.expired());
        CHECK((*watched.lock())[3] == 8);
        CHECK(pending.to_host() == std::vector<int>{6, 7, 8, 9});
    }
    CHECK(watched.expired());
    // A buffer that cannot be used releases its owner.
    auto other = std::make_shared<std::vector<int>>(4);
    CHECK_THROWS_AS((void)asarray<int>(unowned_memory(other->data(), 16, device::host(), other), {5}), shape_error);
    CHECK(other.use_count() == 1);
}

TEST_CASE("const memory is read and never written") {
    const std::vector<double> given{1, 2, 3};
    array<double> x = asarray<double>(unowned_memory(given.data(), 24), {3});
    CHECK(x.data() == given.data());
    CHECK(sum(x * x).item() == 14);
    CHECK(thrown<read_only_error>([&] { x += 1; }) ==
          "[assign] the array is over memory that was given as read-only; write to a copy of it");
    CHECK_THROWS_AS(x.set({4, 5, 6}), read_only_error);
    view<double> part = x(slice(1, none));
    CHECK_THROWS_AS(part = 7, read_only_error);
    CHECK(sum(part).item() == 5);
    const auto owner = std::make_shared<int>(0);
    array<double> y =
        asarray<double>(unowned_memory(static_cast<const void*>(given.data()), 24, device::host(), owner), {3});
    CHECK_THROWS_AS(y.fill(0), read_only_error);
    CHECK(owner.use_count() == 2);
    array<double> copy = y;
    copy += 1;
    CHECK(given == std::vector<double>{1, 2, 3});
}

TEST_CASE("a span is shared by frombuffer and copied by asarray") {
    std::vector<float> values{1, 2, 3, 4, 5, 6};
    array<float> over = frombuffer(std::span(values), {3, 2}), copied = asarray(std::span(values));
    over *= 10;
    CHECK(values == std::vector<float>{10, 20, 30, 40, 50, 60});
    CHECK(holds(copied, {6}, {1, 2, 3, 4, 5, 6}));
    array<float> read = frombuffer(std::span<const float>(values));
    CHECK(read.shape() == shape_like{6});
    CHECK_THROWS_AS(read(0) = 1, read_only_error);
    CHECK_THROWS_AS((void)frombuffer(std::span(values), {7}), shape_error);
    CHECK(frombuffer(std::span<float>()).size() == 0);
}

TEST_CASE("an mdspan is shared, whatever its layout") {
    std::vector<int> values(24);
    for (int i = 0; i < 24; ++i) values[static_cast<std::size_t>(i)] = i;
    strided_span<int> m{values.data(), {{2, 3, 4}}, {1, 2, 6}};  // layout_left
    array<int> x = asarray(m);
    CHECK(holds(x(all, 1, 2), {2}, {14, 15}));
    x(1, 2, 3) = -1;
    CHECK(values[23] == -1);
    CHECK(holds(asarray(strided_span<int>{values.data() + 5, {{3}}, {-2}}), {3}, {5, 3, 1}));
    CHECK(asarray(strided_span<int>{nullptr, {{0, 3}}, {3, 1}}).size() == 0);
    const auto owner = std::make_shared<int>(0);
    {
        array<int> read = asarray(strided_span<const int>{values.data(), {{4}}, {6}}, device::host(), owner);
        CHECK(holds(read, {4}, {0, 6, 12, 18}));
        CHECK_THROWS_AS(read += 1, read_only_error);
        CHECK(owner.use_count() == 2);
    }
    CHECK(owner.use_count() == 1);
    m.strided = false;
    CHECK(thrown<shape_error>([&] { (void)asarray(m); }) == "[asarray] the mdspan's layout has no strides");
    CHECK(thrown<device_error>([] { (void)asarray(strided_span<int>{nullptr, {{2}}, {1}}); }) ==
          "[asarray] a null pointer was given for shape (2,)");
    const strided_span<int> wide{values.data(), {std::vector<std::size_t>(65, 1)}, std::vector<std::ptrdiff_t>(65, 1)};
    CHECK_THROWS_AS((void)asarray(wide), shape_error);
}

TEST_CASE("memory that is given with another device, a null pointer or too many bytes is refused") {
    CHECK(thrown<device_error>([] { (void)unowned_memory(static_cast<void*>(nullptr), 16); }) ==
          "[unowned_memory] a null pointer was given for 16 bytes");
    CHECK_THROWS_AS((void)unowned_memory(static_cast<void*>(nullptr), 0, device::cuda(63)), device_error);
    CHECK(asarray<float>(unowned_memory(static_cast<void*>(nullptr), 0), {0}).size() == 0);
    if (device::cuda_count() == 0) return;
    const with_device on_the_gpu(device::cuda());
    std::vector<int> values(8);
    if (!reaches_pageable_memory(device::cuda())) {
        const std::string none_of_a_gpu = "[memory] the pointer given does not point to memory of a GPU";
        CHECK(thrown<device_error>([&] { (void)unowned_memory(values.data(), 32, device::cuda()); }) == none_of_a_gpu);
        CHECK(thrown<device_error>([&] { (void)frombuffer(std::span(values), device::cuda()); }) == none_of_a_gpu);
        const strided_span<int> seen{values.data(), {{8}}, {1}};
        CHECK(thrown<device_error>([&] { (void)asarray(seen, device::cuda()); }) == none_of_a_gpu);
    }
    array<int> x = full<int>({64}, 3);
    int* const on_gpu = x.mutable_data();
    const std::string a_gpus = "[memory] the memory given for the host is cuda:0's; name the device with it";
    CHECK(thrown<device_error>([&] { (void)frombuffer(std::span(on_gpu, 64)); }) == a_gpus);
    CHECK(thrown<device_error>([&] { (void)asarray(strided_span<const int>{on_gpu, {{64}}, {1}}); }) == a_gpus);
    std::int64_t shape[] = {64};
    dlpack::managed_tensor said_to_be_the_hosts{};
    said_to_be_the_hosts.dl_tensor = {on_gpu, {dlpack::cpu, 0}, 1, {0, 32, 1}, shape, nullptr, 0};
    CHECK(thrown<device_error>([&] { (void)from_dlpack<int>(&said_to_be_the_hosts); }) == a_gpus);
    // More bytes than the pointer's allocation has.
    const std::size_t too_many = std::size_t{1} << 44;
    const std::string ends = thrown<device_error>([&] { (void)unowned_memory(on_gpu, too_many, device::cuda()); });
    CHECK(ends.starts_with("[memory] 17592186044416 bytes of cuda:0's memory were given, which ends after "));
    const cuda_array_interface too_long{.shape = {std::int64_t{1} << 42},
                                        .typestr = "<i4",
                                        .data = on_gpu,
                                        .stream = to_cuda_array_interface(x).stream};
    CHECK_THROWS_AS((void)from_cuda_array_interface<int>(too_long), device_error);
    CHECK(sum(x).item() == 3 * 64);  // nothing is the worse for it
    // Page-locked memory is the host's, and a GPU's kernels reach it too.
    const ingot::detail::buffer_ref pinned = ingot::detail::allocate_pinned_buffer(64);
    CHECK(unowned_memory(pinned->data, 64).buffer()->device == device::host());
    if (device::cuda_count() > 1)
        CHECK(unowned_memory(pinned->data, 64, device::cuda(1)).buffer()->device == device::cuda(1));
}

TEST_CASE("the host's pageable memory is a GPU's where that reaches it") {
    if (device::cuda_count() == 0) return test::untested("there is no GPU here");
    if (!reaches_pageable_memory(device::cuda()))
        return test::untested("the GPU does not reach the host's pageable memory");
    const with_device on_the_gpu(device::cuda());
    std::vector<float> values(5000, 3);
    {
        array<float> x = frombuffer(std::span(values), device::cuda());
        CHECK(x.device() == device::cuda());
        x += 1;
        CHECK(sum(x).item() == 4 * 5000);
        CHECK(x.to_host() == std::vector<float>(5000, 4));
        array<float> own = x;  // a copy is a value
        x *= 2;
        CHECK(all(own == 4).item());
        x(slice(0, 2500)) = own(slice(2500, 5000));
        x.set(std::vector<float>(5000, 7));
        const array<float> there = x.to(device::host());
        CHECK(there(4999).item() == 7);
        if (device::cuda_count() > 1) CHECK(all(x.to(device::cuda(1)) == array<float>{7}.to(device::cuda(1))).item());
        x(3) = 1;
        device::cuda().synchronize();
    }
    CHECK(values[3] == 1);
    CHECK(values[4] == 7);
}

TEST_CASE("memory that ends beyond the last address is refused") {
    char* const high = reinterpret_cast<char*>(~std::uintptr_t{0} - 63);
    CHECK(thrown<device_error>([&] { (void)unowned_memory(high, 64, device::host()); }) ==
          "[unowned_memory] 64 bytes reach beyond the end of the address space");
}

TEST_CASE("__cuda_array_interface__ is for memory of GPUs") {
    const with_device on_the_host(device::host());
    array<float> x{1};
    const array<float> copy = x;
    CHECK(thrown<device_error>([&] { (void)to_cuda_array_interface(x); }) ==
          "[to_cuda_array_interface] the array is on host:0; the interface is for memory of GPUs");
    CHECK(std::as_const(x).data() == copy.data());  // a call that throws un-shares nothing
    const cuda_array_interface of{.shape = {1}, .typestr = "<f4", .data = x.mutable_data()};
    CHECK_THROWS_AS((void)from_cuda_array_interface<float>(of), device_error);
    CHECK(thrown<dtype_error>([&] { (void)from_cuda_array_interface<bfloat16>(of); }) ==
          "[from_cuda_array_interface] the elements are <f4, and bfloat16 has no name in the interface");
}

TEST_CASE("an allocator is beneath the pool while it is set, and gets back what it gave") {
    const ingot::detail::device_id d = current_device();
    memory_pool pool = default_memory_pool();
    counted_memory mine, other;
    array<float> before = ones<float>({1000}), small_one, large, outer;
    {
        const with_allocator guard(d, mine.functions());
        CHECK_FALSE(mine.owns(before.data()));
        small_one = ones<float>({10});
        large = ones<float>({1 << 20});
        CHECK(mine.owns(small_one.data()));
        CHECK(mine.owns(large.data()));
        CHECK(mine.bytes() >= (std::size_t{4} << 20));
        CHECK(pool.total_bytes() >= mine.bytes());
        {
            const with_allocator inner(d, other.functions());
            outer = small_one + 1;
            CHECK(other.owns(outer.data()));
            small_one = array<float>();  // memory cached from the other allocator is not used
            const array<float> again = ones<float>({10});
            CHECK(other.owns(again.data()));
        }
        const array<float> third = ones<float>({10});
        CHECK(mine.owns(third.data()));
        CHECK(other.owns(outer.data()));
    }
    const array<float> after = ones<float>({1 << 20});
    CHECK_FALSE(mine.owns(after.data()));
    CHECK(mine.owns(large.data()));
    CHECK(sum(large).item() == 1 << 20);
    // The memory is released with the last array.
    large = array<float>();
    synchronize();
    CHECK(mine.bytes() == 0);
    CHECK(sum(outer).item() == 20);
    outer = array<float>();
    synchronize();
    pool.free_all_blocks();
    CHECK(other.bytes() == 0);
    CHECK(mine.wrong + other.wrong == 0);
    CHECK(sum(before).item() == 1000);
}

TEST_CASE("an allocator without memory is asked again once what is kept was given back") {
    const ingot::detail::device_id d = current_device();
    counted_memory mine(std::size_t{16} << 20);
    {
        const with_allocator guard(d, mine.functions());
        array<float> first = ones<float>({2 << 20});
        first = array<float>();
        const array<double> second = ones<double>({5 << 18});  // does not fit beside it
        CHECK(mine.owns(second.data()));
        CHECK_THROWS_AS((void)eval(ones<double>({1 << 20}) + 0), out_of_memory);
        CHECK(sum(second).item() == 5 << 18);
    }
    synchronize();
    CHECK(mine.bytes() == 0);
    const allocator crooked(
        [](std::size_t bytes, std::size_t, void*) { return static_cast<char*>(std::malloc(bytes + 64)) + 8; },
        [](void* data, std::size_t, std::size_t, void*) { std::free(static_cast<char*>(data) - 8); });
    const with_allocator guard(d, crooked);
    CHECK(thrown<device_error>([] { (void)empty<float>({1 << 20}); }) ==
          "[allocate] the allocator of " + to_string(d) + " gave memory that is not aligned to 256 bytes");
}

TEST_CASE("threads may compute while allocators come and go") {
    const ingot::detail::device_id d = current_device();
    counted_memory mine;
    std::mutex one_at_a_time;  // the pool's, which the test does not trust
    const allocator functions = mine.functions();
    const allocator locked(
        [&](std::size_t bytes, std::size_t alignment, void* s) {
            CHECK(one_at_a_time.try_lock());
            const std::lock_guard lock(one_at_a_time, std::adopt_lock);
            return functions.allocate(bytes, alignment, s);
        },
        [&](void* data, std::size_t bytes, std::size_t alignment, void* s) {
            CHECK(one_at_a_time.try_lock());
            const std::lock_guard lock(one_at_a_time, std::adopt_lock);
            functions.deallocate(data, bytes, alignment, s);
        });
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t)
        threads.emplace_back([&, t] {
            const with_device here(d);
            for (int i = 0; i < 200; ++i) {
                const array<int> x = full<int>({1000 + 100 * (i % 7)}, t);
                if (i % 50 == 0) CHECK(sum(x).item() == t * (1000 + 100 * (i % 7)));
            }
        });
    for (int i = 0; i < 50; ++i) {
        const with_allocator guard(d, locked);
        const array<int> x = zeros<int>({64});
    }
    for (std::thread& t : threads) t.join();
    d.synchronize();
    default_memory_pool(d).free_all_blocks();
    CHECK(mine.bytes() == 0);
    CHECK(mine.wrong == 0);
    CHECK_THROWS_AS((void)set_allocator(device::cuda(63), allocator()), device_error);
}
