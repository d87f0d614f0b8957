// Foreign streams and events. The tests need a GPU, at least an emulated one; without one, the host must report that it
// has no such streams.
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "runtime/device/device.hpp"
#include "runtime/device/driver.hpp"
#include "runtime/device/ordering.hpp"
#include "tests/arrays/expect.hpp"
#include "tests/untested.hpp"

using namespace ingot;

TEST_CASE("a host has no streams and events but Ingot's own") {
    const with_device on_the_host(device::host());
    CHECK(stream().native_handle() == nullptr);
    event e;
    CHECK(e.native_handle() == nullptr);
    e.record();
    CHECK(e.native_handle() == nullptr);
    CHECK(stream(non_blocking).done());
    CHECK(thrown<device_error>([] { (void)stream::from_native(nullptr); }) ==
          "[stream] a null stream is CUDA's default one; say stream::legacy_default() or "
          "stream::per_thread_default()");
    const std::string no_streams =
        "[stream] host:0 has no streams but Ingot's own, in which work is done when the call returns";
    CHECK(thrown<device_error>([] { (void)stream::legacy_default(); }) == no_streams);
    CHECK(thrown<device_error>([] { (void)stream::per_thread_default(); }) == no_streams);
    CHECK(thrown<device_error>([&] { (void)event::from_native(&e); }) ==
          "[event] host:0 has no events but Ingot's own");
    if (device::cuda_count() > 0) return;
    int no_stream = 0;
    CHECK(thrown<device_error>([&] { (void)stream::from_native(&no_stream); }) == no_streams);
    CHECK_THROWS_AS((void)stream::legacy_default(device::cuda()), device_error);
}

#ifdef INGOT_HAS_CUDA_HEADERS

namespace {

using runtime::check;
using runtime::driver;

/// A user's stream, and events to wait for it.
class users_stream {
public:
    explicit users_stream(unsigned flags = CU_STREAM_DEFAULT) {
        runtime::state_of(device::cuda()).backend->bind_thread();
        check(driver()->cuStreamCreate(&native_, flags), "a user's stream");
    }
    ~users_stream() { destroy(); }
    users_stream(const users_stream&) = delete;
    void destroy() {
        if (native_) check(driver()->cuStreamDestroy(std::exchange(native_, nullptr)), "a user's stream");
    }
    CUstream get() const { return native_; }
    /// Sets all bytes on this stream, as a user's own kernel would.
    void set_bytes(void* data, unsigned char to, std::size_t bytes) const {
        check(driver()->cuMemsetD8Async(reinterpret_cast<CUdeviceptr>(data), to, bytes, native_), "a user's launch");
    }
    std::vector<int> read(const int* data, std::size_t n) const {
        std::vector<int> values(n);
        check(driver()->cuMemcpyDtoHAsync(values.data(), reinterpret_cast<CUdeviceptr>(data), 4 * n, native_),
              "a user's copy");
        check(driver()->cuStreamSynchronize(native_), "a user's wait");
        return values;
    }

private:
    CUstream native_ = nullptr;
};

bool no_gpu() {
    if (device::cuda_count() > 0) return false;
    test::untested("there is no GPU here");
    return true;
}

constexpr int ones_of_bytes = 0x01010101;

}  // namespace

TEST_CASE("work on a user's stream is behind what the user launched before, and before what comes after") {
    if (no_gpu()) return;
    const with_device on_the_gpu(device::cuda());
    for (int turn = 0; turn < 20; ++turn) {
        const users_stream mine(turn % 2 ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT);
        array<int> x = zeros<int>(64);
        synchronize();
        mine.set_bytes(x.mutable_data(), 1, 256);
        {
            const stream over = stream::from_native(mine.get());
            CHECK(over.native_handle() == mine.get());
            CHECK(over.device() == device::cuda());
            CHECK(over == stream::from_native(mine.get()));
            const with_stream in(over);
            x += 1;
        }
        CHECK(mine.read(x.data(), 64) == std::vector<int>(64, ones_of_bytes + 1));
        // Ingot's other streams wait for it.
        array<int> y = x * 2;
        CHECK(y.to_host() == std::vector<int>(64, 2 * (ones_of_bytes + 1)));
    }
}

