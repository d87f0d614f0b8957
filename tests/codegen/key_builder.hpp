// Keys written by hand: a tree in postfix, its axes, and each operand's stride classes as text, one letter an axis:
// '1' moves by one element, 's' by a run-time stride, '0' not at all.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include <ingot/core/error.hpp>

#include "codegen/graph/key.hpp"

namespace ingot::codegen {

class key_builder {
public:
    explicit key_builder(detail::target where, bool wide = false) {
        k_.header.where = where;
        k_.header.architecture = where == detail::target::cuda ? 90 : 0;
        k_.header.wide_index = wide;
    }

    key_builder& past_caches() {
        k_.header.past_caches = true;
        return *this;
    }
    key_builder& math(detail::math_mode mode) {
        k_.header.math = mode;
        return *this;
    }
    /// Axes of the outputs' space, all at once and before operands.
    key_builder& axes(int n, std::uint16_t inner_flags = 0) {
        k_.axes.resize(static_cast<std::size_t>(n));
        if (n > 0) k_.axes.back().flags = inner_flags;
        return *this;
    }
    key_builder& bound_axis(std::uint8_t binder, std::uint8_t length_class, std::uint8_t partner = 0) {
        k_.axes.push_back(
            {.owner = static_cast<std::uint16_t>(binder + 1), .partner = partner, .length_class = length_class});
        return *this;
    }
    key_builder& few_rows() {
        k_.axes.front().flags |= detail::axis_flags::few_rows;
        return *this;
    }

    key_builder& contiguous_columns() {
        k_.axes.front().flags |= detail::axis_flags::contiguous_columns;
        return *this;
    }
    /// Sets the subclass of the last axis so far.
    key_builder& subclass(std::uint8_t subclass) {
        k_.axes.back().subclass = subclass;
        return *this;
    }
    key_builder& extent(std::uint8_t extent) {
        k_.axes.back().extent = extent;
        return *this;
    }

    key_builder& leaf(dtype t, std::string_view strides, bool vector = true, bool wide = false) {
        return operand(detail::word_kind::leaf, detail::operand_kind::array, t, strides, vector, wide);
    }
    key_builder& scalar(dtype t, detail::exponent_class e = detail::exponent_class::none) {
        operand(detail::word_kind::scalar, detail::operand_kind::scalar, t, "", false, false);
        k_.operands.back().head.exponent = e;
        return *this;
    }
    key_builder& random(detail::generator_kind g, dtype t, std::string_view strides, bool vector = true) {
        return operand(detail::word_kind::generator, detail::operand_kind::generator, t, strides, vector, false,
                       static_cast<std::uint32_t>(g));
    }
    /// Repeats operand `first`: the same view, scalar or random leaf.
    key_builder& again(std::uint16_t first) {
        operand_class o = k_.operands[first];
        const auto kind = o.head.kind == detail::operand_kind::scalar      ? detail::word_kind::scalar
                          : o.head.kind == detail::operand_kind::generator ? detail::word_kind::generator
                                                                           : detail::word_kind::leaf;
        o.head.same_as = first;
        k_.operands.push_back(o);
        return push(kind, o.head.type, 0);
    }
    /// Repeats the array of operand `first`, read along other axes.
    key_builder& same(dtype t, std::string_view strides, std::uint16_t first) {
        leaf(t, strides, k_.operands[first].head.vector);
        k_.operands.back().head.same_as = first;
        return *this;
    }
    key_builder& map(std::string_view row) {
        for (std::size_t i = 0; i < detail::op_count; ++i) {
            if (detail::op_table[i].name != row) continue;
            const auto o = static_cast<detail::op>(i);
            const std::size_t arity = detail::facts(o).arity;
            std::vector<detail::operand_type> types;
            for (std::size_t a = 0; a < arity; ++a) types.push_back({types_[types_.size() - arity + a], false});
            types_.resize(types_.size() - arity);
            return push(detail::word_kind::map, detail::resolve(o, types.data()).result, static_cast<std::uint32_t>(i));
        }
        throw error("no such row");
    }
    key_builder& astype(dtype t) {
        types_.pop_back();
        return push(detail::word_kind::map, t, static_cast<std::uint32_t>(detail::op::astype));
    }
    /// A function of a user's text over the last `arity` values. The text's parts are separated by zeros.
    key_builder& user(std::string_view text, detail::user_part part, dtype t, std::uint32_t arity) {
        push_text(text, t);
        types_.resize(types_.size() - arity - 1);
        return push(detail::word_kind::user, t, (arity + 1) | static_cast<std::uint32_t>(part) << 8);
    }
    key_builder& user_reduce(std::string_view text, dtype t) {
        push_text(text, t);
        types_.pop_back();
        return reduce(detail::fold::user, t);
    }
    key_builder& reduce(detail::fold f, dtype t) {
        types_.pop_back();
        return push(detail::word_kind::reduce, t, static_cast<std::uint32_t>(f));
    }
    key_builder& scan(detail::fold f, dtype t, std::string_view pick) {
        types_.pop_back();
        return operand(detail::word_kind::scan, detail::operand_kind::pick, t, pick, false, false,
                       static_cast<std::uint32_t>(f));
    }
    key_builder& gather() {
        types_.pop_back();
        const dtype t = types_.back();
        types_.pop_back();
        return push(detail::word_kind::gather, t, 0);
    }
    /// A scatter of a value and its index.
    key_builder& scatter(detail::scatter_rule rule) {
        types_.pop_back();
        const dtype t = types_.back();
        types_.pop_back();
        return push(detail::word_kind::scatter, t, static_cast<std::uint32_t>(rule));
    }
    key_builder& unravel(std::string_view pick) {
        const dtype t = types_.back();
        types_.pop_back();
        return operand(detail::word_kind::unravel, detail::operand_kind::pick, t, pick, false, false);
    }
    /// A library function of the last values, read through a pick.
    key_builder& library(detail::library_function f, dtype t, std::string_view pick) {
        types_.resize(types_.size() - static_cast<std::size_t>(facts(f).arity()));
        return operand(detail::word_kind::library, detail::operand_kind::pick, t, pick, false, false,
                       static_cast<std::uint32_t>(f));
    }
    /// The last operand or output lies as the library takes or writes it.
    key_builder& as_library_has_it() {
        (k_.outputs.empty() ? k_.operands : k_.outputs).back().head.suits_library = true;
        return *this;
    }
    key_builder& reference(std::uint32_t word) {
        return push(detail::word_kind::reference, detail::dtype_of_word(k_.program[word]), word);
    }
    key_builder& output(dtype t, std::string_view strides, bool vector = true, bool wide = false) {
        k_.outputs.push_back(make(detail::operand_kind::array, t, strides, vector, wide));
        return *this;
    }
    /// The last output has at most 2^`log_places` elements; the host's kernels are the same whatever it has.
    key_builder& few_places(std::uint8_t log_places) {
        if (k_.header.where == detail::target::cuda) k_.outputs.back().head.few_places = log_places;
        return *this;
    }
    /// Another view of the buffer of operand `base`, displaced by `steps` on each axis.
    key_builder& related(std::uint16_t base, std::vector<std::int8_t> steps) {
        operand_class o = k_.operands[base];
        o.head.same_as = static_cast<std::uint16_t>(k_.operands.size());
        k_.operands.push_back(o);
        k_.relations.push_back({o.head.same_as, base, std::move(steps)});
        return push(detail::word_kind::leaf, o.head.type, 0);
    }
    /// Makes the last operand, a pick, a shift: `steps` on each axis, and on a bound axis 1 + the axis along which it
    /// is read. All shifts must come before related views.
    key_builder& shift(std::vector<std::int8_t> steps) {
        const auto pick = static_cast<std::uint16_t>(k_.operands.size() - 1);
        const auto behind =
            std::ranges::find_if(k_.relations, [](const view_relation& r) { return r.operand != r.base; });
        k_.relations.insert(behind, {pick, pick, std::move(steps)});
        return *this;
    }
    /// Two operands view one buffer from one element on.
    key_builder& of_one_buffer(std::uint16_t base, std::uint16_t operand) {
        k_.relations.push_back({operand, base, std::vector<std::int8_t>(k_.axes.size())});
        return *this;
    }
    /// Operand `i` shares its bytes with an output.
    key_builder& in_place(std::size_t i) {
        k_.operands[i].head.aliased = true;
        return *this;
    }

