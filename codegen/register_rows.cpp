// The shapes are those that measured best: few blocks' worth of threads wait for each other as long as a row leaves
// them registers for several blocks a multiprocessor, and only then do more threads, or blocks, share a row.
#include "codegen/register_rows.hpp"

#include <algorithm>
#include <bit>
#include <span>

#include "codegen/cuda_kernel.hpp"
#include "codegen/fold.hpp"

namespace ingot::codegen {

using namespace detail;

namespace {

constexpr std::uint32_t portable_cluster = 8, large_cluster = 16;
constexpr std::uint32_t far_longer = 1u << 31;  // than any row
constexpr std::uint32_t group_of_chunks = 4;
constexpr std::uint32_t cost_worth_keeping = 6;
/// Operations of all of a thread's elements: what the compiler digests in a second.
constexpr std::uint32_t row_budget = 4 * statement_budget;

/// A walk over what each phase computes along the row.
class row_values {
public:
    row_values(const graph& g, const row_program& r)
        : graph_(g),
          row_(r.row_bits()),
          rows_(r.kept_bits()),
          phases_(r.phases.size() + 1),
          first_(g.nodes.size(), phases_) {
        for (std::size_t p = 0; p < phases_; ++p) {
            wanted_.push_back(r.wanted(g, p));
            const std::vector<bool> below = nodes_below(g, wanted_[p]);
            for (node_id i = 0; i < below.size(); ++i)
                if (below[i] && along_row(i)) first_[i] = std::min(first_[i], p);
            cost += cost_of(g, wanted_[p]);
        }
        for (std::size_t p = 1; p < phases_; ++p) {
            for (node_id i = 0; i < g.nodes.size(); ++i)
                if (along_row(i) && first_[i] == p && g.nodes[i].kind != node_kind::reduce)
                    for (int a = 0; a < g.nodes[i].arity; ++a) keep(g.nodes[i].arguments[a], p);
            for (const node_id root : wanted_[p]) keep(root, p);
        }
    }

    /// Arrays of words that one phase reads alone, and not the first.
    std::vector<node_id> read_late(const key& k) const {
        const auto words = [&](node_id i) {
            return k.operands[graph_.nodes[i].index].head.kind == operand_kind::array && bytes_of(i) >= 4;
        };
        std::vector<std::size_t> reads(graph_.nodes.size());
        for (const std::vector<node_id>& wanted : wanted_) {
            const std::vector<bool> below = nodes_below(graph_, wanted);
            for (node_id i = 0; i < below.size(); ++i) reads[i] += below[i] ? 1 : 0;
        }
        std::vector<node_id> found;
        for (node_id i = 0; i < reads.size(); ++i)
            if (is_stream(i) && reads[i] == 1 && first_[i] > 0 && words(i)) found.push_back(i);
        return found;
    }

    void place_late(register_rows& s) const {
        s.late = late;
        s.late_phase = phases_;
        for (const node_id i : late) {
            s.bytes_of_late += bytes_of(i);
            s.late_phase = std::min(s.late_phase, first_[i]);
        }
    }

    /// Bytes of an element that are held where most are.
    std::uint32_t held_bytes() const {
        const std::vector<std::size_t> end = ends();
        std::uint32_t most = 0;
        for (std::size_t p = 0; p < phases_; ++p) {
            std::uint32_t bytes = 0;
            for (node_id i = 0; i < end.size(); ++i)
                if (end[i] > p && (is_stream(i) || (is_kept(i) && first_[i] < p))) bytes += bytes_of(i);
            most = std::max(most, bytes);
        }
        return most;
    }

    /// Where what is held of an element lies in memory: what a phase keeps takes the place of what no later one reads.
    void place(register_rows& s) const {
        const std::vector<std::size_t> end = ends();
        struct slot {
            std::uint32_t at, bytes;
            std::size_t free_from;  // phase
        };
        std::vector<slot> slots;
        const auto add = [&](node_id i, std::size_t phase) {
            auto found = std::ranges::find_if(
                slots, [&](const slot& o) { return o.bytes == bytes_of(i) && o.free_from <= phase; });
            if (found == slots.end()) {
                found = slots.insert(found, {s.bytes_of_more, bytes_of(i), 0});
                s.bytes_of_more += bytes_of(i);
            }
            found->free_from = end[i] - 1;
            s.held_more.push_back({i, found->at});
        };
        for (node_id i = 0; i < end.size(); ++i)
            if (end[i] > 0 && is_stream(i)) add(i, 0);
        for (std::size_t p = 0; p < phases_; ++p)
            for (const node_id i : kept)
                if (first_[i] == p) add(i, p);
    }

