// Connected parts on a GPU by kernels of Ingot's own: parts of tiles in shared memory, or runs within a warp; unions of
// neighbours by atomic minima; then every element looks up its root.
#include <algorithm>
#include <string>

#include <ingot/core/layout.hpp>

#include "runtime/kernels/own_kernels.hpp"
#include "runtime/ndimage/connected_parts.cuh.hpp"
#include "runtime/ndimage/connected_parts.hpp"
#include "runtime/ndimage/connected_runs.cuh.hpp"
#include "runtime/ndimage/connected_tiles.cuh.hpp"

namespace ingot::runtime {

using detail::index_t;

#ifdef INGOT_HAS_CUDA_HEADERS

namespace {

struct part_kernels {
    loaded_kernel begin_parts, join_parts, end_parts;
};

/// The text's struct has as many extents as there are axes.
template <class I>
struct part_arguments {
    const bool* inside;
    void* parents;
    const std::uint32_t* connects;
    I size;
    I extents[detail::max_rank];
};

template <class I>
void connect(const connected_parts& p, const part_kernels& kernels, index_t tiles, const stream_state& stream) {
    part_arguments<I> a{p.inside, p.numbers, p.connects, 1, {}};
    std::ranges::transform(p.extents, a.extents, [](index_t n) { return static_cast<I>(n); });
    for (const index_t n : p.extents) a.size *= static_cast<I>(n);
    const auto launch = [&](const loaded_kernel& kernel, index_t blocks) {
        launch_kernel("connected parts", kernel, a, static_cast<unsigned>(blocks), 1, 256, stream);
    };
    const index_t blocks = (static_cast<index_t>(a.size) + 255) / 256;
    launch(kernels.begin_parts, tiles == 0 ? blocks : tiles);
    launch(kernels.join_parts, blocks);
    launch(kernels.end_parts, blocks);
}

/// The tiles of the last two axes; none where these are too short for one.
index_t tiles_of(const std::vector<index_t>& extents) {
    constexpr index_t wide = 32, high = 64, least_rows = 16;
    const std::size_t rank = extents.size();
    if (rank < 2 || extents[rank - 1] < wide || extents[rank - 2] < least_rows) return 0;
    index_t tiles = (extents[rank - 1] + wide - 1) / wide * ((extents[rank - 2] + high - 1) / high);
    for (std::size_t j = 0; j + 2 < rank; ++j) tiles *= extents[j];
    return tiles;
}

}  // namespace

void connect_on_gpu(const connected_parts& p, stream_state& stream) {
    stream.backend->bind_thread();
    const bool is_small = p.number_type == dtype::i4;
    const std::size_t rank = p.extents.size();
    const index_t tiles = tiles_of(p.extents);
    const bool tiled = tiles != 0;
    const auto text = [&] {
        std::size_t count = 0;
        for (std::size_t j = 0; j < rank; ++j) count = 3 * count + 1;
        return "typedef " + std::string(is_small ? "int" : "long long") +
               " number;\nconstexpr int rank = " + std::to_string(rank) + ", count = " + std::to_string(count) +
               ";\nconstexpr bool tiled = " + (tiled ? "true" : "false") + ";\n" +
               std::string(embedded::connected_parts) +
               std::string(tiled ? embedded::connected_tiles : embedded::connected_runs);
    };
    const part_kernels& kernels = own_kernels<part_kernels>(stream.device, {"begin_parts", "join_parts", "end_parts"},
                                                            {p.number_type, rank, tiled}, text);
    is_small ? connect<std::int32_t>(p, kernels, tiles, stream) : connect<std::int64_t>(p, kernels, tiles, stream);
}

#else

void connect_on_gpu(const connected_parts&, stream_state&) {}

#endif

}  // namespace ingot::runtime
