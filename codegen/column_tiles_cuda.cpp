// Text that tiles of columns need in the prelude: prefixes down the rows of threads of a block, and what lies before a
// tile.
#include "codegen/cuda_scan.hpp"

namespace ingot::codegen {

void declare_scan_down(cuda_kernel& b, std::uint32_t threads) {
    const std::string index = b.linear(), block = std::to_string(threads);
    b.needs.add(
        "scan_down",
        "/// Makes of each column's v what lies before it in the rows of threads above. Returns, to the threads of "
        "the\n"
        "/// first rows, what all of column number `down` of those that lie here folds to.\n"
        "template <class fold, class type, int n>\n"
        "__device__ __forceinline__ type scan_down(type (&v)[n], void* room, type start, " +
            index + " across, " + index + " x,\n                                          " + index + " down, " +
            index +
            " height) {\n"
            "    type* const own = static_cast<type*>(room) + threadIdx.x;\n"
            "#pragma unroll\n"
            "    for (int e = 0; e < n; ++e) own[e * " +
            block +
            "] = v[e];\n"
            "    for (" +
            index +
            " far = 1; far < height; far *= 2) {\n"
            "        __syncthreads();\n"
            "        type left[n];\n"
            "#pragma unroll\n"
            "        for (int e = 0; e < n; ++e) left[e] = down < far ? start : (own - far * across)[e * " +
            block +
            "];\n"
            "        __syncthreads();\n"
            "#pragma unroll\n"
            "        for (int e = 0; e < n; ++e)\n"
            "            if (down >= far) own[e * " +
            block +
            "] = v[e] = fold::join(left[e], v[e]);\n"
            "    }\n"
            "    __syncthreads();\n"
            "#pragma unroll\n"
            "    for (int e = 0; e < n; ++e) v[e] = down == 0 ? start : (own - across)[e * " +
            block +
            "];\n"
            "    const type all = static_cast<type*>(room)[min(down, " +
            index + "(n - 1)) * " + block +
            " + (height - 1) * across + x];\n"
            "    __syncthreads();  // the next fold writes the same place\n"
            "    return all;\n}\n");
}

void declare_columns_before_tile(cuda_kernel& b) {
    const std::string index = b.linear();
    std::string text =
        "/// A row of slots of a thread's columns, into shared memory; waits for them.\n"
        "template <int words, int n, class type>\n"
        "__device__ __forceinline__ void ask_row(type* told, const uint64* slot, INDEX columns) {\n"
        "    type v[n];\n"
        "    for (bool all = false; !all;) {\n"
        "        all = true;\n"
        "#pragma unroll\n"
        "        for (int e = 0; e < n; ++e)\n"
        "            if (e < columns) all = ask(slot + e * words, v[e]) && all;\n"
        "    }\n"
        "#pragma unroll\n"
        "    for (int e = 0; e < n; ++e)\n"
        "        if (e < columns) told[e] = v[e];\n"
        "}\n\n"
        "/// What lies before a tile in each of its columns, into the last of the 32 rows of `told`; tells what "
        "others\n"
        "/// wait for. The thread of column x and row `down` answers for column number `down` of those of its x, "
        "which\n"
        "/// here folds to `own`.\n"
        "template <class fold, int words, int n, class type>\n"
        "__device__ __forceinline__ void before_tile(type* told, uint64* first, uint64 further, uint64 tile, type "
        "own,\n                                            type start, INDEX across, INDEX x, INDEX down, INDEX "
        "height,\n                                            INDEX columns) {\n"
        "    const uint32 number = uint32(tile % 256), tiles = number % 16, sixteens = number / 16;\n"
        "    const INDEX width = across * n;\n"
        "    uint64* const slot = first + down * words;\n"
        "    if (down < columns && tiles != 15) tell(slot, own);\n"
        "    for (INDEX r = down; r < tiles; r += height)\n"
        "        ask_row<words, n>(told + r * width + x * n, first - (tiles - r) * further, columns);\n"
        "    __syncthreads();\n"
        "    type near = start;\n"
        "    if (down < columns) {\n"
        "        for (uint32 r = 0; r < tiles; ++r) near = fold::join(near, told[r * width + x * n + down]);\n"
        "        if (tiles == 15 && sixteens != 15) tell(slot, fold::join(near, own));\n"
        "    }\n"
        "    type* const farther = told + 15 * width;\n"
        "    for (INDEX r = down; r <= sixteens; r += height)\n"
        "        if (r > 0 || tile >= 256)\n"
        "            ask_row<words, n>(farther + r * width + x * n, first - (number + 1 - 16 * r) * further, "
        "columns);\n"
        "    __syncthreads();\n"
        "    if (down < columns) {\n"
        "        type before = start;\n"
        "        for (uint32 r = tile < 256 ? 1 : 0; r <= sixteens; ++r)\n"
        "            before = fold::join(before, farther[r * width + x * n + down]);\n"
        "        before = fold::join(before, near);\n"
        "        if (number == 255) tell(slot, fold::join(before, own));\n"
        "        told[31 * width + x * n + down] = before;\n"
        "    }\n"
        "    __syncthreads();\n}\n";
    for (std::size_t i = 0; (i = text.find("INDEX", i)) != std::string::npos;) text.replace(i, 5, index);
    b.needs.add("before_tile", text);
}

}  // namespace ingot::codegen
