#include "runtime/front/contiguous_fast_path.hpp"

#include <algorithm>
#include <cstring>

namespace ingot::runtime {

using detail::leaf_block;
using detail::leaf_record;
using detail::operand_kind;

namespace {

// Overloads for the two forms of a leaf: gathered as an operand, or a record in the tree.
const buffer* memory_of(const operand& o) { return o.memory; }
const buffer* memory_of(const leaf_record& l) { return l.memory.get(); }
const detail::layout& where_of(const operand& o) { return *o.where; }
const detail::layout& where_of(const leaf_record& l) { return l.where; }
detail::scalar_value value_of(const operand& o) { return {{o.bits[0], o.bits[1]}, o.serial}; }
detail::scalar_value value_of(const leaf_record& l) { return l.value; }

template <class Leaf>
bool is_same_array(const Leaf& a, const Leaf& b) {
    return a.kind == b.kind && a.type == b.type && memory_of(a) == memory_of(b) &&
           where_of(a).offset == where_of(b).offset;
}
template <class Leaf>
bool is_same_scalar(const Leaf& a, const Leaf& b) {
    const detail::scalar_value v = value_of(a), w = value_of(b);
    return a.kind == b.kind && a.type == b.type && a.exponent == b.exponent && v.serial == w.serial &&
           v.bits[0] == w.bits[0] && v.bits[1] == w.bits[1];
}

/// Finds earlier operands equal to a given one. A statement has many leaves and few different ones, so each is looked
/// up in a table by its hash. Operands whose line is taken by a different one go to a list, which is compared in full.
/// `Leaves` is indexed by the numbers of distinct operands.
template <class Leaves>
class met_operands {
public:
    static constexpr std::uint16_t none = 0xffff;

    met_operands(Leaves leaves, std::size_t count, std::vector<std::uint16_t>& displaced)
        : leaves_(leaves), displaced_(displaced) {
        std::fill_n(lines_, line_count, none);
        displaced_.clear();
        displaced_.reserve(count);  // now, for which operands are displaced depends on addresses
    }
    /// An earlier operand that is the same view of an array as number `i`, or none.
    template <class Leaf>
    std::uint16_t array_like(std::uint16_t i, const Leaf& o) {
        return like(i, reinterpret_cast<std::uintptr_t>(memory_of(o)) + static_cast<std::uint64_t>(where_of(o).offset),
                    [&](const Leaf& p) { return is_same_array(p, o); });
    }
    template <class Leaf>
    std::uint16_t scalar_like(std::uint16_t i, const Leaf& o) {
        return like(i, value_of(o).serial, [&](const Leaf& p) { return is_same_scalar(p, o); });
    }

private:
    template <class Same>
    std::uint16_t like(std::uint16_t i, std::uint64_t identity, Same same) {
        std::uint16_t& line = lines_[identity * 0x9e3779b97f4a7c15u >> (64 - line_bits)];
        if (line == none) {
            line = i;
            return none;
        }
        if (same(leaves_[line])) return line;
        for (const std::uint16_t k : displaced_)
            if (same(leaves_[k])) return k;
        displaced_.push_back(i);
        return none;
    }

    static constexpr int line_bits = 5;
    static constexpr std::size_t line_count = std::size_t{1} << line_bits;
    std::uint16_t lines_[line_count];
    Leaves leaves_;
    std::vector<std::uint16_t>& displaced_;
};

/// Words of a key's header and its one axis.
constexpr std::size_t head_words = detail::key_header_words + detail::axis_words;

/// The shape that all arrays have in common; all are contiguous.
struct common_layout {
    const detail::layout* first = nullptr;
    index_t size = 0;  // below 2: the fast path does not apply
    int rank = 0;
    const index_t* numbers = nullptr;  // the shape, then the strides
    std::span<const output> given{};   // all outputs, if one of them has memory already

    explicit common_layout(const statement& s) {
        const auto there = std::ranges::find_if(s.outputs, [](const output& o) { return bool(*o.memory); });
        if (there != s.outputs.end()) {
            given = s.outputs;
            measure(*there->where);
            if (std::ranges::any_of(given, [&](const output& o) { return *o.memory && differs(*o.where); })) size = 0;
            return;
        }
        const auto array = std::ranges::find(s.operands, operand_kind::array, &operand::kind);
        if (array != s.operands.end()) measure(*array->where);
    }
    explicit common_layout(const tree_statement& s) { measure(s.leaves.holder->where); }

