// The interface between a kernel that was translated for the CPU and the emulator: device.hpp spells CUDA's functions
// with it, grid.cpp implements it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace emulator {

struct index3 {
    unsigned int x, y, z;
};

/// The position of a thread in its grid.
struct place {
    index3 thread, block, threads, grid;
    unsigned int lane;          // of its warp
    unsigned int cluster_rank;  // of the block
};

class machine {
public:
    const place* now = nullptr;  // of the running thread

    /// Whether any thread of the block came with true.
    virtual bool block_barrier(bool mine) = 0;
    virtual void cluster_arrive() = 0;
    virtual void cluster_wait() = 0;

    /// The values that the lanes in `mask` gave, once all of them that have not ended have called the same function
    /// with the same mask. For other lanes: a pattern that no lane gave.
    virtual const std::uint64_t* exchange(unsigned int mask, const char* function, std::uint64_t mine) = 0;

    /// The thread polled memory that others may change, so they may run first.
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
    /// An access that orders others: its bytes are not checked for races during this launch.
    virtual void touch_ordering(const void* at, std::size_t bytes) = 0;

    /// Reports that a kernel did something that CUDA leaves undefined, and ends the process.
    [[noreturn]] virtual void fault(const char* what) = 0;

protected:
    ~machine() = default;
};

inline constexpr char not_aligned[] = "memory is touched that is not aligned to the size of the access";

constexpr unsigned int lanes_of_warp = 32;

/// A shared address has another block's number, from 1, above this many bits.
constexpr unsigned int rank_shift = 24;

/// A barrier in shared memory (mbarrier) of one arrival.
struct transaction_barrier {
    std::int32_t bytes;      // that have to come before it opens
    std::uint16_t arrivals;  // arrivals still missing
    std::uint8_t phase;
    std::uint8_t made;  // 0x5b, once it is
};
static_assert(sizeof(transaction_barrier) == 8);

}  // namespace emulator
