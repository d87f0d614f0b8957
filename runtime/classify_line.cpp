// Classification of the commonest statement, elementwise over contiguous arrays of one shape: a warm evaluation has 80
// ns for its key.
#include <algorithm>
#include <cstring>

#include <ingot/leaves.hpp>

#include "runtime/classify.hpp"

namespace ingot::runtime {

using detail::leaf_block;
using detail::leaf_record;
using detail::operand_kind;

namespace {

// A leaf comes as it stands in a tree, or gathered.
const buffer* memory_of(const operand& o) { return o.memory; }
const buffer* memory_of(const leaf_record& l) { return l.memory.get(); }
const detail::layout& where_of(const operand& o) { return *o.where; }
const detail::layout& where_of(const leaf_record& l) { return l.where; }
detail::scalar_value value_of(const operand& o) { return {o.bits[0], o.serial}; }
detail::scalar_value value_of(const leaf_record& l) { return l.value; }

template <class Leaf>
bool is_same_array(const Leaf& a, const Leaf& b) {
    return memory_of(a) == memory_of(b) && where_of(a).offset == where_of(b).offset;
}
template <class Leaf>
bool is_same_scalar(const Leaf& a, const Leaf& b) {
    const detail::scalar_value v = value_of(a), w = value_of(b);
    return v.serial == w.serial && v.bits == w.bits;
}

/// Where operands were met before. A statement has many leaves and few different ones: each is looked for where its
/// hash says, and compared with others only where two that differ want the same place. Leaves: has those that are like
/// none before them under their numbers.
template <class Leaves>
class met_operands {
public:
    static constexpr std::uint16_t nobody = 0xffff;

    met_operands(Leaves leaves, std::vector<std::uint16_t>& displaced) : leaves_(leaves), displaced_(displaced) {
        std::fill_n(lines_, line_count, nobody);
        displaced_.clear();
    }
    /// An earlier operand that is the same view of an array as number `i`, or nobody.
    template <class Leaf>
    std::uint16_t array_like(std::uint16_t i, const Leaf& o) {
        return like(
            i, reinterpret_cast<std::uintptr_t>(memory_of(o)) + static_cast<std::uint64_t>(where_of(o).offset),
            [&](const Leaf& p) { return p.kind == operand_kind::array && p.type == o.type && is_same_array(p, o); });
    }
    template <class Leaf>
    std::uint16_t scalar_like(std::uint16_t i, const Leaf& o) {
        return like(i, value_of(o).serial, [&](const Leaf& p) {
            return p.kind == o.kind && p.type == o.type && p.exponent == o.exponent && is_same_scalar(p, o);
        });
    }

private:
    template <class Same>
    std::uint16_t like(std::uint16_t i, std::uint64_t identity, Same same) {
        std::uint16_t& line = lines_[identity * 0x9e3779b97f4a7c15u >> (64 - line_bits)];
        if (line == nobody) {
            line = i;
            return nobody;
        }
        if (same(leaves_[line])) return line;
        for (const std::uint16_t k : displaced_)
            if (same(leaves_[k])) return k;
        displaced_.push_back(i);
        return nobody;
    }

    static constexpr int line_bits = 5;
    static constexpr std::size_t line_count = std::size_t{1} << line_bits;
    std::uint16_t lines_[line_count];
    Leaves leaves_;
    std::vector<std::uint16_t>& displaced_;
};

/// Header and axis of a line's key.
constexpr std::size_t line_words = detail::key_header_words + 1;

/// What all arrays of a line have in common: that they are contiguous, and their shape.
struct line {
    const detail::layout* first = nullptr;
    index_t size = 0;  // below 2: no line
    int rank = 0;
    const index_t* numbers = nullptr;  // shape, and strides behind

