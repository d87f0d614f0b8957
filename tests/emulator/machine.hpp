// What a kernel that was translated for the CPU asks of the emulator that runs it: device.hpp spells CUDA's names with
// these, grid.cpp does them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace emulator {

struct index3 {
    unsigned int x, y, z;
};

/// Where a thread is.
struct place {
    index3 thread, block, threads, grid;
    unsigned int lane;          // of its warp
    unsigned int cluster_rank;  // of its block
};

class machine {
public:
    const place* now = nullptr;  // of the thread that runs

    /// Whether any thread of the block came with true.
    virtual bool block_barrier(bool mine) = 0;
    virtual void cluster_arrive() = 0;
    virtual void cluster_wait() = 0;

    /// What the lanes of a warp that `mask` names gave, once all of them that have not ended are here with the same
    /// mask and for the same function. Of other lanes: a pattern that no lane gave.
    virtual const std::uint64_t* exchange(unsigned int mask, const char* function, std::uint64_t mine) = 0;

    /// The thread looked at what others may change: they may run first.
    virtual void let_others() = 0;

    /// Addresses of shared memory are offsets, of another block's with its number in the cluster above them.
    virtual std::uint32_t shared_address(const void* generic) = 0;
    virtual char* shared_memory(std::uint32_t address) = 0;

    /// Copies that are made no sooner than the thread waits for them, in groups.
    virtual void copy_later(void* to, const void* from, std::size_t bytes) = 0;
    virtual void close_copies() = 0;
    virtual void wait_for_copies(std::size_t groups_left) = 0;

    /// A plain access, from a place in the code, to memory that other threads see.
    virtual void touch(const void* at, std::size_t bytes, bool writes, const void* code) = 0;
    /// An access that orders: what it touches is not looked at during this launch.
    virtual void touch_ordering(const void* at, std::size_t bytes) = 0;

    /// A kernel did what CUDA does not define: says so and ends the process.
    [[noreturn]] virtual void fault(const char* what) = 0;

protected:
    ~machine() = default;
};

inline constexpr char not_aligned[] = "memory is touched that is not aligned to the size of the access";

constexpr unsigned int lanes_of_warp = 32;

/// Another block's number, from 1, stands above so many bits of a shared address.
constexpr unsigned int rank_shift = 24;

/// A barrier in shared memory (mbarrier) of one arrival.
struct transaction_barrier {
    std::int32_t bytes;      // that have to come before it opens
    std::uint16_t arrivals;  // that have to come
    std::uint8_t phase;
    std::uint8_t made;  // 0x5b, once it is
};
static_assert(sizeof(transaction_barrier) == 8);

}  // namespace emulator
