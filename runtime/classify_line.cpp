// Classification of the commonest statement, elementwise over contiguous arrays of one shape: a warm evaluation has 80
// ns for its key.
#include <algorithm>
#include <cstring>

#include "runtime/classify.hpp"

namespace ingot::runtime {

using detail::operand_kind;

namespace {

/// Where operands were met before. A statement has many leaves and few different ones: each is looked for where its
/// hash says, and compared with others only where two that differ want the same place.
class met_operands {
public:
    static constexpr std::uint16_t nobody = 0xffff;

    met_operands(const operand* operands, std::vector<std::uint16_t>& displaced)
        : operands_(operands), displaced_(displaced) {
        std::fill_n(lines_, line_count, nobody);
        displaced_.clear();
    }
    /// An earlier operand that is the same view of an array as `i`, or nobody.
    std::uint16_t array_like(std::uint16_t i) {
        const operand& o = operands_[i];
        return like(i, reinterpret_cast<std::uintptr_t>(o.memory) + static_cast<std::uint64_t>(o.where->offset),
                    [&](const operand& p) {
                        return p.memory == o.memory && p.type == o.type && p.where->offset == o.where->offset;
                    });
    }
    std::uint16_t scalar_like(std::uint16_t i) {
        const operand& o = operands_[i];
        return like(i, o.serial, [&](const operand& p) {
            return p.kind == o.kind && p.type == o.type && p.serial == o.serial && p.bits[0] == o.bits[0] &&
                   p.exponent == o.exponent;
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
        if (same(operands_[line])) return line;
        for (const std::uint16_t k : displaced_)
            if (same(operands_[k])) return k;
        displaced_.push_back(i);
        return nobody;
    }

    static constexpr int line_bits = 5;
    static constexpr std::size_t line_count = std::size_t{1} << line_bits;
    std::uint16_t lines_[line_count];
    const operand* operands_;
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
        for (const output& o : s.outputs)
            if (*o.memory) return;
        for (const operand& o : s.operands)
            if (o.kind == operand_kind::array) {
                first = o.where;
                break;
            }
        if (first == nullptr) return;
        rank = first->rank();
        numbers = first->shape();
        index_t n = 1;
        for (int j = rank - 1; j >= 0; --j) {
            if (numbers[rank + j] != n) return;
            n *= numbers[j];
        }
        size = n;
    }
    bool differs(const detail::layout& own) const {
        if (own.rank() != rank) return true;
        const index_t* n = own.shape();
        for (int j = 2; j < 2 * rank; ++j)
            if (n[j] != numbers[j]) return true;
        return n[0] != numbers[0] || n[1] != numbers[1];
    }
    bool is_far(dtype t) const { return (size - 1) * static_cast<index_t>(detail::size_of(t)) >= narrow_reach; }
    void write_head(const statement& s, environment_class env, std::uint32_t* to) const {
        detail::key_header header;
        header.where = env.where;
        header.math = env.math;
        header.architecture = env.architecture;
        header.wide_index = size >= narrow_reach;
        header.outputs = static_cast<std::uint32_t>(s.outputs.size());
        header.program = static_cast<std::uint32_t>(s.program.size());
        header.operands = static_cast<std::uint32_t>(s.operands.size());
        header.axes = 1;
        detail::write_header(header, to);
        to[detail::key_header_words] = detail::axis_class{}.encode();
    }
};

bool is_aligned(const operand& o) {
    const auto address = reinterpret_cast<std::uintptr_t>(o.memory->data) +
                         static_cast<std::uintptr_t>(o.where->offset) * detail::size_of(o.type);
    return address % vector_bytes == 0;
}

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
    l.write_head(s, env, c_.words.data());

    const operand* const operands = s.operands.data();
    met_operands met(operands, distinct_);
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
            like = met.array_like(number);
        } else {
            if (o.kind != operand_kind::scalar) return false;
            like = met.scalar_like(number);
        }
        *stride++ = moves;
        if (like != met_operands::nobody) {
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

/// Whether a statement has the words that another of its program had, which classify_line wrote: less work than to
/// write them again. What the program says, kinds and dtypes, is not looked at. The result's strides are not set.
bool classifier::confirm_line(const statement& s, environment_class env, std::span<const std::uint32_t> words) {
    const line l(s);
    if (l.size <= 1) return false;
    std::uint32_t head[line_words];
    l.write_head(s, env, head);
    for (std::size_t i = 0; i < line_words; ++i)
        if (head[i] != words[i]) return false;

    const operand* const operands = s.operands.data();
    met_operands met(operands, distinct_);
    const std::uint32_t* expected = words.data() + line_words;
    for (std::size_t i = 0; i < s.operands.size(); ++i, expected += 2) {
        const operand& o = operands[i];
        const std::size_t same_as = *expected >> 16;
        const bool moves = o.kind == operand_kind::array;
        if (moves && l.differs(*o.where)) return false;
        const auto number = static_cast<std::uint16_t>(i);
        if (same_as != i) {
            const operand& p = operands[same_as];
            if (moves ? o.memory != p.memory || o.where->offset != p.where->offset
                      : o.serial != p.serial || o.bits[0] != p.bits[0])
                return false;
            continue;
        }
        if ((moves ? met.array_like(number) : met.scalar_like(number)) != met_operands::nobody) return false;
        const auto was = detail::operand_head::decode(*expected);
        if (moves ? was.vector != is_aligned(o) || was.wide != l.is_far(o.type) : was.exponent != o.exponent)
            return false;
    }
    for (std::size_t k = 0; k < s.outputs.size(); ++k, expected += 2)
        if (detail::operand_head::decode(*expected).wide != l.is_far(s.outputs[k].type)) return false;
    c_.set_line(l.first->shape(), l.first->rank(), l.size);
    return true;
}

}  // namespace ingot::runtime
