// Slots in shared memory hold one value of each lane, or of each warp; every phase has slots of its own, so that none
// waits for another's readers.
#include "codegen/row_exchange_cuda.hpp"

#include <algorithm>

#include "codegen/cuda_join.hpp"

namespace ingot::codegen {

namespace {

std::string of(std::uint32_t n) { return std::to_string(n) + 'u'; }

}  // namespace

void row_exchange::begin() {
    if (s_.cluster > 1) b_.code.line(cluster_barrier("cluster_arrive", "arrive.relaxed.aligned"), "();");
}

void row_exchange::meet() {
    if (s_.cluster > 1) b_.code.line(cluster_barrier("cluster_wait", "wait.acquire.aligned"), "();");
}

void row_exchange::write(std::vector<fold_writer>& folds) {
    if (s_.in_runs) return in_runs(folds);
    if (s_.lanes == 1) return;
    s_.across ? across(folds) : along(folds);
}

void row_exchange::along(std::vector<fold_writer>& folds) {
    source_writer& out = b_.code;
    const std::uint32_t group = std::min(32u, s_.lanes), slots = s_.lanes / 32;
    for (fold_writer& f : folds) {
        const std::string fold = f.joiner();
        out.line(f.name(), " = ", join_lanes(f, b_.needs), '<', fold, ", ", group, ">(", f.name(), ");");
    }
    if (s_.lanes <= 32) return;
    for (fold_writer& f : folds) out.line("__shared__ ", f.type(), ' ', f.whole(), '[', slots, "];");
    if (s_.cluster > 1) {
        out.open("if (threadIdx.x % 32 < ", s_.cluster, ")");
        for (fold_writer& f : folds)
            out.line("*", in_block(), "(&", f.whole(), "[lane / 32], threadIdx.x % 32) = ", f.name(), ";");
    } else {
        out.open("if (threadIdx.x % 32 == 0)");
        for (fold_writer& f : folds) out.line(f.whole(), "[threadIdx.x / 32] = ", f.name(), ";");
    }
    out.close();
    if (s_.cluster > 1) {
        out.line(cluster_barrier("cluster_publish", "arrive.release.aligned"), "();");
        out.line(cluster_barrier("cluster_wait", "wait.acquire.aligned"), "();");
    } else {
        out.line("__syncthreads();");
    }
    for (fold_writer& f : folds) {
        const std::string fold = f.joiner();
        out.line(f.name(), " = ", join_slots(f, b_.needs), '<', fold, ", ", slots, ">(", f.whole(), ");");
    }
}

/// Lanes of a row are in different warps: they change places through shared memory, are joined, and change back.
void row_exchange::across(std::vector<fold_writer>& folds) {
    source_writer& out = b_.code;
    const std::uint32_t lanes = s_.lanes / s_.cluster, group = std::min(32u, lanes), pitch = s_.rows + 1;
    const std::string lane = s_.cluster > 1 ? "threadIdx.x / " + of(s_.rows) : "lane";
    for (fold_writer& f : folds) {
        out.line("__shared__ ", f.type(), ' ', f.whole(), '[', lanes * pitch, "];");
        out.line(f.whole(), "[", lane, " * ", of(pitch), " + threadIdx.x % ", of(s_.rows), "] = ", f.name(), ";");
    }
    out.line("__syncthreads();");
    const std::uint32_t joining = s_.rows * group;
    if (joining < s_.threads) out.open("if (threadIdx.x < ", joining, ")");
    for (fold_writer& f : folds) {
        const std::string from =
            f.whole() + "[threadIdx.x % " + of(group) + " * " + of(pitch) + " + threadIdx.x / " + of(group);
        out.line(f.name(), " = ", from, "];");
        for (std::uint32_t l = group; l < lanes; l += group)
            out.line(f.name(), " = ", f.joined(f.name(), from + " + " + std::to_string(l * pitch) + "u]"), ";");
        const std::string fold = f.joiner();
        out.line(f.name(), " = ", join_lanes(f, b_.needs), '<', fold, ", ", group, ">(", f.name(), ");");
    }
    // A column of slots is read by the lanes that join it alone, so the first slot of each can take the result.
    out.line("__syncwarp();");
    out.open("if (threadIdx.x % ", group, " == 0)");
    for (fold_writer& f : folds) out.line(f.whole(), "[threadIdx.x / ", of(group), "] = ", f.name(), ";");
    out.close();
    if (joining < s_.threads) out.close();
    out.line("__syncthreads();");
    for (fold_writer& f : folds) out.line(f.name(), " = ", f.whole(), "[threadIdx.x % ", of(s_.rows), "];");
    if (s_.cluster > 1) among_blocks(folds);
}

/// What the blocks of a cluster have found of their rows goes to all of them.
void row_exchange::among_blocks(std::vector<fold_writer>& folds) {
    source_writer& out = b_.code;
    const std::string rows = of(s_.rows);
    for (fold_writer& f : folds) out.line("__shared__ ", f.type(), ' ', f.name(), "_of[", s_.cluster * s_.rows, "];");
    out.open("if (threadIdx.x < ", s_.cluster * s_.rows, ")");
    for (fold_writer& f : folds)
        out.line("*", in_block(), "(&", f.name(), "_of[blockIdx.x % ", of(s_.cluster), " * ", rows, " + threadIdx.x % ",
                 rows, "], threadIdx.x / ", rows, ") = ", f.name(), ";");
    out.close();
    out.line(cluster_barrier("cluster_publish", "arrive.release.aligned"), "();");
    out.line(cluster_barrier("cluster_wait", "wait.acquire.aligned"), "();");
    for (fold_writer& f : folds) {
        const std::string from = f.name() + "_of[threadIdx.x % " + rows;
        out.line(f.name(), " = ", from, "];");
        for (std::uint32_t block = 1; block < s_.cluster; ++block)
            out.line(f.name(), " = ", f.joined(f.name(), from + " + " + of(block * s_.rows) + "]"), ";");
    }
}

/// Each warp joins some of the rows: slots of a row are as many apart as there are rows.
void row_exchange::in_runs(std::vector<fold_writer>& folds) {
    source_writer& out = b_.code;
    for (fold_writer& f : folds) {
        out.line("__shared__ ", f.type(), ' ', f.whole(), '[', s_.threads, "], ", f.name(), "_of[32];");
        out.line(f.whole(), "[threadIdx.x] = ", f.name(), ";");
    }
    out.line("__syncthreads();");
    const std::string type = b_.needs.type(dtype::u4);
    out.open("for (", type, " r = threadIdx.x / 32; r < side; r += ", s_.threads / 32, ")");
    for (fold_writer& f : folds) {
        out.line(f.name(), " = ", f.start(), ";");
        const std::string joined = f.joined(f.name(), f.whole() + "[l * side + r]");
        out.line("for (", type, " l = threadIdx.x % 32; l < lanes; l += 32) ", f.name(), " = ", joined, ";");
        const std::string fold = f.joiner();
        out.line(f.name(), " = ", join_lanes(f, b_.needs), '<', fold, ", 32>(", f.name(), ");");
    }
    out.open("if (threadIdx.x % 32 == 0)");
    for (fold_writer& f : folds) out.line(f.name(), "_of[r] = ", f.name(), ";");
    out.close();
    out.close();
    out.line("__syncthreads();");
    for (fold_writer& f : folds) out.line(f.name(), " = ", f.name(), "_of[threadIdx.x % side];");
}

std::string row_exchange::in_block() {
    b_.needs.add("in_block",
                 "/// The same place in the shared memory of another block of the cluster.\n"
                 "template <class type>\n"
                 "__device__ __forceinline__ type* in_block(type* mine, unsigned int block) {\n"
                 "    unsigned long long other;\n"
                 "    asm volatile(\"mapa.u64 %0, %1, %2;\" : \"=l\"(other) : \"l\"(mine), \"r\"(block));\n"
                 "    return reinterpret_cast<type*>(other);\n}\n");
    return "in_block";
}

std::string row_exchange::cluster_barrier(const std::string& name, const std::string& instruction) {
    b_.needs.add(name, "__device__ __forceinline__ void " + name + "() {\n    asm volatile(\"barrier.cluster." +
                           instruction + ";\" ::: \"memory\");\n}\n");
    return name;
}

}  // namespace ingot::codegen
