// Connected parts on a GPU by kernels of Ingot's own: runs within a warp, unions of neighbours by atomic minima, then
// every element looks up its root.
#include <algorithm>
#include <string>

#include <ingot/core/layout.hpp>

#include "runtime/kernels/own_kernels.hpp"
#include "runtime/ndimage/connected_parts.cuh.hpp"
#include "runtime/ndimage/connected_parts.hpp"

namespace ingot::runtime {

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
void connect(const connected_parts& p, const part_kernels& kernels, const stream_state& stream) {
    part_arguments<I> a{p.inside, p.numbers, p.connects, 1, {}};
    std::ranges::transform(p.extents, a.extents, [](detail::index_t n) { return static_cast<I>(n); });
    for (const detail::index_t n : p.extents) a.size *= static_cast<I>(n);
    const unsigned blocks = static_cast<unsigned>((static_cast<detail::index_t>(a.size) + 255) / 256);
    for (const loaded_kernel* kernel : {&kernels.begin_parts, &kernels.join_parts, &kernels.end_parts})
        launch_kernel("connected parts", *kernel, a, blocks, 1, 256, stream);
}

}  // namespace

void connect_on_gpu(const connected_parts& p, stream_state& stream) {
    stream.backend->bind_thread();
    const bool is_small = p.number_type == dtype::i4;
    const std::size_t rank = p.extents.size();
    const auto text = [&] {
        std::size_t count = 0;
        for (std::size_t j = 0; j < rank; ++j) count = 3 * count + 1;
        return "typedef " + std::string(is_small ? "int" : "long long") +
               " number;\nconstexpr int rank = " + std::to_string(rank) + ", count = " + std::to_string(count) + ";\n" +
               std::string(embedded::connected_parts);
    };
    const part_kernels& kernels = own_kernels<part_kernels>(stream.device, {"begin_parts", "join_parts", "end_parts"},
                                                            {p.number_type, rank}, text);
    is_small ? connect<std::int32_t>(p, kernels, stream) : connect<std::int64_t>(p, kernels, stream);
}

#else

void connect_on_gpu(const connected_parts&, stream_state&) {}

#endif

}  // namespace ingot::runtime