    bool differs(const detail::layout& own) const {
        if (own.rank() != rank) return true;
        if (rank == 0) return false;
        const index_t* n = own.shape();
        for (int j = 2; j < 2 * rank; ++j)
            if (n[j] != numbers[j]) return true;
        return n[0] != numbers[0] || n[1] != numbers[1];
    }
    /// Whether an output shares bytes with this buffer.
    bool is_aliased(const buffer& memory) const {
        return std::ranges::any_of(given,
                                   [&](const output& o) { return *o.memory && share_bytes(**o.memory, memory); });
    }
    /// Whether every output that shares bytes with this array writes it element for element.
    template <class Leaf>
    bool is_in_place(const Leaf& a) const {
        return std::ranges::all_of(given, [&](const output& o) {
            return !*o.memory || !share_bytes(**o.memory, *memory_of(a)) ||
                   (detail::size_of(o.type) == detail::size_of(a.type) &&
                    address_of(**o.memory, *o.where, o.type) == address_of(*memory_of(a), where_of(a), a.type));
        });
    }
    bool is_far(dtype t) const { return (size - 1) * static_cast<index_t>(detail::size_of(t)) >= narrow_reach(); }
    void measure(const detail::layout& of) {
        first = &of;
        rank = of.rank();
        numbers = of.shape();
        index_t n = 1;
        for (int j = rank - 1; j >= 0; --j) {
            if (numbers[rank + j] != n) return;
            n *= numbers[j];
        }
        size = n;
    }
    void write_head(environment_class env, std::size_t outputs, std::size_t program, std::size_t operands,
                    std::uint32_t* to) const {
        detail::key_header header;
        header.where = env.where;
        header.math = env.math;
        header.architecture = env.architecture;
        header.wide_index = size >= narrow_reach();
        header.outputs = static_cast<std::uint32_t>(outputs);
        header.program = static_cast<std::uint32_t>(program);
        header.operands = static_cast<std::uint32_t>(operands);
        header.axes = 1;
        detail::write_header(header, to);
        detail::axis_class{}.write(to + detail::key_header_words);
    }
};

template <class Leaf>
bool is_aligned(const Leaf& o) {
    return address_of(*memory_of(o), where_of(o), o.type) % vector_bytes == 0;
}

/// The head of operand number i, which equals no earlier one.
template <class Leaf>
detail::operand_head head_of(const common_layout& l, std::uint16_t i, const Leaf& o) {
    detail::operand_head head;
    head.kind = o.kind;
    head.type = o.type;
    head.exponent = o.exponent;
    head.same_as = i;
    if (o.kind == operand_kind::array) {
        head.vector = is_aligned(o);
        head.wide = l.is_far(o.type);
        head.aliased = l.is_aliased(*memory_of(o));
    }
    return head;
}
/// The head of an output.
detail::operand_head head_of(const common_layout& l, const output& o) {
    detail::operand_head head;
    head.type = o.type;
    head.vector = !*o.memory || address_of(**o.memory, *o.where, o.type) % vector_bytes == 0;
    head.wide = l.is_far(o.type);
    return head;
}

/// Leaves of a tree by number.
struct leaf_pointers {
    const leaf_record* const* first;
    const leaf_record& operator[](std::size_t i) const { return *first[i]; }
};

/// Words for each operand and output: a head, and stride classes on one axis.
constexpr std::size_t row_words = detail::head_words + 1;

std::uint64_t head_at(const std::uint32_t* row) {
    std::uint64_t head;
    std::memcpy(&head, row, sizeof head);
    return head;
}
void write_row(std::uint32_t* row, std::uint64_t head, detail::stride_class stride) {
    std::memcpy(row, &head, sizeof head);
    row[detail::head_words] = static_cast<std::uint32_t>(stride);
}

/// Whether different arrays are views of one buffer. The key of such a statement describes their relations, if
/// requested.
template <class Operands>
bool share_buffers(const Operands& operands, std::span<const std::uint16_t> arrays) {
    for (std::size_t k = 1; k < arrays.size(); ++k)
        for (std::size_t j = 0; j < k; ++j)
            if (operands[arrays[j]].memory == operands[arrays[k]].memory &&
                operands[arrays[j]].where->offset != operands[arrays[k]].where->offset)
                return true;
    return false;
}

}  // namespace

bool contiguous_classifier::classify(const statement& s, environment_class env) {
    const common_layout l(s);
    if (l.size <= 1) return false;
    c_.set_contiguous(l.first->shape(), l.first->rank(), l.size);
    const std::size_t rows = s.operands.size() + s.outputs.size();
    c_.strides.resize(rows);
    c_.words.resize(head_words + row_words * rows);
    l.write_head(env, s.outputs.size(), s.program.size(), s.operands.size(), c_.words.data());

    const operand* const operands = s.operands.data();
    met_operands met(s.operands, s.operands.size(), displaced_);
    std::uint32_t* out = c_.words.data() + head_words;
    const std::uint32_t* const first = out;
    arrays_.clear();
    index_t* stride = c_.strides.data();
    for (std::size_t i = 0; i < s.operands.size(); ++i, out += row_words) {
        const operand& o = operands[i];
        const bool moves = o.kind == operand_kind::array;
        const auto number = static_cast<std::uint16_t>(i);
        std::uint16_t like;
        if (moves) {
            if (l.differs(*o.where)) return false;
            like = met.array_like(number, o);
        } else {
            if (o.kind != operand_kind::scalar) return false;
            like = met.scalar_like(number, o);
        }
        *stride++ = moves;
        if (like != met.none) {
            const std::uint32_t* const same = first + row_words * std::size_t{like};
            write_row(out, head_at(same), static_cast<detail::stride_class>(same[detail::head_words]));
            continue;
        }
        if (moves && env.optional_parts.relations) arrays_.push_back(number);
        write_row(out, head_of(l, number, o).encode(),
                  moves ? detail::stride_class::unit : detail::stride_class::broadcast);
    }
    if (env.optional_parts.relations && share_buffers(s.operands, arrays_)) return false;
    for (std::size_t k = 0; k < s.outputs.size(); ++k) {
        write_row(out, head_of(l, s.outputs[k]).encode(), detail::stride_class::unit);
        out += row_words;
        *stride++ = 1;
    }
    return true;
}

namespace {

/// Whether leaves have the words that `classify` wrote for another statement of the program, and no element is
/// written before it is read. This is less work than writing the words again. Every bit is compared, because a program
/// does not contain the dtype in which a weak scalar computes.
template <class Leaves>
class confirmation {
public:
    confirmation(const common_layout& l, Leaves leaves, std::size_t count, const std::uint32_t* expected,
                 std::vector<std::uint16_t>& displaced)
        : layout_(l), leaves_(leaves), expected_(expected), met_(leaves, count, displaced) {}

