// Operations on the leaves of a tree. A node links the lists of its operands. Leaves are copied where their array or
// tree stays in use: as bytes, and only as many as their rank fills. References to one buffer are taken and returned
// together (spare_references); parts of lists are recycled (spare_blocks).
#include <ingot/core/leaves.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <new>

#include <ingot/core/expression.hpp>

#include "runtime/system/thread_exit.hpp"

namespace ingot {
namespace detail {

namespace {

void drop_references(buffer* b, std::uint32_t count) noexcept {
    // The only holder needs no atomic subtraction: no other thread can copy a reference meanwhile.
    if (b->references.load(std::memory_order_acquire) == count ||
        b->references.fetch_sub(count, std::memory_order_acq_rel) == count) [[unlikely]]
        runtime::release_buffer(*b);
}

/// Makes the thread return its spare references and blocks when it ends.
void end_with_thread() noexcept;

/// Spare references of a thread. A tree has the same few buffers in many leaves, and a locked addition costs more than
/// all other work on a leaf. So the thread takes a handful of references from a buffer at once; leaves take references
/// from here and return them here, and dropping a tree returns all of them to the buffers. Meanwhile a buffer may look
/// shared that is not; a caller that needs the exact count settles first (buffer_ref::use_count).
class spare_references {
public:
    void take(buffer& b) noexcept {
        line& l = line_of(b);
        if (l.of != &b || l.count == 0) [[unlikely]]
            return refill(l, b);
        --l.count;
    }
    void put(buffer& b) noexcept {
        line& l = line_of(b);
        if (l.of != &b) [[unlikely]]
            claim(l, b);
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

    /// Consecutively made arrays have adjacent control blocks, and so different lines.
    line& line_of(buffer& b) noexcept {
        return lines_[reinterpret_cast<std::uintptr_t>(&b) / sizeof(buffer) % line_count];
    }
    [[gnu::noinline]] void refill(line& l, buffer& b) noexcept {
        claim(l, b);
        b.references.fetch_add(handful, std::memory_order_relaxed);
        l.count = handful - 1;
    }
    [[gnu::noinline]] void claim(line& l, buffer& b) noexcept {
        end_with_thread();
        empty(l);
        l.of = &b;
        claimed_ |= 1u << (&l - lines_);
    }
    static void empty(line& l) noexcept {
        const line was = std::exchange(l, line{});  // first: ending foreign memory may run code that comes back here
        if (was.count != 0) drop_references(was.of, was.count);
    }
    line lines_[line_count];
    std::uint32_t claimed_ = 0;  // bit i: line i
};

/// Spare parts of lists of a thread: every statement builds and drops a tree.
class spare_blocks {
public:
    /// An empty part that is in no list.
    leaf_block& take() {
        leaf_block* block = first_;
        if (block == nullptr) [[unlikely]]
            return make();
        first_ = block->next;
        ++free_;
        block->next = nullptr;
        return *block;
    }
    /// Takes back a whole list, all of whose leaves have ended.
    void put(leaf_block& list, int parts) noexcept {
        if (parts > free_) [[unlikely]]
            if (!begin() || parts > free_) return release(&list);
        free_ -= parts;
        list.last->next = first_;
        first_ = &list;
    }
    /// Frees all parts. None is kept until the next use.
    void give_back() noexcept {
        release(std::exchange(first_, nullptr));
        free_ = none;
        begun_ = false;
    }

private:
    static constexpr int none = 0, most = 128;

    /// Returns false if it has begun already.
    [[gnu::noinline]] bool begin() noexcept {
        if (std::exchange(begun_, true)) return false;
        end_with_thread();
        free_ = most;
        return true;
    }
    [[gnu::noinline]] static leaf_block& make() {
        return *::new (::operator new(sizeof(leaf_block) + leaf_block::room * sizeof(leaf_record),
                                      std::align_val_t{alignof(leaf_block)})) leaf_block;
    }
    [[gnu::noinline]] static void release(leaf_block* list) noexcept {
        while (list != nullptr)
            ::operator delete(std::exchange(list, list->next), std::align_val_t{alignof(leaf_block)});
    }

