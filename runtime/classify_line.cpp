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
    for (const output& o : s.outputs)
        if (*o.memory) return false;
    const auto array_at = std::find_if(s.operands.begin(), s.operands.end(),
                                       [](const operand& o) { return o.kind == operand_kind::array; });
    if (array_at == s.operands.end()) return false;
    const detail::layout& first = *array_at->where;
    index_t size = 1;
    for (int j = first.rank() - 1; j >= 0; --j) {
        if (first.strides()[j] != size) return false;
        size *= first.shape()[j];
    }
    if (size <= 1) return false;

    c_.shape.assign(first.shape(), first.shape() + first.rank());
    c_.size = size;
    c_.extents.assign(1, size);
    const std::size_t rows = s.operands.size() + s.outputs.size();
    c_.strides.resize(rows);
    c_.words.resize(detail::key_header_words + 1 + 2 * rows);

    detail::key_header header;
    header.where = env.where;
    header.math = env.math;
    header.architecture = env.architecture;
    header.wide_index = size >= narrow_reach;
    header.outputs = static_cast<std::uint32_t>(s.outputs.size());
    header.program = static_cast<std::uint32_t>(s.program.size());
    header.operands = static_cast<std::uint32_t>(s.operands.size());
    header.axes = 1;
    detail::write_header(header, c_.words.data());
    std::uint32_t* out = c_.words.data() + detail::key_header_words;
    *out++ = detail::axis_class{}.encode();

    const operand* const operands = s.operands.data();
    met_operands met(operands, distinct_);
    const std::uint32_t* const pairs = out;
    index_t* stride = c_.strides.data();
    const int rank = first.rank();
    const index_t* const numbers = first.shape();  // and strides behind
    const auto has_other_numbers = [&](const index_t* own) {
        for (int j = 2; j < 2 * rank; ++j)
            if (own[j] != numbers[j]) return true;
        return own[0] != numbers[0] || own[1] != numbers[1];
    };
    const auto is_far = [&](std::size_t bytes) { return (size - 1) * static_cast<index_t>(bytes) >= narrow_reach; };
    for (std::size_t i = 0; i < s.operands.size(); ++i, out += 2) {
        const operand& o = operands[i];
        const bool moves = o.kind == operand_kind::array;
        const auto number = static_cast<std::uint16_t>(i);
        std::uint16_t like;
        if (moves) {
            if (o.where->rank() != rank || has_other_numbers(o.where->shape())) return false;
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
            const std::size_t bytes = detail::size_of(o.type);
            const auto address =
                reinterpret_cast<std::uintptr_t>(o.memory->data) + static_cast<std::uintptr_t>(o.where->offset) * bytes;
            head.vector = address % vector_bytes == 0;
            head.wide = is_far(bytes);
        }
        write_pair(out, {head.encode(), static_cast<std::uint32_t>(moves ? detail::stride_class::unit
                                                                         : detail::stride_class::broadcast)});
    }
    for (std::size_t k = 0; k < s.outputs.size(); ++k) {
        detail::operand_head head;
        head.type = s.outputs[k].type;
        head.vector = true;
        head.wide = is_far(detail::size_of(head.type));
        write_pair(out, {head.encode(), static_cast<std::uint32_t>(detail::stride_class::unit)});
        out += 2;
        *stride++ = 1;
    }
    return true;
}

}  // namespace ingot::runtime