    /// Checks leaf number i. `on_distinct` is called where the words say that it equals no earlier leaf, before that is
    /// checked.
    template <class Leaf, class F>
    bool agrees(std::uint16_t i, const Leaf& o, F on_distinct) {
        const std::uint64_t head = head_at(expected_ + row_words * std::size_t{i});
        const std::size_t same_as = detail::operand_head::decode(head).same_as;
        const bool moves = o.kind == operand_kind::array;
        if (moves ? layout_.differs(where_of(o)) : o.kind != operand_kind::scalar) return false;
        if (same_as != i) return moves ? is_same_array(o, leaves_[same_as]) : is_same_scalar(o, leaves_[same_as]);
        on_distinct();
        if ((moves ? met_.array_like(i, o) : met_.scalar_like(i, o)) != met_.none) return false;
        const detail::operand_head own = head_of(layout_, i, o);
        return head == own.encode() && (!own.aliased || layout_.is_in_place(o));
    }

private:
    const common_layout& layout_;
    Leaves leaves_;
    const std::uint32_t* expected_;
    met_operands<Leaves> met_;
};

bool confirm_head(const common_layout& l, environment_class env, std::size_t program, std::size_t operands,
                  std::span<const output> outputs, std::span<const std::uint32_t> words) {
    std::uint32_t head[head_words];
    l.write_head(env, outputs.size(), program, operands, head);
    for (std::size_t i = 0; i < head_words; ++i)
        if (head[i] != words[i]) return false;
    const std::uint32_t* expected = words.data() + head_words + row_words * operands;
    for (std::size_t k = 0; k < outputs.size(); ++k, expected += row_words)
        if (head_at(expected) != head_of(l, outputs[k]).encode()) return false;
    return true;
}

}  // namespace

bool contiguous_classifier::confirm(const statement& s, environment_class env, std::span<const std::uint32_t> words) {
    const common_layout l(s);
    if (l.size <= 1 || !confirm_head(l, env, s.program.size(), s.operands.size(), s.outputs, words)) return false;
    confirmation all(l, s.operands, s.operands.size(), words.data() + head_words, displaced_);
    arrays_.clear();
    for (std::size_t i = 0; i < s.operands.size(); ++i) {
        const auto number = static_cast<std::uint16_t>(i);
        const auto keep = [&] {
            if (env.optional_parts.relations && s.operands[i].where != nullptr) arrays_.push_back(number);
        };
        if (!all.agrees(number, s.operands[i], keep)) return false;
    }
    if (env.optional_parts.relations && share_buffers(s.operands, arrays_)) return false;
    c_.set_contiguous(l.first->shape(), l.first->rank(), l.size);
    return true;
}

bool contiguous_classifier::confirm(const tree_statement& s, environment_class env,
                                    std::span<const std::uint32_t> words) {
    const common_layout l(s);
    const auto leaves = static_cast<std::size_t>(s.leaves.total);
    if (l.size <= 1 || !confirm_head(l, env, s.program.size(), leaves, {&s.out, 1}, words)) return false;
    if (operands_.size() < leaves) {
        operands_.resize(leaves);
        firsts_.resize(leaves);
    }
    arrays_.clear();
    confirmation all(l, leaf_pointers{firsts_.data()}, leaves, words.data() + head_words, displaced_);
    std::uint16_t i = 0;
    for (leaf_block* part = &s.leaves; part != nullptr; part = part->next)
        for (const leaf_record& leaf : *part) {
            const auto keep = [&] {
                firsts_[i] = &leaf;
                operand& o = operands_[i];
                o.type = leaf.type;
                if (leaf.is_array()) {
                    o.where = &leaf.where;
                    o.memory = leaf.memory.get();
                    arrays_.push_back(i);
                } else {
                    std::copy_n(leaf.value.bits, 2, o.bits);
                }
            };
            if (!all.agrees(i, leaf, keep)) return false;
            ++i;
        }
    if (env.optional_parts.relations && share_buffers(operands_, arrays_)) return false;
    c_.set_contiguous(l.first->shape(), l.first->rank(), l.size);
    return true;
}

}  // namespace ingot::runtime
