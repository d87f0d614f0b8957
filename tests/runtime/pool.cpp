// The pool: counts, cached blocks, giving back and refused requests; on the host, and on the fake driver with work
// under way.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <ingot/core/counters.hpp>
#include <ingot/core/error.hpp>
#include <ingot/core/memory.hpp>

#include "runtime/device/device.hpp"
#include "runtime/device/front_cache.hpp"
#include "runtime/device/ordering.hpp"
#include "runtime/device/transfer.hpp"
#include "tests/runtime/failing_allocation.hpp"
#include "tests/runtime/fake_driver.hpp"

namespace {

using namespace ingot;
using namespace ingot::runtime;
using ingot::tests::failing_allocation;
using ingot::tests::fake_backend;
using ingot::tests::fake_driver;
using ingot::tests::launch;
using ingot::tests::words;

constexpr std::size_t KiB = 1024, MiB = 1024 * KiB;

/// Debug builds too: guard bands change the sizes and leave out the front caches.
constexpr pool_options no_guards{.guard_bytes = 0};

/// A host device of the test's own, empty at first.
struct fresh_host {
    explicit fresh_host(int number)
        : id(device::host(number)),
          state(install_device(id, make_host_backend(), no_guards)),
          memory(default_memory_pool(id)) {}
    buffer_ref allocate(std::size_t bytes) const { return allocate_buffer(bytes, id, *state.default_stream); }

    device_id id;
    device_state& state;
    memory_pool memory;
};

/// A device of the test's own fake driver. Drivers are never freed, because streams in the table refer to them.
struct fresh_fake {
    fresh_fake(std::uint8_t number, std::size_t memory, const pool_options& options = no_guards)
        : driver(*new fake_driver(1)),
          id(device_kind::other, number),
          state(install_device(id, std::make_unique<fake_backend>(driver, memory), options)) {}

    fake_driver& driver;
    device_id id;
    device_state& state;
};

words words_of(const buffer& b) { return {static_cast<char*>(b.data), b.bytes}; }

void write(fresh_fake& on, stream_state& s, buffer& b, std::uint64_t value) {
    order_write(b, s);
    launch(s, {&on.driver, {}, {{words_of(b), value}}});
}

void read(fresh_fake& on, stream_state& s, buffer& b, std::uint64_t expected) {
    order_read(b, s);
    launch(s, {&on.driver, {{words_of(b), expected}}, {}});
}

}  // namespace

TEST_CASE("size classes cover every size with at most a quarter to spare") {
    for (std::size_t bytes = 1; bytes <= largest_class; bytes += 7) {
        const std::size_t c = size_class_of(bytes);
        REQUIRE(c < size_classes);
        REQUIRE(class_bytes(c) >= bytes);
        REQUIRE((c == 0 || class_bytes(c - 1) < bytes));
        REQUIRE((bytes <= 2048 || class_bytes(c) - bytes <= bytes / 4));
    }
    for (std::size_t bytes = MiB; bytes < 300 * MiB; bytes += 777'777) {
        REQUIRE(block_capacity(bytes) >= bytes);
        REQUIRE(block_capacity(bytes) - bytes <= std::min(bytes / 4, 2 * MiB));
        REQUIRE(block_capacity(bytes) % block_granule == 0);
    }
}

TEST_CASE("buffers are aligned to 512 bytes and do not overlap") {
    const fresh_host host(10);
    std::vector<buffer_ref> all;
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{513}, 3 * KiB, 70 * KiB, MiB + 1, 9 * MiB})
        for (int i = 0; i < 40; ++i) {
            all.push_back(host.allocate(bytes));
            CHECK(reinterpret_cast<std::uintptr_t>(all.back()->data) % 512 == 0);
            std::memset(all.back()->data, static_cast<int>(all.size() % 251), bytes);
        }
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto* const data = static_cast<const unsigned char*>(all[i]->data);
        CHECK(data[0] == (i + 1) % 251);
        CHECK(data[all[i]->bytes - 1] == (i + 1) % 251);
    }
}

TEST_CASE("the pool counts what is used and what it keeps") {
    fresh_host host(11);
    CHECK(host.memory.total_bytes() == 0);
    buffer_ref large = host.allocate(32 * MiB), small = host.allocate(100);
    CHECK(host.memory.used_bytes() == 32 * MiB + 512);
    small = {};
    CHECK(host.memory.used_bytes() == 32 * MiB);
    large = {};
    CHECK(host.memory.used_bytes() == 0);
    CHECK(host.memory.free_bytes() == host.memory.total_bytes());
    CHECK(host.memory.n_free_blocks() >= 2);
    host.memory.free_all_blocks();
    CHECK(host.memory.total_bytes() == 0);
    CHECK(host.memory.n_free_blocks() == 0);
}

