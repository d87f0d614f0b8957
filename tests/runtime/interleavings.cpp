// Programs drawn at random over arrays, streams and devices of the fake driver: whatever the interleaving, every kernel
// and every copy sees the values that the program's order demands, and no memory changes hands while work uses it.
#include <doctest/doctest.h>

#include <cstdlib>
#include <memory>
#include <random>
#include <thread>

#include <ingot/core/error.hpp>
#include <ingot/core/memory.hpp>

#include "runtime/device/device.hpp"
#include "runtime/device/ordering.hpp"
#include "runtime/device/transfer.hpp"
#include "tests/runtime/fake_driver.hpp"

namespace {

using namespace ingot;
using namespace ingot::runtime;
using ingot::tests::fake_backend;
using ingot::tests::fake_driver;
using ingot::tests::launch;
using ingot::tests::words;

constexpr device_id fake0(device_kind::other, 0), fake1(device_kind::other, 1);

fake_driver& driver() {
    static fake_driver& made = *[] {
        auto* const d = new fake_driver(0);
        install_device(fake0, std::make_unique<fake_backend>(*d, std::size_t{1} << 20), {.guard_bytes = 0});
        install_device(fake1, std::make_unique<fake_backend>(*d, std::size_t{64} << 20), {.guard_bytes = 0});
        return d;
    }();
    return made;
}

unsigned first_seed() {
    const char* const text = std::getenv("INGOT_TEST_SEED");
    return text ? static_cast<unsigned>(std::strtoul(text, nullptr, 10)) : std::random_device{}();
}

words words_of(const buffer& b) { return {static_cast<char*>(b.data), b.bytes}; }

/// A running program: values with their expected contents, and streams.
class program {
public:
    explicit program(unsigned seed, std::size_t streams) : random_(seed) {
        for (std::size_t i = 0; i < streams; ++i) streams_.emplace_back(i % 3 == 2 ? fake1 : fake0);
    }
    ~program() {
        for (stream& s : streams_) end(s);
    }

    void run(int statements) {
        for (int i = 0; i < statements; ++i) try {
                statement();
            } catch (const out_of_memory&) {  // the small device may be full
                values_.resize(values_.size() / 2);
            }
        while (!values_.empty()) {
            check(values_.back());
            values_.pop_back();
        }
    }

private:
    struct value {
        buffer_ref memory;
        std::uint64_t expected;
    };

    unsigned draw(std::size_t below) { return static_cast<unsigned>(random_() % below); }
    stream_state& any_stream() { return streams_[draw(streams_.size())].state(); }
    stream_state& stream_of(device_id d) {
        for (;;)
            if (stream_state& s = any_stream(); s.device == d) return s;
    }
    value& any_value() { return values_[draw(values_.size())]; }
    std::size_t any_size() { return std::size_t{64} << draw(10); }

    void statement() {
        if (values_.size() < 3) return create();
        if (values_.size() > 24) return drop();
        switch (draw(12)) {
            case 0:
                return create();
            case 1:
            case 2:
            case 3:
                return evaluate();
            case 4:
            case 5:
                return write();
            case 6:
                return values_.push_back(value(any_value()));
            case 7:
            case 8:
                return drop();
            case 9:
                return check(any_value());
            case 10:
                return move_to_other_device();
            default:
                return housekeeping();
        }
    }

    void create() {
        stream_state& s = any_stream();
        value v{allocate_buffer(any_size(), s.device, s), random_()};
        std::vector<char> host(v.memory->bytes);
        words{host.data(), host.size()}.set(v.expected);
        copy_from_host(*v.memory, 0, host.size(), host.data(), any_stream());
        values_.push_back(std::move(v));
    }

    /// A kernel reads two values of one device and makes a third.
    void evaluate() {
        const value a = any_value(), b = any_value();
        if (a.memory->device != b.memory->device) return;
        stream_state& s = stream_of(a.memory->device);
        value result{allocate_buffer(any_size(), s.device, s), random_()};
        order_read(*a.memory, s);
        order_read(*b.memory, s);
        order_write(*result.memory, s);
        launch(s, {&driver(),
                   {{words_of(*a.memory), a.expected}, {words_of(*b.memory), b.expected}},
                   {{words_of(*result.memory), result.expected}}});
        values_.push_back(std::move(result));
    }

    /// A kernel changes a value in place where nobody shares it.
    void write() {
        value& v = any_value();
        if (!v.memory.unique()) return;
        stream_state& s = stream_of(v.memory->device);
        const std::uint64_t before = v.expected;
        v.expected = random_();
        order_read(*v.memory, s);
        order_write(*v.memory, s);
        launch(s, {&driver(), {{words_of(*v.memory), before}}, {{words_of(*v.memory), v.expected}}});
    }

    void drop() {
        std::swap(any_value(), values_.back());
        values_.pop_back();
    }

    void check(const value& v) {
        std::vector<char> host(v.memory->bytes);
        copy_to_host(*v.memory, 0, host.size(), host.data(), any_stream());
        CHECK(words{host.data(), host.size()}.hold(v.expected));
    }

    void move_to_other_device() {
        const value& from = any_value();
        const device_id other = from.memory->device == fake0 ? fake1 : fake0;
        value moved{allocate_buffer(from.memory->bytes, other, any_stream()), from.expected};
        copy(*moved.memory, 0, *from.memory, 0, moved.memory->bytes, any_stream());
        values_.push_back(std::move(moved));
    }