    explicit line(const statement& s) {
        if (std::ranges::any_of(s.outputs, [](const output& o) { return bool(*o.memory); })) return;
        const auto array = std::ranges::find(s.operands, operand_kind::array, &operand::kind);
        if (array != s.operands.end()) measure(*array->where);
    }
    explicit line(const tree_statement& s) { measure(s.leaves.holder->where); }

    bool differs(const detail::layout& own) const {
        if (own.rank() != rank) return true;
        const index_t* n = own.shape();
        for (int j = 2; j < 2 * rank; ++j)
            if (n[j] != numbers[j]) return true;
        return n[0] != numbers[0] || n[1] != numbers[1];
    }
    bool is_far(dtype t) const { return (size - 1) * static_cast<index_t>(detail::size_of(t)) >= narrow_reach; }
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
        header.wide_index = size >= narrow_reach;
        header.outputs = static_cast<std::uint32_t>(outputs);
        header.program = static_cast<std::uint32_t>(program);
        header.operands = static_cast<std::uint32_t>(operands);
        header.axes = 1;
        detail::write_header(header, to);
        to[detail::key_header_words] = detail::axis_class{}.encode();
    }
};

template <class Leaf>
bool is_aligned(const Leaf& o) {
    return address_of(*memory_of(o), where_of(o), o.type) % vector_bytes == 0;
}

/// Leaves of a tree by number.
struct leaf_pointers {
    const leaf_record* const* first;
    const leaf_record& operator[](std::size_t i) const { return *first[i]; }
};

/// Two words of the key at once, for a processor waits where it reads what it wrote in other pieces (slot::entry).
struct word_pair {
    std::uint32_t first, second;
};
void write_pair(std::uint32_t* at, word_pair words) { std::memcpy(at, &words, sizeof words); }
void copy_pair(std::uint32_t* to, const std::uint32_t* from) { std::memcpy(to, from, sizeof(word_pair)); }

}  // namespace

/// The commonest statement by a straight path: no binder, new outputs, every leaf a scalar or an array that is
/// contiguous and has the result's shape. The words are those that the general path would write. False where it is
/// another.
bool classifier::classify_line(const statement& s, environment_class env) {
    const line l(s);
    if (l.size <= 1) return false;
    c_.set_line(l.first->shape(), l.first->rank(), l.size);
    const std::size_t rows = s.operands.size() + s.outputs.size();
    c_.strides.resize(rows);
    c_.words.resize(line_words + 2 * rows);
    l.write_head(env, s.outputs.size(), s.program.size(), s.operands.size(), c_.words.data());

    const operand* const operands = s.operands.data();
    met_operands met(s.operands, distinct_);
    std::uint32_t* out = c_.words.data() + line_words;
    const std::uint32_t* const pairs = out;
    index_t* stride = c_.strides.data();
    for (std::size_t i = 0; i < s.operands.size(); ++i, out += 2) {
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
        if (like != met.nobody) {
            copy_pair(out, pairs + 2 * std::size_t{like});
            continue;
        }
        detail::operand_head head;
        head.kind = o.kind;
        head.type = o.type;
        head.exponent = o.exponent;
        head.same_as = number;
        if (moves) {
            head.vector = is_aligned(o);
            head.wide = l.is_far(o.type);
        }
        write_pair(out, {head.encode(), static_cast<std::uint32_t>(moves ? detail::stride_class::unit
                                                                         : detail::stride_class::broadcast)});
    }
    for (std::size_t k = 0; k < s.outputs.size(); ++k) {
        detail::operand_head head;
        head.type = s.outputs[k].type;
        head.vector = true;
        head.wide = l.is_far(head.type);
        write_pair(out, {head.encode(), static_cast<std::uint32_t>(detail::stride_class::unit)});
        out += 2;
        *stride++ = 1;
    }
    return true;
}

namespace {

/// Whether leaves have the words that others of their program had, which classify_line wrote: less work than to write
/// them again. What the program says, kinds and dtypes, is not looked at.
template <class Leaves>
class confirmation {
public:
    confirmation(const line& l, Leaves leaves, const std::uint32_t* expected, std::vector<std::uint16_t>& displaced)
        : line_(l), leaves_(leaves), expected_(expected), met_(leaves, displaced) {}

