// What is done to the leaves of a tree. A tree is built from the left, so a node takes over the list of its first
// operand and appends the leaves of the others: few are moved, as bytes, and no more of them than their rank fills.
// References to one buffer are taken and given back together (spare_references), lists are recycled (spare_blocks).
#include <ingot/leaves.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <new>

#include <ingot/expression.hpp>

namespace ingot {
namespace detail {

namespace {

/// Moves leaves, none of a higher rank than the one given, to where none are, and leaves none behind. Nothing in a leaf
/// points into it.
void relocate(leaf_record* to, const leaf_record* from, int n, int rank) noexcept {
    constexpr std::size_t head = sizeof(leaf_record) - sizeof(layout) + layout::bytes_of_rank(1);
    if (rank > 1) {
        // NOLINTNEXTLINE(bugprone-undefined-memory-manipulation): what moves is not used again where it was
        std::memcpy(static_cast<void*>(to), from, static_cast<std::size_t>(n) * sizeof(leaf_record));
        return;
    }
    for (const leaf_record* end = from + n; from != end; ++from, ++to)
        // NOLINTNEXTLINE(bugprone-undefined-memory-manipulation)
        std::memcpy(static_cast<void*>(to), from, head);
}

void drop_references(buffer* b, std::uint32_t count) noexcept {
    // The only holder needs no atomic subtraction: nobody is left who could copy a reference meanwhile.
    if (b->references.load(std::memory_order_acquire) == count ||
        b->references.fetch_sub(count, std::memory_order_acq_rel) == count) [[unlikely]]
        runtime::release_buffer(*b);
}

void end_with_thread() noexcept;

/// References that a thread has to spare. A tree has the same few buffers in many leaves, and a locked addition costs
/// more than all else that is done to a leaf: so they are taken from a buffer by the handful, leaves take them from
/// here and leave them here, and when a tree is dropped all that is here goes back. A buffer may so look shared, for a
/// while, that is not; whoever wants to know settles first (buffer_ref::use_count).
class spare_references {
public:
    void take(buffer& b) noexcept {
        line& l = line_of(b);
        if (l.of != &b || l.count == 0) [[unlikely]] {
            end_with_thread();
            claim(l, b);
            b.references.fetch_add(handful, std::memory_order_relaxed);
            l.count = handful;
        }
        --l.count;
    }
    void put(buffer& b) noexcept {
        line& l = line_of(b);
        if (l.of != &b) claim(l, b);
        ++l.count;
    }
    void settle() noexcept {
        for (; claimed_ != 0; claimed_ &= claimed_ - 1) empty(lines_[std::countr_zero(claimed_)]);
    }

private:
    static constexpr std::uint32_t handful = 8;
    static constexpr std::size_t line_count = 16;
    struct line {
        buffer* of = nullptr;
        std::uint32_t count = 0;
    };

    /// Arrays made one after another have control blocks side by side, and so lines of their own.
    line& line_of(buffer& b) noexcept {
        return lines_[reinterpret_cast<std::uintptr_t>(&b) / sizeof(buffer) % line_count];
    }
    void claim(line& l, buffer& b) noexcept {
        empty(l);
        l.of = &b;
        claimed_ |= 1u << (&l - lines_);
    }
    static void empty(line& l) noexcept {
        const line was = std::exchange(l, line{});  // first, for the end of foreign memory may be code that comes here
        if (was.count != 0) drop_references(was.of, was.count);
    }
    line lines_[line_count];
    std::uint32_t claimed_ = 0;  // bit i: line i
};

/// Blocks that a thread has to spare: every statement builds and drops a tree.
class spare_blocks {
public:
    /// An empty one with room for `leaves` and a few more.
    leaf_block& take(int leaves) {
        const int c = class_of(leaves);
        if (c == class_count) return *::new (allocate(leaves)) leaf_block{.room = static_cast<std::int16_t>(leaves)};
        shelf& s = shelves_[c];
        leaf_block* block = s.first;
        if (block == nullptr) [[unlikely]]
            return *::new (allocate(rooms[c])) leaf_block{.room = rooms[c]};
        s.first = block->next;
        --s.count;
        return *block;
    }
    /// Its records have ended.
    void put(leaf_block& block) noexcept {
        const int c = class_of(block.room);
        if (c == class_count || shelves_[c].count == most || !keeps_) [[unlikely]]
            return release(&block);
        shelf& s = shelves_[c];
        block.count = block.rank = 0;
        block.next = std::exchange(s.first, &block);
        ++s.count;
    }
    void give_back() noexcept {
        keeps_ = false;
        for (shelf& s : shelves_)
            while (s.first != nullptr) release(std::exchange(s.first, s.first->next));
    }

private:
    static constexpr int class_count = 2;
    static constexpr std::int16_t rooms[class_count] = {32, 128};
    static constexpr std::uint32_t most = 16;
    struct shelf {
        leaf_block* first = nullptr;
        std::uint32_t count = 0;
    };

