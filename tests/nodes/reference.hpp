// Tests' own evaluator: walks a program word by word and computes one element at a time from the definitions in
// program.hpp. As slow and as plain as it can be.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>
#include <vector>

#include <ingot/core/expression.hpp>

#include "runtime/device/transfer.hpp"

namespace reference {

using namespace ingot;
using namespace ingot::detail;
using index_tuple = std::vector<index_t>;

/// A tree in the form that the evaluator receives.
struct gathered {
    std::vector<word> program;
    std::vector<operand> operands;
    std::vector<word> attributes;
    std::shared_ptr<const void> tree;  // a copy of it, which the operands point into
};

template <class E>
gathered gather(const E& e) {
    gathered g;
    const auto tree = std::make_shared<const E>(e);
    g.tree = tree;
    g.program.assign(E::program.begin(), E::program.end());
    g.operands.resize(E::operands);
    g.attributes.resize(E::binders);
    cursor c{g.operands.data(), g.attributes.data()};
    tree->gather(c);
    return g;
}

/// A buffer over values of the test's own, that is never released.
template <class T>
class memory {
public:
    explicit memory(std::size_t n) : values_(std::make_unique<T[]>(n)) {
        buffer_->references = 1u << 20;
        buffer_->data = values_.get();
        buffer_->bytes = n * sizeof(T);
        for (std::size_t i = 0; i < n; ++i) values_[i] = static_cast<T>((i * 7 + 3) % 23);
    }
    T* data() { return values_.get(); }
    leaf<T> as(std::initializer_list<index_t> shape) {
        buffer_->references.fetch_add(1);
        return leaf<T>(buffer_ref::adopt(buffer_.get()), contiguous_layout(std::span(shape.begin(), shape.size())));
    }

private:
    std::unique_ptr<T[]> values_;
    std::unique_ptr<buffer> buffer_ = std::make_unique<buffer>();
};

class evaluator {
public:
    explicit evaluator(gathered g) : g_(std::move(g)) {
        std::vector<std::size_t> stack;
        std::size_t next_operand = 0, next_attribute = 0;
        for (const word w : g_.program) {
            node n{w, {}, next_operand, 0};
            next_operand += static_cast<std::size_t>(operands_of_word(w));
            if (is_binder(kind_of_word(w))) n.bound = static_cast<int>(g_.attributes.at(next_attribute++));
            const auto arity = static_cast<std::size_t>(arity_of_word(w));
            n.arguments.assign(stack.end() - static_cast<std::ptrdiff_t>(arity), stack.end());
            stack.resize(stack.size() - arity);
            stack.push_back(kind_of_word(w) == word_kind::reference ? code_of_word(w) : nodes_.size());
            nodes_.push_back(n);
        }
        if (next_operand != g_.operands.size() || next_attribute != g_.attributes.size())
            throw std::logic_error("the program does not take what was gathered");
        roots_ = stack;
    }

    index_tuple shape(std::size_t root = 0) const { return shape_of(nodes_[roots_.at(root)]); }
    /// The values of all elements in C order.
    std::vector<double> values(std::size_t root = 0) const {
        const index_tuple all = shape(root);
        std::vector<double> result;
        for_each(all, [&](const index_tuple& i) { result.push_back(at(i, root)); });
        return result;
    }
    double at(const index_tuple& i, std::size_t root = 0) const { return value(nodes_[roots_.at(root)], i); }

    template <class F>
    static void for_each(const index_tuple& shape, F&& f) {
        index_tuple i(shape.size(), 0);
        for (const index_t n : shape)
            if (n == 0) return;
        while (true) {
            f(i);
            std::size_t j = shape.size();
            while (j > 0 && ++i[j - 1] == shape[j - 1]) i[--j] = 0;
            if (j == 0) return;
        }
    }

private:
    struct node {
        word code;
        std::vector<std::size_t> arguments;
        std::size_t operand;
        int bound;
    };

    const node& argument(const node& n, std::size_t k) const { return nodes_[n.arguments.at(k)]; }
    static index_tuple extents(const layout& l) { return {l.shape(), l.shape() + l.rank()}; }
    static index_tuple broadcast(index_tuple a, const index_tuple& b) {
        while (a.size() < b.size()) a.insert(a.begin(), 1);
        for (std::size_t k = 0; k < b.size(); ++k) {
            index_t& n = a[a.size() - b.size() + k];
            if (n == 1)
                n = b[k];
            else if (b[k] != 1 && b[k] != n)
                throw std::logic_error("shapes do not fit");
        }
        return a;
    }

    /// Shared nodes are computed once; otherwise a tree that squares itself would take for ever.
    index_tuple shape_of(const node& n) const {
        if (kind_of_word(n.code) != word_kind::map) return new_shape_of(n);
        const auto known = shapes_.find(&n);
        return known != shapes_.end() ? known->second : shapes_.emplace(&n, new_shape_of(n)).first->second;
    }
    index_tuple new_shape_of(const node& n) const {
        switch (kind_of_word(n.code)) {
            case word_kind::leaf:
            case word_kind::generator:
                return extents(*g_.operands[n.operand].where);
            case word_kind::scalar:
                return {};
            case word_kind::scan:
            case word_kind::unravel:
                return extents(*g_.operands[n.operand].where);
            case word_kind::reduce:
            case word_kind::gather: {
                index_tuple s = shape_of(argument(n, 0));
                s.resize(s.size() - static_cast<std::size_t>(n.bound));
                return s;
            }
            default: {
                index_tuple s;
                for (std::size_t k = 0; k < n.arguments.size(); ++k) s = broadcast(s, shape_of(argument(n, k)));
                return s;
            }
        }
    }

