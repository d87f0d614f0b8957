// A graph is run region by region over blocks of points; a point is one index for each axis of the key. Reductions and
// scans are first computed whole into tables, in the order of the nodes; gathers and reshapes evaluate their argument's
// region at the points that they compute.
#include "runtime/kernels/interpreter.hpp"

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstring>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include <ingot/core/error.hpp>
#include <ingot/core/gather.hpp>
#include <ingot/core/scalar_functions.hpp>

#include "runtime/front/library_functions.hpp"
#include "runtime/kernels/elements.hpp"
#include "runtime/kernels/folds.hpp"
#include "runtime/kernels/index_block.hpp"
#include "runtime/kernels/library_texts.hpp"
#include "runtime/kernels/region.hpp"

namespace ingot::runtime {

namespace {

using codegen::graph;
using codegen::key;
using codegen::node;
using codegen::node_id;
using codegen::node_kind;
using detail::fold;
using namespace interpreter;

/// The whole result of a reduction or scan, over the axes along which it varies.
struct table {
    std::vector<std::byte> data;
    indices strides;
};

std::int64_t wrapped_index(index_mode mode, std::int64_t index, std::int64_t size) {
    switch (mode) {
        case index_mode::wrap:
            return (index % size + size) % size;
        case index_mode::clip:
            return std::clamp<std::int64_t>(index, 0, size - 1);
        default:
            if (index < -size || index >= size)
                throw index_error("[take] index " + std::to_string(index) + " is outside an axis of " +
                                  std::to_string(size));
            return index < 0 ? index + size : index;
    }
}

/// The index within an axis for one that may lie beyond its ends.
std::int64_t index_within(detail::place_rule rule, std::int64_t position, std::int64_t size) {
    if (rule == detail::place_rule::nearest) return std::clamp<std::int64_t>(position, 0, size - 1);
    if (rule == detail::place_rule::wrap)
        return position < 0 ? position + size : position < size ? position : position - size;
    const std::int64_t once = rule == detail::place_rule::reflect ? 1 : 0;  // whether it skips the end elements
    const std::int64_t period = std::max<std::int64_t>(2 * (size - once), 1);
    const std::int64_t at = (position % period + period) % period;
    return at < size ? at : period - 1 + once - at;
}

class interpretation {
public:
    interpretation(const key& k, const graph& g, std::span<const bound_operand> operands,
                   std::span<const bound_output> outputs, std::span<const std::int64_t> extents,
                   std::uint64_t statement)
        : key_(k), graph_(g), operands_(operands), outputs_(outputs), extents_(extents), statement_(statement) {
        if (operands.size() != k.operands.size() || outputs.size() != k.outputs.size() ||
            outputs.size() != g.roots.size() || extents.size() != k.axes.size())
            throw error("[interpreter] operands, outputs or extents do not match the key");
    }

