// How the blocks of a result meet. All but the last tell what they have, in slots of the scratch: one for each split,
// word and result. All of it is zero when the kernel begins, and again when it ends. The last waits for all of it and
// joins it by the blocks' numbers. Blocks begin in the order of their numbers, so nobody waits for one that could not
// begin.
//
// Where all blocks have to do with many results that is much for one. Then each tells what it has of all, and finishes
// some: it may wait for any other once all have begun. The rule, one for all of them, is made by who comes first: the
// last, when it begins (together), or another that is about to end (the last alone).
#include <algorithm>

#include "codegen/fold_cuda.hpp"

namespace ingot::codegen {

using namespace detail;

void cuda_fold::add_slots() {
    b_.needs.add(
        "slots",
        "/// A value on its way from one block to another, in slots `apart` from each other: each holds 32 bits of it\n"
        "/// beside a sign that they are there, so that no order of writing matters. Who takes a value clears its "
        "slots.\n"
        "template <class type>\n"
        "struct told {\n"
        "    static constexpr int n = (sizeof(type) + 3) / 4;\n"
        "    uint64 words[n];\n};\n\n"
        "__device__ __forceinline__ uint64 look_at(const uint64* slot) {\n"
        "    uint64 word;\n"
        "    asm volatile(\"ld.relaxed.gpu.global.u64 %0, [%1];\" : \"=l\"(word) : \"l\"(slot) : \"memory\");\n"
        "    return word;\n}\n\n"
        "template <class type>\n"
        "__device__ __forceinline__ void tell(uint64* slot, uint64 apart, type v) {\n"
        "    alignas(16) uint32 words[told<type>::n] = {};\n"
        "    reinterpret_cast<type&>(words) = v;\n"
        "#pragma unroll\n"
        "    for (int i = 0; i < told<type>::n; ++i)\n"
        "        asm volatile(\"st.relaxed.gpu.global.u64 [%0], %1;\"\n"
        "                     :: \"l\"(slot + i * apart), \"l\"(uint64(words[i]) << 32 | 1) : \"memory\");\n}\n\n"
        "/// Looks for all of a value; whether it is there.\n"
        "template <class type>\n"
        "__device__ __forceinline__ void look(told<type>& v, const uint64* slot, uint64 apart) {\n"
        "#pragma unroll\n"
        "    for (int i = 0; i < told<type>::n; ++i) v.words[i] = look_at(slot + i * apart);\n}\n\n"
        "template <class type>\n"
        "__device__ __forceinline__ bool is_there(const told<type>& v) {\n"
        "    bool all = true;\n"
        "#pragma unroll\n"
        "    for (int i = 0; i < told<type>::n; ++i) all = all && v.words[i] != 0;\n"
        "    return all;\n}\n\n"
        "template <class type>\n"
        "__device__ __forceinline__ type take(const told<type>& v, uint64* slot, uint64 apart) {\n"
        "    alignas(16) uint32 words[told<type>::n];\n"
        "#pragma unroll\n"
        "    for (int i = 0; i < told<type>::n; ++i) {\n"
        "        words[i] = v.words[i] >> 32;\n"
        "        slot[i * apart] = 0;\n"
        "    }\n"
        "    return reinterpret_cast<const type&>(words);\n}\n");
}

std::string cuda_fold::slot(std::uint32_t slots) {
    std::string at = columns_ == 1 ? "" : " + e";
    if (slots > 0) at += " + " + (slots == 1 ? "" : std::to_string(slots) + " * ") + rows();
    return at;
}

void cuda_fold::for_each_slot(const std::function<void(fold_writer&, const std::string&)>& write) {
    open_columns("columns");
    std::uint32_t used = 0;
    for (std::vector<fold_writer>& folds : folds_)
        for (fold_writer& f : folds) {
            write(f, slot(used) + ", " + rows());
            used += f.slots();
        }
    close_columns();
}

void cuda_fold::tell_all(const std::string& slots, const std::string& teller) {
    b_.code.open(owner());
    for_each_slot([&](fold_writer& f, const std::string& at) {
        b_.code.line("tell(", slots, " + ", teller, " * stride", at, ", ", own(f.name()), ");");
    });
    b_.code.close();
}

/// Joins what all other blocks told to this one's. Several loads at once, of all folds, again until all are there: who
/// waits keeps everybody waiting.
void cuda_fold::write_gather() {
    source_writer& out = b_.code;
    const std::uint32_t together = std::max(1u, slots_at_once() / (slots_ * columns_));
    const std::string at_once = std::to_string(together), next = "s + u * " + lanes();
    const auto for_all = [&](const auto& write) {
        for (std::vector<fold_writer>& folds : folds_)
            for (fold_writer& f : folds) write(f);
    };
    const auto for_all_taken = [&](const auto& write) {
        b_.open_unrolled("u", together);
        out.line("if (", next, " >= gridDim.y - 1) break;");
        for_each_slot([&](fold_writer& f, const std::string& at) {
            write(f, own(f.taken() + "[u]"), "slots + (" + next + ") * stride" + at);
        });
        out.close();
    };
    const auto all_of = [](const fold_writer& f) { return "all_" + f.taken(); };
    const auto at_once_joined = [&](const fold_writer& f) {
        return f.joins_at_once() && columns_ == 1 && together > 1;
    };

    for_all([&](fold_writer& f) { declare(f.wide_type(), f.whole(), f.wide_start()); });
    out.open("for (", b_.needs.type(dtype::u4), " s = ", lane(), "; ", mine(), "s < gridDim.y - 1; s += ", at_once,
             " * ", lanes(), ")");
    for_all([&](fold_writer& f) {
        out.line("told<", f.type(), "> ", f.taken(), '[', at_once, ']',
                 columns_ == 1 ? "" : '[' + std::to_string(columns_) + ']', " = {};");
    });
    out.line("bool waits = true;");
    out.open("while (waits)");
    out.line("waits = false;");
    for_all_taken([&](fold_writer&, const std::string& taken, const std::string& from) {
        out.line("if (!is_there(", taken, ")) look(", taken, ", ", from, ");");
    });
    for_all_taken([&](fold_writer&, const std::string& taken, const std::string&) {
        out.line("waits = waits || !is_there(", taken, ");");
    });
    out.close();
    for_all([&](fold_writer& f) {
        if (at_once_joined(f)) out.line(f.type(), ' ', all_of(f), '[', together + 1, "] = {", f.whole(), "};");
    });
    for_all_taken([&](fold_writer& f, const std::string& taken, const std::string& from) {
        const std::string value = "take(" + taken + ", " + from + ')';
        if (at_once_joined(f))
            out.line(all_of(f), "[u + 1] = ", value, ";");
        else
            out.line(own(f.whole()), " = ", f.wide_joiner(), "::join(", own(f.whole()), ", ", value, ");");
    });
    for_all([&](fold_writer& f) {
        if (at_once_joined(f)) out.line(f.whole(), " = ", f.joiner(), "::join_all(", all_of(f), ");");
    });
    out.close();
    out.open(owner());
    open_columns();
    for_all([&](fold_writer& f) {
        out.line(own(f.whole()), " = ", f.wide_joiner(), "::join(", own(f.whole()), ", ", own(f.name()), ");");
    });
    close_columns();
    out.close();
    for_all([&](fold_writer& f) {
        combine(f, f.wide_joiner(), f.whole());
        open_columns();
        const std::string whole = own(f.whole());
        out.line(own(f.name()), " = ", f.wide_type() == f.type() ? whole : f.type() + '(' + whole + ')', ";");
        close_columns();
    });
}

void cuda_fold::write_finish() {
    source_writer& out = b_.code;
    add_slots();
    const std::string u8 = b_.needs.type(dtype::u8), first = first_result(), scratch = scratch_pointer();
    out.open("if (gridDim.y > 1)");
    const std::uint32_t before = b_.step.scratch_before / std::uint32_t{sizeof(std::uint64_t)};
    out.line(u8, "* const slots = ", scratch, before == 0 ? "" : " + " + std::to_string(before),
             first.empty() ? "" : " + " + first, ";");
    out.line("const ", u8, " stride = ", slots_ == 1 ? "" : std::to_string(slots_) + " * ", u8, "(", rows(), ");");
    out.open("if (blockIdx.y < gridDim.y - 1)");
    tell_all("slots", "blockIdx.y");
    out.line("return;");
    out.close();
    write_gather();
    if (before != 0) out.line("if (threadIdx.x < ", before, ") ", scratch, "[threadIdx.x] = 0;");
    out.close();
}

std::string cuda_fold::scratch_pointer() {
    return b_.arguments.member({argument_kind::scratch_pointer}, b_.needs.type(dtype::u8) + '*', "scratch");
}

void cuda_fold::declare_sharing() {
    b_.step.scratch_before = 2 * sizeof(std::uint64_t);  // the rule, and how many blocks have heard it
    add_slots();
    b_.needs.add("rules",
                 "/// Who finishes results: the last block, or all together.\n"
                 "constexpr uint64 alone = 1, together = 2;\n");
    source_writer& out = b_.code;
    const std::string u8 = b_.needs.type(dtype::u8), scratch = scratch_pointer();
    out.line("const bool last = blockIdx.y == gridDim.y - 1;");
    out.line(u8, " made = 0;  // the rule, where another block was the first to ask");
    out.line("if (last && gridDim.y > 1 && threadIdx.x == 0) made = atomicCAS(", scratch, ", 0ull, together);");
    out.line(u8, "* const slots = ", scratch, " + 2;");
    out.line("const ", u8, " stride = ", slots_ == 1 ? "" : std::to_string(slots_) + " * ", u8, "(", rows(), ");");
}

void cuda_fold::ask_rule(const std::string& when) {
    b_.code.line("if (", when, "!last && threadIdx.x == 0) made = atomicCAS(", scratch_pointer(), ", 0ull, alone);");
}

void cuda_fold::write_shared_finish(const std::string& tellers) {
    source_writer& out = b_.code;
    const std::string type = b_.linear(), scratch = scratch_pointer();
    out.line("__shared__ ", b_.needs.type(dtype::u8), " rule;");
    out.line("if (threadIdx.x == 0) rule = made != 0 ? made : last ? together : alone;");
    out.line("__syncthreads();");
    out.line("if (threadIdx.x == 0 && !last) atomicAdd(", scratch, " + 1, 1ull);");
    out.line("if (rule == alone && !last) return;");
    out.line("const ", type, " apart = rule == together ? gridDim.y : 1;");
    out.open("for (", type, " result = rule == together ? blockIdx.y : 0; result < ", rows(), "; result += apart)");
    const auto for_all = [&](const auto& write) {
        for (std::vector<fold_writer>& folds : folds_)
            for (fold_writer& f : folds) write(f);
    };
    const auto for_all_slots = [&](const auto& write) {
        for_each_slot([&](fold_writer& f, const std::string& at) { write(f, "slots + result + s * stride" + at); });
    };
    b_.body.leave(unplaced_);
    for_all([&](fold_writer& f) { b_.body.name(f.reduction(), f.result(f.name())); });
    b_.write_digits("result", kept_);
    load_kept(kept_bits());
    for_all([&](fold_writer& f) { out.line(f.wide_type(), ' ', f.whole(), " = ", f.wide_start(), ";"); });
    out.open("for (", b_.needs.type(dtype::u4), " s = threadIdx.x; s < ", tellers, "; s += ", threads_, "u)");
    for_all([&](fold_writer& f) { out.line("told<", f.type(), "> ", f.taken(), " = {};"); });
    std::string all;
    for_all([&](fold_writer& f) { all += (all.empty() ? "is_there(" : " && is_there(") + f.taken() + ')'; });
    out.open("do");
    for_all_slots([&](fold_writer& f, const std::string& from) { out.line("look(", f.taken(), ", ", from, ");"); });
    out.close(" while (!(", all, "));");
    for_all_slots([&](fold_writer& f, const std::string& from) {
        out.line(f.whole(), " = ", f.wide_joiner(), "::join(", f.whole(), ", take(", f.taken(), ", ", from, "));");
    });
    out.close();
    for_all([&](fold_writer& f) {
        combine_block(f, f.wide_joiner(), f.whole());
        out.line(f.name(), " = ", f.wide_type() == f.type() ? f.whole() : f.type() + '(' + f.whole() + ')', ";");
    });
    write_results("if (threadIdx.x == 0)");
    out.close();
    out.open("if (last && threadIdx.x == 0)");
    out.line("while (look_at(", scratch, " + 1) < gridDim.y - 1) continue;");
    out.line(scratch, "[0] = ", scratch, "[1] = 0;");
    out.close();
}

}  // namespace ingot::codegen
