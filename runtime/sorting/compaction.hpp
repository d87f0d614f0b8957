// The two steps of a compaction (include/ingot/core/compaction.hpp) on the host and on a GPU.
#pragma once

#include <ingot/core/compaction.hpp>

#include "runtime/device/stream.hpp"

namespace ingot::runtime {

struct compaction {
    const detail::compacted& what;
    void* starts;  // of the tiles, which the first step writes
    void* to;
};
void count_on_host(const compaction&);
void count_on_gpu(const compaction&, stream_state&);
void write_on_host(const compaction&);
void write_on_gpu(const compaction&, stream_state&);

}  // namespace ingot::runtime