    key done() const { return decode(encode(k_)); }

private:
    /// All type letters stand for `bound`.
    void push_text(std::string_view text, dtype bound) {
        operand(detail::word_kind::text, detail::operand_kind::text, dtype::b1, "", false, false);
        const std::uint64_t binding = 0x0101010101010101u * static_cast<std::uint64_t>(bound);
        for (std::size_t i = 0; i < k_.operands.size(); ++i)
            if (k_.operands[i].text == text && k_.operands[i].binding == binding)
                k_.operands.back().head.same_as = static_cast<std::uint16_t>(i);
        if (k_.operands.back().head.same_as + 1u == k_.operands.size())
            k_.operands.back().text = text, k_.operands.back().binding = binding;
    }
    key_builder& push(detail::word_kind kind, dtype t, std::uint32_t code) {
        k_.program.push_back(detail::make_word(kind, t, code));
        types_.push_back(t);
        return *this;
    }
    operand_class make(detail::operand_kind kind, dtype t, std::string_view strides, bool vector, bool wide) const {
        operand_class o;
        o.head.kind = kind;
        o.head.type = t;
        o.head.vector = vector;
        o.head.wide = wide;
        o.strides.assign(k_.axes.size(), stride_class::broadcast);
        for (std::size_t a = 0; a < strides.size(); ++a)
            o.strides[a] = strides[a] == '1'   ? stride_class::unit
                           : strides[a] == 's' ? stride_class::strided
                                               : stride_class::broadcast;
        return o;
    }
    key_builder& operand(detail::word_kind word, detail::operand_kind kind, dtype t, std::string_view strides,
                         bool vector, bool wide, std::uint32_t code = 0) {
        operand_class o = make(kind, t, strides, vector, wide);
        o.head.same_as = static_cast<std::uint16_t>(k_.operands.size());
        k_.operands.push_back(o);
        return push(word, t, code);
    }

    key k_;
    std::vector<dtype> types_;
};

/// The key with every array and every output one run along the axes on which it moves.
inline key dense(key k) {
    for (operand_class& o : k.operands) o.head.dense = o.head.kind == detail::operand_kind::array;
    for (operand_class& o : k.outputs) o.head.dense = true;
    return k;
}

/// where(x - s > y, x * y, x + y) over arrays of these stride classes.
inline key_builder where_tree(detail::target where, dtype t, int axes, std::string_view x, std::string_view y,
                              bool vector = true) {
    key_builder b(where);
    b.axes(axes).leaf(t, x, vector).scalar(t).map("subtract").leaf(t, y, vector).map("greater");
    b.again(0).again(2).map("multiply").again(0).again(2).map("add").map("where");
    return b;
}

}  // namespace ingot::codegen
