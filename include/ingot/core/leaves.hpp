// Leaves of trees: elements of a buffer seen through a layout, and scalars. All leaves are records of one type, and a
// tree over leaves alone is a list of them in program order. Joining, viewing, gathering, copying or dropping a tree is
// one loop in the library (runtime/trees/leaves.cpp), not a walk of templates; a node's type only says how many leaves
// there are.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include <ingot/core/buffer.hpp>
#include <ingot/core/door.hpp>
#include <ingot/core/dtype.hpp>
#include <ingot/core/export.hpp>
#include <ingot/core/layout.hpp>
#include <ingot/core/members.hpp>
#include <ingot/core/program.hpp>
#include <ingot/core/shape.hpp>

namespace ingot::detail {

/// Writes operands and attribute words in program order.
struct cursor {
    operand* operands;
    word* attributes;
};

/// A scalar's value of up to 16 bytes, and a serial number that is unique in the process; copies keep it.
struct scalar_value {
    std::uint64_t bits[2];
    std::uint64_t serial;
};

struct kernel_text;

/// One leaf: an array, a scalar, or a text, whose value is its address and binding. The alignment keeps every 16-byte
/// move within one cache line.
struct alignas(16) leaf_record {
    buffer_ref memory;  // an array's; null where it has no elements
    operand_kind kind;
    dtype type;
    exponent_class exponent = exponent_class::none;
    union {
        layout where;        // an array's
        scalar_value value;  // a scalar's
    };

    explicit leaf_record(dtype t) noexcept : kind(operand_kind::array), type(t), where() {}
    leaf_record(dtype t, buffer_ref m, layout w) noexcept
        : memory(std::move(m)), kind(operand_kind::array), type(t), where(std::move(w)) {}
    leaf_record(dtype t, scalar_value v, exponent_class e) noexcept
        : kind(operand_kind::scalar), type(t), exponent(e), value(v) {}
    leaf_record(const kernel_text& t, std::uint64_t binding) noexcept
        : kind(operand_kind::text), type(dtype::b1), value{{reinterpret_cast<std::uintptr_t>(&t), binding}, 0} {}
    leaf_record(const leaf_record& other)
        : memory(other.memory), kind(other.kind), type(other.type), exponent(other.exponent), value() {
        if (is_array())
            ::new (&where) layout(other.where);
        else
            value = other.value;
    }
    leaf_record(leaf_record&& other) noexcept
        : memory(std::move(other.memory)), kind(other.kind), type(other.type), exponent(other.exponent), value() {
        if (is_array())
            ::new (&where) layout(std::move(other.where));
        else
            value = other.value;
    }
    leaf_record& operator=(leaf_record other) noexcept {
        this->~leaf_record();
        return *::new (this) leaf_record(std::move(other));
    }
    ~leaf_record() {
        if (is_array()) where.~layout();
    }

    bool is_array() const noexcept { return kind == operand_kind::array; }
    extents_ref extents() const noexcept {
        return is_array() ? extents_ref{where.shape(), where.rank()} : extents_ref{nullptr, 0};
    }
    int rank() const noexcept { return is_array() ? where.rank() : 0; }
    device_id device() const noexcept { return memory ? memory->device : no_device; }
};

/// A block of a tree's leaves, linked to the block behind it. A tree that becomes an operand of another is linked
/// behind the leaves before it, and no leaf moves. Threads that build trees recycle blocks (runtime/trees/leaves.cpp).
/// The alignment keeps the used part of a leaf of low rank in one cache line.
struct alignas(64) leaf_block {
    static constexpr int room = 4;  // capacity in leaves
    std::int16_t count = 0;         // leaves in this block
    leaf_block* next = nullptr;     // the block behind it; in the free list, the next free block
    // The first block of a tree also has, for all blocks:
    std::int16_t rank = 0;          // highest rank of a leaf
    std::int32_t total = 0;         // leaves in all; 0: moved from
    leaf_record* holder = nullptr;  // a leaf that has the shape of the whole, or null
    leaf_block* last = nullptr;

    leaf_record* begin() noexcept { return reinterpret_cast<leaf_record*>(this + 1); }
    leaf_record* end() noexcept { return begin() + count; }
};

/// Consecutive leaves: a single one, or some of a tree's, with the members of every node (expression.hpp).
class leaf_span {
public:
    explicit leaf_span(leaf_record& one) noexcept : first_(&one), count_(1) {}
    /// All leaves of a tree.
    explicit leaf_span(leaf_block& all) noexcept : first_(all.begin()), block_(&all), count_(all.total) {}
    /// `count` leaves of a tree, from number `from`.
    leaf_span(leaf_block& all, int from, int count) noexcept : first_(nullptr), block_(&all), count_(count) {
        for (; from >= block_->count && block_->next != nullptr; block_ = block_->next) from -= block_->count;
        first_ = block_->begin() + from;
    }

