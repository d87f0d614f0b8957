// See cuda/scan/scan.hpp.
#include "codegen/cuda/scan/scan.hpp"

#include <algorithm>
#include <functional>

#include "codegen/cuda/join.hpp"
#include "codegen/plan/emitters.hpp"

namespace ingot::codegen {

using namespace detail;

std::vector<node_id> cuda_scan::roots() const {
    std::vector<node_id> nodes = s_.values;
    nodes.insert(nodes.end(), b_.graph.roots.begin(), b_.graph.roots.end());
    return nodes;
}

void cuda_scan::read_fixed() {
    for (const array_argument& in : b_.inputs) {
        if ((loops_of(in.node) & s_.bit()) != 0) continue;
        b_.code.line("const ", b_.needs.type(in.at->head.type), ' ', in.name, " = ",
                     b_.element(in, b_.offset(in, kept_bits())), ";");
        b_.body.name(in.node, in.name);
    }
    for (const node_id g : b_.generators)
        if ((loops_of(g) & s_.bit()) == 0) b_.body.name(g, random_element(g, kept_bits()));
    b_.body.hoist(kept_bits(), roots(), b_.code);
}

std::string cuda_scan::random_element(node_id g, std::uint64_t axes) {
    return b_.generator_call(g, b_.generator_index(g, axes));
}

std::string cuda_scan::scan_lanes(fold_writer& f, std::uint32_t lanes) {
    const std::string fold = f.joiner();
    return codegen::scan_lanes(b_.needs) + '<' + fold + ", " + std::to_string(lanes) + ">(";
}

void cuda_scan::fold_block() {
    source_writer& out = b_.code;
    const std::uint32_t warps = threads_ / 32;
    const auto costly = [](const fold_writer& f) { return f.is_costly(); };
    if (!std::ranges::all_of(folds_, costly)) declare_scan_warps();
    for (fold_writer& f : folds_) out.line("__shared__ ", f.type(), " warps_", f.name(), '[', warps, "];");
    for (fold_writer& f : folds_) out.line("if (lane == 0) warps_", f.name(), "[warp] = warp_", f.name(), ";");
    out.line("__syncthreads();");
    for (fold_writer& f : folds_) {
        const std::string ahead = "ahead_" + f.name(), parts = "warps_" + f.name();
        if (costly(f)) {  // by shuffles in the fewest steps, in all warps at once
            const std::string own = "lane % " + std::to_string(warps) + 'u', before = "before_warps_" + f.name();
            out.line(f.type(), ' ', before, "[1] = {", parts, '[', own, "]};");
            out.line("const ", f.type(), ' ', f.whole(), " = ", scan_lanes(f, warps), before, ", ", f.start(), ", ",
                     own, ");");
            out.line("const ", f.type(), ' ', ahead, " = __shfl_sync(0xffffffffu, ", before, "[0], warp);");
            continue;
        }
        out.line(f.type(), ' ', f.whole(), ";");
        out.line("const ", f.type(), ' ', ahead, " = scan_warps<", f.joiner(), ", ", warps, ">(", parts, ", ",
                 f.start(), ", warp, ", f.whole(), ");");
    }
}

void cuda_scan::declare_scan_warps() {
    b_.needs.add("scan_warps",
                 "/// Returns the prefix of all warps before this one; `all` receives the total of the block.\n"
                 "template <class fold, int warps, class type>\n"
                 "__device__ __forceinline__ type scan_warps(const type* parts, type start, unsigned int warp, "
                 "type& all) {\n"
                 "    type before = start;\n"
                 "    all = start;\n"
                 "#pragma unroll\n"
                 "    for (unsigned int w = 0; w < warps; ++w) {\n"
                 "        if (w == warp) before = all;\n"
                 "        all = fold::join(all, parts[w]);\n"
                 "    }\n"
                 "    return before;\n}\n");
}

void cuda_scan::take_ticket() {
    const std::string u4 = b_.needs.type(dtype::u4);
    const std::string scratch = b_.arguments.member({argument_kind::scratch_pointer}, u4 + '*', "scratch");
    source_writer& out = b_.code;
    out.line("__shared__ ", u4, " taken;");
    out.line("if (threadIdx.x == 0) taken = atomicAdd(", scratch, ", 1u);");
    out.line("__syncthreads();");
    out.line("const ", u4, " ticket = taken;");
}

/// 32-bit counters: tickets; finished runs of strips; for each run the number of its tiles that have read their slots.
void cuda_scan::write_slots(const std::string& strip, const std::string& strips, const std::string& tiles) {
    const std::string u4 = b_.needs.type(dtype::u4), u8 = b_.needs.type(dtype::u8);
    b_.code.line("const ", u4, " runs = (", tiles, " + ", run_ - 1, ") / ", run_, " * ", strips, ", own_run = tile / ",
                 run_, " * ", strips, " + ", strip, ";");
    b_.code.line(u8, "* const slots = reinterpret_cast<", u8, "*>(p.scratch) + (runs + 5) / 4 * 2;");
    declare_slots();
    declare_before_tile(b_, run_);
    b_.step.scratch_bytes = 8 * (run_ * slot_words() + 2);
}

void cuda_scan::declare_slots() {
    b_.needs.type(dtype::u4);
    b_.needs.type(dtype::u8);
    b_.needs.add(
        "slots",
        "/// A slot stores the two halves of a value, each next to a flag bit, so that a reader can check that both\n"
        "/// halves are present.\n"
        "template <class type>\n"
        "__device__ __forceinline__ void publish(uint64* slot, type v) {\n"
        "    uint64 bits = 0;\n"
        "    reinterpret_cast<type&>(bits) = v;\n"
        "    const uint64 low = bits << 32 | 1, high = (bits >> 32) << 32 | 1;\n"
        "    asm volatile(\"st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};\" ::\"l\"(slot), \"l\"(low), \"l\"(high) "
        ": \"memory\");\n"
        "}\n\n"
        "template <class type>\n"
        "__device__ __forceinline__ bool poll(const uint64* slot, type& v) {\n"
        "    uint64 low, high;\n"
        "    asm volatile(\"ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];\" : \"=l\"(low), \"=l\"(high) : "
        "\"l\"(slot) : \"memory\");\n"
        "    const uint64 bits = low >> 32 | (high >> 32) << 32;\n"
        "    v = reinterpret_cast<const type&>(bits);\n"
        "    return (low & high & 1) != 0;\n"
        "}\n");
}

void cuda_scan::write_arrival() {
    source_writer& out = b_.code;
    out.line("unsigned int arrived = 0;  // tiles of this run that have arrived before this tile");
    out.open("if (threadIdx.x == ", threads_ - 1, ")");
    out.line("__threadfence();");
    out.line("arrived = atomicAdd(p.scratch + 2 + own_run, 1u);");
    out.close();
}

void cuda_scan::clear_slots(const std::string& tiles, const std::function<void()>& write_loop) {
    source_writer& out = b_.code;
    out.line("__shared__ bool last;  // whether every other tile of the run has read its slots");
    out.line("if (threadIdx.x == ", threads_ - 1, ") last = arrived == min(", run_ - 1, "u, ", b_.needs.type(dtype::u4),
             '(', tiles, " - 1 - tile / ", run_, " * ", run_, "));");
    out.line("__syncthreads();");
    out.line("if (!last) return;");
    out.line("__threadfence();");
    out.line("const ", b_.linear(), " run = tile / ", run_, ";");
    out.line("const bool ends = ", tiles, " - run * ", run_, " <= ", run_, ";");
    write_loop();
    out.line("if (threadIdx.x != 0) return;");
    out.line("p.scratch[2 + own_run] = 0;");
    out.line("if (atomicAdd(p.scratch + 1, 1u) == runs - 1) p.scratch[0] = p.scratch[1] = 0;");
}

std::string cuda_scan::widened(fold_writer& f, const std::string& value) const {
    return f.wide_type() == f.type() ? value : f.wide_type() + '(' + value + ')';
}

std::string cuda_scan::behind(fold_writer& f, const std::string& before, const std::string& value) const {
    if (f.wide_type() == f.type()) return f.joined(before, value);
    return f.type() + '(' + f.wide_joiner() + "::join(" + before + ", " + value + "))";
}

void emit_scan_cuda(const key& k, const graph& g, const scanning& s, plan& p) {
    cuda_kernel b(k, g);
    const scan_choice choice = choose_scan(b, s);
    launch& step = b.step;
    b.name_scalars();
    std::visit(
        [&](const auto& layout) {
            layout.write(b, s);
            step.describe(layout);
        },
        choice);
    step.work.push_back({axis_range(0, b.rank), cost_of(g, s.values) + s.scans.size() + b.cost});
    b.finish(p, "scan", step.shape.threads, step.shape.resident_blocks);
}

}  // namespace ingot::codegen
