// The text by which tiles of scans publish their folds and poll for the prefix ahead of them.
#include "codegen/cuda/scan/scan.hpp"

namespace ingot::codegen {

using namespace detail;

namespace {

void replace(std::string& text, const std::string& name, const std::string& with) {
    for (std::size_t i = 0; (i = text.find(name, i)) != std::string::npos; i += with.size())
        text.replace(i, name.size(), with);
}

}  // namespace

void declare_before_tile(cuda_kernel& b, std::uint32_t run) {
    std::string text =
        "/// Polls the slots of n columns; returns whether all of them are published.\n"
        "template <class type, int n>\n"
        "__device__ __forceinline__ bool poll_all(uint64* const (&slots)[n], uint64 back, type (&v)[n]) {\n"
        "    bool ready = true;\n"
        "#pragma unroll\n"
        "    for (int e = 0; e < n; ++e)\n"
        "        if (slots[e] != nullptr) ready = poll(slots[e] - back, v[e]) && ready;\n"
        "    return ready;\n}\n\n"
        "/// Decoupled look-back for n columns: `own` holds the tile's totals and receives the prefix of all earlier\n"
        "/// tiles. The warp also publishes the tile's status for later tiles. A null slot marks a missing column.\n"
        "/// Each lane polls one earlier tile of the run; the last lane polls the prefix that ends the previous run.\n"
        "template <class fold, int words, class type, int n>\n"
        "__device__ __forceinline__ void before_tile(uint64* const (&slots)[n], uint64 all, uint64 tile, type "
        "(&own)[n],\n                                            type start) {\n"
        "    const uint32 lane = threadIdx.x % 32u, number = uint32(tile % RUN);\n"
        "    type v[ROUNDS][n], near[n];\n"
        "    uint64 back[ROUNDS];\n"
        "    bool ready[ROUNDS];\n"
        "#pragma unroll\n"
        "    for (int e = 0; e < n; ++e)\n"
        "        if (lane == e && slots[e] != nullptr && number != RUN - 1) publish(slots[e], own[e]);\n"
        "#pragma unroll\n"
        "    for (uint32 i = 0; i < ROUNDS; ++i) {\n"
        "        const bool of_run = i * 32 + lane != RUN - 1;\n"
        "        back[i] = words * (of_run ? uint64(number - i * 32 - lane) : number + 1 + (all - 1) * RUN);\n"
        "#pragma unroll\n"
        "        for (int e = 0; e < n; ++e) v[i][e] = start;\n"
        "        ready[i] = of_run ? i * 32 + lane >= number : tile < RUN;\n"
        "    }\n"
        "    bool waits;\n"
        "    do {\n"
        "        waits = false;\n"
        "#pragma unroll\n"
        "        for (uint32 i = 0; i < ROUNDS; ++i)\n"
        "            if (!ready[i]) ready[i] = poll_all(slots, back[i], v[i]);\n"
        "#pragma unroll\n"
        "        for (uint32 i = 0; i < ROUNDS; ++i) waits = waits || (i * 32 + lane != RUN - 1 && !ready[i]);\n"
        "    } while (waits);\n"
        "    __syncwarp();\n"
        "#pragma unroll\n"
        "    for (int e = 0; e < n; ++e) {\n"
        "        near[e] = start;\n"
        "#pragma unroll\n"
        "        for (uint32 i = 0; i < ROUNDS; ++i) {\n"
        "            type here = i * 32 + lane == RUN - 1 ? start : v[i][e];\n"
        "#pragma unroll\n"
        "            for (int to = 1; to < 32; to *= 2)\n"
        "                here = fold::join(here, __shfl_down_sync(0xffffffffu, here, to));\n"
        "            near[e] = i == 0 ? here : fold::join(near[e], here);\n"
        "        }\n"
        "    }\n"
        "    while (!ready[ROUNDS - 1]) ready[ROUNDS - 1] = poll_all(slots, back[ROUNDS - 1], v[ROUNDS - 1]);\n"
        "    __syncwarp();\n"
        "#pragma unroll\n"
        "    for (int e = 0; e < n; ++e) {\n"
        "        const type before = fold::join(__shfl_sync(0xffffffffu, v[ROUNDS - 1][e], 31),\n"
        "                                       __shfl_sync(0xffffffffu, near[e], 0));\n"
        "        if (lane == e && slots[e] != nullptr && number == RUN - 1) publish(slots[e], fold::join(before, "
        "own[e]));\n"
        "        own[e] = before;\n"
        "    }\n}\n\n"
        "/// Clears a slot of a run that all its tiles have read. The next run, if any, still reads the last slot, so\n"
        "/// the last slot of the previous run is cleared instead; the run that `ends` the scan clears both.\n"
        "template <int words>\n"
        "__device__ __forceinline__ void clear_slot(uint64* slots, uint64 all, uint64 run, uint64 column, uint32 "
        "number, "
        "bool ends) {\n"
        "    uint64* const slot = slots + ((run * all + column) * RUN + number) * words;\n"
        "    for (int i = 0; i < words; ++i) {\n"
        "        if (number != RUN - 1 || ends) slot[i] = 0;\n"
        "        if (number == RUN - 1 && run > 0) (slot - all * RUN * words)[i] = 0;\n"
        "    }\n}\n";
    replace(text, "ROUNDS", std::to_string((run + 31) / 32));
    replace(text, "RUN", std::to_string(run) + 'u');
    b.needs.add("before_tile", text);
}

void declare_before_columns(cuda_kernel& b, const long_column_scan_layout& c) {
    std::string text =
        "/// Scans the thread totals of each column in `room` exclusively and in place, and stores the prefix of all\n"
        "/// earlier tiles in `prefixes`. Each warp handles a few columns at a time.\n"
        "template <class fold, class wide_fold, int words, class type, class wide>\n"
        "__device__ __forceinline__ void before_columns(type* room, wide* prefixes, const INDEX* numbers, uint64* "
        "slots,\n"
        "                                               uint64 all, uint64 tile, INDEX width, INDEX height,\n"
        "                                               type start, wide wide_start) {\n"
        "    const uint32 lane = threadIdx.x % 32u;\n"
        "    const INDEX each = (height + 31) / 32, begin = min(lane * each, height), end = min(begin + each, "
        "height);\n"
        "    for (INDEX c = threadIdx.x / 32u * AT_ONCE; c < width; c += WARPS * AT_ONCE) {\n"
        "        wide own[AT_ONCE];\n"
        "        uint64* own_slots[AT_ONCE];\n"
        "#pragma unroll\n"
        "        for (int e = 0; e < AT_ONCE; ++e) {\n"
        "            own[e] = wide_start;\n"
        "            own_slots[e] = nullptr;\n"
        "            if (c + e >= width || numbers[c + e] == ~INDEX(0)) continue;\n"
        "            own_slots[e] = slots + ((tile / RUN * all + numbers[c + e]) * RUN + tile % RUN) * words;\n"
        "            type* const v = room + (c + e) * (height | 1);\n"
        "            type before[1] = {start};\n"
        "#pragma unroll 1\n"
        "            for (INDEX i = begin; i < end; ++i) before[0] = fold::join(before[0], v[i]);\n"
        "            own[e] = wide(scan_lanes<fold, 32>(before, start, lane));\n"
        "#pragma unroll 1\n"
        "            for (INDEX i = begin; i < end; ++i) {\n"
        "                const type here = v[i];\n"
        "                v[i] = before[0];\n"
        "                before[0] = fold::join(before[0], here);\n"
        "            }\n"
        "        }\n"
        "        before_tile<wide_fold, words>(own_slots, all, tile, own, wide_start);\n"
        "#pragma unroll\n"
        "        for (int e = 0; e < AT_ONCE; ++e)\n"
        "            if (lane == e && c + e < width) prefixes[c + e] = own[e];\n"
        "    }\n}\n";
    replace(text, "INDEX", b.linear());
    replace(text, "AT_ONCE", std::to_string(c.columns_per_warp));
    replace(text, "WARPS", std::to_string(c.threads / 32));
    replace(text, "RUN", std::to_string(c.run) + 'u');
    b.needs.add("before_columns", text);
}

}  // namespace ingot::codegen