    /// Looks at leaf number i. Calls `on_distinct` where it has to be like none before it, before it compares it with
    /// those.
    template <class Leaf, class F>
    bool agrees(std::uint16_t i, const Leaf& o, F on_distinct) {
        const std::uint32_t word = expected_[2 * std::size_t{i}];
        const std::size_t same_as = word >> 16;
        const bool moves = o.kind == operand_kind::array;
        if (moves ? line_.differs(where_of(o)) : o.kind != operand_kind::scalar) return false;
        if (same_as != i) return moves ? is_same_array(o, leaves_[same_as]) : is_same_scalar(o, leaves_[same_as]);
        on_distinct();
        if ((moves ? met_.array_like(i, o) : met_.scalar_like(i, o)) != met_.nobody) return false;
        const auto was = detail::operand_head::decode(word);
        return moves ? was.vector == is_aligned(o) && was.wide == line_.is_far(o.type) : was.exponent == o.exponent;
    }

private:
    const line& line_;
    Leaves leaves_;
    const std::uint32_t* expected_;
    met_operands<Leaves> met_;
};

bool confirm_head(const line& l, environment_class env, std::size_t program, std::size_t operands,
                  std::span<const output> outputs, std::span<const std::uint32_t> words) {
    std::uint32_t head[line_words];
    l.write_head(env, outputs.size(), program, operands, head);
    for (std::size_t i = 0; i < line_words; ++i)
        if (head[i] != words[i]) return false;
    const std::uint32_t* expected = words.data() + line_words + 2 * operands;
    for (std::size_t k = 0; k < outputs.size(); ++k, expected += 2)
        if (detail::operand_head::decode(*expected).wide != l.is_far(outputs[k].type)) return false;
    return true;
}

}  // namespace

bool classifier::confirm_line(const statement& s, environment_class env, std::span<const std::uint32_t> words) {
    const line l(s);
    if (l.size <= 1 || !confirm_head(l, env, s.program.size(), s.operands.size(), s.outputs, words)) return false;
    confirmation all(l, s.operands, words.data() + line_words, distinct_);
    for (std::size_t i = 0; i < s.operands.size(); ++i)
        if (!all.agrees(static_cast<std::uint16_t>(i), s.operands[i], [] {})) return false;
    c_.set_line(l.first->shape(), l.first->rank(), l.size);
    return true;
}

bool classifier::confirm_line(const tree_statement& s, environment_class env, std::span<const std::uint32_t> words) {
    const line l(s);
    const auto leaves = static_cast<std::size_t>(s.leaves.total);
    if (l.size <= 1 || !confirm_head(l, env, s.program.size(), leaves, {&s.out, 1}, words)) return false;
    if (line_operands_.size() < leaves) {
        line_operands_.resize(leaves);
        line_firsts_.resize(leaves);
    }
    line_arrays_.clear();
    confirmation all(l, leaf_pointers{line_firsts_.data()}, words.data() + line_words, distinct_);
    std::uint16_t i = 0;
    for (leaf_block* part = &s.leaves; part != nullptr; part = part->next)
        for (const leaf_record& leaf : *part) {
            const auto keep = [&] {
                line_firsts_[i] = &leaf;
                operand& o = line_operands_[i];
                o.type = leaf.type;
                if (leaf.is_array()) {
                    o.where = &leaf.where;
                    o.memory = leaf.memory.get();
                    line_arrays_.push_back(i);
                } else {
                    o.bits[0] = leaf.value.bits;
                }
            };
            if (!all.agrees(i, leaf, keep)) return false;
            ++i;
        }
    c_.set_line(l.first->shape(), l.first->rank(), l.size);
    return true;
}

}  // namespace ingot::runtime
