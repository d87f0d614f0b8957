// The memory pools as a user sees them, and memory that is not Ingot's.
#pragma once

#include <cstddef>

#include <ingot/buffer.hpp>
#include <ingot/device.hpp>
#include <ingot/export.hpp>

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
    /// Gives what is kept for reuse back to the device. Waits for work that still uses it.
    INGOT_API void free_all_blocks();

    /// Largest total_bytes allowed from now on; 0 for no limit. What would exceed it throws out_of_memory.
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
INGOT_API memory_pool default_memory_pool(device_id device);

/// The pool of page-locked host memory; plain memory where there is no GPU.
///
///     const buffer_ref b = allocate_pinned_buffer(1000);
///     std::cout << (default_pinned_memory_pool().used_bytes() >= 1000);
///     // prints: 1
INGOT_API memory_pool default_pinned_memory_pool();

/// Memory of somebody else's, to make an array over: always written in place, never freed by Ingot. That array is the
/// handle that writes there; a copy of it is a value, in memory of its own.
///
///     float mine[3] = {1, 2, 3};
///     array<float> over = asarray<float>(unowned_memory(mine, sizeof mine), {3});
///     over *= 2;
///     std::cout << over << ' ' << mine[2];
///     // prints: [2. 4. 6.] 6
class unowned_memory {
public:
    unowned_memory(void* data, std::size_t bytes, device_id device = ingot::device::host())
        : buffer_(unowned_buffer(data, bytes, device)) {}

    // Inner
    const buffer_ref& buffer() const noexcept { return buffer_; }

private:
    buffer_ref buffer_;
};

}  // namespace ingot
