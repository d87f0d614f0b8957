// A drawn statement of views, gathers and joins as one tree of lazies; the same by plain copies, an array for every
// node; and an element of it by its definition.
#pragma once

#include <algorithm>
#include <concepts>
#include <stdexcept>
#include <tuple>
#include <vector>

#include <ingot/ingot.hpp>

#include "rearrangement.hpp"

namespace bench {

/// Arrays that leaves are parts of, one of every dtype.
class rearrangement_pools {
public:
    explicit rearrangement_pools(std::size_t n)
        : all_(of<std::uint8_t>(n), of<std::int16_t>(n), of<std::int32_t>(n), of<ingot::float16>(n), of<float>(n),
               of<double>(n)) {}
    template <class T>
    const ingot::array<T>& values() const {
        return std::get<ingot::array<T>>(all_);
    }
    std::uint64_t size() const { return static_cast<std::uint64_t>(values<float>().size()); }
    /// Where a leaf begins in a turn: at another position each time, so that no cache holds it.
    std::uint64_t first_of(const rearrangement_node& leaf, std::uint64_t turn) const {
        const std::uint64_t room = size() - rearrangement::elements(leaf);
        const std::uint64_t step = (rearrangement::elements(leaf) + 255) / 256 * 256;
        const std::uint64_t place = leaf.place + turn * step;
        return room < 256 ? 0 : std::min(room, place % (room / 256 * 256 + 1));
    }

private:
    template <class T>
    static ingot::array<T> of(std::size_t n) {
        std::vector<T> values(n);
#ifdef _OPENMP
#pragma omp parallel for
#endif
        for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<T>(static_cast<float>(pool_value(i)));
        return ingot::asarray(values);
    }

    std::tuple<ingot::array<std::uint8_t>, ingot::array<std::int16_t>, ingot::array<std::int32_t>,
               ingot::array<ingot::float16>, ingot::array<float>, ingot::array<double>>
        all_;
};

template <class T>
class rearrangement_trees {
public:
    using tree = ingot::lazy<T>;

    rearrangement_trees(const rearrangement& s, const rearrangement_pools& pools)
        : s_(s),
          pools_(pools),
          indices_(s.nodes.size()),
          short_indices_(s.nodes.size()),
          host_indices_(s.nodes.size()) {
        for (std::size_t i = 0; i < s.nodes.size(); ++i) {
            if (s.nodes[i].what != rearranging::gather) continue;
            host_indices_[i] = s.indices_of(static_cast<int>(i));
            if (s.nodes[i].short_indices)
                short_indices_[i] = astype<std::int32_t>(ingot::asarray(host_indices_[i]));
            else
                indices_[i] = ingot::asarray(host_indices_[i]);
        }
    }

    tree whole(std::uint64_t turn) const {
        std::vector<tree> all;
        for (std::size_t i = 0; i < s_.nodes.size(); ++i)
            all.push_back(made(i, turn, [&](int from) -> const tree& { return all[static_cast<std::size_t>(from)]; }));
        return all.back();
    }
    /// The result with every node evaluated into its own memory.
    ingot::array<T> by_plain_copies(std::uint64_t turn) const {
        return copied(static_cast<int>(s_.nodes.size()) - 1, turn);
    }