    void run() {
        for (const codegen::user_text& text : graph_.texts) {
            texts_.push_back(function_of(text));
            if (texts_.back() == nullptr)
                throw library_error("[" + text.name +
                                    "] is given as text, which only a compiler can make code of, and none was found");
        }
        const indices axes = axes_owned_by(0);
        if (volume(extents_, axes) == 0) return;
        for (node_id id = 0; id < graph_.nodes.size(); ++id) {
            const node_kind kind = graph_.nodes[id].kind;
            if (kind == node_kind::reduce) tabulate_reduction(id);
            if (kind == node_kind::scan) tabulate_scan(id);
            if (kind == node_kind::library) tabulate_library(id);
        }
        std::vector<node_id> values, positions;  // of scattered outputs
        for (const node_id root : graph_.roots) {
            const node& n = graph_.nodes[root];
            const bool scattered = n.kind == node_kind::scatter;
            values.push_back(scattered ? n.arguments[0] : root);
            positions.push_back(scattered ? n.arguments[1] : codegen::no_node);
        }
        const std::size_t outputs = values.size();
        for (const node_id position : positions)
            if (position != codegen::no_node) values.push_back(position);
        region all = make_region(graph_, values);
        indices at(block_elements);
        for_each_block(extents_, axes, [&](const index_block& where) {
            evaluate(all, where);
            std::size_t next_position = outputs;
            for (std::size_t i = 0; i < outputs_.size(); ++i) {
                if (positions[i] != codegen::no_node) {
                    scatter(i, all.buffers[all.results[i]].get(),
                            elements<std::int64_t>(all.buffers[all.results[next_position++]].get()), where.count);
                    continue;
                }
                locate(0, outputs_[i].strides, where, at);
                store(key_.outputs[i].head.type, all.buffers[all.results[i]].get(), at, where.count, outputs_[i].data);
            }
        });
    }

private:
    void scatter(std::size_t output, const void* values, const std::int64_t* positions, std::size_t count) {
        const dtype type = key_.outputs[output].head.type;
        const auto rule = static_cast<detail::scatter_rule>(graph_.nodes[graph_.roots[output]].code);
        const auto write = [&](auto zero, const auto& join) {
            using T = decltype(zero);
            T* to = static_cast<T*>(outputs_[output].data);
            const T* from = static_cast<const T*>(values);
            for (std::size_t i = 0; i < count; ++i)
                if (positions[i] >= 0) to[positions[i]] = join(to[positions[i]], from[i]);
        };
        const auto join_halves = [&](auto zero, const auto& of) {
            using T = decltype(zero);
            write(zero, [&](T a, T b) { return T(of(static_cast<float>(a), static_cast<float>(b))); });
        };
        const auto join = [&](const auto& of) {
            if (type == dtype::f2) return join_halves(float16{}, of);
            if (type == dtype::bf) return join_halves(bfloat16{}, of);
            with_type(type, [&](auto zero) { write(zero, of); });
        };
        const auto plus = [](auto a, auto b) { return a + b; };
        switch (rule) {
            case detail::scatter_rule::set:
                return with_size(type, [&](auto word) { write(word, [](auto, auto b) { return b; }); });
            case detail::scatter_rule::add:
                if (type == dtype::c8) return write(std::complex<float>{}, plus);
                if (type == dtype::c16) return write(std::complex<double>{}, plus);
                return join([](auto a, auto b) { return folds::sum::join<decltype(a)>(a, b); });
            case detail::scatter_rule::max:
                return join([](auto a, auto b) { return folds::max::join<decltype(a)>(a, b); });
            case detail::scatter_rule::min:
                return join([](auto a, auto b) { return folds::min::join<decltype(a)>(a, b); });
        }
    }

    // ---- axes and points

    /// The axes of the outputs (owner 0), or those that binder `owner - 1` binds.
    indices axes_owned_by(std::size_t owner) const {
        indices axes;
        for (std::size_t a = 0; a < key_.axes.size(); ++a)
            if (key_.axes[a].owner == owner) axes.push_back(static_cast<std::int64_t>(a));
        return axes;
    }

    std::int64_t extent(std::int64_t axis) const { return extents_[static_cast<std::size_t>(axis)]; }

    indices axes_of_mask(std::uint64_t mask) const {
        indices axes;
        for (std::size_t a = 0; a < key_.axes.size(); ++a)
            if (mask >> a & 1) axes.push_back(static_cast<std::int64_t>(a));
        return axes;
    }

    void locate_operand(std::uint16_t operand, const index_block& where, indices& at) const {
        locate(operands_[operand].offset, operands_[operand].strides, where, at);
    }

    // ---- regions

    /// The region of a binder's argument, made once.
    region& argument_region(node_id argument) {
        const auto known = regions_.find(argument);
        if (known != regions_.end()) return known->second;
        return regions_.emplace(argument, make_region(graph_, {argument})).first->second;
    }

    void evaluate(region& r, const index_block& where) {
        for (const step& s : r.steps) {
            const node& n = graph_.nodes[s.id];
            void* to = r.buffers[s.to].get();
            const auto from = [&](int i) { return r.buffers[s.from[i]].get(); };
            switch (n.kind) {
                case node_kind::operand:
                    evaluate_operand(n, where, to);
                    break;
                case node_kind::constant:
                    with_type(n.type, [&](auto zero) {
                        using T = decltype(zero);
                        std::fill_n(elements<T>(to), where.count, detail::bodies::cast<T>(n.value));
                    });
                    break;
                case node_kind::map:
                    s.map(from(0), from(1), from(2), to, where.count);
                    break;
                case node_kind::cast:
                    s.cast(from(0), to, where.count);
                    break;
                case node_kind::reduce:
                    read_table(s.id, n, nullptr, where, to);
                    break;
                case node_kind::scan:
                    read_table(s.id, n, &operands_[n.pick], where, to);
                    break;
                case node_kind::view:
                    read_table(n.arguments[0], n, &operands_[n.pick], where, to);
                    break;
                case node_kind::gather:
                    evaluate_gather(n, from(1), where, to);
                    break;
                case node_kind::unravel:
                    evaluate_unravel(n, where, to);
                    break;
                case node_kind::user:
                    evaluate_text(s, n, r, where, to);
                    break;
                case node_kind::library:
                case node_kind::store:
                case node_kind::scatter:
                case node_kind::text:
                case node_kind::shifted:
                case node_kind::thread_fold:
                case node_kind::thread_scan:
                    break;  // refused earlier, or made only by the planner
            }
        }
    }

