// The shapes are those that measured best: small blocks overlap best as long as a row leaves them registers for several
// blocks a multiprocessor, and only then do more threads, or blocks, share a row.
#include "codegen/cuda/row/layouts.hpp"

#include <algorithm>
#include <bit>
#include <span>

namespace ingot::codegen {

namespace {

constexpr std::uint32_t portable_cluster = 8, large_cluster = 16;
constexpr std::uint32_t far_longer = 1u << 31;  // than any row
constexpr std::uint32_t group_of_chunks = 4;

constexpr std::uint32_t pieces(std::uint32_t n, std::uint32_t size) { return (n + size - 1) / size; }
constexpr std::uint32_t whole(std::uint32_t n, std::uint32_t size) { return n / size * size; }

/// Puts into shared memory the chunks, of `all`, that registers do not hold.
void share_chunks(register_rows& s, std::uint32_t all, std::uint32_t in_registers) {
    const std::uint32_t once = s.shared_chunks_at_once;
    s.shared_chunks = all <= in_registers ? 0 : pieces(all - in_registers, once) * once;
}

/// Sets the members that follow from the rows' lengths; registers hold at most `in_registers` chunks of a lane.
void fit(register_rows& s, fitted_columns& f, std::uint32_t in_registers, std::uint32_t shortest,
         std::uint32_t longest) {
    f.max_chunks = s.chunks;
    // This computes what the formula row_elements::fitted_rows gives at a launch.
    const auto width = [&](std::uint32_t n) {
        const std::uint32_t most = std::max(1u, s.threads / pieces(n, s.cluster * f.max_chunks));
        return most < f.multiple ? std::bit_floor(most) : whole(most, f.multiple);
    };
    f.columns = width(shortest), f.min_columns = width(longest);
    s.min_chunks = f.max_chunks, s.chunks = 0;
    for (std::uint32_t n = shortest; n <= longest; ++n) {
        const std::uint32_t lanes_of_row = s.cluster * (s.threads / width(n));
        s.min_chunks = std::min(s.min_chunks, (n - 1) / lanes_of_row);
        s.chunks = std::max(s.chunks, pieces(n, lanes_of_row));
    }
    s.chunks = pieces(s.chunks, s.chunks_at_once) * s.chunks_at_once;
    if (s.chunks <= in_registers) return;
    share_chunks(s, s.chunks, in_registers);
    s.chunks = in_registers;
    s.min_chunks = std::min(s.min_chunks, in_registers);
}

/// Gives short rows a lane each, and a thread several of them.
void batch_rows(register_rows& s, std::uint32_t bytes) {
    constexpr std::uint32_t shortest = 4, bytes_under_way = 64;
    if (s.chunks <= shortest) s.rows_per_thread = std::max(1u, bytes_under_way / (s.chunks * bytes));
    s.rows_per_block = s.threads * s.rows_per_thread;
}

std::string blocks_of(const register_rows& s) { return "a cluster of " + std::to_string(s.cluster) + " blocks"; }

/// The text of neighbouring rows, whose lanes are `lanes`.
std::string neighbours(const register_rows& s, const std::string& lanes) {
    return lanes + ", neighbours read neighbouring rows" +
           (s.rows_per_thread > 1 ? ", " + std::to_string(s.rows_per_thread) + " rows a thread" : "") +
           (s.cluster > 1 ? ", " + blocks_of(s) : "");
}

}  // namespace

bool has_large_clusters(std::uint32_t architecture) { return architecture == 90 || architecture == 100; }

std::uint32_t largest_cluster_of(std::uint32_t architecture) {
    if (architecture < 90) return 1;
    return has_large_clusters(architecture) ? large_cluster : portable_cluster;
}

/// Threads along memory: a few lanes of a warp, a block, a cluster, with at most `most_bytes` each. Three small blocks
/// a multiprocessor whose threads have many elements overlap better than two large ones, a block of two warps better
/// than one of eight.
bool share_along(register_rows& s, const row_limits& of, bool writes_rows) {
    struct shape {
        std::uint32_t lanes, cluster, most_bytes, resident_blocks;
    };
    // Rows that begin anywhere are mostly shorter than their class allows, and with few lanes fewer are idle. Where
    // nothing is written along rows instructions are the limit, and few lanes have fewer for each element.
    static constexpr shape few_lanes[] = {{1, 1, 32, 1}, {2, 1, 32, 1}, {4, 1, 128, 1}, {8, 1, 96, 1}, {16, 1, 128, 1}};
    static constexpr shape many_lanes[] = {{1, 1, 16, 1}, {2, 1, 16, 1},  {4, 1, 16, 1},
                                           {8, 1, 16, 1}, {16, 1, 16, 1}, {16, 1, 48, 1}};
    static constexpr shape middle_shapes[] = {{32, 1, 128, 1}, {64, 1, 128, 16}};
    static constexpr shape small_block{128, 1, 128, 1}, large_block{512, 1, 32, 1};
    static constexpr shape long_shapes[] = {{256, 1, 128, 4},   {256, 1, 192, 3},   {512, 2, 192, 3},
                                            {512, 1, 128, 2},   {1024, 4, 192, 3},  {1024, 1, 128, 1},
                                            {2048, 4, 128, 2},  {2048, 8, 192, 3},  {4096, 8, 128, 2},
                                            {4096, 16, 192, 3}, {8192, 16, 128, 2}, {8192, 8, 128, 1}};
    constexpr std::uint32_t shortest_class = 32;  // shorter rows have a length known to a power of two
    const std::uint32_t sector = s.sector;
    const auto take = [&](const shape& c) {
        const bool at_once = of.capacity < shortest_class && of.capacity <= c.lanes * s.each;
        if ((of.capacity * of.bytes > c.lanes * c.most_bytes && !at_once) || c.cluster > of.largest_cluster)
            return false;
        s.lanes = c.lanes;
        s.sector = std::min(sector, c.lanes * s.each);  // else a row might begin behind the first chunk
        s.cluster = c.cluster;
        s.resident_blocks = c.resident_blocks;
        s.threads = c.lanes <= 32 ? 64 : c.lanes / c.cluster;
        s.rows_per_block = s.threads * s.cluster / s.lanes;
        s.chunks = pieces(of.capacity, s.lanes * s.each) + (s.shifted ? 1 : 0);
        return s.elements() <= of.elements;
    };
    const bool few = s.shifted || (!writes_rows && s.each > 1);
    // Half of a large block may be idle. It is still quicker where rows of one word an element are written that occupy
    // most of it, unless a word holds two elements and a thread would read one vector.
    constexpr std::uint32_t most_of_small_block = 12 * 1024, vector_of_words = 4;
    const bool small = s.shifted || !writes_rows || of.bytes > 4 || s.each > vector_of_words ||
                       of.capacity * of.bytes <= most_of_small_block;
    return std::ranges::any_of(few ? std::span<const shape>(few_lanes) : many_lanes, take) ||
           std::ranges::any_of(middle_shapes, take) || (small && take(small_block)) ||
           (!s.shifted && take(large_block)) || std::ranges::any_of(long_shapes, take);
}

/// Rows along memory that exceed the registers of eight blocks: a large cluster holds the rest in shared memory,
/// element by element.
bool share_with_memory(register_rows& s, const row_limits& of) {
    struct shape {
        std::uint32_t threads, most_bytes, resident_blocks, most_shared_bytes;
    };
    // With two blocks a multiprocessor one computes while the other reads. For doubles one block is as quick where much
    // of them would lie in shared memory.
    static constexpr shape shapes[] = {{512, 128, 2, 128}};
    static constexpr shape shapes_of_doubles[] = {{512, 128, 2, 64}, {1024, 128, 1, 0}};
    constexpr std::uint32_t most_in_registers = 1u << 20;  // bytes
    if (of.capacity * of.bytes <= most_in_registers || !has_large_clusters(of.architecture)) return false;
    s.cluster = large_cluster;
    s.chunks_at_once = group_of_chunks;
    const auto take = [&](const shape& c) {
        s.threads = c.threads;
        s.lanes = c.threads * s.cluster;
        s.resident_blocks = c.resident_blocks;
        s.chunks = whole(std::min(of.elements, c.most_bytes / of.bytes), s.chunks_at_once);
        share_chunks(s, pieces(of.capacity, s.lanes), s.chunks);
        return s.chunks > 0 && s.shared_chunks * of.bytes <= c.most_shared_bytes;
    };
    return std::ranges::any_of(of.bytes > 4 ? std::span<const shape>(shapes_of_doubles) : shapes, take);
}

/// Threads across memory: neighbours have neighbouring rows. Lanes share a row that is too much for one, and more
/// blocks share it where few rows beside each other would be read in small pieces, which costs more where they begin
/// anywhere. Pieces are sectors where rows begin at vectors; elsewhere parts of the 64 or 128 bytes in which memory is
/// read, or of 32 where there would be two at most.
bool share_across(register_rows& s, const row_program& r, const row_limits& of, const rows_in_memory& at, bool defers) {
    struct shape {
        std::uint32_t longest, threads, most_bytes, resident_blocks, most_shared_bytes = 0;
    };
    static constexpr shape shapes_of_words[] = {{8, 256, 64, 1},           {32, 256, 64, 5},
                                                {128, 512, 64, 3},         {8192, 512, 128, 2},
                                                {far_longer, 384, 192, 2}, {far_longer, 1024, 96, 1}};
    static constexpr shape shapes_of_scans[] = {{8, 256, 64, 1}, {32, 256, 128, 4}, {32, 256, 256, 2}};  // by one lane
    static constexpr shape many_blocks[] = {{far_longer, 256, 128, 4, 96}};  // small ones overlap best
    static constexpr shape shapes_of_doubles[] = {
        {8, 256, 64, 1}, {32, 256, 128, 4}, {128, 512, 96, 2}, {far_longer, 384, 192, 2}, {far_longer, 1024, 96, 1}};
    // Reading twice is as quick for rows that need sixteen blocks or of which few lie beside each other, and quicker
    // where these begin anywhere or within a sector, are doubles, or have deferred loads beside the held values. Rows
    // that all lie in caches are quicker read once.
    constexpr std::uint32_t longest_of_many_blocks = 12288;
    const bool doubles = of.bytes > 4;
    const bool spread =
        !at.few && at.aligned && at.sectors && !doubles && !defers && of.capacity <= longest_of_many_blocks;
    const bool many = at.few || spread;
    const std::uint32_t largest = many ? of.largest_cluster : std::min(of.largest_cluster, portable_cluster);
    const std::uint32_t target_bytes = at.aligned ? 128 : 256;  // bytes
    const std::uint32_t least = largest == 1 || at.few ? 32
                                : at.aligned           ? (doubles ? 96 : 64)
                                                       : (doubles ? target_bytes : 160);
    const std::uint32_t enough = defers ? std::max(least, 128u) : least;
    std::uint32_t in_registers = 0;
    bool fits = false;  // a block has as many rows as its lanes can hold
    const auto beside = [&] { return s.threads * s.cluster * s.chunks / of.capacity * at.widest; };
    const auto take = [&](const shape& c) {
        if (of.capacity > c.longest || (c.threads > 512 && largest > 1)) return false;
        s.threads = c.threads;
        s.resident_blocks = c.resident_blocks;
        in_registers = whole(std::min(of.elements, c.most_bytes / of.bytes), group_of_chunks);
        s.chunks = std::min({of.elements, (c.most_bytes + c.most_shared_bytes) / of.bytes, of.capacity});
        fits = s.chunks < of.capacity;
        if (s.scans && fits) return false;
        s.chunks_at_once = fits ? group_of_chunks : 1;
        s.chunks = whole(s.chunks, s.chunks_at_once);
        s.cluster = 1;
        while (s.cluster < largest && beside() < target_bytes) s.cluster *= 2;
        return beside() >= enough;
    };
    const std::span<const shape> shapes = s.scans   ? std::span<const shape>(shapes_of_scans)
                                          : spread  ? many_blocks
                                          : doubles ? std::span<const shape>(shapes_of_doubles)
                                                    : shapes_of_words;
    if (!std::ranges::any_of(shapes, take)) return false;
    if (!fits) {
        s.layout = rows_across_memory{};
        batch_rows(s, of.bytes);
        return true;
    }
    constexpr std::uint32_t sector = 32;
    const std::uint32_t piece = at.aligned ? sector : std::clamp(std::bit_floor(beside()) / 2, sector, 128u);
    fitted_columns f{.multiple = std::min(32u, piece / at.widest)};
    fit(s, f, in_registers, r.fewest() + 1, of.capacity);
    s.layout = f;
    return true;
}

/// A block, or a cluster, for `columns` rows that lie side by side. Four small blocks a multiprocessor are quickest
/// where few blocks share a run, then three whose threads hold more.
bool share_runs(register_rows& s, const row_limits& of, std::uint32_t columns, bool reads_words) {
    struct shape {
        std::uint32_t threads, fewest_blocks, most_blocks, most_bytes, resident_blocks, most_shared_bytes;
    };
    static constexpr shape shapes[] = {{128, 1, 1, 152, 8, 0},   {256, 1, 16, 128, 4, 96}, {256, 1, 16, 192, 3, 256},
                                       {256, 1, 1, 128, 4, 0},   {256, 1, 1, 192, 3, 0},   {512, 1, 1, 128, 2, 0},
                                       {384, 1, 1, 192, 2, 0},   {512, 1, 1, 152, 2, 0},   {512, 2, 16, 128, 2, 0},
                                       {384, 16, 16, 192, 2, 0}, {1024, 1, 1, 128, 1, 0}};
    constexpr std::uint32_t much_memory = 128;
    const std::uint32_t largest = of.largest_cluster;
    s.layout = run_of_rows{columns};
    s.chunks_at_once = group_of_chunks;
    for (const shape& c : shapes) {
        if (c.most_shared_bytes > 0 && !reads_words) continue;
        if (c.most_shared_bytes > much_memory && (of.bytes > 4 || largest == 1)) continue;
        const std::uint32_t in_registers = whole(std::min(of.elements, c.most_bytes / of.bytes), s.chunks_at_once);
        for (s.cluster = c.fewest_blocks; s.cluster <= std::min(largest, c.most_blocks); s.cluster *= 2) {
            s.threads = c.threads;
            s.lanes = s.threads / columns * s.cluster;
            s.resident_blocks = c.resident_blocks;
            const std::uint32_t all = pieces(of.capacity, s.lanes);
            s.chunks = std::min(pieces(all, s.chunks_at_once) * s.chunks_at_once, in_registers);
            share_chunks(s, all, in_registers);
            if (in_registers > 0 && s.shared_chunks * of.bytes <= c.most_shared_bytes) return true;
        }
    }
    return false;
}

std::string rows_along_memory::holders(const register_rows& s) const {
    if (s.cluster > 1) return blocks_of(s) + " a row";
    return s.rows_per_block > 1 ? std::to_string(s.lanes) + " lanes a row" : "a block a row";
}

std::string rows_across_memory::holders(const register_rows& s) const { return neighbours(s, "a lane a row"); }

std::string fitted_columns::holders(const register_rows& s) const {
    return neighbours(s, "as few lanes a row as hold it");
}

std::string run_of_rows::holders(const register_rows& s) const {
    return "the rows of a run of memory " + (s.cluster > 1 ? blocks_of(s) : "a block");
}

}  // namespace ingot::codegen
