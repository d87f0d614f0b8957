// How the threads of a kernel share its elements: the value that a family of schedules chooses (choose_map, ...) before
// any text is printed. The emitter prints from the family's own choice, explain prints this.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ingot::codegen {

/// The source of a thread's elements.
enum class element_source : std::uint8_t {
    direct,  // each array, read in place
    run,     // the run of memory that neighbouring rows or columns form, by vectors
    staged,  // shared memory, to which the block copied them
};

/// How threads join their parts of one result.
enum class thread_exchange : std::uint8_t {
    none,     // a thread has the whole result
    lanes,    // shuffles in a warp
    block,    // shared memory
    cluster,  // shared memory of the blocks of a cluster
    scratch,  // global memory: several blocks have parts
};

struct kernel_shape {
    std::string_view name;      // of the layout of threads over elements; a literal
    std::uint32_t threads = 0;  // of a block
    std::uint32_t lanes = 1;    // threads that share a row or a result, of one block or one cluster
    std::uint32_t each = 1;     // consecutive elements of one access of a thread
    std::uint32_t chunks = 1;   // such accesses of a thread that are in flight together
    element_source source = element_source::direct;
    std::uint32_t tile = 0;  // staged: elements of each array that a block has in shared memory; 0: unknown
    thread_exchange exchange = thread_exchange::none;
    std::uint32_t read_ahead = 0;       // tiles in flight while one is computed
    std::uint32_t resident_blocks = 0;  // of a multiprocessor; limits the registers; 0: no limit
    std::uint32_t cluster = 1;          // blocks
    friend bool operator==(const kernel_shape&, const kernel_shape&) = default;
};

/// "packed: blocks of 256 threads, 4 x 2 elements a thread, ..."; empty where nothing was chosen, as on the host.
std::string describe(const kernel_shape&);

}  // namespace ingot::codegen