    /// Place of the element that a layout has at index i of its context.
    static index_t place(const layout& l, const index_tuple& i) {
        index_t p = l.offset;
        for (int j = 0; j < l.rank(); ++j) {
            const index_t k = i.at(i.size() - static_cast<std::size_t>(l.rank() - j));
            if (l.shape()[j] == 1) continue;
            if (k < 0 || k >= l.shape()[j]) throw std::logic_error("read outside a layout");
            p += k * l.strides()[j];
        }
        return p;
    }

    /// The elements where the host can read them: a GPU's are copied once.
    const void* host_data(const buffer& b) const {
        if (b.device.is_host()) return b.data;
        std::vector<std::byte>& copy = copies_[&b];
        if (copy.empty()) {
            copy.resize(b.bytes);
            runtime::copy_to_host(const_cast<buffer&>(b), 0, b.bytes, copy.data(), *runtime::current().stream);
        }
        return copy.data();
    }

    double read(const operand& o, const index_tuple& i) const {
        if (o.kind == operand_kind::scalar) return scalar(o);
        const index_t p = place(*o.where, i);
        if (o.kind == operand_kind::generator) return static_cast<double>(p) + 1000 * static_cast<double>(o.bits[1]);
        if (p < 0 || static_cast<std::size_t>(p) >= o.memory->bytes / size_of(o.type))
            throw std::logic_error("read outside a buffer");
        const void* const data = host_data(*o.memory);
        switch (o.type) {
            case dtype::f4:
                return static_cast<const float*>(data)[p];
            case dtype::f8:
                return static_cast<const double*>(data)[p];
            case dtype::i8:
                return static_cast<double>(static_cast<const std::int64_t*>(data)[p]);
            default:
                throw std::logic_error("a dtype that the tests do not use");
        }
    }
    static double scalar(const operand& o) {
        switch (o.type) {
            case dtype::f4:
                return std::bit_cast<float>(static_cast<std::uint32_t>(o.bits[0]));
            case dtype::f8:
                return std::bit_cast<double>(o.bits[0]);
            default:
                return static_cast<double>(static_cast<std::int64_t>(o.bits[0]));
        }
    }

    double value(const node& n, const index_tuple& i) const {
        switch (kind_of_word(n.code)) {
            case word_kind::leaf:
            case word_kind::scalar:
            case word_kind::generator:
                return read(g_.operands[n.operand], i);
            case word_kind::map: {
                const auto known = values_.find({&n, i});
                return known != values_.end() ? known->second : values_[{&n, i}] = map_value(n, i);
            }
            case word_kind::reduce: {
                const node& of = argument(n, 0);
                index_tuple bound = shape_of(of);
                bound.erase(bound.begin(), bound.end() - n.bound);
                double total = 0;
                for_each(bound, [&](const index_tuple& k) {
                    index_tuple inner = aligned(i, shape_of(n).size());
                    inner.insert(inner.end(), k.begin(), k.end());
                    total += value(of, inner);
                });
                return total;
            }
            case word_kind::scan: {
                double total = 0;
                index_tuple inner = aligned(i, shape_of(n).size());
                inner.push_back(0);
                for (const index_t last = place(*g_.operands[n.operand].where, i); inner.back() <= last; ++inner.back())
                    total += value(argument(n, 0), inner);
                return total;
            }
            case word_kind::gather: {
                index_tuple inner = aligned(i, shape_of(n).size());
                inner.push_back(static_cast<index_t>(value(argument(n, 1), i)));
                return value(argument(n, 0), inner);
            }
            case word_kind::unravel: {
                const node& of = argument(n, 0);
                index_tuple inner = aligned(i, shape_of(n).size());
                if (n.bound == 0) return value(of, inner);
                index_t p = place(*g_.operands[n.operand].where, i);
                const index_tuple all = shape_of(of);
                const std::size_t lead = inner.size();
                inner.resize(lead + static_cast<std::size_t>(n.bound));
                for (std::size_t k = inner.size(); k-- > lead; p /= all[all.size() - inner.size() + k])
                    inner[k] = p % all[all.size() - inner.size() + k];
                return value(of, inner);
            }
            default:
                throw std::logic_error("a word that is not evaluated");
        }
    }

    /// The last `rank` places of an index.
    static index_tuple aligned(const index_tuple& i, std::size_t rank) {
        return {i.end() - static_cast<std::ptrdiff_t>(rank), i.end()};
    }

    double map_value(const node& n, const index_tuple& i) const {
        double v[3] = {};
        for (std::size_t k = 0; k < n.arguments.size(); ++k) v[k] = value(argument(n, k), i);
        const std::string_view name = facts(op_of_word(n.code)).name;
        if (name == "add") return v[0] + v[1];
        if (name == "subtract") return v[0] - v[1];
        if (name == "multiply") return v[0] * v[1];
        if (name == "divide") return v[0] / v[1];
        if (name == "exp") return std::exp(v[0]);
        if (name == "astype") return v[0];
        throw std::logic_error("an operator that the tests do not use");
    }

    gathered g_;
    std::vector<node> nodes_;
    std::vector<std::size_t> roots_;
    mutable std::map<const buffer*, std::vector<std::byte>> copies_;
    mutable std::map<const node*, index_tuple> shapes_;
    mutable std::map<std::pair<const node*, index_tuple>, double> values_;
};

template <class E>
evaluator of(const E& e) {
    return evaluator(gather(e));
}

}  // namespace reference
