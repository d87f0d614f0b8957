// Slots in shared memory hold one value of each lane, or of each warp; every phase has slots of its own, so that none
// waits for another's readers. Blocks of a cluster send their folds into each other's slots, and a barrier there counts
// the bytes that arrive: no thread waits for a memory fence, nor for a block that has sent already.
#include "codegen/cuda/row/exchange.hpp"

#include <algorithm>

#include "codegen/cuda/join.hpp"

namespace ingot::codegen {

namespace {

std::string of(std::uint32_t n) { return std::to_string(n) + 'u'; }

}  // namespace

void row_exchange::begin(std::vector<std::vector<fold_writer>>& phases) {
    if (choice_.cluster == 1) return;
    source_writer& out = b_.code;
    out.line("__shared__ ", b_.needs.type(dtype::u8), " arrived[", phases.size(), "];");
    out.open("if (threadIdx.x == 0)");
    for (std::size_t i = 0; i < phases.size(); ++i) {
        if (!choice_.sends_words[i]) continue;
        std::string bytes;
        for (fold_writer& f : phases[i]) bytes += (bytes.empty() ? "sizeof(" : " + sizeof(") + f.type() + ')';
        if (phases[i].size() > 1) bytes = '(' + bytes + ')';
        const std::string slots =
            choice_.has_columns() ? of(choice_.cluster) + " * side" : std::to_string(choice_.lanes / 32);
        out.line(expect(), "(&arrived[", i, "], ", slots, " * ", bytes, ");");
    }
    out.line("asm volatile(\"fence.mbarrier_init.release.cluster;\" ::: \"memory\");");
    out.close();
    out.line(cluster_barrier("cluster_arrive", "arrive.relaxed.aligned"), "();");
}

void row_exchange::meet() {
    if (choice_.cluster > 1) b_.code.line(cluster_barrier("cluster_wait", "wait.acquire.aligned"), "();");
}

void row_exchange::write(std::vector<fold_writer>& folds) {
    ++phase_;
    if (folds.empty()) return;
    if (choice_.has_columns()) return across(folds);
    if (choice_.lanes > 1) along(folds);
}

void row_exchange::along(std::vector<fold_writer>& folds) {
    source_writer& out = b_.code;
    const std::uint32_t group = std::min(32u, choice_.lanes), slots = choice_.lanes / 32;
    for (fold_writer& f : folds) {
        const std::string fold = f.joiner();
        out.line(f.name(), " = ", join_lanes(f, b_.needs), '<', fold, ", ", group, ">(", f.name(), ");");
    }
    if (choice_.lanes <= 32) return;
    for (fold_writer& f : folds) out.line("__shared__ ", f.type(), ' ', f.whole(), '[', slots, "];");
    if (choice_.cluster > 1) {
        out.open("if (threadIdx.x % 32 < ", choice_.cluster, ")");
        for (fold_writer& f : folds) put(f, f.whole() + "[lane / 32]", "threadIdx.x % 32");
        out.close();
        await();
    } else {
        out.open("if (threadIdx.x % 32 == 0)");
        for (fold_writer& f : folds) out.line(f.whole(), "[threadIdx.x / 32] = ", f.name(), ";");
        out.close();
        out.line("__syncthreads();");
    }
    for (fold_writer& f : folds) {
        const std::string fold = f.joiner();
        out.line(f.name(), " = ", join_slots(f, b_.needs), '<', fold, ", ", slots, ">(", f.whole(), ");");
    }
}

/// Lanes of a row are in different warps and join through shared memory: a warp joins each of a few rows, a thread each
/// of many. An odd pitch keeps the lanes of a row in different banks.
void row_exchange::across(std::vector<fold_writer>& folds) {
    source_writer& out = b_.code;
    const std::string type = b_.needs.type(dtype::u4);
    for (fold_writer& f : folds) {
        out.line("__shared__ ", f.type(), ' ', f.whole(), '[', choice_.slots_of_lanes(), "], ", f.name(), "_of[",
                 choice_.slots_of_blocks(), "];");
        out.line(f.whole(), "[down * (side | 1) + column] = ", f.name(), ";");
    }
    out.line("__syncthreads();");
    if (choice_.run())
        out.open("for (", type, " r = threadIdx.x / 32; r < side; r += ", choice_.threads / 32, ")");
    else
        out.open("if (const ", type, " r = threadIdx.x; r < side)");
    for (fold_writer& f : folds) {
        out.line(f.name(), " = ", f.start(), ";");
        const std::string joined = f.joined(f.name(), f.whole() + "[l * (side | 1) + r]");
        const std::string lanes =
            choice_.run() ? " l = threadIdx.x % 32; l < height; l += 32) " : " l = 0; l < height; ++l) ";
        out.line("for (", type, lanes, f.name(), " = ", joined, ";");
        const std::string fold = f.joiner();
        if (choice_.run()) out.line(f.name(), " = ", join_lanes(f, b_.needs), '<', fold, ", 32>(", f.name(), ");");
    }
    give_out(folds);
    choice_.cluster > 1 ? await() : out.line("__syncthreads();");
    for (fold_writer& f : folds) {
        const std::string from = f.name() + "_of[column";
        out.line(f.name(), " = ", from, "];");
        if (choice_.cluster == 1) continue;
        out.margin("#pragma unroll 4");
        out.open("for (", type, " block = 1; block < ", choice_.cluster, "; ++block)");
        out.line(f.name(), " = ", f.joined(f.name(), from + " + block * " + of(choice_.columns()) + "]"), ";");
        out.close();
    }
}

/// Gives the block's fold of row r to all of the row's lanes: each thread of a row sends it to one block of the
/// cluster, or one thread sends its row's to one block after the other.
void row_exchange::give_out(std::vector<fold_writer>& folds) {
    source_writer& out = b_.code;
    const bool sends = choice_.cluster > 1, through_slots = sends && choice_.run();
    const auto send_to = [&](const char* block, const char* row) {
        for (fold_writer& f : folds)
            put(f,
                f.name() + "_of[blockIdx.x % " + of(choice_.cluster) + " * " + of(choice_.columns()) + " + " + row +
                    ']',
                block);
    };
    if (sends && !through_slots) {
        out.margin("#pragma unroll 4");
        out.open("for (", b_.needs.type(dtype::u4), " block = 0; block < ", choice_.cluster, "; ++block)");
        send_to("block", "r");
        out.close();
    } else {
        if (choice_.run()) out.open("if (threadIdx.x % 32 == 0)");
        for (fold_writer& f : folds) out.line(through_slots ? f.whole() : f.name() + "_of", "[r] = ", f.name(), ";");
        if (choice_.run()) out.close();
    }
    out.close();
    if (!through_slots) return;
    // A warp that sent the folds of several rows would need more registers than their elements leave.
    out.line("__syncthreads();");
    for (fold_writer& f : folds) out.line(f.name(), " = ", f.whole(), "[column];");
    out.open("for (", b_.needs.type(dtype::u4), " block = down; down < height && block < ", choice_.cluster,
             "; block += height)");
    send_to("block", "column");
    out.close();
}

/// Stores a thread's fold in a slot of a block of the cluster.
void row_exchange::put(const fold_writer& f, const std::string& slot, const std::string& block) {
    if (!is_sent())
        b_.code.line("*", in_block(), "(&", slot, ", ", block, ") = ", f.name(), ";");
    else
        b_.code.line(send(), "(&", slot, ", ", f.name(), ", &arrived[", phase_ - 1, "], ", block, ");");
}

/// Waits until all blocks have stored their folds here.
void row_exchange::await() {
    if (is_sent()) {
        b_.code.line(wait_for(), "(&arrived[", phase_ - 1, "]);");
    } else {
        b_.code.line(cluster_barrier("cluster_publish", "arrive.release.aligned"), "();");
        b_.code.line(cluster_barrier("cluster_wait", "wait.acquire.aligned"), "();");
    }
}

std::string row_exchange::expect() {
    b_.needs.add("expect",
                 b_.function("Initialises a barrier in shared memory that opens when `bytes` bytes have arrived.") +
                     "void expect(unsigned long long* arrived, unsigned int bytes) {\n"
                     "    const unsigned int at = __cvta_generic_to_shared(arrived);\n"
                     "    asm volatile(\"mbarrier.init.shared::cta.b64 [%0], 1;\" :: \"r\"(at) : \"memory\");\n"
                     "    asm volatile(\"mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\"\n"
                     "                 :: \"r\"(at), \"r\"(bytes) : \"memory\");\n}\n");
    return "expect";
}

std::string row_exchange::send() {
    b_.needs.add(
        "send",
        b_.function(
            "Writes to the same shared-memory address in another block of the cluster; its barrier counts the bytes.",
            "template <class type>\n") +
            "void send(type* mine, const type& value, unsigned long long* arrived, unsigned int block) {\n"
            "    unsigned int to, barrier;\n"
            "    asm volatile(\"mapa.shared::cluster.u32 %0, %1, %2;\"\n"
            "                 : \"=r\"(to) : \"r\"(unsigned(__cvta_generic_to_shared(mine))), \"r\"(block));\n"
            "    asm volatile(\"mapa.shared::cluster.u32 %0, %1, %2;\"\n"
            "                 : \"=r\"(barrier) : \"r\"(unsigned(__cvta_generic_to_shared(arrived))), "
            "\"r\"(block));\n"
            "    if constexpr (sizeof(type) == 8)\n"
            "        asm volatile(\"st.async.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];\"\n"
            "                     :: \"r\"(to), \"l\"(reinterpret_cast<const unsigned long long&>(value)), "
            "\"r\"(barrier) : \"memory\");\n"
            "    else\n"
            "#pragma unroll\n"
            "        for (unsigned int i = 0; i < sizeof(type) / 4; ++i)\n"
            "            asm volatile(\"st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];\"\n"
            "                         :: \"r\"(to + 4 * i), \"r\"(reinterpret_cast<const unsigned int*>(&value)[i]), "
            "\"r\"(barrier) : \"memory\");\n}\n");
    return "send";
}

std::string row_exchange::wait_for() {
    b_.needs.add(
        "wait_for",
        b_.function("Waits until all bytes that a barrier expects have arrived.") +
            "void wait_for(const unsigned long long* arrived) {\n"
            "    const unsigned int at = __cvta_generic_to_shared(arrived);\n"
            "    unsigned int open;\n"
            "    do asm volatile(\"{\\n.reg .pred p;\\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\\n\"\n"
            "                    \"selp.u32 %0, 1, 0, p;\\n}\" : \"=r\"(open) : \"r\"(at) : \"memory\");\n"
            "    while (open == 0);\n}\n");
    return "wait_for";
}

std::string row_exchange::in_block() {
    b_.needs.add("in_block",
                 "/// Returns the same shared-memory address in another block of the cluster.\n"
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