    static int class_of(int leaves) noexcept {
        int c = 0;
        while (c < class_count && rooms[c] < leaves) ++c;
        return c;
    }
    static void* allocate(int leaves) {
        end_with_thread();
        return ::operator new(sizeof(leaf_block) + static_cast<std::size_t>(leaves) * sizeof(leaf_record),
                              std::align_val_t{alignof(leaf_block)});
    }
    static void release(leaf_block* block) noexcept { ::operator delete(block, std::align_val_t{alignof(leaf_block)}); }

    shelf shelves_[class_count];
    bool keeps_ = true;  // until the thread ends
};

struct tree_memory {
    spare_references references;
    spare_blocks blocks;
};
constinit thread_local tree_memory of_thread;

/// Gives back what the thread has to spare when it ends.
void end_with_thread() noexcept {
    struct thread_end {
        ~thread_end() {
            of_thread.references.settle();
            of_thread.blocks.give_back();
        }
    };
    thread_local const thread_end at_end;
    static_cast<void>(at_end);
}

/// Copies a leaf to where none is. By the same stores, for a processor waits where it reads what it wrote in other
/// pieces.
inline void duplicate(spare_references& references, leaf_record* to, const leaf_record* from, int rank) {
    if (rank > inline_rank) [[unlikely]] {
        ::new (to) leaf_record(*from);
    } else {
        relocate(to, from, 1, rank);
        if (buffer* b = from->memory.get()) references.take(*b);
    }
}

/// Joins `shape`, which broadcasts with what is there.
void widen(shape_room& room, int& rank, extents_ref shape) noexcept {
    if (shape.rank > rank) {
        std::copy_backward(room, room + rank, room + shape.rank);
        std::fill_n(room, shape.rank - rank, index_t{1});
        rank = shape.rank;
    }
    for (int j = 0; j < shape.rank; ++j) {
        index_t& extent = room[rank - shape.rank + j];
        if (extent == 1) extent = shape.data[j];
    }
}

int count_of(const leaf_part& part) noexcept { return part.list ? (*part.list)->count : part.single ? 1 : 0; }
leaf_record* first_of(const leaf_part& part) noexcept { return part.list ? (*part.list)->records() : part.single; }

/// The leaf that has an operand's shape, or null.
const leaf_record* holder_of(const leaf_part& part) noexcept {
    if (!part.list) return part.single;
    leaf_block& block = **part.list;
    return block.shape_at >= 0 ? block.records() + block.shape_at : nullptr;
}

/// What operands are most often: arrays of one shape on one device, and scalars after them.
bool all_alike(const leaf_part* parts, int n) noexcept {
    const leaf_record* a = holder_of(parts[0]);
    if (!a || !a->memory) return false;
    for (int k = 1; k < n; ++k) {
        const leaf_record* b = holder_of(parts[k]);
        if (!b) return false;
        if (!b->is_array()) continue;
        if (!b->memory || a->memory->device != b->memory->device || !same_extents(a->extents(), b->extents()))
            return false;
    }
    return true;
}

/// Broadcasts the operands. Returns which of them has the result's shape, or -1. Throws what join_leaves throws.
[[gnu::noinline]] int check_operands(const char* operation, const leaf_part* parts, int n) {
    shape_room rooms[most_arguments], room;
    extents_ref shapes[most_arguments];
    device_id device = no_device;
    if (const leaf_record* last = parts[n - 1].single; last && last->kind == operand_kind::text) --n;  // has no shape
    for (int k = 0; k < n; ++k) {
        device_id own = no_device;
        if (!parts[k].other) {
            const leaf_span leaves(first_of(parts[k]), count_of(parts[k]));
            const leaf_record* holder = holder_of(parts[k]);
            shapes[k] = holder ? holder->extents() : leaves.extents(rooms[k]);
            own = leaves.on_device();
        } else {
            shapes[k] = parts[k].other->shape;
            own = parts[k].other->device;
        }
        if (device == no_device)
            device = own;
        else if (own != no_device && own != device)
            throw_two_devices(operation, device, own);
    }
    int rank = 0;
    return broadcast_shapes(operation, shapes, n, room, rank);
}

/// An operand that is one leaf or a list of them.
struct run {
    leaf_record* first;
    const leaf_record* holder;  // of its shape
    int count, rank;