    /// Calls f with each leaf.
    template <class F>
    void for_each(F f) const {
        leaf_record* at = first_;
        leaf_block* part = block_;
        for (int left = count_; left != 0;) {
            const leaf_record* const end = part != nullptr ? part->end() : at + 1;
            for (; at != end && left != 0; ++at, --left) f(*at);
            if (left == 0) return;
            part = part->next;
            at = part->begin();
        }
    }

    INGOT_API void gather(cursor&) const noexcept;
    /// The shape to which the leaves broadcast; it exists.
    INGOT_API extents_ref extents(shape_room&) const noexcept;
    INGOT_API void apply(const axis_view&, int bound) const;
    INGOT_API bool try_reshape(std::span<const index_t> shape, int bound) const;
    INGOT_API device_id on_device() const noexcept;
    INGOT_API std::uint32_t count(const buffer*) const noexcept;

private:
    leaf_record* first_;
    leaf_block* block_ = nullptr;  // the block of the first leaf; null for a single leaf
    int count_;
};

/// The block of a list that was moved from. It is never written.
INGOT_API extern leaf_block no_leaves;

/// An operand that is neither a leaf nor a list of leaves.
struct other_operand {
    device_id device;
    extents_ref shape;
};

/// An operand of a node that is being built: a list of leaves, a single leaf, or another node.
struct leaf_part {
    leaf_record* single = nullptr;
    leaf_block** list = nullptr;
    const other_operand* other = nullptr;
    bool taken = false;  // whether leaves are moved, not copied
};

/// Makes one list of all operands' leaves. Throws shape_error and device_error, which name the operation.
INGOT_API void join_leaves(const char* operation, leaf_block*& to, const leaf_part* parts, int n);
// Overloads for the most frequent operands: leaves, which are copied, and temporary trees, which are moved.
INGOT_API void join_leaves(const char* operation, leaf_block*& to, const leaf_record&, const leaf_record&);
INGOT_API void join_leaves(const char* operation, leaf_block*& to, leaf_block*& tree, const leaf_record&);
INGOT_API void join_leaves(const char* operation, leaf_block*& to, leaf_block*& tree, leaf_block*& other);
INGOT_API void copy_leaves(leaf_block*& to, leaf_block& from);
INGOT_API void drop_leaves(leaf_block&) noexcept;
INGOT_API void measure_leaves(leaf_block&) noexcept;
[[noreturn]] INGOT_API void throw_tree_moved_from();

/// The leaves of a tree. Copying the list copies the leaves.
class leaf_list {
public:
    leaf_list() noexcept = default;
    leaf_list(const leaf_list& other) : leaf_list() { copy_leaves(block_, *other.block_); }
    leaf_list(leaf_list&& other) noexcept : block_(std::exchange(other.block_, &no_leaves)) {}
    leaf_list& operator=(const leaf_list&) = delete;
    ~leaf_list() {
        if (block_ != &no_leaves) drop_leaves(*block_);
    }

    leaf_block& block() const noexcept { return *block_; }
    int count() const noexcept { return block_->total; }
    /// A leaf that has the shape of the whole tree, or null.
    const leaf_record* holder() const noexcept { return block_->holder; }
    leaf_part part() const& noexcept { return {.list = const_cast<leaf_block**>(&block_)}; }
    leaf_part part() && noexcept { return {.list = &block_, .taken = true}; }
    void join(const char* operation, const leaf_part* parts, int n) { join_leaves(operation, block_, parts, n); }
    void join(const char* operation, const leaf_record& a, const leaf_record& b) {
        join_leaves(operation, block_, a, b);
    }
    void join(const char* operation, leaf_list&& tree, const leaf_record& b) {
        join_leaves(operation, block_, tree.block_, b);
    }
    void join(const char* operation, leaf_list&& tree, leaf_list&& other) {
        join_leaves(operation, block_, tree.block_, other.block_);
    }
    /// Updates rank and holder after the leaves changed shape.
    void measure() noexcept { measure_leaves(*block_); }

private:
    leaf_block* block_ = &no_leaves;
};

/// A node that is one leaf.
class single_leaf {
public:
    static constexpr int operands = 1, binders = 0, nodes = 1, leaves = 1;
    static constexpr bool flat = true;

