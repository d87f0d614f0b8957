// The memory pools for users, and memory that is not Ingot's.
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <ingot/core/buffer.hpp>
#include <ingot/core/device.hpp>
#include <ingot/core/export.hpp>

namespace ingot {

namespace runtime {
class pool;
}

/// A handle of a pool; the pool itself lives as long as the process.
///
///     memory_pool pool = default_memory_pool();
///     array<double> a = empty({1000, 1000});
///     std::cout << (pool.used_bytes() >= 8'000'000) << (pool.total_bytes() >= pool.used_bytes()) << ' ';
///     pool.free_all_blocks();
///     std::cout << (pool.n_free_blocks() > 0 || pool.free_bytes() == 0);
///     // prints: 11 1
class memory_pool {
public:
    // Inner
    explicit memory_pool(runtime::pool& pool) noexcept : pool_(&pool) {}

    /// Bytes in buffers that are in use.
    INGOT_API std::size_t used_bytes() const;
    /// Bytes kept for reuse.
    INGOT_API std::size_t free_bytes() const;
    /// Bytes taken from the device: used and free.
    INGOT_API std::size_t total_bytes() const;
    /// Pieces of memory kept for reuse.
    INGOT_API std::size_t n_free_blocks() const;
    /// Gives the memory kept for reuse back to the device. Waits for work that still uses it.
    INGOT_API void free_all_blocks();

    /// Largest total_bytes allowed from now on; 0 for no limit. An allocation that would exceed it throws
    /// out_of_memory.
    ///
    ///     memory_pool pool = default_memory_pool();
    ///     pool.set_limit(std::size_t{1} << 33);
    ///     std::cout << (pool.get_limit() >> 30) << " GiB";
    ///     pool.set_limit(0);
    ///     // prints: 8 GiB
    INGOT_API void set_limit(std::size_t bytes);
    /// The limit; 0 where there is none.
    INGOT_API std::size_t get_limit() const;

private:
    runtime::pool* pool_;
};

/// The pool of the current device, or of the device given. Throws device_error where there is no such device.
///
///     array<double> a = empty({1000});
///     std::cout << (default_memory_pool(a.device()).used_bytes() >= 8000);
///     // prints: 1
INGOT_API memory_pool default_memory_pool();
INGOT_API memory_pool default_memory_pool(ingot::device device);

namespace detail {

/// The functions that an allocator calls. References are counted by hand, since <memory> takes a third of the compile
/// time of a user's file.
struct allocator_functions {
    std::atomic<std::uint32_t> references{1};
    std::uint64_t number;  // unique in the process

    INGOT_API allocator_functions() noexcept;
    virtual ~allocator_functions() = default;
    virtual void* allocate(std::size_t bytes, std::size_t alignment, void* stream) = 0;
    virtual void deallocate(void* data, std::size_t bytes, std::size_t alignment, void* stream) = 0;
};

template <class A>
concept gives_memory = requires(A& allocate, std::size_t n, void* stream) {
    { allocate(n, n, stream) } -> std::convertible_to<void*>;
};
template <class D>
concept takes_memory =
    requires(D& deallocate, void* data, std::size_t n, void* stream) { deallocate(data, n, n, stream); };

}  // namespace detail

/// Two functions that supply memory to Ingot's pool, which takes large pieces and hands them out in stream order.
/// `allocate(bytes, alignment, stream)` returns device memory usable on the native stream (null on a host); where there
/// is none it returns null or throws std::bad_alloc. `deallocate(data, bytes, alignment, stream)` takes it back when no
/// stream uses it any more. Calls for one device never overlap; the functions must not use Ingot, and `deallocate` must
/// not throw. An allocator without functions is Ingot's own. Copies are the same allocator.
///
///     std::size_t taken = 0;
///     const allocator counting(
///         [&](std::size_t bytes, std::size_t alignment, void*) {
///             taken += bytes;
///             return std::aligned_alloc(alignment, bytes);
///         },
///         [&](void* data, std::size_t bytes, std::size_t, void*) {
///             taken -= bytes;
///             std::free(data);
///         });
///     {
///         with_allocator mine(device::host(), counting);
///         with_device on_the_host(device::host());
///         array<double> a = zeros({1000, 1000});
///         std::cout << (taken >= 8'000'000) << ' ';
///     }
///     std::cout << taken << ' ' << (counting == allocator());
///     // prints: 1 0 0
class allocator {
public:
    /// The alignment passed to `allocate`, which is that of CUDA's own functions.
    static constexpr std::size_t alignment = 256;

