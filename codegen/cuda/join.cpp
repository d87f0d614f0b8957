// Joins are trees, so that the error of a sum grows with the logarithm of the number of terms.
#include "codegen/cuda/join.hpp"

namespace ingot::codegen {

std::string join_pairs(prelude& needs) {
    needs.add(
        "join_pairs",
        "/// Combines n values as a balanced tree, so that the rounding error of a sum grows with log(n).\n"
        "template <class fold, int n, class type>\n"
        "__device__ __forceinline__ type join_pairs(const type* v) {\n"
        "    if constexpr (n == 1) return v[0];\n"
        "    else return fold::join(join_pairs<fold, n - n / 2>(v), join_pairs<fold, n / 2>(v + n - n / 2));\n}\n");
    return "join_pairs";
}

void add_exchange(fold_writer& f, prelude& needs) {
    needs.add("from_lane",
              "/// Returns the value of the lane whose index is this lane's XOR `far`.\n"
              "template <class type>\n"
              "__device__ __forceinline__ type from_lane(type v, int far) {\n"
              "    return __shfl_xor_sync(0xffffffffu, v, far);\n}\n");
    if (f.words() == 1) return;
    std::string members;
    for (std::uint32_t i = 0; i < f.words(); ++i)
        members += (i == 0 ? "from_lane(" : ", from_lane(") + f.word(i, "v") + ", far)";
    needs.add("from_lane " + f.type(), "__device__ __forceinline__ " + f.type() + " from_lane(" + f.type() +
                                           " v, int far) {\n    return {" + members + "};\n}\n");
}

std::string join_lanes(fold_writer& f, prelude& needs) {
    add_exchange(f, needs);
    needs.add("join_lanes",
              "/// Combines the values of a group of adjacent lanes; every lane gets the result.\n"
              "template <class fold, int lanes, class type>\n"
              "__device__ __forceinline__ type join_lanes(type v) {\n"
              "#pragma unroll\n"
              "    for (int far = lanes / 2; far > 0; far >>= 1) v = fold::join(v, from_lane(v, far));\n"
              "    return v;\n}\n");
    if (const std::string at_once = f.of_warp("v"); !at_once.empty())
        needs.add("join_lanes " + f.joiner(), "#if __CUDA_ARCH__ >= 800\ntemplate <>\n__device__ __forceinline__ " +
                                                  f.type() + " join_lanes<" + f.joiner() + ", 32>(" + f.type() +
                                                  " v) {\n    return " + at_once + ";\n}\n#endif\n");
    return "join_lanes";
}

std::string join_slots(fold_writer& f, prelude& needs) {
    join_lanes(f, needs);
    needs.add("join_slots",
              "/// Combines n values in shared memory; every lane of the warp gets the result.\n"
              "template <class fold, int n, class type>\n"
              "__device__ __forceinline__ type join_slots(const type* slots) {\n"
              "    constexpr int lanes = n < 32 ? n : 32;\n"
              "    type v = slots[threadIdx.x % lanes];\n"
              "#pragma unroll\n"
              "    for (int i = lanes; i < n; i += lanes) v = fold::join(v, slots[i + threadIdx.x % lanes]);\n"
              "    return join_lanes<fold, lanes>(v);\n}\n");
    return "join_slots";
}

std::string scan_lanes(prelude& needs) {
    needs.add(
        "scan_lanes",
        "/// Exclusive scan over a group of lanes: v[0] of all lanes comes first, then v[1] of all lanes, and so on.\n"
        "/// Returns the total of the group.\n"
        "template <class fold, int lanes, class type, int n>\n"
        "__device__ __forceinline__ type scan_lanes(type (&v)[n], type start, unsigned int lane) {\n"
        "#pragma unroll\n"
        "    for (unsigned int far = 1; far < lanes; far *= 2)\n"
        "#pragma unroll\n"
        "        for (int u = 0; u < n; ++u) {\n"
        "            const type left = __shfl_up_sync(0xffffffffu, v[u], far, lanes);\n"
        "            if (lane >= far) v[u] = fold::join(left, v[u]);\n"
        "        }\n"
        "    type so_far = start;\n"
        "#pragma unroll\n"
        "    for (int u = 0; u < n; ++u) {\n"
        "        const type all = __shfl_sync(0xffffffffu, v[u], lanes - 1, lanes);\n"
        "        const type left = __shfl_up_sync(0xffffffffu, v[u], 1, lanes);\n"
        "        v[u] = lane == 0 ? so_far : u == 0 ? left : fold::join(so_far, left);\n"
        "        so_far = u == 0 ? all : fold::join(so_far, all);\n"
        "    }\n"
        "    return so_far;\n}\n");
    return "scan_lanes";
}

std::string scan_block(prelude& needs) {
    scan_lanes(needs);
    needs.add("scan_block",
              "/// Exclusive scan over a block: v[0] of all threads comes first, then v[1] of all threads, and so on.\n"
              "template <class fold, int warps, class type, int n>\n"
              "__device__ __forceinline__ void scan_block(type (&v)[n], type start, type* parts) {\n"
              "    const unsigned int lane = threadIdx.x % 32, warp = threadIdx.x / 32;\n"
              "#pragma unroll\n"
              "    for (unsigned int far = 1; far < 32; far *= 2)\n"
              "#pragma unroll\n"
              "        for (int u = 0; u < n; ++u) {\n"
              "            const type left = __shfl_up_sync(0xffffffffu, v[u], far);\n"
              "            if (lane >= far) v[u] = fold::join(left, v[u]);\n"
              "        }\n"
              "#pragma unroll\n"
              "    for (int u = 0; u < n; ++u) {\n"
              "        if (lane == 31) parts[u * warps + warp] = v[u];\n"
              "        v[u] = __shfl_up_sync(0xffffffffu, v[u], 1);\n"
              "    }\n"
              "    __syncthreads();\n"
              "    type before[(n * warps + 31) / 32];\n"
              "#pragma unroll\n"
              "    for (int i = 0; i < (n * warps + 31) / 32; ++i)\n"
              "        before[i] = i * 32 + lane < n * warps ? parts[i * 32 + lane] : start;\n"
              "    scan_lanes<fold, 32>(before, start, lane);\n"
              "#pragma unroll\n"
              "    for (int u = 0; u < n; ++u) {\n"
              "        const type ahead = __shfl_sync(0xffffffffu, before[u * warps / 32], (u * warps + warp) % 32);\n"
              "        v[u] = lane == 0 ? ahead : fold::join(ahead, v[u]);\n"
              "    }\n}\n");
    return "scan_block";
}

std::string join_down(fold_writer& f, const std::string& index, prelude& needs) {
    const std::string name = f.joins_at_once() ? "join_down_at_once" : "join_down";
    const std::string joined =
        f.joins_at_once()
            ? "                type four[4] = {own[i]};\n"
              "#pragma unroll\n"
              "                for (int k = 1; k < 4; ++k)\n"
              "                    if (down + k * part < height) four[k] = own[k * part * across * n + i];\n"
              "                own[i] = fold::join_all(four);\n"
            : "                type all = own[i];\n"
              "                for (" +
                  index +
                  " other = part; down + other < height; other += part)\n"
                  "                    all = fold::join(all, own[other * across * n + i]);\n"
                  "                own[i] = all;\n";
    needs.add(
        name,
        "/// Combines n variables per thread down the thread rows of a block; the first row gets the results. Large\n"
        "/// types are combined in a loop, which is not unrolled.\n"
        "template <class fold, int n, class type>\n"
        "__device__ __forceinline__ void " +
            name + "(type* v, void* room, " + index + " across, " + index + " down, " + index +
            " height) {\n"
            "    type* const own = static_cast<type*>(room) + threadIdx.x * n;\n"
            "    __syncthreads();  // the previous reduction used the same shared memory\n"
            "#pragma unroll\n"
            "    for (int i = 0; i < n; ++i) own[i] = v[i];\n"
            "    while (height > 1) {\n"
            "        const " +
            index +
            " part = (height + 3) / 4;\n"
            "        __syncthreads();\n"
            "        if (down < part) {\n"
            "#pragma unroll (sizeof(type) > 8 ? 1 : n)\n"
            "            for (int i = 0; i < n; ++i) {\n" +
            joined +
            "            }\n"
            "        }\n"
            "        height = part;\n"
            "    }\n"
            "#pragma unroll\n"
            "    for (int i = 0; i < n; ++i) v[i] = own[i];\n}\n");
    return name;
}

std::string share_down(const std::string& index, prelude& needs) {
    needs.add("share_down",
              "/// Broadcasts n variables per thread from the first thread row of a block to all rows.\n"
              "template <int n, class type>\n"
              "__device__ __forceinline__ void share_down(type* v, void* room, " +
                  index + " across, " + index + " down, " + index +
                  " height) {\n"
                  "    type* const own = static_cast<type*>(room) + threadIdx.x * n;\n"
                  "    __syncthreads();  // the previous reduction used the same shared memory\n"
                  "#pragma unroll\n"
                  "    for (int i = 0; i < n; ++i)\n"
                  "        if (down == 0) own[i] = v[i];\n"
                  "    __syncthreads();\n"
                  "#pragma unroll\n"
                  "    for (int i = 0; i < n; ++i)\n"
                  "        if (down < height) v[i] = own[i - int(down * across) * n];\n}\n");
    return "share_down";
}

}  // namespace ingot::codegen