    void gather(cursor& c) const noexcept { span().gather(c); }
    extents_ref extents(shape_room&) const noexcept { return record_.extents(); }
    void apply(const axis_view& v, int bound) { span().apply(v, bound); }
    bool try_reshape(std::span<const index_t> shape, int bound) { return span().try_reshape(shape, bound); }
    device_id on_device() const noexcept { return record_.device(); }
    /// How many references to `b` this tree holds.
    std::uint32_t count(const buffer* b) const noexcept { return record_.memory.get() == b ? 1u : 0u; }
    const leaf_record& kept() const& noexcept { return record_; }
    void kept() && = delete;  // a temporary's record is moved
    leaf_part part() const& noexcept { return {.single = const_cast<leaf_record*>(&record_)}; }
    leaf_part part() && noexcept { return {.single = &record_, .taken = true}; }

protected:
    template <class... A>
    explicit single_leaf(dtype t, A&&... record) noexcept : record_(t, std::forward<A>(record)...) {}
    single_leaf(const kernel_text& t, std::uint64_t binding) noexcept : record_(t, binding) {}

    leaf_span span() const noexcept { return leaf_span(const_cast<leaf_record&>(record_)); }
    leaf_record record_;
};

/// Elements of a buffer seen through a layout.
template <class T>
class leaf : public expression_members<leaf<T>>, public single_leaf {
public:
    using value_type = T;
    static constexpr dtype type = dtype_of<T>;
    static constexpr std::array<word, 1> program{make_word(word_kind::leaf, type)};

    leaf() noexcept : single_leaf(type) {}
    leaf(buffer_ref memory, layout where) noexcept : single_leaf(type, std::move(memory), std::move(where)) {}
    leaf(const leaf&) = default;
    leaf(leaf&&) noexcept = default;
    leaf& operator=(const leaf&) & = default;  // lvalues only: x(0) = y(0) over const arrays does not compile
    leaf& operator=(leaf&&) & noexcept = default;
    INGOT_REJECTED("an expression and a const array are not written; x(0) = 3 is, of an array x", (class E),
                   (!std::same_as<std::remove_cvref_t<E>, leaf>), void operator=(E&&) const)

    const buffer_ref& memory() const noexcept { return record_.memory; }
    const layout& where() const noexcept { return record_.where; }
    buffer_ref& memory() noexcept { return record_.memory; }
    layout& where() noexcept { return record_.where; }
};

/// The buffer elements that a node shows unchanged: those of a leaf, or of a reshape of one. Testable as a pointer is;
/// null where the node's values are still to be computed.
template <class T>
const leaf<T>* leaf_of(const leaf<T>& l) noexcept {
    return &l;
}
/// Whether leaf_of takes a node of this type.
template <class N>
concept may_be_leaf = requires(const N& n) { leaf_of(n); };

// ---- scalars ---------------------------------------------------------------------------------------------------

inline constinit thread_local std::uint64_t scalar_serial = 0;
/// A block of serial numbers that no other thread draws: each thread draws a block and counts within it.
INGOT_API std::uint64_t new_serial_block() noexcept;
inline std::uint64_t next_serial() noexcept {
    if ((++scalar_serial & 0xffffffffu) <= 1) scalar_serial = new_serial_block() << 32 | 2u;
    return scalar_serial;
}

/// One value, already in the dtype that its node computes in.
class scalar_leaf : public single_leaf {
public:
    const leaf_record& kept() const noexcept { return record_; }  // temporaries too: a scalar holds no buffer
    scalar_leaf(std::uint64_t bits, dtype t, exponent_class exponent = exponent_class::none) noexcept
        : single_leaf(t, scalar_value{{bits, 0}, next_serial()}, exponent) {}
    /// A scalar of 16 bytes, the first eight bytes first.
    scalar_leaf(std::array<std::uint64_t, 2> words, dtype t, exponent_class exponent = exponent_class::none) noexcept
        : single_leaf(t, scalar_value{{words[0], words[1]}, next_serial()}, exponent) {}
};

/// A weak scalar inside a node.
class weak_leaf : public expression_base, public scalar_leaf {
public:
    using scalar_leaf::scalar_leaf;
    static constexpr std::array<word, 1> program{make_word(word_kind::scalar, dtype::b1)};
};

/// scalar<T>(v): a value with its own dtype, which promotes as a 0-d array does.
template <class T>
class strong_leaf : public expression_members<strong_leaf<T>>, public scalar_leaf {
public:
    using value_type = T;
    static constexpr dtype type = dtype_of<T>;
    static constexpr std::array<word, 1> program{make_word(word_kind::scalar, type)};
    using scalar_leaf::scalar_leaf;
};

template <class T>
std::uint64_t bits_of_value(T value) noexcept {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    return bits;
}
/// The bits of a value of up to 16 bytes.
template <class T>
std::array<std::uint64_t, 2> words_of_value(T value) noexcept {
    std::array<std::uint64_t, 2> words{};
    std::memcpy(words.data(), &value, sizeof(T));
    return words;
}

/// The bits of `value` as dtype D, by C++'s conversions; integers must fit (checked by the caller).
template <class S>
std::uint64_t scalar_bits(S value, dtype d) {
    using enum dtype;
    switch (d) {
        case b1:
            return bits_of_value(value != S(0));
        case f4:
            return bits_of_value(static_cast<float>(value));
        case f8:
            return bits_of_value(static_cast<double>(value));
        case f2:
            return bits_of_value(float16(value));
        case bf:
            return bits_of_value(bfloat16(value));
        default:
            if constexpr (std::is_floating_point_v<S>)
                return 0;  // unreachable: a float beside integers computes in f8
            else
                return bits_of_value(static_cast<std::int64_t>(value)) &
                       (size_of(d) == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * size_of(d))) - 1);
    }
}