    // ---- leaves

    void evaluate_operand(const node& n, const index_block& where, void* to) {
        const bound_operand& bound = operands_[n.index];
        if (codegen::is_raw(key_, n)) return;  // its readers access the memory directly
        if (key_.operands[n.index].head.kind == detail::operand_kind::scalar) {
            with_size(n.type, [&](auto word) {
                std::memcpy(&word, bound.bits, sizeof(word));
                std::fill_n(elements<decltype(word)>(to), where.count, word);
            });
            return;
        }
        locate_operand(n.index, where, at_);
        if (key_.operands[n.index].head.kind == detail::operand_kind::array)
            load(n.type, bound.data, at_, where.count, to);
        else if (n.code == static_cast<std::uint16_t>(detail::generator_kind::position))
            std::copy_n(at_.data(), where.count, elements<std::int64_t>(to));
        else if (n.code == static_cast<std::uint16_t>(detail::generator_kind::integers))
            random_integers(bound.bits[0], bound.bits[1], static_cast<std::uint32_t>(bound.last), at_, where.count,
                            elements<std::uint32_t>(to));
        else if (n.type == dtype::f4)
            evaluate_random<float>(n, bound, where, to);
        else if (n.type == dtype::f8)
            evaluate_random<double>(n, bound, where, to);
        else if (n.type == dtype::u4)
            evaluate_random<std::uint32_t>(n, bound, where, to);
        else
            evaluate_random<std::uint64_t>(n, bound, where, to);
    }

    /// Evaluates one of the library's own texts.
    void evaluate_text(const step& s, const node& n, const region& r, const index_block& where, void* to) {
        const void* values[detail::most_arguments] = {};
        std::int64_t counts[detail::most_arguments] = {};
        for (int a = 0; a < n.arity; ++a) {
            const node& given = graph_.nodes[n.arguments[a]];
            values[a] = r.buffers[s.from[a]].get();
            if (!codegen::is_raw(key_, given)) continue;
            const bound_operand& bound = operands_[given.index];
            const auto offset = bound.offset * static_cast<std::int64_t>(detail::size_of(given.type));
            values[a] = static_cast<const std::byte*>(bound.data) + offset;
            counts[a] = static_cast<std::int64_t>(bound.bits[1]);
        }
        texts_[n.index]({values, counts, to, where.count});
    }

    template <class T>
    void evaluate_random(const node& n, const bound_operand& bound, const index_block& where, void* to) {
        random_numbers(n.code, bound.bits[0], bound.bits[1], at_, where.count, elements<T>(to));
    }

    // ---- binders

    /// Calls `f` with each block of an argument of binder `id` over the axes of `kept`, then `bound`.
    template <class F>
    void for_each_argument_block(node_id id, indices kept, const indices& bound, F f, int number = 0) {
        kept.insert(kept.end(), bound.begin(), bound.end());
        region& argument = argument_region(graph_.nodes[id].arguments[number]);
        for_each_block(extents_, kept, [&](const index_block& where) {
            evaluate(argument, where);
            f(argument.buffers[argument.results[0]].get(), where.count);
        });
    }

    table& make_table(node_id id, const indices& axes) {
        table& t = tables_[id];
        t.strides.assign(key_.axes.size(), 0);
        std::int64_t stride = 1;
        for (std::size_t k = axes.size(); k-- > 0; stride *= extent(axes[k]))
            t.strides[static_cast<std::size_t>(axes[k])] = stride;
        t.data.resize(static_cast<std::size_t>(stride) * detail::size_of(graph_.nodes[id].type));
        return t;
    }

    void read_table(node_id id, const node& n, const bound_operand* pick, const index_block& where, void* to) {
        const table& t = tables_.at(id);
        locate(0, t.strides.data(), where, at_);
        if (pick != nullptr) {
            locate(pick->offset, pick->strides, where, picked_);
            for (std::size_t i = 0; i < where.count; ++i) at_[i] += picked_[i];
        }
        load(n.type, t.data.data(), at_, where.count, to);
    }

