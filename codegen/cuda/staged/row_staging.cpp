// See row_staging.hpp.
#include "codegen/cuda/staged/row_staging.hpp"

#include <algorithm>

namespace ingot::codegen {

namespace {

std::string walk_over(const smem_tile& s, const std::string& what) {
    return what + (s.chunked ? "_skewed_rows" : "_rows");
}
std::string chunk_of(const smem_tile& s) { return s.chunked ? "skewed(q, skew)" : "q"; }

}  // namespace

void row_staging::declare() {
    if (choice_.in_runs) declare_runs();
    for (const smem_tile* s : of_each_size(true)) {
        b_.needs.add(
            "skew_of",
            b_.function("Returns the shift that skewed() uses for rows of `chunks` chunks; 31 means no skew.") +
                "unsigned int skew_of(unsigned int chunks, int spread) {\n"
                "    return chunks % 4 != 0 ? 31 : max(__ffs(chunks) - 1 - spread, 3);\n}\n");
        b_.code.line("const ", u4(), ' ', skew_of(*s), " = skew_of(n / ", 16 / s->bytes(),
                     choice_.shares_rows ? ", spread);" : ", 0);");
    }
    for (const smem_tile& s : choice_.tiles.all())
        b_.code.line("__shared__ alignas(128) ", b_.needs.type(s.type), ' ', array_of(s), '[', choice_.capacity, "];");
}

std::vector<const smem_tile*> row_staging::of_each_size(bool chunked) const {
    std::vector<const smem_tile*> first;
    for (const smem_tile& s : choice_.tiles.all())
        if ((s.chunked || !chunked) &&
            std::ranges::none_of(first, [&](const smem_tile* other) { return other->bytes() == s.bytes(); }))
            first.push_back(&s);
    return first;
}

void row_staging::declare_runs() {
    for (const smem_tile* s : of_each_size()) {
        const std::string type = u4(), size = size_of(*s), each = std::to_string(16 / s->bytes());
        b_.code.line("const ", type, " shift", size, " = first * n % ", each, ", gap", size, " = side * n % ",
                     64 / s->bytes(), " == 0;");
    }
}

std::string row_staging::chunks_of_run(const smem_tile& s) {
    const formula elements = points_of(rows_.row_bits() | axis_bit(rows_.kept_axes.back()));
    return b_.divisor(ceil_divide(elements, 16 / s.bytes()), "by_run" + size_of(s));
}

void row_staging::copy_runs(const smem_tile& s, const std::string& name, const std::string& array, bool load) {
    const std::string shift = "shift" + size_of(s), global = array + " + first * n - " + shift, runs = chunks_of_run(s);
    b_.code.line(name, "(", load ? array_of(s) : global, ", ", load ? global : array_of(s), ", rows * n + ", shift,
                 ", gap", size_of(s), ", ", runs, load ? "" : ", " + shift, ");");
}

void row_staging::load() {
    source_writer& out = b_.code;
    const std::string copy = b_.copier(16);
    b_.needs.add(
        "skewed",
        b_.function(
            "Returns the position of chunk q, skewed so that the chunks of adjacent rows fall into different banks.") +
            "unsigned int skewed(unsigned int q, unsigned int skew) {\n"
            "    return q ^ (q >> skew & 7);\n}\n");
    if (choice_.in_runs)
        add_run_walk("load_runs", "",
                     copy +
                         "(reinterpret_cast<uint4*>(to) + padded(q), "
                         "reinterpret_cast<const uint4*>(from) + q);",
                     "to[i + (padded(i / each) - i / each) * each] = from[i];");
    else
        for (const smem_tile& s : choice_.tiles.all())
            if (s.is_loaded())
                add_walk(s, "load",
                         copy + "(reinterpret_cast<uint4*>(to) + " + chunk_of(s) +
                             ", reinterpret_cast<const uint4*>(from) + q);");
    for (const smem_tile& s : choice_.tiles.all())
        if (s.is_loaded() && choice_.in_runs)
            copy_runs(s, "load_runs", "p." + b_.names[b_.graph.nodes[s.holds[0]].index], true);
        else if (s.is_loaded())
            out.line(walk_over(s, "load"), '(', array_of(s), ", p.", b_.names[b_.graph.nodes[s.holds[0]].index],
                     " + first * n, rows * n", s.chunked ? ", " + skew_of(s) : "", ");");
    b_.wait_for_copies();
    out.line("__syncthreads();");
}

void row_staging::store() {
    if (!choice_.tiles.writes_rows()) return;
    if (choice_.in_runs)
        add_run_walk("store_runs", ", unsigned int begin",
                     "__stcs(reinterpret_cast<uint4*>(to) + q, reinterpret_cast<const uint4*>(from)[padded(q)]);",
                     "to[i] = from[i + (padded(i / each) - i / each) * each];");
    else
        for (const smem_tile& s : choice_.tiles.all())
            if (s.output >= 0)
                add_walk(s, "store",
                         "__stcs(reinterpret_cast<uint4*>(to) + q, reinterpret_cast<const uint4*>(from)[" +
                             chunk_of(s) + "]);");
    b_.code.line("__syncthreads();");
    for (const smem_tile& s : choice_.tiles.all())
        if (s.output >= 0 && choice_.in_runs)
            copy_runs(s, "store_runs", "p.z" + std::to_string(s.output), false);
        else if (s.output >= 0)
            b_.code.line(walk_over(s, "store"), "(p.z", s.output, " + first * n, ", array_of(s), ", rows * n",
                         s.chunked ? ", " + skew_of(s) : "", ");");
}

void row_staging::add_walk(const smem_tile& s, const std::string& what, const std::string& chunk) {
    // A copy is one instruction; the rest of the loop costs as much.
    const std::string each_chunk = what == "load"
                                       ? "    unsigned int begin = threadIdx.x;\n"
                                         "    for (; begin + 3 * threads < chunks; begin += 4 * threads)\n"
                                         "#pragma unroll\n"
                                         "        for (unsigned int k = 0; k < 4; ++k) {\n"
                                         "            const unsigned int q = begin + k * threads;\n            " +
                                             chunk +
                                             "\n        }\n"
                                             "#pragma unroll 1\n"
                                             "    for (unsigned int q = begin; q < chunks; q += threads)\n        "
                                       : "    for (unsigned int q = threadIdx.x; q < chunks; q += threads)\n        ";
    b_.needs.add(walk_over(s, what), "template <class type>\n__device__ __forceinline__ void " + walk_over(s, what) +
                                         "(type* to, const type* from, unsigned int n" +
                                         (s.chunked ? ", unsigned int skew" : "") +
                                         ") {\n"
                                         "    constexpr unsigned int each = 16 / sizeof(type), threads = " +
                                         std::to_string(choice_.threads) +
                                         ";\n"
                                         "    const unsigned int chunks = n / each;\n" +
                                         each_chunk + chunk +
                                         "\n    const unsigned int i = chunks * each + threadIdx.x;\n"
                                         "    if (i < n) to[i] = from[i];\n}\n");
}

void row_staging::add_run_walk(const std::string& name, const std::string& parameter, const std::string& chunk,
                               const std::string& element) {
    const bool store = !parameter.empty();
    const std::string divided =
        b_.divisor(points_of(axis_bit(rows_.kept_axes.back())), "by_n" + std::to_string(rows_.kept_axes.back()));
    b_.needs.add(
        name,
        "template <class type>\n__device__ __forceinline__ void " + name +
            "(type* to, const type* from, unsigned int n, unsigned int gap, divisor run" + parameter +
            ") {\n"
            "    constexpr unsigned int each = 16 / sizeof(type), threads = " +
            std::to_string(choice_.threads) +
            ";\n"
            "    const auto padded = [=](unsigned int q) { return q + (unsigned int)(gap * quotient(q, run)); };\n"
            "    const unsigned int chunks = n / each;\n"
            "    for (unsigned int q = threadIdx.x" +
            (store ? " + (begin > 0)" : "") + "; q < chunks; q += threads)\n        " + chunk +
            (store ? "\n    for (unsigned int i = begin + threadIdx.x; i < min(n, begin > 0 ? each : 0); i += "
                     "threads) " +
                         element
                   : "") +
            "\n    for (unsigned int i = " + (store ? "max(chunks * each, begin)" : "chunks * each") +
            " + threadIdx.x; i < n; i += threads) " + element + "\n}\n");
}

}  // namespace ingot::codegen