/// scalar_bits for every dtype, complex ones too.
template <class S>
std::array<std::uint64_t, 2> scalar_words(S value, dtype d) {
    if (kind_of(d) == kind::complex) {
        std::complex<double> z;
        if constexpr (complex_number<S>)
            z = std::complex<double>(value);
        else
            z = static_cast<double>(value);
        return d == dtype::c16 ? words_of_value(z) : words_of_value(static_cast<std::complex<float>>(z));
    }
    if constexpr (complex_number<S>)
        return {};  // unreachable: beside any dtype it computes in a complex one
    else
        return {scalar_bits(value, d), 0};
}

/// Whether an integer value is in the range of integer dtype D.
template <class S>
constexpr bool fits(S value, dtype d) {
    if (kind_of(d) != kind::integer) return true;
    const int bits = static_cast<int>(8 * size_of(d));
    if (is_signed(d)) {
        const std::int64_t top = static_cast<std::int64_t>((std::uint64_t{1} << (bits - 1)) - 1);
        return std::in_range<std::int64_t>(value) && static_cast<std::int64_t>(value) <= top &&
               static_cast<std::int64_t>(value) >= -top - 1;
    }
    const std::uint64_t top = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
    return std::in_range<std::uint64_t>(value) && static_cast<std::uint64_t>(value) <= top;
}

/// The number behind a weak scalar: enumerations and characters as integers, long double as double.
template <class S>
constexpr auto plain_number(S value) {
    if constexpr (std::is_same_v<S, bool>)
        return value;
    else if constexpr (std::is_enum_v<S>)
        return static_cast<long long>(value);
    else if constexpr (std::is_same_v<S, long double>)
        return static_cast<double>(value);
    else if constexpr (half_float<S>)
        return static_cast<float>(value);
    else if constexpr (complex_number<S>)
        return value;
    else if constexpr (std::is_floating_point_v<S>)
        return value;
    else if constexpr (std::is_signed_v<S>)
        return static_cast<std::int64_t>(value);
    else
        return static_cast<std::uint64_t>(value);
}

/// The dtype that gives a weak scalar its kind; its size matters only where all operands are scalars.
template <class S>
constexpr dtype weak_dtype() {
    if constexpr (std::is_enum_v<S>)
        return dtype::i8;
    else if constexpr (std::is_same_v<S, long double>)
        return dtype::f8;
    else if constexpr (std::is_integral_v<S> && !std::is_same_v<S, bool> && sizeof(S) < 4)
        return dtype::i4;
    else
        return dtype_of<S>;
}

[[noreturn]] INGOT_API void throw_negative_exponent(long long value, dtype type);

/// The class of an exponent for which power becomes multiplies, a square root or a reciprocal. Throws dtype_error where
/// an integer power has a negative exponent.
template <class S>
exponent_class exponent_class_of(S value, dtype d) {
    if (value == S(2)) return exponent_class::two;
    if (value == S(3)) return exponent_class::three;
    if constexpr (complex_number<S>) {
        if (value.imag() == 0) return exponent_class_of(value.real(), d);
    } else if (kind_of(d) >= kind::floating) {
        const double e = static_cast<double>(value);
        return e == 0.5    ? exponent_class::half
               : e == -0.5 ? exponent_class::minus_half
               : e == -1   ? exponent_class::minus_one
                           : exponent_class::none;
    } else if constexpr (std::is_signed_v<S>) {
        if (value < 0) throw_negative_exponent(static_cast<long long>(value), d);
    }
    return exponent_class::none;
}

}  // namespace ingot::detail