TEST_CASE("a user's stream may be destroyed once Ingot's handles have gone") {
    if (no_gpu()) return;
    const with_device on_the_gpu(device::cuda());
    array<int> x = zeros<int>(1024);
    int expected = 0;
    for (int turn = 0; turn < 30; ++turn) {
        users_stream mine(CU_STREAM_NON_BLOCKING);
        {
            const with_stream in(stream::from_native(mine.get()));
            for (int i = 0; i < 3; ++i, ++expected) x = x + 1;  // memory of earlier streams is used again
        }
        mine.destroy();
        x = x + 1;
        ++expected;
        if (turn % 7 == 0) default_memory_pool().free_all_blocks();
    }
    device::cuda().synchronize();
    CHECK(x.to_host() == std::vector<int>(1024, expected));
}

TEST_CASE("what is no stream of the GPU's primary context is refused") {
    if (no_gpu()) return;
    const with_device on_the_gpu(device::cuda());
    users_stream gone;
    void* const handle = gone.get();
    gone.destroy();
    CHECK_THROWS_AS((void)stream::from_native(nullptr), device_error);
    array<int> x = ones<int>(8);
    if (device::cuda().name() == "emulated") {  // a real driver need not notice, and has contexts of its own making
        CHECK_THROWS_AS((void)stream::from_native(handle), device_error);
        char other = 0;
        CUcontext before = nullptr;
        check(driver()->cuCtxGetCurrent(&before), "test");
        check(driver()->cuCtxSetCurrent(reinterpret_cast<CUcontext>(&other)), "test");
        CUstream foreign = nullptr;
        check(driver()->cuStreamCreate(&foreign, CU_STREAM_DEFAULT), "test");
        check(driver()->cuCtxSetCurrent(before), "test");
        CHECK(thrown<device_error>([&] { (void)stream::from_native(foreign); }) ==
              "[stream] the stream is of another context than the primary one of cuda:0, in which Ingot works");
    }
    CHECK(sum(x).item() == 8);  // nothing is the worse for it
}

TEST_CASE("Ingot's own streams go out and come back as themselves") {
    if (no_gpu()) return;
    const with_device on_the_gpu(device::cuda());
    const stream own, apart(non_blocking);
    CHECK(own.native_handle() != nullptr);
    CHECK(own.native_handle() != apart.native_handle());
    CHECK(stream::from_native(own.native_handle()) == own);
    CHECK(stream::from_native(apart.native_handle()) == apart);
    CHECK_FALSE(apart.state().index == own.state().index);
    CHECK(apart.state().non_blocking);
}

TEST_CASE("CUDA's default streams have names") {
    if (no_gpu()) return;
    const with_device on_the_gpu(device::cuda());
    const stream legacy = stream::legacy_default(), mine = stream::per_thread_default();
    CHECK(legacy == stream::legacy_default(device::cuda()));
    CHECK(legacy == stream::from_native(reinterpret_cast<void*>(1)));
    CHECK(mine == stream::from_native(reinterpret_cast<void*>(2)));
    CHECK(mine == stream::per_thread_default(device::cuda()));
    CHECK_FALSE(legacy == mine);
    array<int> x = zeros<int>(256);
    for (int i = 0; i < 10; ++i) {
        {
            const with_stream in(legacy);
            x += 1;
        }
        {
            const with_stream in(mine);
            x *= 2;
        }
        x -= 1;
    }
    CHECK(x.to_host() == std::vector<int>(256, 1023));
    legacy.synchronize();
    mine.synchronize();
    CHECK(legacy.done());
    CHECK(mine.done());
}