    constexpr allocator() noexcept = default;
    template <detail::gives_memory A, detail::takes_memory D>
    allocator(A allocate, D deallocate) {
        struct made final : detail::allocator_functions {
            A give;
            D take;
            made(A&& a, D&& d) : give(std::move(a)), take(std::move(d)) {}
            void* allocate(std::size_t bytes, std::size_t aligned_to, void* stream) override {
                return give(bytes, aligned_to, stream);
            }
            void deallocate(void* data, std::size_t bytes, std::size_t aligned_to, void* stream) override {
                take(data, bytes, aligned_to, stream);
            }
        };
        functions_ = new made(std::move(allocate), std::move(deallocate));
    }
    allocator(const allocator& other) noexcept : functions_(other.functions_) {
        if (functions_) functions_->references.fetch_add(1, std::memory_order_relaxed);
    }
    allocator& operator=(allocator other) noexcept {
        std::swap(functions_, other.functions_);
        return *this;
    }
    ~allocator() {
        if (functions_ && functions_->references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete functions_;
    }
    friend bool operator==(const allocator&, const allocator&) = default;

    // Inner
    std::uint64_t number() const noexcept { return functions_ ? functions_->number : 0; }
    void* allocate(std::size_t bytes, std::size_t aligned_to, void* stream) const {
        return functions_->allocate(bytes, aligned_to, stream);
    }
    void deallocate(void* data, std::size_t bytes, std::size_t aligned_to, void* stream) const {
        functions_->deallocate(data, bytes, aligned_to, stream);
    }

private:
    detail::allocator_functions* functions_ = nullptr;
};

/// Takes the memory of a device's arrays from an allocator from now on, and returns the previous one. Memory that the
/// pool keeps for reuse goes back to its source, as does memory in use after its last array. Waits for the device.
/// Throws device_error where there is no such device.
///
///     const allocator before = set_allocator(device::host(), allocator());
///     std::cout << (set_allocator(device::host(), before) == allocator());
///     // prints: 1
INGOT_API allocator set_allocator(ingot::device device, const allocator& source);

/// Takes the memory of a device's arrays from an allocator until the guard ends, which restores the previous one.
/// Throws device_error where there is no such device.
///
///     const allocator plain([](std::size_t bytes, std::size_t alignment,
///                              void*) { return std::aligned_alloc(alignment, bytes); },
///                           [](void* data, std::size_t, std::size_t, void*) { std::free(data); });
///     with_allocator mine(device::host(), plain);
///     with_device on_the_host(device::host());
///     std::cout << sum(ones({1000}));
///     // prints: 1000.0
class [[nodiscard]] with_allocator {
public:
    INGOT_API with_allocator(ingot::device device, const allocator& source);
    with_allocator(const with_allocator&) = delete;
    with_allocator& operator=(const with_allocator&) = delete;
    INGOT_API ~with_allocator();

private:
    detail::device_id device_;
    allocator before_;
};

/// The pool of page-locked host memory; plain memory where there is no GPU.
///
///     const array<float> staging = empty_pinned<float>(250);
///     std::cout << (default_pinned_memory_pool().used_bytes() >= 1000);
///     // prints: 1
INGOT_API memory_pool default_pinned_memory_pool();

namespace detail {
/// A buffer over somebody else's memory. Throws device_error where it is not the device's.
INGOT_API buffer_ref given_memory(void* data, std::size_t bytes, device_id device);
}  // namespace detail

/// Somebody else's memory, to make an array over: always written in place, never freed by Ingot. That array writes the
/// memory; a copy of it is a value, in memory of its own.
///
///     float mine[3] = {1, 2, 3};
///     array<float> over = asarray<float>(unowned_memory(mine, sizeof mine), {3});
///     over *= 2;
///     std::cout << over << ' ' << mine[2];
///     // prints: [2. 4. 6.] 6
///
/// Const memory is read-only: a write to the array throws read_only_error. An owner is any object that keeps the
/// memory, such as a std::shared_ptr<void>: it is held until the last array over the memory is gone and the streams
/// that use it have passed. Throws device_error where the pointer is null or no memory of the device, or where the
/// device's driver knows of fewer bytes there. A GPU also takes page-locked and managed memory, and all host memory
/// where it reaches pages that no driver gave (heterogeneous memory management, Grace): there the host reads kernels'
/// results after it has waited for them.
///
///     const auto kept = std::make_shared<std::vector<float>>(3, 7.0f);
///     array<float> shared = asarray<float>(unowned_memory(kept->data(), 12, device::host(), kept), {3});
///     std::cout << shared << ' ' << kept.use_count();
///     // prints: [7. 7. 7.] 2
class unowned_memory {
public:
    unowned_memory(void* data, std::size_t bytes, ingot::device device = ingot::device::host())
        : buffer_(detail::given_memory(data, bytes, device)) {}
    unowned_memory(const void* data, std::size_t bytes, ingot::device device = ingot::device::host())
        : unowned_memory(const_cast<void*>(data), bytes, device) {
        buffer_->read_only = true;
    }
    template <class Owner>
    unowned_memory(void* data, std::size_t bytes, ingot::device device, Owner owner)
        : buffer_(detail::given_memory(data, bytes, device)) {
        buffer_->end_argument = new Owner(std::move(owner));
        buffer_->end = [](void* kept) { delete static_cast<Owner*>(kept); };
    }
    template <class Owner>
    unowned_memory(const void* data, std::size_t bytes, ingot::device device, Owner owner)
        : unowned_memory(const_cast<void*>(data), bytes, device, std::move(owner)) {
        buffer_->read_only = true;
    }

    // Inner
    const detail::buffer_ref& buffer() const noexcept { return buffer_; }

private:
    detail::buffer_ref buffer_;
};

}  // namespace ingot
