// What is done to the leaves of a tree. Building a tree moves every leaf once a level and takes and gives back a
// reference for each array in it: so a leaf is moved as bytes, and no more of them than its rank fills, and references
// to one buffer are taken and given back together (spare_references).
#include <ingot/leaves.hpp>

#include <algorithm>
#include <atomic>
#include <bit>

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

/// References that a thread has to spare. A tree has the same few buffers in many leaves, and a locked addition costs
/// more than all else that is done to a leaf: so they are taken from a buffer by the handful, leaves take them from
/// here and leave them here, and when a tree is dropped all that is here goes back. A buffer may so look shared, for a
/// while, that is not; whoever wants to know settles first (buffer_ref::use_count).
class spare_references {
public:
    void take(buffer& b) noexcept {
        line& l = line_of(b);
        if (l.of != &b || l.count == 0) [[unlikely]] {
            give_back_at_end();
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
    static void give_back_at_end() noexcept;

    line lines_[line_count];
    std::uint32_t claimed_ = 0;  // bit i: line i
};

constinit thread_local spare_references spare;

void spare_references::give_back_at_end() noexcept {
    struct thread_end {
        ~thread_end() { spare.settle(); }
    };
    thread_local const thread_end at_end;
    static_cast<void>(at_end);
}

/// Copies a leaf to where none is. By the same stores, for a processor waits where it reads what it wrote in other
/// pieces.
void duplicate(spare_references& references, leaf_record* to, const leaf_record* from, int rank) {
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

/// The leaf that has an operand's shape, or null.
const leaf_record* holder_of(const leaf_part& part) noexcept {
    if (!part.block) return part.first;
    return part.block->shape_at >= 0 ? part.first + part.block->shape_at : nullptr;
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
    if (const leaf_record* last = parts[n - 1].first; last && last->kind == operand_kind::text) --n;  // has no shape
    for (int k = 0; k < n; ++k) {
        device_id own = no_device;
        if (parts[k].first) {
            const leaf_span leaves(parts[k].first, parts[k].block ? parts[k].block->count : 1);
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

}  // namespace

void join_leaves(const char* operation, leaf_block& to, leaf_record* leaves, const leaf_part* parts, int n) {
    // The checks come first: where they throw, the operands are as they were.
    const int source = all_alike(parts, n) ? 0 : check_operands(operation, parts, n);
    spare_references& references = spare;
    int at = 0, highest = 0;
    for (int k = 0; k < n; ++k) {
        const leaf_part& part = parts[k];
        if (!part.first) continue;
        const int count = part.block ? part.block->count : 1, rank = part.block ? part.block->rank : part.first->rank();
        if (const leaf_record* holder = holder_of(part); k == source && holder)
            to.shape_at = static_cast<std::int16_t>(at + (holder - part.first));
        highest = std::max(highest, rank);
        if (part.taken) {
            relocate(leaves + at, part.first, count, rank);
            to.count = static_cast<std::int16_t>(at += count);
            if (part.block)
                *part.block = leaf_block{};
            else
                ::new (part.first) leaf_record(part.first->type);
        } else {
            for (int i = 0; i < count; ++i) {
                duplicate(references, leaves + at, part.first + i, rank);
                to.count = static_cast<std::int16_t>(++at);
            }
        }
    }
    to.rank = static_cast<std::int16_t>(highest);
}

void throw_tree_moved_from() { throw error("this expression was moved from and has no value"); }

void copy_leaves(leaf_block& to, leaf_record* room, const leaf_block& from, const leaf_record* leaves) {
    for (int i = 0; i < from.count; ++i) {
        duplicate(spare, room + i, leaves + i, from.rank);
        ++to.count;
    }
    to = from;
}

void take_leaves(leaf_block& to, leaf_record* room, leaf_block& from, leaf_record* leaves) noexcept {
    to = std::exchange(from, leaf_block{});
    relocate(room, leaves, to.count, to.rank);
}

void drop_leaves(leaf_block& block, leaf_record* leaves) noexcept {
    spare_references& references = spare;
    for (leaf_record* leaf = leaves; leaf != leaves + block.count; ++leaf) {
        if (!leaf->is_array()) continue;
        leaf->where.~layout();
        if (buffer* b = leaf->memory.get()) references.put(*b);  // the records end without their destructors
    }
    references.settle();
}

void measure_leaves(leaf_block& block, const leaf_record* leaves) noexcept {
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

void runtime::settle_references() noexcept { detail::spare.settle(); }

}  // namespace ingot
