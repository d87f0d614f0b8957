// The meeting of the blocks that share a result. CUDA does not define the order in which blocks begin, so a block may
// wait only for blocks that have begun. (1) Each block takes a ticket when it begins, and reads it when it has folded
// its share. (2) The block with the last ticket finishes: it knows that all have begun, waits for their parts and joins
// them by the blocks' numbers. (3) All others publish their parts in slots of the scratch, one for each split, word and
// result. The scratch is zero when the kernel begins and when it ends; tickets wrap to zero.
//
// One block is slow where all blocks have parts of many results. Each block then publishes its parts of all results and
// finishes some of them, if all blocks have begun when the first is about to end; else the block with the last ticket
// finishes all. A counter decides: a beginning block adds 2; an ending block raises it to at least 2 * blocks - 1. It
// is even if all had begun by then, else odd whatever is added later.
#include <algorithm>
#include <functional>

#include "codegen/cuda/fold/fold.hpp"

namespace ingot::codegen {

using namespace detail;

void cuda_fold::add_slots() {
    b_.needs.add(
        "slots",
        "/// A value that one block passes to another through slots `word_stride` apart. Each slot holds 32 bits and\n"
        "/// a flag that they are present, so the order of the writes is irrelevant. consume() clears the slots.\n"
        "template <class type>\n"
        "struct message {\n"
        "    static constexpr int n = (sizeof(type) + 3) / 4;\n"
        "    uint64 words[n];\n};\n\n"
        "__device__ __forceinline__ uint64 poll_slot(const uint64* slot) {\n"
        "    uint64 word;\n"
        "    asm volatile(\"ld.relaxed.gpu.global.u64 %0, [%1];\" : \"=l\"(word) : \"l\"(slot) : \"memory\");\n"
        "    return word;\n}\n\n"
        "template <class type>\n"
        "__device__ __forceinline__ void publish(uint64* slot, uint64 word_stride, type v) {\n"
        "    alignas(16) uint32 words[message<type>::n] = {};\n"
        "    reinterpret_cast<type&>(words) = v;\n"
        "#pragma unroll\n"
        "    for (int i = 0; i < message<type>::n; ++i)\n"
        "        asm volatile(\"st.relaxed.gpu.global.u64 [%0], %1;\"\n"
        "                     :: \"l\"(slot + i * word_stride), \"l\"(uint64(words[i]) << 32 | 1) : \"memory\");\n}\n\n"
        "/// Loads the words of a value that have been published so far.\n"
        "template <class type>\n"
        "__device__ __forceinline__ void poll(message<type>& v, const uint64* slot, uint64 word_stride) {\n"
        "#pragma unroll\n"
        "    for (int i = 0; i < message<type>::n; ++i) v.words[i] = poll_slot(slot + i * word_stride);\n}\n\n"
        "template <class type>\n"
        "__device__ __forceinline__ bool is_there(const message<type>& v) {\n"
        "    bool all = true;\n"
        "#pragma unroll\n"
        "    for (int i = 0; i < message<type>::n; ++i) all = all && v.words[i] != 0;\n"
        "    return all;\n}\n\n"
        "template <class type>\n"
        "__device__ __forceinline__ type consume(const message<type>& v, uint64* slot, uint64 word_stride) {\n"
        "    alignas(16) uint32 words[message<type>::n];\n"
        "#pragma unroll\n"
        "    for (int i = 0; i < message<type>::n; ++i) {\n"
        "        words[i] = v.words[i] >> 32;\n"
        "        slot[i * word_stride] = 0;\n"
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

void cuda_fold::publish_all(const std::string& slots, const std::string& publisher) {
    b_.code.open(owner());
    for_each_slot([&](fold_writer& f, const std::string& at) {
        b_.code.line("publish(", slots, " + ", publisher, " * stride", at, ", ", own(f.name()), ");");
    });
    b_.code.close();
}

/// Joins the parts of all blocks, this block's own among them. A lane loads several slots of all folds together and
/// repeats until all hold a part: a lane that waits keeps its warp waiting. Loads are unconditional: the last block's
/// and the last column's slots stand in for blocks and columns that do not exist.
void cuda_fold::write_gather() {
    source_writer& out = b_.code;
    const std::uint32_t at_once = std::max(1u, frame_.slots_at_once / (slots_ * columns_));
    const std::string slots_at_once = std::to_string(at_once), next = at_once == 1 ? "s" : "s + u * " + lanes();
    const auto for_all = [&](const auto& write) {
        for (std::vector<fold_writer>& folds : folds_)
            for (fold_writer& f : folds) write(f);
    };
    const auto for_all_messages = [&](const auto& write) {
        open_columns();
        std::uint32_t used = 0;
        for_all([&](fold_writer& f) {
            const std::string word =
                used == 0 ? "" : " + " + std::to_string(used) + " * " + b_.needs.type(dtype::u8) + '(' + rows() + ')';
            write(f, own(f.message() + "[u]"),
                  "part" + word + (columns_ == 1 ? "" : " + (e < columns ? e : columns - 1)"));
            used += f.slots();
        });
        close_columns();
    };
    const auto all_of = [](const fold_writer& f) { return "all_" + f.message(); };
    const auto at_once_joined = [&](const fold_writer& f) { return f.joins_at_once() && columns_ == 1 && at_once > 1; };
    const auto open_parts = [&](bool present) {
        b_.open_unrolled("u", at_once);
        if (present && at_once > 1) out.line("if (", next, " >= gridDim.y) break;");
    };
    const std::string u8 = b_.needs.type(dtype::u8);

    for_all([&](fold_writer& f) { declare(f.wide_type(), f.whole(), f.wide_start()); });
    out.margin("#pragma unroll 1");
    out.open("for (", b_.needs.type(dtype::u4), " s = ", lane(), "; ", mine(), "s < gridDim.y; s += ", slots_at_once,
             " * ", lanes(), ")");
    for_all([&](fold_writer& f) {
        out.line("message<", f.type(), "> ", f.message(), '[', slots_at_once, ']',
                 columns_ == 1 ? "" : '[' + std::to_string(columns_) + ']', ";");
    });
    out.line("bool waits = true;");
    out.margin("#pragma unroll 1");
    out.open("while (waits)");
    open_parts(false);
    const std::string last = at_once == 1 ? next : '(' + next + " < gridDim.y ? " + next + " : gridDim.y - 1)";
    out.line("const ", u8, "* const part = slots + ", last, " * stride;");
    for_all_messages([&](fold_writer&, const std::string& message, const std::string& from) {
        out.line("poll(", message, ", ", from, ", ", rows(), ");");
    });
    out.close();
    out.line("waits = false;");
    open_parts(true);
    out.line("if (", next, " == blockIdx.y) continue;");
    for_all_messages([&](fold_writer&, const std::string& message, const std::string&) {
        out.line("waits = waits || !is_there(", message, ");");
    });
    out.close();
    out.close();
    for_all([&](fold_writer& f) {
        if (at_once_joined(f)) out.line(f.type(), ' ', all_of(f), '[', at_once + 1, "] = {", f.whole(), "};");
    });
    open_parts(true);
    out.line(u8, "* const part = slots + ", at_once == 1 ? next : '(' + next + ')', " * stride;");
    for_all_messages([&](fold_writer& f, const std::string& message, const std::string& from) {
        const std::string value =
            next + " == blockIdx.y ? " + own(f.name()) + " : consume(" + message + ", " + from + ", " + rows() + ')';
        if (at_once_joined(f))
            out.line(all_of(f), "[u + 1] = ", value, ";");
        else
            out.line(own(f.whole()), " = ", f.wide_joiner(), "::join(", own(f.whole()), ", ", value, ");");
    });
    out.close();
    for_all([&](fold_writer& f) {
        if (at_once_joined(f)) out.line(f.whole(), " = ", f.joiner(), "::join_all(", all_of(f), ");");
    });
    out.close();
}

/// Taken before all else, so that the answer has arrived when it is needed.
void cuda_fold::take_ticket(const std::string& counter) {
    const std::string u4 = b_.needs.type(dtype::u4);
    b_.code.line(u4, " ticket = 0;");
    b_.code.line("if (gridDim.y > 1 && threadIdx.x == 0) ticket = atomicInc(", counter, ", gridDim.y - 1);");
}

std::string cuda_fold::counters(const std::string& offset) {
    return "reinterpret_cast<" + b_.needs.type(dtype::u4) + "*>(" + scratch_pointer() + offset + ')';
}

void cuda_fold::write_meeting() {
    source_writer& out = b_.code;
    add_slots();
    const std::string u8 = b_.needs.type(dtype::u8), first = first_result();
    out.line("// Thread 0 holds the block's ticket; the barrier broadcasts whether it is the last one.");
    out.line("const bool last = __syncthreads_or(threadIdx.x == 0 && ticket == gridDim.y - 1);");
    out.line(u8, "* const slots = ", scratch_pointer(), " + gridDim.x", first.empty() ? "" : " + " + first, ";");
    out.line("const ", u8, " stride = ", slots_ == 1 ? "" : std::to_string(slots_) + " * ", u8, "(", rows(), ");");
    out.open("if (!last)");
    publish_all("slots", "blockIdx.y");
    out.line("return;");
    out.close();
    for (std::vector<fold_writer>& folds : folds_)
        for (fold_writer& f : folds) share(f);
    write_gather();
    if (frame_.split->counts_pieces) {
        out.line("__syncthreads();  // each thread has polled some blocks only; the others may still take pieces");
        out.line("if (threadIdx.x == 0) ", counters(""), "[1] = 0;");
    }
    const bool alike = joins_blocks_alike();
    for (std::vector<fold_writer>& folds : folds_)
        for (fold_writer& f : folds) {
            if (!alike) combine(f, f.wide_joiner(), f.whole());
            open_columns();
            const std::string whole = own(f.whole());
            out.line(own(f.name()), " = ", f.wide_type() == f.type() ? whole : f.type() + '(' + whole + ')', ";");
            close_columns();
        }
}

void cuda_fold::write_finish() {
    b_.code.open("if (gridDim.y > 1)");
    write_meeting();
    b_.code.close();
}

std::string cuda_fold::scratch_pointer() {
    return b_.arguments.member({argument_kind::scratch_pointer}, b_.needs.type(dtype::u8) + '*', "scratch");
}

void cuda_fold::declare_sharing() {
    b_.step.scratch_before = 2 * sizeof(std::uint64_t);  // begun and ending blocks; tickets; blocks that decided
    add_slots();
    source_writer& out = b_.code;
    const std::string u4 = b_.needs.type(dtype::u4), u8 = b_.needs.type(dtype::u8);
    out.line(u4, "* const counters = ", counters(""), ";");
    take_ticket("counters + 1");
    out.line("if (gridDim.y > 1 && threadIdx.x == 0) atomicAdd(counters, 2u);");
    out.line(u4, " found = 0;  // the first counter's value when this block is about to end");
    out.line(u8, "* const slots = ", scratch_pointer(), " + 2;");
    out.line("const ", u8, " stride = ", slots_ == 1 ? "" : std::to_string(slots_) + " * ", u8, "(", rows(), ");");
}

void cuda_fold::elect_finisher() {
    b_.code.line("if (gridDim.y > 1 && threadIdx.x == 0) found = atomicMax(counters, 2 * gridDim.y - 1);");
}

void cuda_fold::write_shared_finish(const std::string& publishers) {
    source_writer& out = b_.code;
    const std::string type = b_.linear(), scratch = scratch_pointer();
    out.line("__shared__ bool last;  // whether this block has the last ticket: all others have begun");
    out.line("__shared__ bool all_finish;  // whether every block finishes some of the results");
    out.open("if (threadIdx.x == 0)");
    out.line("last = ticket == gridDim.y - 1;");
    out.line("all_finish = found == 2 * gridDim.y;");
    out.line("if (!last) atomicAdd(counters + 2, 1u);");
    out.close();
    out.line("__syncthreads();");
    out.line("if (!all_finish && !last) return;");
    out.line("const ", type, " finishers = all_finish ? gridDim.y : 1;");
    out.open("for (", type, " result = all_finish ? blockIdx.y : 0; result < ", rows(), "; result += finishers)");
    const auto for_all = [&](const auto& write) {
        for (std::vector<fold_writer>& folds : folds_)
            for (fold_writer& f : folds) write(f);
    };
    const auto for_all_slots = [&](const auto& write) {
        for_each_slot([&](fold_writer& f, const std::string& at) { write(f, "slots + result + s * stride" + at); });
    };
    b_.body.leave(outer_names_);
    for_all([&](fold_writer& f) { b_.body.name(f.reduction(), f.result(f.name())); });
    b_.write_digits("result", kept_axes_);
    load_invariants(kept_bits());
    for_all([&](fold_writer& f) { out.line(f.wide_type(), ' ', f.whole(), " = ", f.wide_start(), ";"); });
    out.open("for (", b_.needs.type(dtype::u4), " s = threadIdx.x; s < ", publishers, "; s += ", threads_, "u)");
    for_all([&](fold_writer& f) { out.line("message<", f.type(), "> ", f.message(), " = {};"); });
    std::string all;
    for_all([&](fold_writer& f) { all += (all.empty() ? "is_there(" : " && is_there(") + f.message() + ')'; });
    out.open("do");
    for_all_slots([&](fold_writer& f, const std::string& from) { out.line("poll(", f.message(), ", ", from, ");"); });
    out.close(" while (!(", all, "));");
    for_all_slots([&](fold_writer& f, const std::string& from) {
        out.line(f.whole(), " = ", f.wide_joiner(), "::join(", f.whole(), ", consume(", f.message(), ", ", from, "));");
    });
    out.close();
    for_all([&](fold_writer& f) {
        combine_block(f, f.wide_joiner(), f.whole());
        out.line(f.name(), " = ", f.wide_type() == f.type() ? f.whole() : f.type() + '(' + f.whole() + ')', ";");
    });
    write_results("if (threadIdx.x == 0)");
    out.close();
    out.open("if (last && threadIdx.x == 0)");
    out.line("while (poll_slot(", scratch, " + 1) < gridDim.y - 1) continue;");
    out.line(scratch, "[0] = ", scratch, "[1] = 0;");
    out.close();
}

}  // namespace ingot::codegen