    /// Calls `f` with the fold that a reduction runs over elements of type T.
    template <class T, class F>
    static void with_fold(fold code, F f) {
        switch (code) {
            case fold::sum:
                return f(folds::tree<folds::sum, T>{});
            case fold::prod:
                return f(folds::tree<folds::prod, T>{});
            case fold::min:
                return f(folds::tree<folds::min, T>{});
            case fold::max:
                return f(folds::tree<folds::max, T>{});
            case fold::argmin:
                return f(folds::arg_reduction<folds::min, T>{});
            case fold::argmax:
                return f(folds::arg_reduction<folds::max, T>{});
            case fold::all:
                return f(folds::all<T>{});
            case fold::any:
                return f(folds::any<T>{});
            case fold::count_nonzero:
                return f(folds::count_nonzero<T>{});
            case fold::logaddexp:
            case fold::user:
            case fold::squares:
            case fold::exponentials:
                break;  // refused
        }
    }

    void tabulate_reduction(node_id id) {
        const node& n = graph_.nodes[id];
        const indices kept = axes_of_mask(n.axes), bound = axes_owned_by(n.index + 1u);
        const std::int64_t length = volume(extents_, bound);
        table& t = make_table(id, kept);
        with_type(graph_.nodes[n.arguments[0]].type, [&](auto zero) {
            using T = decltype(zero);
            with_fold<T>(static_cast<fold>(n.code), [&](auto folding) {
                using R = typename decltype(folding)::result;
                if (n.type != detail::dtype_of<R>)
                    throw error("[interpreter] a fold of " + std::string(name(detail::dtype_of<T>)) + " cannot give " +
                                std::string(name(n.type)));
                R* to = elements<R>(t.data.data());
                if (length == 0) {
                    std::generate_n(to, volume(extents_, kept), [&] { return folding.finish(); });
                    return;
                }
                std::int64_t left = length;
                for_each_argument_block(id, kept, bound, [&](const void* values, std::size_t count) {
                    for (std::size_t i = 0; i < count; ++i) {
                        folding.add(elements<T>(values)[i]);
                        if (--left > 0) continue;
                        left = length;
                        *to++ = folding.finish();
                    }
                });
            });
        });
    }

    /// Computes every prefix, folded strictly from the left.
    void tabulate_scan(node_id id) {
        const node& n = graph_.nodes[id];
        const indices bound = axes_owned_by(n.index + 1u);
        const indices kept = axes_of_mask(graph_.nodes[n.arguments[0]].axes & ~mask_of(bound));
        indices axes = kept;
        axes.insert(axes.end(), bound.begin(), bound.end());
        table& t = make_table(id, axes);
        for (const std::int64_t a : bound) t.strides[static_cast<std::size_t>(a)] = 0;  // the pick goes along them
        const std::int64_t length = volume(extents_, bound);
        with_type(n.type, [&](auto zero) {
            using T = decltype(zero);
            const auto scan = [&](auto joining) {
                using fold_type = decltype(joining);
                using wide = std::conditional_t<std::is_same_v<T, float>, double, T>;  // as the kernels add
                T* to = elements<T>(t.data.data());
                std::int64_t done = 0;
                wide so_far{};
                for_each_argument_block(id, kept, bound, [&](const void* values, std::size_t count) {
                    for (std::size_t i = 0; i < count; ++i, ++to, ++done) {
                        const wide x = elements<T>(values)[i];
                        so_far = done % length == 0 ? x : fold_type::template join<wide>(so_far, x);
                        *to = static_cast<T>(so_far);
                    }
                });
            };
            switch (static_cast<fold>(n.code)) {
                case fold::sum:
                    return scan(folds::sum{});
                case fold::prod:
                    return scan(folds::prod{});
                case fold::min:
                    return scan(folds::min{});
                case fold::max:
                    return scan(folds::max{});
                case fold::logaddexp:
                    return scan(folds::logaddexp{});
                default:
                    throw error("[interpreter] this fold has no scan");
            }
        });
    }