    void housekeeping() {
        switch (draw(4)) {
            case 0:
                default_memory_pool(draw(2) ? fake0 : fake1).free_all_blocks();
                break;
            case 1:
                any_stream().backend->idle(any_stream().native);
                break;
            default: {  // a stream ends with work in it, and another begins
                const std::size_t i = draw(streams_.size());
                const device_id d = streams_[i].device();
                end(streams_[i]);
                if (draw(2)) streams_[i] = foreign_stream(d);
            }
        }
    }

    /// A stream that Ingot does not own.
    static stream foreign_stream(device_id d) {
        stream_state& s = adopt_stream(state_of(d), native_stream{driver().create_stream()});
        const stream made(s);
        drop_stream(s);
        return made;
    }
    /// Puts a new stream in its place. The owner of a foreign one destroys it at once.
    static void end(stream& s) {
        const bool is_foreign = s.state().origin == stream_origin::foreign;
        const auto native = static_cast<std::uintptr_t>(s.state().native);
        s = stream(s.device());
        if (is_foreign) driver().destroy_stream(native);
    }

    std::mt19937_64 random_;
    std::vector<stream> streams_;
    std::vector<value> values_;
};

void expect_sound(unsigned seed) {
    const std::vector<std::string> violations = driver().take_violations();
    CHECK_MESSAGE(violations.empty(), "seed ", seed, ": ", violations.empty() ? "" : violations.front());
}

}  // namespace

TEST_CASE("whatever the interleaving, work sees the values of the program's order") {
    const unsigned seed = first_seed();
    MESSAGE("INGOT_TEST_SEED=", seed);
    for (unsigned i = 0; i < 300; ++i) {
        driver().seed(seed + i);
        program(seed + i, 3 + i % 6).run(150);
        expect_sound(seed + i);
    }
}

TEST_CASE("streams past the sixty-third share a bit and are ordered all the same") {
    const unsigned seed = first_seed();
    MESSAGE("INGOT_TEST_SEED=", seed);
    for (unsigned i = 0; i < 10; ++i) {
        driver().seed(seed + i);
        program(seed + i, 90).run(400);
        expect_sound(seed + i);
    }
    CHECK(stream_count() > distinct_streams);
}

TEST_CASE("streams that share a bit each wait for the writer") {
    driver().seed(1);
    std::vector<stream> all;
    while (all.size() < 3 || all[all.size() - 3].state().index < distinct_streams) all.emplace_back(fake0);
    stream_state &writer = all.front().state(), &one = all.back().state(), &other = all[all.size() - 2].state();
    const buffer_ref b = allocate_buffer(512, fake0, writer);
    for (std::uint64_t i = 0; i < 100; ++i) {
        order_write(*b, writer);
        launch(writer, {&driver(), {}, {{words_of(*b), 2'000'000 + i}}});
        for (stream_state* reader : {&one, &other}) {
            order_read(*b, *reader);
            launch(*reader, {&driver(), {{words_of(*b), 2'000'000 + i}}, {}});
        }
    }
    fake0.synchronize();
    CHECK(driver().take_violations().empty());
}

TEST_CASE("a driver that forgets to wait is noticed") {
    driver().seed(1);
    driver().ignore_waits = true;
    const stream s(fake0), t(fake0);
    std::vector<buffer_ref> kept;
    for (std::uint64_t i = 0; i < 200; ++i) {
        kept.push_back(allocate_buffer(512, fake0, s.state()));
        buffer& b = *kept.back();
        order_write(b, s.state());
        launch(s.state(), {&driver(), {}, {{words_of(b), 1'000'000 + i}}});
        order_read(b, t.state());
        launch(t.state(), {&driver(), {{words_of(b), 1'000'000 + i}}, {}});
    }
    s.synchronize();
    t.synchronize();
    driver().ignore_waits = false;
    CHECK(driver().take_violations().size() > 0);
}

TEST_CASE("threads on streams of their own and on a shared one keep the order of each") {
    const unsigned seed = first_seed();
    MESSAGE("INGOT_TEST_SEED=", seed);
    driver().seed(seed);
    std::vector<std::thread> threads;
    const stream shared(fake1);
    const buffer_ref common = allocate_buffer(4096, fake1, shared.state());
    order_write(*common, shared.state());
    launch(shared.state(), {&driver(), {}, {{words_of(*common), 42}}});
    for (unsigned t = 0; t < 4; ++t)
        threads.emplace_back([&shared, common, t] {
            const stream own(fake1);
            std::mt19937 random(t);
            for (int i = 0; i < 500; ++i) {
                stream_state& s = (random() % 2 ? own : shared).state();
                const buffer_ref made = allocate_buffer(std::size_t{512} << random() % 4, fake1, s);
                order_read(*common, s);
                order_write(*made, s);
                launch(s, {&driver(), {{words_of(*common), 42}}, {{words_of(*made), random()}}});
                std::uint64_t seen = 0;
                copy_to_host(*made, 0, sizeof seen, &seen, own.state());
            }
        });
    for (std::thread& t : threads) t.join();
    expect_sound(seed);
}