    /// The element at an index of the result.
    T element(std::vector<index_t> at, std::uint64_t turn) const {
        const int value = element_of(static_cast<int>(s_.nodes.size()) - 1, std::move(at), turn);
        return static_cast<T>(static_cast<float>(value));
    }

private:
    template <class Operand>
    tree made(std::size_t number, std::uint64_t turn, Operand operand) const {
        const rearrangement_node& n = s_.nodes[number];
        switch (n.what) {
            case rearranging::leaf:
                return leaf(n, turn);
            case rearranging::slice:
                return sliced(n, operand(n.from[0]));
            case rearranging::transpose:
                return tree(permute_dims(operand(n.from[0]), ingot::axes(n.order)));
            case rearranging::broadcast:
                return tree(broadcast_to(operand(n.from[0]), ingot::shape_like(n.shape)));
            case rearranging::gather: {
                const auto axis = static_cast<index_t>(n.axis);
                if (n.short_indices) return tree(take(operand(n.from[0]), short_indices_[number], axis));
                return tree(take(operand(n.from[0]), indices_[number], axis));
            }
            case rearranging::join: {
                std::vector<tree> parts;
                for (const int from : n.from) parts.push_back(operand(from));
                return tree(concatenate(parts, static_cast<index_t>(n.axis)));
            }
            case rearranging::roll:
                return tree(roll(operand(n.from[0]), n.by, static_cast<index_t>(n.axis)));
            case rearranging::map:
                if (n.op == mapping::twice) return tree(operand(n.from[0]) * 2);
                if (n.op == mapping::add) return tree(operand(n.from[0]) + operand(n.from[1]));
                if (n.op == mapping::maximum) return tree(maximum(operand(n.from[0]), operand(n.from[1])));
                return tree(minimum(operand(n.from[0]), operand(n.from[1])));
        }
        throw std::logic_error("a node of no kind");
    }
    static tree sliced(const rearrangement_node& n, const tree& e) {
        std::vector<ingot::slice> parts;
        for (std::size_t j = 0; j < n.shape.size(); ++j) {
            const auto [start, step] = n.slices[j];
            const index_t last = start + step * (n.shape[j] - 1);
            if (step > 0)
                parts.emplace_back(start, last + 1, step);
            else if (last > 0)
                parts.emplace_back(start, last - 1, step);
            else
                parts.emplace_back(start, ingot::none, step);
        }
        if (parts.size() == 1) return tree(e(parts[0]));
        if (parts.size() == 2) return tree(e(parts[0], parts[1]));
        if (parts.size() == 3) return tree(e(parts[0], parts[1], parts[2]));
        return tree(e(parts[0], parts[1], parts[2], parts[3]));
    }
    tree leaf(const rearrangement_node& n, std::uint64_t turn) const {
        if (n.type == s_.type) return part<T>(n, turn);
        if (n.type == dtype::u1) return tree(astype<T>(part<std::uint8_t>(n, turn)));
        if (n.type == dtype::i4) return tree(astype<T>(part<std::int32_t>(n, turn)));
        return tree(astype<T>(part<float>(n, turn)));
    }
    template <class V>
    ingot::lazy<V> part(const rearrangement_node& n, std::uint64_t turn) const {
        const auto first = static_cast<index_t>(pools_.first_of(n, turn));
        const auto count = static_cast<index_t>(rearrangement::elements(n));
        return reshape(pools_.values<V>()(ingot::slice(first, first + count)), ingot::shape_like(n.shape));
    }

    ingot::array<T> copied(int number, std::uint64_t turn) const {
        const rearrangement_node& n = s_.node(number);
        std::vector<tree> operands;
        for (const int from : n.from) operands.push_back(copied(from, turn));
        ingot::array<T> to = ingot::empty<T>(ingot::shape_like(n.shape));
        assign(to, made(static_cast<std::size_t>(number), turn, [&](int from) -> const tree& {
                   return operands[static_cast<std::size_t>(std::ranges::find(n.from, from) - n.from.begin())];
               }));
        return to;
    }