TEST_CASE("the default stream of a thread is that thread's alone") {
    if (no_gpu()) return;
    array<int> made;
    {
        const with_device on_the_gpu(device::cuda());
        made = zeros<int>(512);
    }
    for (int turn = 0; turn < 10; ++turn) {
        std::atomic<bool> seen{false}, refused{false};
        const stream* theirs = nullptr;
        std::atomic<bool> ready{false};
        std::thread other([&] {
            const with_device on_the_gpu(device::cuda());
            const stream own = stream::per_thread_default();
            {
                const with_stream in(own);
                made = made + 1;
            }
            theirs = &own;
            ready = true;
            while (!seen) std::this_thread::yield();
        });
        while (!ready) std::this_thread::yield();
        {
            const with_device on_the_gpu(device::cuda());
            CHECK_FALSE(*theirs == stream::per_thread_default());
            try {
                const with_stream in(*theirs);
            } catch (const device_error&) {
                refused = true;
            }
            CHECK(refused);
            if (turn % 2) CHECK(made.to_host() == std::vector<int>(512, turn + 1));
            (void)theirs->done();
            theirs->synchronize();
            const auto asked = std::chrono::steady_clock::now();
            bool done = theirs->done();
            while (!done && std::chrono::steady_clock::now() - asked < std::chrono::seconds(10)) done = theirs->done();
            CHECK(done);
        }
        seen = true;
        other.join();
    }
    CHECK(made.to_host() == std::vector<int>(512, 10));
}

TEST_CASE("events go both ways") {
    if (no_gpu()) return;
    const with_device on_the_gpu(device::cuda());
    const users_stream mine(CU_STREAM_NON_BLOCKING);
    array<int> x = zeros<int>(64);
    event done;
    void* const handle = done.native_handle();
    CHECK(handle != nullptr);
    done.record();
    CHECK(done.native_handle() == handle);
    check(driver()->cuStreamWaitEvent(mine.get(), static_cast<CUevent>(handle), 0), "a user's wait");
    mine.set_bytes(x.mutable_data(), 1, 256);
    CUevent theirs = nullptr;
    check(driver()->cuEventCreate(&theirs, CU_EVENT_DISABLE_TIMING), "a user's event");
    check(driver()->cuEventRecord(theirs, mine.get()), "a user's event");
    {
        const event given = event::from_native(theirs);
        current_stream().wait(given);
        CHECK(holds(x + 0, {64}, std::vector<int>(64, ones_of_bytes)));
        given.synchronize();
        CHECK(given.done());
    }
    {
        event given = event::from_native(theirs);  // it was not destroyed
        CHECK(given.native_handle() == theirs);
        given.record(stream(non_blocking));
        given.synchronize();
        CHECK(thrown<device_error>([&] { given.record(stream(device::host())); }) ==
              "[event] an event of another device cannot be recorded on a stream of host:0");
    }
    check(driver()->cuEventDestroy(theirs), "a user's event");
    CHECK(thrown<device_error>([] { (void)event::from_native(nullptr); }) == "[event] a null event was given");
}

TEST_CASE("tensors of DLPack are in order with the consumer's stream, both ways") {
    if (no_gpu()) return;
    const with_device on_the_gpu(device::cuda());
    for (int turn = 0; turn < 20; ++turn) {
        const users_stream consumer(CU_STREAM_NON_BLOCKING), producer(CU_STREAM_NON_BLOCKING);
        const stream theirs = stream::from_native(consumer.get());
        array<int> x = arange<int>(64);
        x = x * 0 + 5;
        auto* m = to_dlpack(x, theirs);
        CHECK(m->dl_tensor.device.device_type == dlpack::cuda);
        CHECK(consumer.read(static_cast<const int*>(m->dl_tensor.data), 64) == std::vector<int>(64, 5));
        consumer.set_bytes(m->dl_tensor.data, 1, 256);
        CHECK(holds(x - 1, {64}, std::vector<int>(64, ones_of_bytes - 1)));  // behind what the consumer gave it
        producer.set_bytes(m->dl_tensor.data, 2, 256);
        {
            // The producer's tensor is ready on the stream that it names.
            array<int> y = from_dlpack<int>(m, stream::from_native(producer.get()));
            y += 1;
            CHECK(holds(y, {64}, std::vector<int>(64, 2 * ones_of_bytes + 1)));
        }
    }
}