    explicit run(const leaf_part& part) noexcept {
        if (part.list) {
            leaf_block& block = **part.list;
            first = block.records();
            holder = block.shape_at >= 0 ? first + block.shape_at : nullptr;
            count = block.count;
            rank = block.rank;
        } else {
            holder = first = part.single;
            count = 1;
            rank = first->rank();
        }
    }
};

/// Appends an operand's leaves to a list that has room for them.
inline void append(tree_memory& memory, leaf_block& block, const leaf_part& part, const run& of) {
    if (of.rank > block.rank) block.rank = static_cast<std::int16_t>(of.rank);  // first, for a copy may throw
    leaf_record* to = block.records() + block.count;
    if (!part.taken) {
        for (const leaf_record* from = of.first; from != of.first + of.count; ++from, ++to) {
            duplicate(memory.references, to, from, of.rank);
            ++block.count;
        }
    } else {
        relocate(to, of.first, of.count, of.rank);
        block.count = static_cast<std::int16_t>(block.count + of.count);
        if (part.single)
            ::new (of.first) leaf_record(of.first->type);
        else if (*part.list != &no_leaves)
            memory.blocks.put(*std::exchange(*part.list, &no_leaves));
    }
}

/// Whether two leaves are what operands are most often: arrays of one shape on one device, or an array and a scalar.
inline bool are_alike(const leaf_record& a, const leaf_record& b) noexcept {
    if (!a.memory) return false;
    if (!b.memory) return !b.is_array();
    const int rank = a.where.rank();
    if (a.memory->device != b.memory->device || rank != b.where.rank()) return false;
    const index_t *m = a.where.shape(), *n = b.where.shape();
    for (int j = 0; j < rank; ++j)
        if (m[j] != n[j]) return false;
    return true;
}

}  // namespace

constinit leaf_block no_leaves;

void join_leaves(const char* operation, leaf_block*& to, const leaf_part* parts, int n) {
    // The checks come first: where they throw, the operands are as they were.
    const int source = all_alike(parts, n) ? 0 : check_operands(operation, parts, n);
    int total = 0;
    for (int k = 0; k < n; ++k) total += count_of(parts[k]);
    if (total == 0) return;
    tree_memory& memory = of_thread;
    const bool extend = parts[0].taken && parts[0].list && (*parts[0].list)->room >= total;
    leaf_block& block = extend ? *std::exchange(*parts[0].list, &no_leaves) : memory.blocks.take(total);
    to = &block;
    if (!extend || source != 0) block.shape_at = leaf_block::not_held;
    for (int k = extend ? 1 : 0; k < n; ++k) {
        const leaf_part& part = parts[k];
        if (part.other) continue;
        const run of(part);
        if (k == source && of.holder) block.shape_at = static_cast<std::int16_t>(block.count + (of.holder - of.first));
        append(memory, block, part, of);
    }
}

void join_leaves(const char* operation, leaf_block*& to, const leaf_record& a, const leaf_record& b) {
    if (!are_alike(a, b)) {
        const leaf_part parts[] = {{.single = const_cast<leaf_record*>(&a)}, {.single = const_cast<leaf_record*>(&b)}};
        return join_leaves(operation, to, parts, 2);
    }
    tree_memory& memory = of_thread;
    leaf_block& block = memory.blocks.take(2);
    to = &block;
    const int rank = a.where.rank();
    block.rank = static_cast<std::int16_t>(rank);
    block.shape_at = 0;
    duplicate(memory.references, block.records(), &a, rank);
    block.count = 1;
    duplicate(memory.references, block.records() + 1, &b, rank);
    block.count = 2;
}

void join_leaves(const char* operation, leaf_block*& to, leaf_block*& tree, const leaf_record& b) {
    leaf_block& block = *tree;
    if (block.shape_at < 0 || block.count == block.room || !are_alike(block.records()[block.shape_at], b)) {
        const leaf_part parts[] = {{.list = &tree, .taken = true}, {.single = const_cast<leaf_record*>(&b)}};
        return join_leaves(operation, to, parts, 2);
    }
    to = std::exchange(tree, &no_leaves);
    duplicate(of_thread.references, block.records() + block.count, &b, block.rank);
    ++block.count;
}

void join_leaves(const char* operation, leaf_block*& to, leaf_block*& tree, leaf_block*& other) {
    leaf_block &block = *tree, &b = *other;
    if (block.shape_at < 0 || b.shape_at < 0 || block.count + b.count > block.room || &block == &b ||
        !are_alike(block.records()[block.shape_at], b.records()[b.shape_at])) {
        const leaf_part parts[] = {{.list = &tree, .taken = true}, {.list = &other, .taken = true}};
        return join_leaves(operation, to, parts, 2);
    }
    to = std::exchange(tree, &no_leaves);
    relocate(block.records() + block.count, b.records(), b.count, b.rank);
    block.count = static_cast<std::int16_t>(block.count + b.count);
    if (b.rank > block.rank) block.rank = b.rank;
    of_thread.blocks.put(*std::exchange(other, &no_leaves));
}

void throw_tree_moved_from() { throw error("this expression was moved from and has no value"); }

void copy_leaves(leaf_block*& to, leaf_block& from) {
    if (from.count == 0) return;
    leaf_block& block = of_thread.blocks.take(from.count);
    to = &block;
    block.shape_at = from.shape_at;
    block.rank = from.rank;
    for (int i = 0; i < from.count; ++i) {
        duplicate(of_thread.references, block.records() + i, from.records() + i, from.rank);
        ++block.count;
    }
}

void drop_leaves(leaf_block& block) noexcept {
    tree_memory& memory = of_thread;
    leaf_record* const leaves = block.records();
    for (leaf_record *leaf = leaves, *end = leaves + block.count; leaf != end; ++leaf) {
        if (buffer* b = leaf->memory.get()) memory.references.put(*b);  // the records end without their destructors
        if (block.rank > inline_rank && leaf->is_array()) [[unlikely]]
            leaf->where.~layout();
    }
    memory.references.settle();
    memory.blocks.put(block);
}

void measure_leaves(leaf_block& block) noexcept {
    if (block.count == 0) return;
    const leaf_record* const leaves = block.records();
    block.shape_at = leaf_block::not_held;
    block.rank = 0;
    for (int i = block.count - 1; i >= 0; --i) {
        if (!leaves[i].is_array()) continue;
        block.shape_at = static_cast<std::int16_t>(i);
        block.rank = std::max(block.rank, static_cast<std::int16_t>(leaves[i].rank()));
    }
}

void leaf_span::gather(cursor& c) const noexcept {
    for (const leaf_record& leaf : std::span(first_, static_cast<std::size_t>(count_))) {
        operand& o = *c.operands++;
        o.kind = leaf.kind;
        o.type = leaf.type;
        o.exponent = leaf.exponent;
        if (leaf.is_array()) {
            o.where = &leaf.where;
            o.memory = leaf.memory.get();
        } else {
            o.bits[0] = leaf.value.bits;
            o.serial = leaf.value.serial;
        }
    }
}

extents_ref leaf_span::extents(shape_room& room) const noexcept {
    int rank = 0;
    for (int i = 0; i < count_; ++i) widen(room, rank, first_[i].extents());
    return {room, rank};
}

void leaf_span::apply(const axis_view& view, int bound) const {
    for (int i = 0; i < count_; ++i)
        if (first_[i].is_array()) first_[i].where = compose(first_[i].where, view, bound);
}

bool leaf_span::try_reshape(std::span<const index_t> shape, int bound) const {
    for (int i = 0; i < count_; ++i)
        if (first_[i].is_array() && !detail::try_reshape(first_[i].where, shape, bound)) return false;
    return true;
}

device_id leaf_span::on_device() const noexcept {
    for (int i = 0; i < count_; ++i)
        if (first_[i].memory) return first_[i].memory->device;
    return no_device;
}

std::uint32_t leaf_span::count(const buffer* b) const noexcept {
    std::uint32_t references = 0;
    for (int i = 0; i < count_; ++i) references += first_[i].memory.get() == b;
    return references;
}

}  // namespace detail

void runtime::settle_references() noexcept { detail::of_thread.references.settle(); }

}  // namespace ingot
