// A GPU as a device, through the driver. Its primary context is retained for ever. Every call makes it current first,
// because the thread may be a user's that works with other contexts.
#include <ingot/core/error.hpp>

#include "runtime/device/backend.hpp"
#include "runtime/device/driver.hpp"

#if INGOT_HAS_CUDA_HEADERS

#include <array>
#include <atomic>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "runtime/device/device.hpp"

namespace ingot::runtime {

namespace {

CUstream cu(native_stream s) { return reinterpret_cast<CUstream>(static_cast<std::uintptr_t>(s)); }
CUevent cu(native_event e) { return reinterpret_cast<CUevent>(static_cast<std::uintptr_t>(e)); }
CUdeviceptr cu(const void* p) { return reinterpret_cast<CUdeviceptr>(p); }

/// True for done, false for not yet.
bool is_done(CUresult status, const char* doing) {
    if (status == CUDA_ERROR_NOT_READY) return false;
    check(status, doing);
    return true;
}

/// The primary contexts in which Ingot works, by number of the GPU.
constinit std::array<std::atomic<CUcontext>, 64> primary_contexts{};

/// Whether memory belongs to one GPU. Page-locked and managed memory names the GPU under which it was made, but all
/// GPUs reach it.
bool is_one_gpus(const driver_api& api, const void* data) {
    std::uint64_t type = 0, is_managed = 0;  // room for any attribute
    if (api.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, cu(data)) != CUDA_SUCCESS) return false;
    return type == CU_MEMORYTYPE_DEVICE &&
           (api.cuPointerGetAttribute(&is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, cu(data)) != CUDA_SUCCESS ||
            is_managed == 0);
}

/// Whether these bytes are memory of that GPU within one allocation, the common case, tested by one call without a
/// context. For other memory the result is false, and the attributes are queried one by one.
bool is_within_allocation(const driver_api& api, CUdevice gpu, const void* data, std::size_t bytes) {
    std::uint64_t type = 0, length = 0;  // room for any attribute
    CUdevice owner = -1;
    CUdeviceptr base = 0;
    CUpointer_attribute asked[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                   CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, CU_POINTER_ATTRIBUTE_RANGE_SIZE};
    void* answers[] = {&type, &owner, &base, &length};
    return api.cuPointerGetAttributes(std::size(asked), asked, answers, cu(data)) == CUDA_SUCCESS &&
           type == CU_MEMORYTYPE_DEVICE && owner == gpu && cu(data) - base <= length &&
           bytes <= length - (cu(data) - base);
}

/// The GPU to which memory belongs, or for which it is page-locked or managed; empty where the driver knows none.
std::optional<int> known_gpu_of(const driver_api& api, const void* data) {
    int ordinal = -1;
    const CUresult status = api.cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, cu(data));
    if (status == CUDA_ERROR_INVALID_VALUE || ordinal < 0) return std::nullopt;
    check(status, "asking whose a pointer is");
    return ordinal;
}

[[noreturn]] void throw_no_gpus() {
    throw device_error("[memory] the pointer given does not point to memory of a GPU");
}