TEST_CASE("__cuda_array_interface__ goes both ways") {
    if (no_gpu()) return;
    const with_device on_the_gpu(device::cuda());
    array<float> x = reshape(arange<float>(6), {2, 3});
    const cuda_array_interface of = to_cuda_array_interface(x);
    CHECK(of.shape == shape_like{2, 3});
    CHECK(of.typestr == "<f4");
    CHECK(of.data == x.data());
    CHECK_FALSE(of.read_only);
    CHECK(of.strides == shape_like{12, 4});
    CHECK(of.version == 3);
    CHECK(of.stream == current_stream().native_handle());
    CHECK(to_cuda_array_interface(std::as_const(x)).read_only);
    const array<bool> flags{true};
    CHECK(to_cuda_array_interface(flags).typestr == "|b1");
    array<float> same = from_cuda_array_interface<float>(of);
    same(0, 1) = 10;
    CHECK(holds(x, {2, 3}, {0, 10, 2, 3, 4, 5}));

    cuda_array_interface columns{.shape = {3, 2}, .typestr = "<f4", .data = x.mutable_data()};
    columns.strides = shape_like{4, 12};
    columns.read_only = true;
    int kept = 0;
    {
        const std::shared_ptr<void> owner(&kept, [](void* k) { ++*static_cast<int*>(k); });
        array<float> y = from_cuda_array_interface<float>(columns, owner);
        CHECK(holds(y, {3, 2}, {0, 3, 10, 4, 2, 5}));
        CHECK_THROWS_AS(y += 1, read_only_error);
        CHECK(kept == 0);
    }
    device::cuda().synchronize();
    CHECK(kept == 1);
    const users_stream mine(CU_STREAM_NON_BLOCKING);
    mine.set_bytes(x.mutable_data(), 0, 24);
    cuda_array_interface ready = of;
    ready.strides.reset();
    ready.stream = mine.get();
    CHECK(sum(from_cuda_array_interface<float>(ready)).item() == 0);

    const auto refused = [&](auto spoil) {
        cuda_array_interface bad = of;
        spoil(bad);
        return thrown<error>([&] { (void)from_cuda_array_interface<float>(bad); });
    };
    CHECK(refused([](auto& b) { b.typestr = ">f4"; }) ==
          "[from_cuda_array_interface] the elements are >f4, and float32, <f4, is wanted");
    CHECK(refused([](auto& b) { b.version = 1; }) ==
          "[from_cuda_array_interface] version 1 of the interface was given; 2 and 3 are known");
    CHECK(refused([](auto& b) { b.strides = shape_like{12}; }) ==
          "[from_cuda_array_interface] 1 strides for shape (2, 3)");
    CHECK(refused([](auto& b) { b.strides = shape_like{12, 2}; }) ==
          "[from_cuda_array_interface] stride 2 is no multiple of the 4 bytes of float32");
    CHECK(refused([](auto& b) { b.data = nullptr; }) ==
          "[from_cuda_array_interface] a null pointer was given for shape (2, 3)");
    float on_the_host = 0;
    CHECK(refused([&](auto& b) { b.data = &on_the_host; }) ==
          "[memory] the pointer given does not point to memory of a GPU");
    array<bfloat16> nameless{1};
    const array<bfloat16> copy = nameless;
    CHECK(thrown<dtype_error>([&] { (void)to_cuda_array_interface(nameless); }) ==
          "[to_cuda_array_interface] the interface has no name for bfloat16");
    CHECK(std::as_const(nameless).data() == copy.data());  // a call that throws un-shares nothing
    array<float> there = array<float>{1}.to(device::host());
    CHECK(thrown<device_error>([&] { (void)to_cuda_array_interface(there); }) ==
          "[to_cuda_array_interface] the array is on host:0; the interface is for memory of GPUs");
}

TEST_CASE("a GPU's memory of somebody else's is read and written in place") {
    if (no_gpu()) return;
    const with_device on_the_gpu(device::cuda());
    const ingot::detail::buffer_ref memory = ingot::detail::allocate_buffer(256);
    int kept = 0;
    {
        const std::shared_ptr<void> owner(&kept, [](void* k) { ++*static_cast<int*>(k); });
        array<int> over = asarray<int>(unowned_memory(memory->data, 256, device::cuda(), owner), {64});
        over.fill(3);
        over += 1;
        CHECK(sum(over).item() == 256);
    }
    device::cuda().synchronize();
    CHECK(kept == 1);
}

#endif