    std::vector<node_id> kept;
    std::vector<node_id> late;  // not held
    std::uint32_t cost = 0;     // of an element, over all phases

private:
    /// One past the last phase that reads a node along the row; 0 where none does.
    std::vector<std::size_t> ends() const {
        std::vector<std::size_t> end(graph_.nodes.size());
        for (std::size_t p = 0; p < phases_; ++p) {
            std::vector<node_id> open = wanted_[p];
            while (!open.empty()) {
                const node_id i = open.back();
                open.pop_back();
                if (!along_row(i) || end[i] == p + 1) continue;
                end[i] = p + 1;
                const node& n = graph_.nodes[i];
                if (is_kept(i) && first_[i] < p) continue;
                open.insert(open.end(), n.arguments, n.arguments + n.arity);
            }
        }
        return end;
    }
    std::uint32_t bytes_of(node_id i) const { return static_cast<std::uint32_t>(size_of(graph_.nodes[i].type)); }
    bool along_row(node_id i) const { return (graph_.nodes[i].axes & row_) != 0; }
    /// What all rows read alike is loaded where it is used.
    bool is_stream(node_id i) const {
        return graph_.nodes[i].kind == node_kind::operand && along_row(i) && std::ranges::find(late, i) == late.end() &&
               (rows_ == 0 || (graph_.nodes[i].axes & rows_) != 0);
    }
    bool is_kept(node_id i) const { return std::find(kept.begin(), kept.end(), i) != kept.end(); }

    /// A value that a later phase than its first wants is kept where computing it again costs much.
    void keep(node_id i, std::size_t phase) {
        if (!along_row(i) || first_[i] >= phase || is_kept(i)) return;
        if (graph_.nodes[i].kind != node_kind::operand && cost_of(graph_, {i}) >= cost_worth_keeping) kept.push_back(i);
    }