    static int wrapped(int value) { return std::same_as<T, std::uint8_t> ? value & 255 : value; }
    int element_of(int number, std::vector<index_t> at, std::uint64_t turn) const {
        const rearrangement_node& n = s_.node(number);
        index_t& along = at[n.axis];
        switch (n.what) {
            case rearranging::leaf: {
                std::uint64_t i = 0;
                for (std::size_t j = 0; j < at.size(); ++j)
                    i = i * static_cast<std::uint64_t>(n.shape[j]) + static_cast<std::uint64_t>(at[j]);
                return pool_value(pools_.first_of(n, turn) + i);
            }
            case rearranging::slice:
                for (std::size_t j = 0; j < at.size(); ++j) at[j] = n.slices[j].start + n.slices[j].step * at[j];
                break;
            case rearranging::transpose: {
                std::vector<index_t> of_operand(at.size());
                for (std::size_t j = 0; j < at.size(); ++j) of_operand[static_cast<std::size_t>(n.order[j])] = at[j];
                at = std::move(of_operand);
                break;
            }
            case rearranging::broadcast:
                for (std::size_t j = 0; j < at.size(); ++j)
                    if (s_.operand(n).shape[j] == 1) at[j] = 0;
                break;
            case rearranging::gather:
                along = host_indices_[static_cast<std::size_t>(number)][static_cast<std::size_t>(along)];
                break;
            case rearranging::join:
                for (const int from : n.from) {
                    if (along < s_.node(from).shape[n.axis]) return element_of(from, at, turn);
                    along -= s_.node(from).shape[n.axis];
                }
                throw std::logic_error("beyond the last part");
            case rearranging::roll:
                along = ((along - n.by) % n.shape[n.axis] + n.shape[n.axis]) % n.shape[n.axis];
                break;
            case rearranging::map: {
                const int a = element_of(n.from[0], at, turn);
                if (n.op == mapping::twice) return wrapped(a + a);
                const int b = element_of(n.from[1], at, turn);
                return n.op == mapping::add ? wrapped(a + b) : (a < b) == (n.op == mapping::maximum) ? b : a;
            }
        }
        return element_of(n.from[0], std::move(at), turn);
    }

    const rearrangement& s_;
    const rearrangement_pools& pools_;
    std::vector<ingot::array<index_t>> indices_;
    std::vector<ingot::array<std::int32_t>> short_indices_;
    std::vector<std::vector<index_t>> host_indices_;
};

/// Calls f with a value of the statement's C++ type.
template <class F>
auto with_type_of(const rearrangement& s, F f) {
    if (s.type == dtype::u1) return f(std::uint8_t{});
    if (s.type == dtype::i2) return f(std::int16_t{});
    if (s.type == dtype::i4) return f(std::int32_t{});
    if (s.type == dtype::f2) return f(ingot::float16{});
    if (s.type == dtype::f4) return f(float{});
    return f(double{});
}

/// Throws unless a result equals that of plain copies bit for bit, and at some elements the value by definition.
template <class T>
void require_right(const rearrangement& s, const rearrangement_trees<T>& trees, const ingot::array<T>& got,
                   std::uint64_t turn) {
    const auto& shape = s.result().shape;
    if (!std::ranges::equal(got.shape(), shape)) throw std::runtime_error("another shape");
    const index_t wrong = sum(got != trees.by_plain_copies(turn)).item();
    if (wrong != 0) throw std::runtime_error(std::to_string(wrong) + " elements are not those of plain copies");
    constexpr std::uint64_t samples = 256;
    std::vector<index_t> places;
    std::vector<T> wanted;
    for (std::uint64_t k = 0; k < samples; ++k) {
        const std::uint64_t n = rearrangement::elements(s.result());
        std::uint64_t rest = k < 2 ? k * (n - 1) : mixed(s.seed + k) % n;
        places.push_back(static_cast<index_t>(rest));
        std::vector<index_t> at(shape.size());
        for (std::size_t j = shape.size(); j-- > 0; rest /= static_cast<std::uint64_t>(shape[j]))
            at[j] = static_cast<index_t>(rest % static_cast<std::uint64_t>(shape[j]));
        wanted.push_back(trees.element(std::move(at), turn));
    }
    const std::vector<T> found = ingot::eval(take(got, ingot::asarray(places))).to_host();
    for (std::size_t k = 0; k < samples; ++k)
        if (found[k] != wanted[k])
            throw std::runtime_error("element " + std::to_string(places[k]) + " is not what it is by definition");
}

}  // namespace bench