    leaf_block* first_ = nullptr;
    int free_ = none;  // room for more parts
    bool begun_ = false;
};

struct tree_memory {
    spare_references references;
    spare_blocks blocks;
};
constinit thread_local tree_memory of_thread;

/// Hooks the thread's end. Destructors of thread_local objects may evaluate expressions afterwards; the next one hooks
/// it again.
void end_with_thread() noexcept {
    constinit static thread_local bool is_set = false;
    constinit static thread_local runtime::thread_exit_hook at_exit{[](runtime::thread_exit_hook&) noexcept {
        is_set = false;
        of_thread.references.settle();
        of_thread.blocks.give_back();
    }};
    if (!std::exchange(is_set, true)) runtime::at_thread_exit(at_exit);
}

/// Moves a leaf, as bytes and no more of them than its rank fills, to where none is, and leaves none behind. Nothing in
/// a leaf points into it.
inline void relocate(leaf_record* to, const leaf_record* from, int rank) noexcept {
    constexpr std::size_t head = sizeof(leaf_record) - sizeof(layout) + layout::bytes_of_rank(1);
    if (rank > 1)
        // NOLINTNEXTLINE(bugprone-undefined-memory-manipulation): what moves is not used again where it was
        std::memcpy(static_cast<void*>(to), from, sizeof(leaf_record));
    else
        // NOLINTNEXTLINE(bugprone-undefined-memory-manipulation)
        std::memcpy(static_cast<void*>(to), from, head);
}

/// Copies a leaf to uninitialised memory. It stores in the same pieces as a move: the processor stalls where it reads
/// in other pieces than it wrote.
inline void duplicate(spare_references& references, leaf_record* to, const leaf_record* from, int rank) {
    if (rank > inline_rank) [[unlikely]] {
        ::new (to) leaf_record(*from);
    } else {
        relocate(to, from, rank);
        if (buffer* b = from->memory.get()) references.take(*b);
    }
}

/// Broadcasts `shape` into `room`; the caller has checked that it fits.
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

int count_of(const leaf_part& part) noexcept { return part.list ? (*part.list)->total : part.single ? 1 : 0; }
leaf_span leaves_of(const leaf_part& part) noexcept {
    return part.list ? leaf_span(**part.list) : leaf_span(*part.single);
}

/// The leaf that has the operand's shape, or null.
const leaf_record* holder_of(const leaf_part& part) noexcept { return part.list ? (*part.list)->holder : part.single; }

/// Whether the operands are the most common ones: arrays of one shape on one device, and scalars after them.
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

/// Broadcasts the operands. Returns the number of the one with the result's shape, or -1. Throws what join_leaves
/// throws.
[[gnu::noinline]] int check_operands(const char* operation, const leaf_part* parts, int n) {
    shape_room rooms[most_arguments], room;
    extents_ref shapes[most_arguments];
    device_id device = no_device;
    bool mixed = false;
    if (const leaf_record* last = parts[n - 1].single; last && last->kind == operand_kind::text) --n;  // no shape
    for (int k = 0; k < n; ++k) {
        device_id own = no_device;
        if (!parts[k].other) {
            const leaf_span leaves = leaves_of(parts[k]);
            const leaf_record* holder = holder_of(parts[k]);
            shapes[k] = holder ? holder->extents() : leaves.extents(rooms[k]);
            own = leaves.on_device();
        } else {
            shapes[k] = parts[k].other->shape;
            own = parts[k].other->device;
        }
        if (!may_meet(device, own)) throw_two_devices(operation, device, own);
        mixed |= device != no_device && own != no_device && device != own;
        meet(device, own);
    }
    int rank = 0;
    const int source = broadcast_shapes(operation, shapes, n, room, rank);
    return mixed ? -1 : source;  // the holder's device is that of the whole
}

/// The last part of a list, with room for another leaf.
inline leaf_block& part_with_room(spare_blocks& blocks, leaf_block& list) {
    leaf_block* part = list.last;
    if (part->count == leaf_block::room) {
        part = list.last = part->next = &blocks.take();
        part->count = 0;
    }
    return *part;
}

/// Appends a copy of a leaf whose rank is at most the list's.
inline leaf_record* append(tree_memory& memory, leaf_block& list, const leaf_record& leaf) {
    leaf_block& part = part_with_room(memory.blocks, list);
    leaf_record* const to = part.end();
    duplicate(memory.references, to, &leaf, list.rank);
    ++part.count;
    ++list.total;
    return to;
}

inline void link(leaf_block& list, leaf_block& behind) noexcept {
    list.last->next = &behind;
    list.last = behind.last;
    list.total += behind.total;
    if (behind.rank > list.rank) list.rank = behind.rank;
}

/// An empty list.
inline leaf_block& make_list(spare_blocks& blocks) {
    leaf_block& list = blocks.take();
    list.count = list.rank = 0;
    list.total = 0;
    list.holder = nullptr;
    list.last = &list;
    return list;
}

/// Appends an operand's leaves. Returns the appended leaf that has the operand's shape, or null.
leaf_record* append(tree_memory& memory, leaf_block& list, const leaf_part& part) {
    if (part.other) return nullptr;
    if (part.list && part.taken) {
        if (*part.list == &no_leaves) return nullptr;
        leaf_block& behind = *std::exchange(*part.list, &no_leaves);
        link(list, behind);
        return behind.holder;
    }
    const leaf_record* const holder = holder_of(part);
    const int rank = part.list ? (*part.list)->rank : holder->rank();
    if (rank > list.rank) list.rank = static_cast<std::int16_t>(rank);
    if (part.single && part.taken) {
        leaf_block& end = part_with_room(memory.blocks, list);
        leaf_record* const to = end.end();
        relocate(to, part.single, rank);
        ++end.count;
        ++list.total;
        ::new (part.single) leaf_record(part.single->type);
        return to;
    }
    leaf_record* copy_of_holder = nullptr;
    leaves_of(part).for_each([&](const leaf_record& leaf) {
        leaf_record* const copy = append(memory, list, leaf);
        if (&leaf == holder) copy_of_holder = copy;
    });
    return copy_of_holder;
}

/// Whether two leaves are the most common operands: arrays of one shape on one device, or an array and a scalar.
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
    // The checks come first: where they throw, the operands are unchanged.
    const int source = all_alike(parts, n) ? 0 : check_operands(operation, parts, n);
    int total = 0;
    for (int k = 0; k < n; ++k) total += count_of(parts[k]);
    if (total == 0) return;
    tree_memory& memory = of_thread;
    const bool extend = parts[0].taken && parts[0].list && *parts[0].list != &no_leaves;
    leaf_block& list = extend ? *std::exchange(*parts[0].list, &no_leaves) : make_list(memory.blocks);
    to = &list;
    leaf_record* holder = extend && source == 0 ? list.holder : nullptr;
    list.holder = nullptr;
    for (int k = extend ? 1 : 0; k < n; ++k) {
        leaf_record* const own = append(memory, list, parts[k]);
        if (k == source) holder = own;
    }
    list.holder = holder;
}

namespace {

// Joins of less common operands are separate functions, so that the common join saves no registers for them.
[[gnu::noinline]] void join_any(const char* operation, leaf_block*& to, const leaf_record& a, const leaf_record& b) {
    const leaf_part parts[] = {{.single = const_cast<leaf_record*>(&a)}, {.single = const_cast<leaf_record*>(&b)}};
    join_leaves(operation, to, parts, 2);
}
[[gnu::noinline]] void join_any(const char* operation, leaf_block*& to, leaf_block*& tree, const leaf_record& b) {
    const leaf_part parts[] = {{.list = &tree, .taken = true}, {.single = const_cast<leaf_record*>(&b)}};
    join_leaves(operation, to, parts, 2);
}
[[gnu::noinline]] void join_any(const char* operation, leaf_block*& to, leaf_block*& tree, leaf_block*& other) {
    const leaf_part parts[] = {{.list = &tree, .taken = true}, {.list = &other, .taken = true}};
    join_leaves(operation, to, parts, 2);
}

}  // namespace

void join_leaves(const char* operation, leaf_block*& to, const leaf_record& a, const leaf_record& b) {
    if (!are_alike(a, b) || a.where.rank() > inline_rank) [[unlikely]]
        return join_any(operation, to, a, b);
    tree_memory& memory = of_thread;
    leaf_block& list = memory.blocks.take();
    leaf_record* const leaves = list.begin();
    const int rank = a.where.rank();
    to = &list;
    list.rank = static_cast<std::int16_t>(rank);
    list.count = 2;
    list.total = 2;
    list.holder = leaves;
    list.last = &list;
    relocate(leaves, &a, rank);
    relocate(leaves + 1, &b, rank);
    memory.references.take(*a.memory);
    if (buffer* const other = b.memory.get()) memory.references.take(*other);
}

void join_leaves(const char* operation, leaf_block*& to, leaf_block*& tree, const leaf_record& b) {
    leaf_block& list = *tree;
    if (list.holder == nullptr || !are_alike(*list.holder, b)) [[unlikely]]
        return join_any(operation, to, tree, b);
    to = std::exchange(tree, &no_leaves);
    append(of_thread, list, b);
}

void join_leaves(const char* operation, leaf_block*& to, leaf_block*& tree, leaf_block*& other) {
    leaf_block &list = *tree, &behind = *other;
    if (list.holder == nullptr || behind.holder == nullptr || &list == &behind ||
        !are_alike(*list.holder, *behind.holder)) [[unlikely]]
        return join_any(operation, to, tree, other);
    other = &no_leaves;
    to = std::exchange(tree, &no_leaves);
    link(list, behind);
}

void throw_tree_moved_from() { throw error("this expression was moved from and has no value"); }

void copy_leaves(leaf_block*& to, leaf_block& from) {
    if (from.total == 0) return;
    leaf_block* list = &from;
    leaf_block& copy = make_list(of_thread.blocks);
    to = &copy;
    copy.holder = append(of_thread, copy, {.list = &list});
}

void drop_leaves(leaf_block& list) noexcept {
    tree_memory& memory = of_thread;
    int parts = 0;
    for (leaf_block* part = &list; part != nullptr; part = part->next, ++parts)
        for (leaf_record& leaf : *part) {
            if (buffer* b = leaf.memory.get()) memory.references.put(*b);  // leaves end without their destructors
            if (list.rank > inline_rank && leaf.is_array()) [[unlikely]]
                leaf.where.~layout();
        }
    memory.references.settle();
    memory.blocks.put(list, parts);
}

void measure_leaves(leaf_block& list) noexcept {
    if (list.total == 0) return;
    list.holder = nullptr;
    list.rank = 0;
    leaf_span(list).for_each([&](leaf_record& leaf) {
        if (!leaf.is_array()) return;
        if (list.holder == nullptr || leaf.device().kind() == device_kind::distributed) list.holder = &leaf;
        list.rank = std::max(list.rank, static_cast<std::int16_t>(leaf.rank()));
    });
}

void leaf_span::gather(cursor& c) const noexcept {
    for_each([&](const leaf_record& leaf) {
        operand& o = *c.operands++;
        o.kind = leaf.kind;
        o.type = leaf.type;
        o.exponent = leaf.exponent;
        if (leaf.is_array()) {
            o.where = &leaf.where;
            o.memory = leaf.memory.get();
        } else {
            std::copy_n(leaf.value.bits, 2, o.bits);
            o.serial = leaf.value.serial;
        }
    });
}

extents_ref leaf_span::extents(shape_room& room) const noexcept {
    int rank = 0;
    for_each([&](const leaf_record& leaf) { widen(room, rank, leaf.extents()); });
    return {room, rank};
}

void leaf_span::apply(const axis_view& view, int bound) const {
    for_each([&](leaf_record& leaf) {
        if (leaf.is_array()) leaf.where = compose(leaf.where, view, bound);
    });
}

bool leaf_span::try_reshape(std::span<const index_t> shape, int bound) const {
    bool possible = true;
    for_each([&](leaf_record& leaf) {
        possible = possible && (!leaf.is_array() || detail::try_reshape(leaf.where, shape, bound));
    });
    return possible;
}

device_id leaf_span::on_device() const noexcept {
    device_id device = no_device;
    for_each([&](const leaf_record& leaf) {
        if (leaf.memory) meet(device, leaf.memory->device);
    });
    return device;
}

std::uint32_t leaf_span::count(const buffer* b) const noexcept {
    std::uint32_t references = 0;
    for_each([&](const leaf_record& leaf) { references += leaf.memory.get() == b; });
    return references;
}

}  // namespace detail

void runtime::settle_references() noexcept { detail::of_thread.references.settle(); }

}  // namespace ingot