TEST_CASE("a freed block is used again") {
    const fresh_host host(12);
    for (const std::size_t bytes : {std::size_t{4096}, 48 * MiB}) {
        const void* const data = host.allocate(bytes)->data;
        CHECK(host.allocate(bytes)->data == data);
        CHECK(host.allocate(bytes - bytes / 64)->data == data);
        const buffer_ref holder = host.allocate(bytes);
        CHECK(holder->data == data);
        CHECK(host.allocate(bytes)->data != data);
    }
}

TEST_CASE("what a thread keeps for itself is found when it is wanted") {
    fresh_host host(13);
    std::atomic<bool> freed{false}, looked{false};
    std::thread thread([&] {
        host.allocate(4096);
        freed = true;
        while (!looked) std::this_thread::yield();
    });
    while (!freed) std::this_thread::yield();
    CHECK(host.memory.used_bytes() == 0);
    host.memory.free_all_blocks();
    CHECK(host.memory.total_bytes() == 0);
    looked = true;
    thread.join();
}

TEST_CASE("past its limit the pool gives back what it keeps, then throws with the sizes") {
    fresh_host host(14);
    host.memory.set_limit(40 * MiB);
    CHECK(host.memory.get_limit() == 40 * MiB);
    host.allocate(30 * MiB);
    CHECK(host.memory.free_bytes() == 30 * MiB);
    const buffer_ref small = host.allocate(12 * MiB);  // fits only once the 30 MiB are given back
    CHECK(host.memory.total_bytes() == 12 * MiB);
    try {
        host.allocate(30 * MiB);
        FAIL("no out_of_memory");
    } catch (const out_of_memory& e) {
        const std::string text = e.what();
        CHECK(text.find("host:14") != std::string::npos);
        CHECK(text.find("31457280 bytes wanted") != std::string::npos);
        CHECK(text.find("12582912 bytes in use") != std::string::npos);
        CHECK(text.find("limit is 41943040") != std::string::npos);
    }
    host.memory.set_limit(0);
    CHECK(host.allocate(30 * MiB)->bytes == 30 * MiB);
}

TEST_CASE("a size that no machine has is out_of_memory, whatever its rounding") {
    const fresh_host host(15);
    CHECK_THROWS_AS(host.allocate(SIZE_MAX), out_of_memory);
    CHECK_THROWS_AS(host.allocate(SIZE_MAX / 2), out_of_memory);
    CHECK_THROWS_AS(host.allocate(std::size_t{1} << 60), out_of_memory);
}

TEST_CASE("a small limit still serves small buffers") {
    fresh_host host(16);
    host.memory.set_limit(4 * KiB);
    const buffer_ref a = host.allocate(512), b = host.allocate(2048);
    CHECK(host.memory.total_bytes() <= 4 * KiB);
    CHECK_THROWS_AS(host.allocate(2048), out_of_memory);
}

TEST_CASE("threads that allocate and free at once never share a block") {
    fresh_host host(17);
    struct shelf {
        std::mutex mutex;
        buffer_ref kept;
    };
    std::array<shelf, 8> shelves;
    std::atomic<int> mixed{0};
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            std::mt19937 random(t);
            for (std::uint64_t i = 0; i < 10'000; ++i) {
                buffer_ref b = host.allocate(std::size_t{8} << random() % 12);
                const std::uint64_t mark = i * 8 + t;
                std::memcpy(b->data, &mark, sizeof mark);
                if (i % 512 == 0) host.memory.free_all_blocks();
                if (std::memcmp(b->data, &mark, sizeof mark) != 0) ++mixed;
                if (i % 3) continue;  // every third buffer is freed by whoever comes by
                shelf& s = shelves[random() % shelves.size()];
                const std::lock_guard lock(s.mutex);
                std::swap(s.kept, b);
            }
        });
    for (std::thread& t : threads) t.join();
    CHECK(mixed == 0);
    for (shelf& s : shelves) s.kept = {};
    CHECK(host.memory.used_bytes() == 0);
    host.memory.free_all_blocks();
    CHECK(host.memory.total_bytes() == 0);
}

