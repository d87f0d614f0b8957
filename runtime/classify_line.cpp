// Classification of the commonest statement, elementwise over contiguous arrays of one shape: a warm evaluation has 80
// ns for its key.
#include <algorithm>

#include "runtime/classify.hpp"

namespace ingot::runtime {

using detail::operand_kind;

namespace {

/// Which operands were met before. A statement has many leaves and few different ones: each is looked for where its
/// hash says, and compared with others only where two that differ want the same place.
class met_operands {
public:
    explicit met_operands(std::vector<std::uint16_t>& displaced) : displaced_(displaced) {
        std::fill_n(lines_, line_count, nobody);
        displaced_.clear();
    }
    /// The first operand like `i`, which may be `i` itself.
    std::uint16_t first_like(const statement& s, std::uint16_t i) {
        const operand& o = s.operands[i];
        const std::uint64_t identity = o.kind == operand_kind::array ? reinterpret_cast<std::uintptr_t>(o.memory) +
                                                                           static_cast<std::uint64_t>(o.where->offset)
                                                                     : o.serial;
        std::uint16_t& line = lines_[identity * 0x9e3779b97f4a7c15u >> (64 - line_bits)];
        if (line == nobody) return line = i;
        if (alike(s.operands[line], o)) return line;
        for (const std::uint16_t k : displaced_)
            if (alike(s.operands[k], o)) return k;
        displaced_.push_back(i);
        return i;
    }

private:
    static bool alike(const operand& p, const operand& o) {
        if (p.kind != o.kind || p.type != o.type) return false;
        return o.kind == operand_kind::array
                   ? p.memory == o.memory && p.where->offset == o.where->offset
                   : p.serial == o.serial && p.bits[0] == o.bits[0] && p.exponent == o.exponent;
    }

    static constexpr int line_bits = 5;
    static constexpr std::size_t line_count = std::size_t{1} << line_bits;
    static constexpr std::uint16_t nobody = 0xffff;
    std::uint16_t lines_[line_count];
    std::vector<std::uint16_t>& displaced_;
};

/// Whether shape and strides are the same. Most often they are one or two numbers each, so a loop and no call.
bool same_numbers(const detail::layout& a, const detail::layout& b) {
    if (a.rank() != b.rank()) return false;
    const index_t *p = a.shape(), *q = b.shape();
    for (int j = 0; j < 2 * a.rank(); ++j)
        if (p[j] != q[j]) return false;
    return true;
}

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

    met_operands met(distinct_);
    const std::uint32_t* const heads = out;
    const auto is_far = [&](std::size_t bytes) { return (size - 1) * static_cast<index_t>(bytes) >= narrow_reach; };
    for (std::size_t i = 0; i < s.operands.size(); ++i, out += 2) {
        const operand& o = s.operands[i];
        const bool moves = o.kind == operand_kind::array;
        if (moves ? !same_numbers(first, *o.where) : o.kind != operand_kind::scalar) return false;
        c_.strides[i] = moves;
        out[1] = static_cast<std::uint32_t>(moves ? detail::stride_class::unit : detail::stride_class::broadcast);
        const auto number = static_cast<std::uint16_t>(i);
        const std::uint16_t like = met.first_like(s, number);
        if (like != number) {
            out[0] = heads[2 * std::size_t{like}];
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
        out[0] = head.encode();
    }
    for (std::size_t k = 0; k < s.outputs.size(); ++k) {
        detail::operand_head head;
        head.type = s.outputs[k].type;
        head.vector = true;
        head.wide = is_far(detail::size_of(head.type));
        *out++ = head.encode();
        *out++ = static_cast<std::uint32_t>(detail::stride_class::unit);
        c_.strides[s.operands.size() + k] = 1;
    }
    return true;
}

}  // namespace ingot::runtime