    const graph& graph_;
    std::uint64_t row_, rows_;
    std::size_t phases_;
    std::vector<std::size_t> first_;  // phase that computes a node along the row
    std::vector<std::vector<node_id>> wanted_;
};

stride_class along(const operand_class& at, const graph& g, int loop) {
    for (std::size_t a = 0; a < at.strides.size(); ++a)
        if (g.loop_axis[a] == loop && at.strides[a] != stride_class::broadcast) return at.strides[a];
    return stride_class::broadcast;
}

/// What moves along the rows.
std::vector<const operand_class*> streams(const key& k, const graph& g, const row_program& r) {
    std::vector<const operand_class*> found;
    for (const node& n : g.nodes)
        if (n.kind == node_kind::operand && (n.axes & r.row_bits()) != 0) found.push_back(&k.operands[n.index]);
    for (const operand_class& z : k.outputs)
        if (along(z, g, r.inner()) != stride_class::broadcast) found.push_back(&z);
    return found;
}

/// Whether what moves along the rows are arrays of words that a thread can copy into shared memory.
bool reads_words(const key& k, const graph& g, const row_program& r) {
    return std::ranges::all_of(g.nodes, [&](const node& n) {
        if (n.kind != node_kind::operand || (n.axes & r.row_bits()) == 0) return true;
        const operand_class& at = k.operands[n.index];
        const std::size_t bytes = size_of(at.head.type);
        return at.head.kind == operand_kind::array && (bytes == 4 || bytes == 8);
    });
}

/// How rows across memory lie there.
struct rows_in_memory {
    std::uint32_t widest = 1;  // item, in bytes
    bool aligned = true;       // to vectors
    bool few = false;          // nothing else lies side by side: caches have all of them
    bool sectors = false;      // long columns of words; what lies side by side is whole sectors
};

rows_in_memory across_memory(const std::vector<const operand_class*>& arrays, const graph& g, int last_kept) {
    rows_in_memory at;
    for (const operand_class* array : arrays) {
        if (along(*array, g, last_kept) == stride_class::broadcast) continue;
        at.widest = std::max(at.widest, static_cast<std::uint32_t>(size_of(array->head.type)));
        at.aligned = at.aligned && array->head.vector;
    }
    return at;
}

/// Elements of 16 bytes of the widest array; rows that begin anywhere are `shifted`.
void choose_vectors(register_rows& s, const std::vector<const operand_class*>& arrays, const graph& g,
                    const row_program& r) {
    std::uint32_t widest = 0;
    bool anywhere = false;
    for (const operand_class* at : arrays) {
        if (at->head.kind == operand_kind::generator) return;
        if (!is_packed(*at, g, r)) continue;
        widest = std::max(widest, static_cast<std::uint32_t>(size_of(at->head.type)));
        anywhere = anywhere || !at->head.vector;
    }
    if (widest != 0) s.each = 16 / widest;
    s.shifted = anywhere && s.each > 1;
}

/// Blocks of a cluster; more than are portable where the GPUs of an architecture are known to have room for them.
std::uint32_t largest_cluster_of(std::uint32_t architecture) {
    if (architecture < 90) return 1;
    return architecture == 90 || architecture == 100 ? large_cluster : portable_cluster;
}

std::uint32_t pieces(std::uint32_t n, std::uint32_t size) { return (n + size - 1) / size; }

/// Threads along memory: a few lanes of a warp, a block, a cluster; each has at most so many elements. Three small
/// blocks a multiprocessor whose threads have many elements overlap better than two large ones, a block of two warps
/// better than one of eight.
bool share_along(register_rows& s, std::uint32_t capacity, std::uint32_t bytes, std::uint32_t most, bool writes,
                 std::uint32_t architecture) {
    struct choice {
        std::uint32_t lanes, cluster, most_bytes, blocks;
    };
    // Rows that begin anywhere are mostly not so long as their class allows: of few lanes fewer are idle. Where nothing
    // is written along rows instructions are what counts, and few lanes have fewer of them for each element.
    static constexpr choice few_lanes[] = {{4, 1, 128, 1}, {8, 1, 96, 1}, {16, 1, 128, 1}};
    static constexpr choice many_lanes[] = {{8, 1, 16, 1}, {16, 1, 16, 1}, {16, 1, 48, 1}};
    static constexpr choice middle_choices[] = {{32, 1, 128, 1}, {64, 1, 128, 16}};
    static constexpr choice small_block{128, 1, 128, 1}, large_block{512, 1, 32, 1};
    static constexpr choice long_choices[] = {{256, 1, 128, 4},   {256, 1, 192, 3},   {512, 2, 192, 3},
                                              {512, 1, 128, 2},   {1024, 4, 192, 3},  {1024, 1, 128, 1},
                                              {2048, 4, 128, 2},  {2048, 8, 192, 3},  {4096, 8, 128, 2},
                                              {4096, 16, 192, 3}, {8192, 16, 128, 2}, {8192, 8, 128, 1}};
    const std::uint32_t largest_cluster = largest_cluster_of(architecture);
    const auto take = [&](const choice& c) {
        if (capacity * bytes > c.lanes * c.most_bytes || c.cluster > largest_cluster) return false;
        s.lanes = c.lanes;
        s.cluster = c.cluster;
        s.blocks = c.blocks;
        s.threads = c.lanes <= 32 ? 64 : c.lanes / c.cluster;
        s.rows = s.threads * s.cluster / s.lanes;
        s.chunks = pieces(capacity, s.lanes * s.each) + (s.shifted ? 1 : 0);
        return s.elements() <= most;
    };
    const bool few = s.shifted || (!writes && s.each > 1);
    // Half of a large block may have nothing to do. It is quicker all the same where rows of one word an element are
    // written that give most of it something.
    constexpr std::uint32_t most_of_small_block = 12 * 1024;
    const bool small = s.shifted || !writes || bytes > 4 || capacity * bytes <= most_of_small_block;
    return std::ranges::any_of(few ? std::span<const choice>(few_lanes) : many_lanes, take) ||
           std::ranges::any_of(middle_choices, take) || (small && take(small_block)) ||
           (!s.shifted && take(large_block)) || std::ranges::any_of(long_choices, take);
}

/// Rows along memory that are more than the registers of eight blocks: a large cluster has in shared memory what its
/// registers do not hold, element by element.
bool share_with_memory(register_rows& s, std::uint32_t capacity, std::uint32_t bytes, std::uint32_t most,
                       std::uint32_t architecture) {
    struct choice {
        std::uint32_t threads, most_bytes, blocks, bytes_of_more;
    };
    // Of two blocks a multiprocessor one computes while the other one reads. Doubles are as quick by one where much of
    // them would lie in shared memory.
    static constexpr choice choices[] = {{512, 128, 2, 128}};
    static constexpr choice choices_of_doubles[] = {{512, 128, 2, 64}, {1024, 128, 1, 0}};
    constexpr std::uint32_t most_in_registers = 1u << 20;  // bytes
    if (capacity * bytes <= most_in_registers || largest_cluster_of(architecture) < large_cluster) return false;
    s.cluster = large_cluster;
    s.group = group_of_chunks;
    return std::ranges::any_of(bytes > 4 ? std::span<const choice>(choices_of_doubles) : choices, [&](const choice& c) {
        s.threads = c.threads;
        s.lanes = c.threads * s.cluster;
        s.blocks = c.blocks;
        s.chunks = std::min(most, c.most_bytes / bytes) / s.group * s.group;
        const std::uint32_t all = pieces(capacity, s.lanes);
        s.more = all <= s.chunks ? 0 : pieces(all - s.chunks, s.group_of_more) * s.group_of_more;
        return s.chunks > 0 && s.more * bytes <= c.bytes_of_more;
    });
}

/// Threads across memory: neighbours have neighbouring rows. A row is shared where it would leave a lane too much, and
/// by more blocks where few rows beside each other would be read in small pieces, which costs more where they begin
/// anywhere. Pieces are sectors where rows begin at vectors, and elsewhere some of the 64 bytes or 128 that memory is
/// read by, or of 32 where there would be two at most.
bool share_across(register_rows& s, const row_program& r, std::uint32_t bytes, const rows_in_memory& at,
                  std::uint32_t most, bool late, std::uint32_t architecture) {
    struct choice {
        std::uint32_t longest, threads, most_bytes, blocks, bytes_of_more = 0;
    };
    static constexpr choice choices[] = {{8, 256, 64, 1},     {32, 256, 64, 5},          {128, 512, 64, 3},
                                         {8192, 512, 128, 2}, {far_longer, 384, 192, 2}, {far_longer, 1024, 96, 1}};
    static constexpr choice many_blocks[] = {{far_longer, 256, 128, 4, 96}};  // small ones overlap best
    static constexpr choice choices_of_doubles[] = {
        {8, 256, 64, 1}, {32, 256, 128, 4}, {128, 512, 96, 2}, {far_longer, 384, 192, 2}, {far_longer, 1024, 96, 1}};
    // Rows that want sixteen blocks, or of which few lie beside each other, are as quick read twice, and quicker where
    // they begin anywhere or amid a sector, are doubles, or hold beside them what is late. All that caches have are
    // quicker read once.
    constexpr std::uint32_t longest_of_many_blocks = 12288;
    const bool doubles = bytes > 4;
    const bool spread = !at.few && at.aligned && at.sectors && !doubles && !late && r.most() <= longest_of_many_blocks;
    const bool many = at.few || spread;
    const std::uint32_t capacity = r.most(), known = largest_cluster_of(architecture),
                        largest = many ? known : std::min(known, portable_cluster);
    const std::uint32_t wanted = at.aligned ? 128 : 256;  // bytes
    const std::uint32_t least = largest == 1 || at.few ? 32
                                : at.aligned           ? (doubles ? 96 : 64)
                                                       : (doubles ? wanted : 160);
    const std::uint32_t enough = late ? std::max(least, 128u) : least;
    s.across = true;
    const auto beside = [&] { return s.threads * s.cluster * s.chunks / capacity * at.widest; };
    const auto take = [&](const choice& c) {
        if (capacity > c.longest || (c.threads > 512 && largest > 1)) return false;
        s.threads = c.threads;
        s.blocks = c.blocks;
        s.own = std::min(most, c.most_bytes / bytes) / group_of_chunks * group_of_chunks;
        s.chunks = std::min({most, (c.most_bytes + c.bytes_of_more) / bytes, capacity});
        s.fitted = s.chunks < capacity;
        s.group = s.fitted ? group_of_chunks : 1;
        s.chunks = s.chunks / s.group * s.group;
        s.cluster = 1;
        while (s.cluster < largest && beside() < wanted) s.cluster *= 2;
        return beside() >= enough;
    };
    const std::span<const choice> shapes = spread    ? std::span<const choice>(many_blocks)
                                           : doubles ? std::span<const choice>(choices_of_doubles)
                                                     : choices;
    if (!std::ranges::any_of(shapes, take)) return false;
    constexpr std::uint32_t sector = 32;
    const std::uint32_t piece = at.aligned ? sector : std::clamp(std::bit_floor(beside()) / 2, sector, 128u);
    s.piece = std::min(32u, piece / at.widest);
    s.fitted ? s.fit(r.fewest() + 1, capacity) : s.take_together(bytes);
    return true;
}

/// A block, or a cluster, for the rows that lie side by side, `side` of them. Four small blocks a multiprocessor are
/// quickest where few blocks share a run, then three whose threads hold more.
bool share_runs(register_rows& s, std::uint32_t capacity, std::uint32_t side, std::uint32_t bytes, std::uint32_t most,
                std::uint32_t architecture, bool words) {
    struct choice {
        std::uint32_t threads, fewest_blocks, most_blocks, most_bytes, blocks, bytes_of_more;
    };
    static constexpr choice choices[] = {{128, 1, 1, 152, 8, 0},   {256, 1, 16, 128, 4, 96}, {256, 1, 16, 192, 3, 256},
                                         {256, 1, 1, 128, 4, 0},   {256, 1, 1, 192, 3, 0},   {512, 1, 1, 128, 2, 0},
                                         {384, 1, 1, 192, 2, 0},   {512, 1, 1, 152, 2, 0},   {512, 2, 16, 128, 2, 0},
                                         {384, 16, 16, 192, 2, 0}, {1024, 1, 1, 128, 1, 0}};
    constexpr std::uint32_t much_memory = 128;
    const std::uint32_t largest = largest_cluster_of(architecture);
    s.across = s.in_runs = true;
    s.side = side;
    s.group = group_of_chunks;
    for (const choice& c : choices) {
        if (c.bytes_of_more > 0 && !words) continue;
        if (c.bytes_of_more > much_memory && (bytes > 4 || largest == 1)) continue;
        const std::uint32_t own = std::min(most, c.most_bytes / bytes) / s.group * s.group;
        for (s.cluster = c.fewest_blocks; s.cluster <= std::min(largest, c.most_blocks); s.cluster *= 2) {
            s.threads = c.threads;
            s.lanes = s.threads / side * s.cluster;
            s.blocks = c.blocks;
            const std::uint32_t all = pieces(capacity, s.lanes);
            s.chunks = std::min(pieces(all, s.group) * s.group, own);
            s.more = all <= own ? 0 : pieces(all - own, s.group_of_more) * s.group_of_more;
            if (own > 0 && s.more * bytes <= c.bytes_of_more) return true;
        }
    }
    return false;
}

/// Of what is folded of rows beside each other.
std::uint32_t shared_bytes(const register_rows& s, const graph& g, const row_program& r) {
    if (!s.is_beside()) return 0;
    prelude unused(target::cuda);
    std::uint32_t bytes = 0;
    for (const std::vector<node_id>& phase : r.phases)
        for (const node_id fold : phase) bytes += fold_writer(g, fold, 0, unused).bytes();
    return bytes * (s.slots_of_lanes() + s.slots_of_blocks());
}

}  // namespace

void register_rows::fit(std::uint32_t shortest, std::uint32_t longest) {
    most_held = chunks;
    // As the formula of `fitted_rows` has it.
    const auto width = [&](std::uint32_t n) {
        const std::uint32_t most = std::max(1u, threads / pieces(n, cluster * most_held));
        return most < piece ? std::bit_floor(most) : most / piece * piece;
    };
    side = width(shortest), least_side = width(longest);
    sure = most_held, chunks = 0;
    for (std::uint32_t n = shortest; n <= longest; ++n) {
        const std::uint32_t lanes_of_row = cluster * (threads / width(n));
        sure = std::min(sure, (n - 1) / lanes_of_row);
        chunks = std::max(chunks, pieces(n, lanes_of_row));
    }
    chunks = pieces(chunks, group) * group;
    if (chunks <= own) return;
    more = pieces(chunks - own, group_of_more) * group_of_more;
    chunks = own;
    sure = std::min(sure, own);
}

void register_rows::take_together(std::uint32_t bytes) {
    constexpr std::uint32_t shortest = 4, bytes_under_way = 64;
    if (chunks <= shortest) together = std::max(1u, bytes_under_way / (chunks * bytes));
    rows = threads * together;
}

bool is_packed(const operand_class& at, const graph& g, const row_program& r) {
    return r.row.size() == 1 && at.head.kind == operand_kind::array && along(at, g, r.inner()) == stride_class::unit;
}

namespace {

bool writes_rows(const key& k, const graph& g, const row_program& r) {
    return std::ranges::any_of(
        k.outputs, [&](const operand_class& z) { return along(z, g, r.inner()) != stride_class::broadcast; });
}

std::optional<register_rows> hold(const key& k, const graph& g, const row_program& r, const row_values& values) {
    register_rows s;
    const std::vector<const operand_class*> arrays = streams(k, g, r);
    const std::uint32_t capacity = r.most();
    const std::uint32_t bytes = std::max(4u, values.held_bytes()), most = row_budget / std::max(1u, values.cost);
    if (bytes > 4) s.group_of_more /= 2;  // more would not fit registers beside what they hold
    s.kept = values.kept;
    bool held = false;
    if (!r.kept.empty() && runs_across(k, g, r.row_bits(), r.kept.back())) {
        const std::uint8_t side = k.axes[static_cast<std::size_t>(r.kept.back())].fine;
        register_rows runs = s;
        held = side != 0 && share_runs(runs, capacity, side, bytes, most, k.header.architecture, reads_words(k, g, r));
        if (held) {
            s = std::move(runs);
        } else {
            rows_in_memory at = across_memory(arrays, g, r.kept.back());
            const std::uint8_t columns = k.axes[static_cast<std::size_t>(r.kept.back())].bucket;
            at.few = (columns & bucket::few_columns) != 0 || (bytes <= 4 && (columns & bucket::several_columns) != 0);
            at.sectors = (columns & bucket::whole_sectors) != 0 && reads_words(k, g, r);
            held = share_across(s, r, bytes, at, most, !values.late.empty(), k.header.architecture);
        }
    } else {
        register_rows along = s;
        choose_vectors(along, arrays, g, r);
        held = share_along(along, capacity, bytes, most, writes_rows(k, g, r), k.header.architecture);
        if (held)
            s = std::move(along);
        else
            held = share_with_memory(s, capacity, bytes, most, k.header.architecture);
    }
    if (s.more > 0) values.place(s);
    constexpr std::uint32_t most_shared = 47 * 1024;
    if (!held || s.together * s.elements() > most || shared_bytes(s, g, r) > most_shared) return {};
    if (values.late.empty()) return s;
    constexpr std::uint32_t most_late = 200 * 1024;  // of a multiprocessor, where largest_cluster_of knows it
    values.place_late(s);
    const bool room = s.together == 1 && s.more == 0 && s.blocks * s.shared_bytes() <= most_late;
    return room ? std::optional(std::move(s)) : std::nullopt;
}

/// Whether rows along memory are quicker where registers hold less of them: blocks that share a row wait for each
/// other, the longer the more they are, and those that a multiprocessor has many registers of have few under way while
/// they write.
bool gains_by_less(const register_rows& s, bool writes) {
    constexpr std::uint32_t long_row = 256;  // lanes
    return !s.across && s.lanes >= long_row && (s.cluster > 1 || (s.blocks > 1 && writes));
}

}  // namespace

std::optional<register_rows> hold_in_registers(const key& k, const graph& g, const row_program& r) {
    if (r.bucket >= bucket::looped) return {};
    row_values values(g, r);
    auto s = hold(k, g, r, values);
    if (s && !gains_by_less(*s, writes_rows(k, g, r))) return s;
    if (largest_cluster_of(k.header.architecture) == large_cluster) values.late = values.read_late(k);
    if (values.late.empty()) return s;
    auto without_late = hold(k, g, r, values);
    return without_late ? without_late : s;
}

}  // namespace ingot::codegen
