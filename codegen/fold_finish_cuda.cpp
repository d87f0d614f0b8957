// How the blocks of a result meet. All but the last tell what they have, in slots of the scratch: one for each split,
// word and result. All of it is zero when the kernel begins, and again when it ends. The last waits for all of it and
// joins it by the blocks' numbers; where that is much, the last of every few does so first. Blocks begin in the order
// of their numbers, so nobody waits for one that could not begin.
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

/// What a block has of its results, and its end.
void cuda_fold::write_tell() {
    b_.code.open(owner());
    for_each_slot([&](fold_writer& f, const std::string& at) {
        b_.code.line("tell(slots + blockIdx.y * stride", at, ", ", own(f.name()), ");");
    });
    b_.code.close();
    b_.code.line("return;");
}

/// Joins what the blocks `begin`, `begin` + `apart`, ... before `end` told to this one's. Several loads at once, of all
/// folds, again until all are there: who waits keeps everybody waiting.
void cuda_fold::write_gather(const std::string& begin, const std::string& apart, const std::string& end) {
    source_writer& out = b_.code;
    const std::uint32_t together = std::max(1u, slots_at_once() / (slots_ * columns_));
    const std::string at_once = std::to_string(together), step = apart == "1" ? lanes() : lanes() + " * " + apart,
                      next = "s + u * " + step;
    const auto for_all = [&](const auto& write) {
        for (std::vector<fold_writer>& folds : folds_)
            for (fold_writer& f : folds) write(f);
    };
    const auto for_all_taken = [&](const auto& write) {
        open_unrolled("u", together);
        out.line("if (", next, " >= ", end, ") break;");
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
    out.open("for (", b_.needs.type(dtype::u4), " s = ", begin == "0" ? lane() : begin + " + " + lane() + " * " + apart,
             "; ", mine(), "s < ", end, "; s += ", at_once, " * ", step, ")");
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
    const std::string u8 = b_.needs.type(dtype::u8), u4 = b_.needs.type(dtype::u4), first = first_result();
    const std::string scratch = b_.arguments.member({argument_kind::scratch_pointer}, u8 + '*', "scratch"),
                      group = blocks_that_meet();
    out.open("if (gridDim.y > 1)");
    out.line(u8, "* const slots = ", scratch, first.empty() ? "" : " + " + first, ";");
    out.line("const ", u8, " stride = ", slots_ == 1 ? "" : std::to_string(slots_) + " * ", u8, "(", rows(), ");");
    if (group.empty()) {
        out.open("if (blockIdx.y < gridDim.y - 1)");
        write_tell();
        out.close();
        write_gather("0", "1", "gridDim.y - 1");
    } else {
        out.line("const ", u4, " group = ", group, ";");
        out.line("const bool last = blockIdx.y == gridDim.y - 1;");
        out.open("if (blockIdx.y % group < group - 1 && !last)");
        write_tell();
        out.close();
        out.line(u4, " begin = blockIdx.y / group * group, apart = 1, end = blockIdx.y;");
        out.open("while (true)");
        write_gather("begin", "apart", "end");
        out.open("if (!last)");
        write_tell();
        out.close();
        out.line("if (apart > 1 || begin == 0) break;");
        out.line("apart = group, end = begin, begin = group - 1;");
        out.close();
    }
    out.close();
}

}  // namespace ingot::codegen