    /// Runs a library function on its arguments, each computed whole over the batch's axes and its own.
    void tabulate_library(node_id id) {
        const node& n = graph_.nodes[id];
        const detail::library_facts& row = facts(static_cast<detail::library_function>(n.code));
        const indices bound = axes_owned_by(n.index + 1u);
        const indices batch = axes_of_mask(n.axes & ~mask_of(bound));
        const auto own = [&](std::uint32_t mask) {
            indices axes;
            for (std::size_t i = 0; i < bound.size(); ++i)
                if (mask >> i & 1u) axes.push_back(bound[i]);
            return axes;
        };
        library_call_on_host call(row.name, batch.size());
        for (int a = 0; a < n.arity; ++a) {
            indices axes = batch;
            for (const std::int64_t axis : own(row.operands[a])) axes.push_back(axis);
            const dtype type = graph_.nodes[n.arguments[a]].type;
            std::byte* to = call.add_operand(type, extents_of(axes));
            for_each_argument_block(
                id, batch, own(row.operands[a]),
                [&](const void* values, std::size_t count) {
                    const std::size_t bytes = count * detail::size_of(type);
                    std::memcpy(to, values, bytes);
                    to += bytes;
                },
                a);
        }
        indices axes = batch;
        for (const std::int64_t axis : own(row.result)) axes.push_back(axis);
        table& t = make_table(id, axes);
        for (const std::int64_t a : bound) t.strides[static_cast<std::size_t>(a)] = 0;  // the pick goes along them
        call.run(n.type, extents_of(axes), t.data.data(), statement_);
    }
    indices extents_of(const indices& axes) const {
        indices of;
        for (const std::int64_t a : axes) of.push_back(extent(a));
        return of;
    }

    static std::uint64_t mask_of(const indices& axes) {
        std::uint64_t mask = 0;
        for (const std::int64_t a : axes) mask |= std::uint64_t{1} << a;
        return mask;
    }

    /// The argument at these points, with its own indices on the bound axes.
    void evaluate_argument(const node& n, const index_block& where, void* to) {
        region& argument = argument_region(n.arguments[0]);
        evaluate(argument, where);
        std::memcpy(to, argument.buffers[argument.results[0]].get(), where.count * detail::size_of(n.type));
    }

    void evaluate_gather(const node& n, const void* index, const index_block& where, void* to) {
        const indices bound = axes_owned_by(n.index + 1u);
        if (bound.size() != 1) throw error("[interpreter] a gather binds one axis");
        const std::int64_t size = extent(bound[0]);
        indices at(block_elements);
        bodies::cast_for(graph_.nodes[n.arguments[1]].type, dtype::i8)(index, at.data(), where.count);
        const auto mode = static_cast<index_mode>(n.code);
        for (std::size_t i = 0; i < where.count; ++i) at[i] = wrapped_index(mode, at[i], size);
        index_block there = where;
        there.on_axis[static_cast<std::size_t>(bound[0])] = at.data();
        evaluate_argument(n, there, to);
    }

    void evaluate_unravel(const node& n, const index_block& where, void* to) {
        const indices bound = axes_owned_by(n.index + 1u);
        indices left(block_elements);
        locate_operand(n.pick, where, left);
        std::vector<indices> digits(bound.size(), indices(block_elements));
        index_block there = where;
        if (const detail::place_rule rule = codegen::rule_of(n); rule != detail::place_rule::digits)
            for (std::size_t i = 0; i < where.count; ++i) left[i] = index_within(rule, left[i], extent(bound[0]));
        for (std::size_t k = bound.size(); k-- > 0;) {
            for (std::size_t i = 0; i < where.count; ++i) {
                digits[k][i] = left[i] % extent(bound[k]);
                left[i] /= extent(bound[k]);
            }
            there.on_axis[static_cast<std::size_t>(bound[k])] = digits[k].data();
        }
        evaluate_argument(n, there, to);
    }

    std::vector<text_function> texts_;  // of the graph's
    const key& key_;
    const graph& graph_;
    std::span<const bound_operand> operands_;
    std::span<const bound_output> outputs_;
    std::span<const std::int64_t> extents_;
    std::uint64_t statement_;
    std::unordered_map<node_id, region> regions_;  // of binders' arguments
    std::unordered_map<node_id, table> tables_;
    indices at_ = indices(block_elements), picked_ = indices(block_elements);  // for the leaf or table being read
};

}  // namespace

void interpret(const codegen::key& k, const codegen::graph& g, std::span<const bound_operand> operands,
               std::span<const bound_output> outputs, std::span<const std::int64_t> extents, std::uint64_t statement) {
    interpretation(k, g, operands, outputs, extents, statement).run();
}

}  // namespace ingot::runtime
