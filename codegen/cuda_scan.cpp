// See cuda_scan.hpp.
#include "codegen/cuda_scan.hpp"

namespace ingot::codegen {

std::vector<const place*> cuda_scan::inputs_along() const {
    std::vector<const place*> inputs;
    for (const place& in : b_.inputs)
        if ((loops_of(in.node) & s_.bit()) != 0) inputs.push_back(&in);
    return inputs;
}

void cuda_scan::read_fixed() {
    for (const place& in : b_.inputs) {
        if ((loops_of(in.node) & s_.bit()) != 0) continue;
        b_.code.line("const ", b_.needs.type(in.at->head.type), ' ', in.name, " = ",
                     b_.element(in, b_.offset(in, kept_bits())), ";");
        b_.body.name(in.node, in.name);
    }
    for (const node_id g : b_.generators)
        if ((loops_of(g) & s_.bit()) == 0) b_.body.name(g, random_element(g, kept_bits()));
    std::vector<node_id> roots = s_.values;
    roots.insert(roots.end(), b_.graph.roots.begin(), b_.graph.roots.end());
    b_.body.hoist(kept_bits(), roots, b_.code);
}

std::string cuda_scan::random_element(node_id g, std::uint64_t axes) {
    return b_.generator_name(g) + '(' + b_.generator_key(g) + ", " + b_.generator_index(g, axes) + ')';
}

void cuda_scan::open_unrolled(const char* variable, std::uint32_t n) {
    b_.code.margin("#pragma unroll");
    b_.code.open("for (unsigned int ", variable, " = 0; ", variable, " < ", n, "; ++", variable, ")");
}

void cuda_scan::take_ticket() {
    const std::string u4 = b_.needs.type(dtype::u4), u8 = b_.needs.type(dtype::u8);
    const std::string scratch = b_.arguments.member({argument_kind::scratch_pointer}, u8 + '*', "scratch");
    source_writer& out = b_.code;
    out.line("__shared__ ", u4, " taken;");
    out.line("if (threadIdx.x == 0) taken = atomicAdd(reinterpret_cast<", u4, "*>(", scratch, "), 1u);");
    out.line("__syncthreads();");
    out.line("const ", u4, " ticket = taken;");
}

std::string cuda_scan::at(const fold_writer& f) const {
    const auto i = &f - folds_.data();
    return i == 0 ? "" : " + " + std::to_string(2 * i);
}

std::string cuda_scan::widened(fold_writer& f, const std::string& value) const {
    return f.wide_type() == f.type() ? value : f.wide_type() + '(' + value + ')';
}

std::string cuda_scan::behind(fold_writer& f, const std::string& before, const std::string& value) const {
    if (f.wide_type() == f.type()) return f.joined(before, value);
    return f.type() + '(' + f.wide_joiner() + "::join(" + before + ", " + value + "))";
}

void cuda_scan::finish(plan& p, const std::string& bounds) {
    b_.step.kernel = "scan";
    b_.step.work.push_back({all_bits(), cost_of(b_.graph, s_.values) + s_.scans.size() + b_.cost});
    p.source = b_.assemble(p.expression, "extern \"C\" __global__ void __launch_bounds__(" + bounds +
                                             ")\nscan(const __grid_constant__ arguments p)");
    p.steps.push_back(std::move(b_.step));
}

std::string cuda_scan::scan_warps() {
    b_.needs.add("scan_warps",
                 "/// What lies before a warp; `all`: what the block folds to. Warp w's part stands at w * step.\n"
                 "template <class fold, int warps, int step, class type>\n"
                 "__device__ __forceinline__ type scan_warps(const type* parts, type start, unsigned int warp, "
                 "type& all) {\n"
                 "    type before = start;\n"
                 "    all = start;\n"
                 "#pragma unroll\n"
                 "    for (unsigned int w = 0; w < warps; ++w) {\n"
                 "        if (w == warp) before = all;\n"
                 "        all = fold::join(all, parts[w * step]);\n"
                 "    }\n"
                 "    return before;\n}\n");
    return "scan_warps";
}

std::string cuda_scan::look_back() {
    b_.needs.type(dtype::u4);
    b_.needs.type(dtype::u8);
    b_.needs.add(
        "look_back",
        "/// What a tile has told: what it folds to, or all up to its end. A value's halves each have the state\n"
        "/// beside them, so that they are known to belong together.\n"
        "enum state : uint32 { nothing_told, part_told, all_told };\n\n"
        "template <class type>\n"
        "__device__ __forceinline__ void tell(uint64* slot, state what, type v) {\n"
        "    uint64 bits = 0;\n"
        "    reinterpret_cast<type&>(bits) = v;\n"
        "    const uint64 low = bits << 32 | what, high = (bits >> 32) << 32 | what;\n"
        "    asm volatile(\"st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};\" ::\"l\"(slot), \"l\"(low), \"l\"(high) "
        ": \"memory\");\n"
        "}\n\n"
        "template <class type>\n"
        "__device__ __forceinline__ state ask(const uint64* slot, type& v) {\n"
        "    uint64 low, high;\n"
        "    asm volatile(\"ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];\" : \"=l\"(low), \"=l\"(high) : "
        "\"l\"(slot) : \"memory\");\n"
        "    const uint64 bits = low >> 32 | (high >> 32) << 32;\n"
        "    v = reinterpret_cast<const type&>(bits);\n"
        "    return uint32(low) == uint32(high) ? state(uint32(low)) : nothing_told;\n"
        "}\n\n"
        "/// All that lies before a tile, which itself folds to `own`: lane i asks the tile i + 1 before it, until one "
        "of\n"
        "/// them has told all and those after it their parts, which are folded from the left.\n"
        "template <class fold, class type>\n"
        "__device__ __forceinline__ type look_back(uint64* slot, uint64 further, uint64 tile, uint32 lane, type own,\n"
        "                                          type start) {\n"
        "    type so_far;\n"
        "    for (;;) {\n"
        "        type v = start;\n"
        "        const state what = lane < tile ? ask(slot - (lane + 1) * further, v) : all_told;\n"
        "        const uint32 told = __ballot_sync(0xffffffffu, what != nothing_told);\n"
        "        const uint32 all = __ballot_sync(0xffffffffu, what == all_told);\n"
        "        const int nearest = __ffs(all) - 1;\n"
        "        if (nearest < 0 || (~told & ((1u << nearest) - 1)) != 0) continue;\n"
        "        so_far = __shfl_sync(0xffffffffu, v, nearest);\n"
        "        for (int i = nearest - 1; i >= 0; --i)\n"
        "            so_far = fold::join(so_far, __shfl_sync(0xffffffffu, v, i));\n"
        "        break;\n"
        "    }\n"
        "    if (lane == 0) tell(slot, all_told, fold::join(so_far, own));\n"
        "    return so_far;\n}\n");
    return "look_back";
}

}  // namespace ingot::codegen