class cuda_backend final : public backend {
public:
    explicit cuda_backend(int index) : api_(need_driver("device")) {
        check(api_.cuDeviceGet(&device_, index), "finding a GPU");
        check(api_.cuDevicePrimaryCtxRetain(&context_, device_), "making a GPU's context");
        primary_contexts.at(static_cast<std::size_t>(index)) = context_;
        int value = 0;
        check(api_.cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, device_),
              "asking what memory a GPU reaches");
        reaches_pageable_ = value != 0;
    }

    std::string name() const override {
        std::array<char, 256> text{};
        check(api_.cuDeviceGetName(text.data(), static_cast<int>(text.size()), device_), "asking a GPU's name");
        return text.data();
    }

    memory_info memory() const override {
        bind();
        memory_info info;
        check(api_.cuMemGetInfo(&info.free, &info.total), "asking a GPU's memory");
        return info;
    }

    void* allocate(std::size_t bytes) override {
        bind();
        CUdeviceptr data = 0;
        const CUresult status = api_.cuMemAlloc(&data, bytes);
        if (status == CUDA_ERROR_OUT_OF_MEMORY) return nullptr;
        check(status, "allocating GPU memory");
        return reinterpret_cast<void*>(data);
    }
    void release(void* data, std::size_t) noexcept override {
        if (try_bind()) api_.cuMemFree(cu(data));
    }
    void* allocate_pinned(std::size_t bytes) override {
        bind();
        void* data = nullptr;
        const CUresult status = api_.cuMemHostAlloc(&data, bytes, CU_MEMHOSTALLOC_PORTABLE);
        if (status == CUDA_ERROR_OUT_OF_MEMORY) return nullptr;
        check(status, "allocating pinned memory");
        return data;
    }
    void release_pinned(void* data, std::size_t) noexcept override {
        if (try_bind()) api_.cuMemFreeHost(data);
    }

    native_stream create_stream() override {
        bind();
        // A blocking stream: it is in order with the legacy default stream, which the user's own CUDA code may use.
        CUstream s = nullptr;
        check(api_.cuStreamCreate(&s, CU_STREAM_DEFAULT), "making a stream");
        return native_stream{reinterpret_cast<std::uintptr_t>(s)};
    }
    native_stream create_non_blocking_stream() override {
        bind();
        CUstream s = nullptr;
        check(api_.cuStreamCreate(&s, CU_STREAM_NON_BLOCKING), "making a stream");
        return native_stream{reinterpret_cast<std::uintptr_t>(s)};
    }
    std::uint64_t identify(native_stream s) override {
        unsigned long long id = 0;
        if (api_.cuStreamGetId(cu(s), &id) == CUDA_SUCCESS) return id;
        bind();  // the thread may have no context yet
        check(api_.cuStreamGetId(cu(s), &id), "asking a stream's number");
        return id;
    }
    native_stream legacy_stream() const override {
        return native_stream{reinterpret_cast<std::uintptr_t>(CU_STREAM_LEGACY)};
    }
    native_stream per_thread_stream() const override {
        return native_stream{reinterpret_cast<std::uintptr_t>(CU_STREAM_PER_THREAD)};
    }
    void check_memory(const void* data, std::size_t bytes) override {
        if (is_within_allocation(api_, device_, data, bytes)) return;
        bind();
        const std::optional<int> owner = known_gpu_of(api_, data);
        if (!owner && reaches_pageable_) return;  // the GPU can access pageable host memory
        if (!owner) throw_no_gpus();
        if (*owner != device_ && is_one_gpus(api_, data))
            throw device_error("[memory] the memory given for cuda:" + std::to_string(device_) +
                               " is cuda:" + std::to_string(*owner) + "'s");
        // Memory that is mapped in pieces has a range for each piece, one behind the other.
        constexpr int most_ranges = 256;
        std::size_t known = 0;
        for (int i = 0; i < most_ranges && known < bytes; ++i) {
            CUdeviceptr base = 0;
            std::size_t length = 0;
            const CUdeviceptr at = cu(data) + known;
            if (api_.cuMemGetAddressRange(&base, &length, at) != CUDA_SUCCESS) {
                if (known == 0) return;  // the driver knows the owner, but not the size
                throw device_error("[memory] " + std::to_string(bytes) + " bytes of cuda:" + std::to_string(device_) +
                                   "'s memory were given, which ends after " + std::to_string(known));
            }
            known += length - static_cast<std::size_t>(at - base);
        }
    }
    bool idle(native_stream s) override {
        bind();
        return is_done(api_.cuStreamQuery(cu(s)), "asking a stream");
    }
    void synchronize(native_stream s) override {
        bind();
        check(api_.cuStreamSynchronize(cu(s)), "waiting for a stream");
    }

    native_event create_event(bool timed, bool blocking) override {
        bind();
        if (!timed && !blocking) {
            const std::lock_guard lock(mutex_);
            if (!events_.empty()) {
                const native_event e = events_.back();
                events_.pop_back();
                return e;
            }
        }
        CUevent e = nullptr;
        const unsigned flags = (timed ? CU_EVENT_DEFAULT : CU_EVENT_DISABLE_TIMING) |
                               (blocking ? CU_EVENT_BLOCKING_SYNC : CU_EVENT_DEFAULT);
        check(api_.cuEventCreate(&e, flags), "making an event");
        return native_event{reinterpret_cast<std::uintptr_t>(e)};
    }
    void recycle_event(native_event e) noexcept override try {
        const std::lock_guard lock(mutex_);
        events_.push_back(e);
    } catch (...) {
        destroy_event(e);
    }
    void destroy_event(native_event e) noexcept override {
        if (try_bind()) api_.cuEventDestroy(cu(e));
    }
    void record(native_event e, native_stream s) override {
        bind();
        check(api_.cuEventRecord(cu(e), cu(s)), "recording an event");
    }
    void wait(native_stream s, native_event e) override {
        bind();
        check(api_.cuStreamWaitEvent(cu(s), cu(e), CU_EVENT_WAIT_DEFAULT), "making a stream wait");
    }
    bool done(native_event e) override {
        bind();
        return is_done(api_.cuEventQuery(cu(e)), "asking an event");
    }
    void synchronize(native_event e) override {
        bind();
        check(api_.cuEventSynchronize(cu(e)), "waiting for an event");
    }
    float elapsed(native_event from, native_event to) override {
        bind();
        float milliseconds = 0;
        check(api_.cuEventElapsedTime(&milliseconds, cu(from), cu(to)), "measuring between events");
        return milliseconds;
    }

    void copy(void* to, const void* from, std::size_t bytes, copy_direction direction, native_stream s) override {
        bind();
        switch (direction) {
            case copy_direction::to_device:
                return check(api_.cuMemcpyHtoDAsync(cu(to), from, bytes, cu(s)), "copying to a GPU");
            case copy_direction::to_host:
                return check(api_.cuMemcpyDtoHAsync(to, cu(from), bytes, cu(s)), "copying from a GPU");
            case copy_direction::within:
                return check(api_.cuMemcpyDtoDAsync(cu(to), cu(from), bytes, cu(s)), "copying on a GPU");
            case copy_direction::between:
                return check(api_.cuMemcpyPeerAsync(cu(to), context_of(to), cu(from), context_of(from), bytes, cu(s)),
                             "copying between GPUs");
        }
    }
    void fill(void* to, unsigned char value, std::size_t bytes, native_stream s) override {
        bind();
        check(api_.cuMemsetD8Async(cu(to), value, bytes, cu(s)), "filling GPU memory");
    }
    void launch(native_stream s, const launch_record& r) override {
        bind();
        check(api_.cuLaunchHostFunc(cu(s), r.body, r.argument), "queueing a host function");
    }

    void bind_thread() override { bind(); }