TEST_CASE("copies of a reference count, and the last one frees") {
    fresh_host host(18);
    buffer_ref a = host.allocate(10);
    CHECK(a.unique());
    buffer_ref b = a;
    CHECK(a.use_count() == 2);
    CHECK(a.unique(2));
    CHECK(a == b);
    buffer_ref c = std::move(a);
    CHECK(a.use_count() == 0);
    CHECK(c.use_count() == 2);
    b = c;
    CHECK(c.use_count() == 2);
    b = {};
    CHECK(host.memory.used_bytes() == 512);
    c = {};
    CHECK(host.memory.used_bytes() == 0);
}

TEST_CASE("the counters say what was handed out and what is held") {
    const fresh_host host(19);
    const counter_values before = counters();
    const buffer_ref kept = host.allocate(1000);
    for (int i = 0; i < 5; ++i) host.allocate(10'000);
    CHECK(counters().bytes_allocated - before.bytes_allocated == 51'000);
    CHECK(counters().bytes_in_use - before.bytes_in_use == 1000);
}

TEST_CASE("the counters stay true over threads that end with blocks of their own") {
    const fresh_host host(21);
    const std::uint64_t before = counters().bytes_in_use;
    const buffer_ref kept = host.allocate(1000);
    for (int round = 0; round < 3; ++round) {
        std::vector<std::thread> threads;
        for (int t = 0; t < 20; ++t)
            threads.emplace_back([&] {
                for (const std::size_t bytes : std::initializer_list<std::size_t>{4000, 4000, 700, 90'000})
                    host.allocate(bytes);
            });
        for (std::thread& t : threads) t.join();
        CHECK(counters().bytes_in_use - before == 1000);
        CHECK(host.memory.used_bytes() == kept->capacity);
    }
}

TEST_CASE("memory that is not Ingot's is never freed, and its owner hears of the end") {
    int ended = 0;
    std::array<float, 4> mine{1, 2, 3, 4};
    {
        const buffer_ref b = unowned_buffer(
            mine.data(), sizeof mine, device::host(), [](void* count) { ++*static_cast<int*>(count); }, &ended);
        const buffer_ref copy = b;
        CHECK(b->unowned);
        CHECK(b->data == mine.data());
        const unowned_memory named(mine.data(), sizeof mine);
        CHECK(named.buffer()->bytes == 16);
        CHECK(ended == 0);
    }
    CHECK(ended == 1);
    CHECK(mine[3] == 4);
}

TEST_CASE("memory that is not Ingot's ends when the streams that use it have passed, and no drop waits for them") {
    fresh_fake fake(24, MiB);
    const stream s(fake.id), t(fake.id);
    struct memory {
        std::array<std::uint64_t, 64> words{};
        bool written = false, read = false, ended = false, ended_early = false;
    };
    std::vector<memory> all(50);
    const auto ended = [&] { return std::ranges::count_if(all, &memory::ended); };
    bool deferred = false;
    for (memory& m : all) {
        buffer_ref b = unowned_buffer(
            m.words.data(), sizeof m.words, fake.id,
            [](void* of) {
                auto& its = *static_cast<memory*>(of);
                its.ended_early = its.ended || !its.written || !its.read;
                its.ended = true;
            },
            &m);
        order_write(*b, s.state());
        fake.driver.enqueue(static_cast<std::uintptr_t>(s.state().native), [&m] { m.written = true; });
        order_read(*b, t.state());
        fake.driver.enqueue(static_cast<std::uintptr_t>(t.state().native), [&m] { m.read = true; });
        b = {};
        deferred = deferred || !m.ended;
    }
    CHECK(deferred);
    // Streams after the sixty-third share a bit. With a GPU there are that many here, and the other ones are waited for
    // too.
    for (stream_index i = 0; i < stream_count(); ++i) synchronize(stream_at(i));
    CHECK(ended() == 50);
    CHECK(std::ranges::none_of(all, &memory::ended_early));
}

TEST_CASE("memory that is not Ingot's and was in use ends with a later allocation, too") {
    fresh_fake fake(25, MiB);
    const stream s(fake.id);
    bool ended = false;
    std::array<std::uint64_t, 8> words{};
    for (int k = 0; k < 100; ++k) fake.driver.enqueue(static_cast<std::uintptr_t>(s.state().native), [] {});
    buffer_ref b =
        unowned_buffer(words.data(), sizeof words, fake.id, [](void* e) { *static_cast<bool*>(e) = true; }, &ended);
    order_write(*b, s.state());
    b = {};
    CHECK_FALSE(ended);
    while (!s.done()) continue;
    allocate_buffer(700 * KiB, fake.id, s.state());
    CHECK(ended);
}

TEST_CASE("whichever allocation fails, memory that is not Ingot's ends once, out of use") {
    fresh_fake fake(26, MiB);
    const stream s(fake.id);
    for (std::size_t n = 0, failed = true; failed; ++n) {
        int ended = 0;
        std::array<std::uint64_t, 8> words{};
        buffer_ref b =
            unowned_buffer(words.data(), sizeof words, fake.id, [](void* e) { ++*static_cast<int*>(e); }, &ended);
        order_write(*b, s.state());
        fake.driver.enqueue(static_cast<std::uintptr_t>(s.state().native), [] {});
        {
            const failing_allocation at(n);
            b = {};
            failed = at.has_failed();
        }
        s.synchronize();
        CHECK(ended == 1);
    }
}

TEST_CASE("a buffer outlives its thread, its stream and main") {
    static buffer_ref outlives_main;
    fresh_host host(20);
    std::thread([&] {
        const with_device on(host.id);
        const stream s;
        const with_stream here(s);
        outlives_main = allocate_buffer(5000);
        std::memset(outlives_main->data, 7, 5000);
    }).join();
    CHECK(static_cast<const char*>(outlives_main->data)[4999] == 7);
    CHECK(host.memory.used_bytes() == outlives_main->capacity);
}

TEST_CASE("when memory is short a block is taken from a busy stream, behind its work") {
    fresh_fake fake(2, 40 * KiB);
    const stream s(fake.id), t(fake.id);
    for (std::uint64_t i = 0; i < 50; ++i) {
        buffer_ref b = allocate_buffer(32 * KiB, fake.id, s.state());
        write(fake, s.state(), *b, i);
        for (int k = 0; k < 4; ++k) read(fake, s.state(), *b, i);
        b = {};
        const buffer_ref c = allocate_buffer(32 * KiB, fake.id, t.state());
        write(fake, t.state(), *c, 1000 + i);
        read(fake, t.state(), *c, 1000 + i);
    }
    fake.id.synchronize();
    CHECK(fake.driver.take_violations().empty());
}

TEST_CASE("a block that another stream still reads is not handed out") {
    fresh_fake fake(3, MiB);
    const stream s(fake.id), t(fake.id);
    for (std::uint64_t i = 0; i < 50; ++i) {
        buffer_ref b = allocate_buffer(4096, fake.id, s.state());
        write(fake, s.state(), *b, i);
        for (int k = 0; k < 4; ++k) read(fake, t.state(), *b, i);
        b = {};
        const buffer_ref c = allocate_buffer(4096, fake.id, s.state());
        write(fake, s.state(), *c, 1000 + i);
    }
    fake.id.synchronize();
    CHECK(fake.driver.take_violations().empty());
    default_memory_pool(fake.id).free_all_blocks();
    CHECK(default_memory_pool(fake.id).total_bytes() == 0);
}

TEST_CASE("whichever allocation of the host fails, the pool loses no block") {
    fresh_fake fake(9, 8 * MiB), guarded(22, 8 * MiB, {.guard_bytes = 512});
    for (fresh_fake* const on : {&fake, &guarded}) {
        const stream s(on->id), t(on->id), u(on->id);
        memory_pool memory = default_memory_pool(on->id);
        std::uint64_t value = 0;
        // Blocks that two streams read, and one that is found, cut and freed anew.
        const auto work = [&] {
            std::array<buffer_ref, 4> all;
            for (buffer_ref& b : all) {
                b = allocate_buffer(&b == all.data() ? 2 * MiB : 10 * KiB, on->id, s.state());
                order_write(*b, s.state());
                order_read(*b, t.state());
                order_read(*b, u.state());
            }
            all = {};
            allocate_buffer(300 * KiB, on->id, t.state());
        };
        for (std::size_t n = 0, failed = true; failed; ++n) {
            const buffer_ref busy = allocate_buffer(64, on->id, t.state());
            write(*on, t.state(), *busy, ++value);
            {
                const failing_allocation at(n);
                try {
                    work();
                } catch (const std::bad_alloc&) {
                }
                failed = at.has_failed();
            }
            REQUIRE(memory.used_bytes() == busy->capacity);
            if (n % 3 != 0) continue;
            memory.free_all_blocks();
            REQUIRE(memory.total_bytes() <= 64 * KiB);
        }
        on->id.synchronize();
        memory.free_all_blocks();
        CHECK(memory.total_bytes() == 0);
        CHECK(on->driver.take_violations().empty());
    }
}

TEST_CASE("a block whose readers cannot be noted is held until they can, and a failing driver loses none") {
    fresh_fake fake(23, MiB);
    const stream s(fake.id), t(fake.id);
    buffer_ref b = allocate_buffer(4096, fake.id, s.state());
    write(fake, s.state(), *b, 1);
    for (int k = 0; k < 20; ++k) read(fake, t.state(), *b, 1);
    fake.driver.fail_records = true;
    b = {};
    CHECK(default_memory_pool(fake.id).used_bytes() == 0);
    CHECK_THROWS_AS(allocate_buffer(4096, fake.id, s.state()), device_error);
    fake.driver.fail_records = false;
    std::vector<buffer_ref> others;
    for (int k = 0; k < 64; ++k) {
        others.push_back(allocate_buffer(4096, fake.id, s.state()));
        write(fake, s.state(), *others.back(), 2);
    }
    fake.id.synchronize();
    CHECK(fake.driver.take_violations().empty());
    others.clear();
    default_memory_pool(fake.id).free_all_blocks();
    CHECK(default_memory_pool(fake.id).total_bytes() == 0);
}

TEST_CASE("a full device throws and goes on working") {
    fresh_fake fake(4, 256 * KiB);
    const stream s(fake.id);
    std::vector<buffer_ref> all;
    CHECK_THROWS_AS(for (;;) all.push_back(allocate_buffer(10 * KiB, fake.id, s.state())), out_of_memory);
    CHECK(all.size() >= 20);
    all.pop_back();
    CHECK(allocate_buffer(10 * KiB, fake.id, s.state())->bytes == 10 * KiB);
    all.clear();
    CHECK(allocate_buffer(200 * KiB, fake.id, s.state())->bytes == 200 * KiB);
}

TEST_CASE("a write beyond a buffer's ends is thrown by the next synchronize where guard bands are on") {
    fresh_fake fake(5, MiB, {.guard_bytes = 512});
    const stream s(fake.id);
    const auto clobber = [&](std::ptrdiff_t offset) {
        const buffer_ref b = allocate_buffer(1000, fake.id, s.state());
        write(fake, s.state(), *b, 1);
        launch(s.state(), {&fake.driver, {}, {{words{static_cast<char*>(b->data) + offset, 8}, 2}}});
    };
    clobber(992);  // the last bytes that are the buffer's
    CHECK_NOTHROW(s.synchronize());
    for (const std::ptrdiff_t offset : {std::ptrdiff_t{-8}, std::ptrdiff_t{993}, std::ptrdiff_t{1000}}) {
        clobber(offset);
        CHECK_THROWS_AS(s.synchronize(), device_error);
        CHECK_NOTHROW(s.synchronize());
    }
}

TEST_CASE("pinned memory waits for the copies that use it") {
    const buffer_ref pinned = allocate_pinned_buffer(4096);
    CHECK(pinned->pinned);
    CHECK(pinned->device == device::host());
    fresh_fake fake(6, MiB);
    const stream s(fake.id);
    stream_state& host = *state_of(device::host()).default_stream;
    const buffer_ref b = allocate_buffer(4096, fake.id, s.state());
    for (std::uint64_t i = 0; i < 50; ++i) {
        order_write(*pinned, host);
        words_of(*pinned).set(i);
        copy(*b, 0, *pinned, 0, 4096, s.state());
        read(fake, s.state(), *b, i);
    }
    s.synchronize();
    CHECK(fake.driver.take_violations().empty());
}

TEST_CASE("copies longer than a staged piece arrive whole, from any offset") {
    fresh_fake fake(7, 64 * MiB);
    const stream s(fake.id);
    std::vector<std::uint32_t> out(5'000'001), in(out.size());
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<std::uint32_t>(i * 2654435761u);
    const std::size_t bytes = out.size() * 4;
    const buffer_ref b = allocate_buffer(bytes + 40, fake.id, s.state());
    copy_from_host(*b, 40, bytes, out.data(), s.state());
    copy_to_host(*b, 40, bytes, in.data(), s.state());
    CHECK(in == out);
    const buffer_ref on_host = allocate_buffer(bytes, device::host(), s.state());
    copy(*on_host, 0, *b, 40, bytes, s.state());
    CHECK(std::memcmp(on_host->data, out.data(), bytes) == 0);
    fill(*b, 40, bytes, 0xff, s.state());
    copy_to_host(*b, 40, bytes, in.data(), s.state());
    CHECK(std::all_of(in.begin(), in.end(), [](std::uint32_t v) { return v == 0xffffffffu; }));
}

TEST_CASE("a stream's scratch is zero, stays its own, and grows") {
    fresh_fake fake(8, MiB);
    const stream s(fake.id), t(fake.id);
    void* const first = zeroed_scratch(s.state(), 1000);
    CHECK(zeroed_scratch(s.state(), 2000) == first);
    CHECK(zeroed_scratch(t.state(), 1000) != first);
    void* const grown = zeroed_scratch(s.state(), 20'000);
    CHECK(grown != first);
    s.synchronize();
    CHECK(words{static_cast<char*>(grown), 20'000}.hold(0));
    const auto* const own =
        static_cast<const std::uint64_t*>(zeroed_scratch(*state_of(device::host()).default_stream, 800));
    CHECK(std::all_of(own, own + 100, [](std::uint64_t v) { return v == 0; }));
}

TEST_CASE("blocks of one allocator serve no other, what threads keep for themselves among them") {
    const fresh_host host(37);
    const auto in_use = std::make_shared<std::atomic<std::size_t>>(0);
    const allocator mine(
        [in_use](std::size_t bytes, std::size_t alignment, void*) {
            *in_use += bytes;
            return std::aligned_alloc(alignment, bytes);
        },
        [in_use](void* data, std::size_t bytes, std::size_t, void*) {
            *in_use -= bytes;
            std::free(data);
        });
    host.allocate(4096);  // kept by this thread, and given back below
    buffer_ref kept, last;
    {
        const with_allocator guard(host.id, mine);
        kept = host.allocate(4096);
        last = host.allocate(4096);
        CHECK(*in_use >= 8192);
        const void* const freed = last->data;
        last = {};
        last = host.allocate(4096);  // allocated by this thread again
        CHECK(last->data == freed);
        CHECK(host.allocate(MiB)->data != nullptr);
    }
    CHECK(*in_use >= 8192);
    const void* const stale = last->data;
    last = {};
    const buffer_ref next = host.allocate(4096), after = host.allocate(4096);
    CHECK(next->data != stale);
    CHECK(after->data != stale);
    CHECK(next->chunk->source == allocator());
    CHECK(*in_use >= 8192);  // a piece of the chunk is in use
    kept = {};
    CHECK(*in_use == 0);
    // If the allocator is set again, memory is requested from it again.
    const with_allocator guard(host.id, mine);
    CHECK(host.allocate(4096)->chunk->source == mine);
}

TEST_CASE("memory of an allocator goes back when the streams that use it have passed") {
    fresh_fake on(47, 64 * MiB);
    std::size_t in_use = 0;
    std::uint64_t value = 0;
    const allocator mine(
        [&](std::size_t bytes, std::size_t, void*) {
            in_use += bytes;
            return on.state.backend->allocate(bytes);
        },
        [&](void* data, std::size_t bytes, std::size_t, void*) {  // the fake driver says what still uses it
            in_use -= bytes;
            on.state.backend->release(data, bytes);
        });
    const stream one(on.id), two(on.id);
    for (int turn = 0; turn < 50; ++turn) {
        buffer_ref b;
        {
            const with_allocator guard(on.id, mine);
            b = allocate_buffer(2 * MiB, on.id, one.state());
            write(on, one.state(), *b, ++value);
        }
        read(on, two.state(), *b, value);
        b = {};
        allocate_buffer(4 * MiB, on.id, one.state());  // looks at what is held
    }
    on.id.synchronize();
    default_memory_pool(on.id).free_all_blocks();
    CHECK(in_use == 0);
    CHECK(on.driver.take_violations().empty());
}

TEST_CASE("a pool of captures frees what the device's own has cached before it says that memory is out") {
    const fresh_fake f(61, 16 * MiB);
    { const buffer_ref cached = allocate_buffer(12 * MiB, f.id, *f.state.default_stream); }
    pool& own = *new pool(f.id, *f.state.backend, {.is_permanent = true, .guard_bytes = 0});
    stream_state& s = make_capture_stream(f.state, own);
    CHECK(own.allocate(10 * MiB, s)->bytes == 10 * MiB);
    CHECK_THROWS_AS(own.allocate(20 * MiB, s), out_of_memory);
}