private:
    CUresult make_current() const noexcept {
        CUcontext now = nullptr;
        if (api_.cuCtxGetCurrent(&now) == CUDA_SUCCESS && now == context_) return CUDA_SUCCESS;
        return api_.cuCtxSetCurrent(context_);
    }
    void bind() const { check(make_current(), "making a GPU's context current"); }
    bool try_bind() const noexcept { return make_current() == CUDA_SUCCESS; }

    CUcontext context_of(const void* data) const {
        CUcontext context = nullptr;
        const CUresult status = api_.cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, cu(data));
        if (status == CUDA_ERROR_INVALID_VALUE && reaches_pageable_) return context_;
        check(status, "asking a pointer's GPU");
        return context;
    }

    const driver_api& api_;
    CUdevice device_ = 0;
    CUcontext context_ = nullptr;
    bool reaches_pageable_ = false;  // whether the GPU accesses the host's memory by its page tables
    std::mutex mutex_;
    std::vector<native_event> events_;  // untimed events for reuse
};

}  // namespace

int gpu_of_memory(const void* data) {
    const std::optional<int> owner = known_gpu_of(need_driver("memory"), data);
    if (!owner) throw_no_gpus();
    return *owner;
}

void check_host_memory(const void* data) {
    const driver_api* const api = opened_driver();
    if (api == nullptr || !is_one_gpus(*api, data)) return;
    throw device_error("[memory] the memory given for the host is cuda:" + std::to_string(gpu_of_memory(data)) +
                       "'s; name the device with it");
}

int gpu_of_stream(native_stream s) {
    const driver_api& api = need_driver("stream");
    CUcontext of_stream = nullptr, before = nullptr;
    check(api.cuStreamGetCtx(cu(s), &of_stream), "asking a stream's context");
    for (int i = 0; i < static_cast<int>(primary_contexts.size()); ++i) {
        const CUcontext known = primary_contexts[static_cast<std::size_t>(i)].load(std::memory_order_relaxed);
        if (known == of_stream) return i;
    }
    check(api.cuCtxGetCurrent(&before), "asking the current context");
    check(api.cuCtxSetCurrent(of_stream), "making a stream's context current");
    CUdevice ordinal = 0;
    const CUresult status = api.cuCtxGetDevice(&ordinal);
    check(api.cuCtxSetCurrent(before), "making the context before current");
    check(status, "asking a context's GPU");
    state_of(device::cuda(ordinal));  // makes the primary context known
    if (primary_contexts.at(static_cast<std::size_t>(ordinal)).load(std::memory_order_relaxed) != of_stream)
        throw device_error("[stream] the stream is of another context than the primary one of cuda:" +
                           std::to_string(ordinal) + ", in which Ingot works");
    return ordinal;
}

std::unique_ptr<backend> make_cuda_backend(int index) {
    if (index >= device::cuda_count()) return nullptr;
    return std::make_unique<cuda_backend>(index);
}

}  // namespace ingot::runtime

int ingot::device::cuda_count() noexcept try {
    // The count is queried once for each driver: neither driver nor GPUs change while the process runs, except in
    // tests.
    static constinit std::atomic<const runtime::driver_api*> asked{nullptr};
    static constinit std::atomic<int> answer{0};
    const runtime::driver_api* const api = runtime::driver();
    if (api == nullptr) return 0;
    if (asked.load(std::memory_order_acquire) == api) return answer.load(std::memory_order_relaxed);
    int count = 0;
    runtime::check(api->cuDeviceGetCount(&count), "counting GPUs");
    answer.store(count, std::memory_order_relaxed);
    asked.store(api, std::memory_order_release);
    return count;
} catch (...) {
    return 0;
}

#else

int ingot::device::cuda_count() noexcept { return 0; }
int ingot::runtime::gpu_of_memory(const void*) { throw device_error("[memory] " + why_no_driver()); }
void ingot::runtime::check_host_memory(const void*) {}
int ingot::runtime::gpu_of_stream(native_stream) { throw device_error("[stream] " + why_no_driver()); }
std::unique_ptr<ingot::runtime::backend> ingot::runtime::make_cuda_backend(int) { return nullptr; }

#endif
