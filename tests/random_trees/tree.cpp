#include "tree.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "codegen/key.hpp"
#include "runtime/classify.hpp"
#include "runtime/interpreter.hpp"

namespace ingot::tests {

namespace {

using namespace detail;
using random_engine = std::mt19937_64;

constexpr dtype grown_dtypes[] = {dtype::b1, dtype::i1, dtype::u1, dtype::i2, dtype::u2, dtype::i4,
                                  dtype::u4, dtype::i8, dtype::u8, dtype::f4, dtype::f8};

bool chance(random_engine& random, int percent) { return static_cast<int>(random() % 100) < percent; }

template <class T>
T any_value(random_engine& random) {
    if constexpr (std::is_same_v<T, bool>) {
        return chance(random, 50);
    } else if constexpr (std::is_integral_v<T>) {
        switch (random() % 4) {
            case 0: return static_cast<T>(random());
            case 1: return std::numeric_limits<T>::max();
            case 2: return std::numeric_limits<T>::min();
            default: return static_cast<T>(random() % 17);
        }
    } else {
        constexpr T special[] = {T(0), T(-0.0), T(1), T(-1), T(0.5), std::numeric_limits<T>::infinity(),
                                 -std::numeric_limits<T>::infinity(), std::numeric_limits<T>::quiet_NaN(),
                                 std::numeric_limits<T>::denorm_min(), std::numeric_limits<T>::max(), T(2.5), T(1e9)};
        if (chance(random, 30)) return special[random() % std::size(special)];
        return static_cast<T>(std::ldexp(static_cast<double>(random() % 20001) - 10000, static_cast<int>(random() % 9) - 8));
    }
}

/// Calls f with a value of the dtype's C++ type.
template <class F>
void with_type(dtype t, F f) {
    switch (t) {
        case dtype::b1: return f(bool{});
        case dtype::i1: return f(std::int8_t{});
        case dtype::u1: return f(std::uint8_t{});
        case dtype::i2: return f(std::int16_t{});
        case dtype::u2: return f(std::uint16_t{});
        case dtype::i4: return f(std::int32_t{});
        case dtype::u4: return f(std::uint32_t{});
        case dtype::i8: return f(std::int64_t{});
        case dtype::u8: return f(std::uint64_t{});
        case dtype::f4: return f(float{});
        default: return f(double{});
    }
}

/// An array whose layout broadcasts into `shape`: axes left out or of extent 1, in any order in memory, with padding
/// between rows, backwards, and starting anywhere.
random_leaf random_array(random_engine& random, const std::vector<index_t>& shape) {
    random_leaf leaf;
    leaf.type = grown_dtypes[random() % std::size(grown_dtypes)];
    const bool plain = chance(random, 40);
    const std::size_t drop = plain || shape.empty() || !chance(random, 20) ? 0 : random() % shape.size();
    leaf.where = layout(static_cast<int>(shape.size() - drop));
    std::vector<int> order;
    for (int j = 0; j < leaf.where.rank(); ++j) {
        leaf.where.shape()[j] = !plain && chance(random, 15) ? 1 : shape[drop + static_cast<std::size_t>(j)];
        order.push_back(leaf.where.rank() - 1 - j);
    }
    if (!plain && chance(random, 30)) std::shuffle(order.begin(), order.end(), random);
    index_t stride = !plain && chance(random, 20) ? 2 : 1, last = 0;
    leaf.where.offset = plain ? 0 : static_cast<index_t>(chance(random, 50) ? 0 : random() % 7);
    for (const int j : order) {
        const index_t extent = leaf.where.shape()[j];
        const bool backwards = !plain && chance(random, 15);
        const bool still = !plain && chance(random, 8);
        leaf.where.strides()[j] = still ? 0 : backwards ? -stride : stride;
        if (still) continue;
        if (backwards && extent > 0) leaf.where.offset += stride * (extent - 1);
        last += stride * std::max<index_t>(extent - 1, 0);
        stride *= std::max<index_t>(extent, 1);
        if (!plain && chance(random, 20)) stride += static_cast<index_t>(random() % 6);
    }
    const auto elements = static_cast<std::size_t>(leaf.where.offset + last + 1);
    leaf.bytes.resize(elements * size_of(leaf.type));
    with_type(leaf.type, [&]<class T>(T) {
        for (std::size_t i = 0; i < elements; ++i) {
            const T v = any_value<T>(random);
            std::memcpy(leaf.bytes.data() + i * sizeof(T), &v, sizeof(T));
        }
    });
    return leaf;
}

random_leaf random_scalar(random_engine& random) {
    random_leaf leaf;
    leaf.kind = operand_kind::scalar;
    leaf.type = grown_dtypes[random() % std::size(grown_dtypes)];
    with_type(leaf.type, [&]<class T>(T) { leaf.bits = bits_of_value(any_value<T>(random)); });
    return leaf;
}

struct grower {
    random_engine random;
    const tree_options& options;
    random_tree& tree;
    int left = options.nodes;

    dtype grow_leaf() {
        // The same leaf again now and then: one view, loaded once.
        if (!tree.leaves.empty() && chance(random, 25)) {
            const random_leaf again = tree.leaves[random() % tree.leaves.size()];
            tree.leaves.push_back(again);
        } else {
            tree.leaves.push_back(chance(random, 15) ? random_scalar(random) : random_array(random, tree.shape));
        }
        const random_leaf& leaf = tree.leaves.back();
        tree.program.push_back(
            make_word(leaf.kind == operand_kind::scalar ? word_kind::scalar : word_kind::leaf, leaf.type));
        return leaf.type;
    }

    bool wanted(op o) const {
        const op_facts& row = facts(o);
        return o == op::astype || !options.exact || row.ulp == 0.0f;
    }

    dtype grow_node(int depth) {
        if (left <= 0 || depth == 0 || chance(random, 12)) return grow_leaf();
        --left;
        // An operator that these operands have: operands first, for their dtypes decide.
        const int arity = 1 + static_cast<int>(random() % 3);
        operand_type types[3];
        for (int i = 0; i < arity; ++i) types[i] = {grow_node(depth - 1)};
        for (int tries = 0; tries < 200; ++tries) {
            const auto o = static_cast<op>(random() % op_count);
            if (facts(o).arity != arity || !wanted(o)) continue;
            if (o == op::astype) {
                const dtype to = grown_dtypes[random() % std::size(grown_dtypes)];
                tree.program.push_back(make_word(word_kind::map, to, static_cast<std::uint32_t>(o)));
                return to;
            }
            const signature s = resolve(o, types);
            if (!s.legal) continue;
            tree.program.push_back(make_word(word_kind::map, s.result, static_cast<std::uint32_t>(o)));
            return s.result;
        }
        return dtype::b1;  // not reached: astype, equal and where take anything
    }
};

/// Every element of the leaf, broadcast to the shape.
std::vector<std::byte> materialised(const random_leaf& leaf, const std::vector<index_t>& shape, std::size_t elements) {
    const std::size_t bytes = size_of(leaf.type);
    std::vector<std::byte> out(elements * bytes);
    std::vector<index_t> at(shape.size(), 0);
    for (std::size_t i = 0; i < elements; ++i) {
        if (leaf.kind == operand_kind::scalar) {
            std::memcpy(out.data() + i * bytes, &leaf.bits, bytes);
            continue;
        }
        index_t element = leaf.where.offset;
        const std::size_t lead = shape.size() - static_cast<std::size_t>(leaf.where.rank());
        for (int j = 0; j < leaf.where.rank(); ++j)
            if (leaf.where.shape()[j] != 1) element += at[lead + static_cast<std::size_t>(j)] * leaf.where.strides()[j];
        std::memcpy(out.data() + i * bytes, leaf.bytes.data() + static_cast<std::size_t>(element) * bytes, bytes);
        for (std::size_t j = shape.size(); j-- > 0;) {
            if (++at[j] < shape[j]) break;
            at[j] = 0;
        }
    }
    return out;
}

struct value {
    dtype type;
    std::vector<std::byte> bytes;
};

/// One operator over contiguous operands, by the interpreter.
value apply(word w, const std::vector<value>& operands, std::size_t elements) {
    runtime::statement s;
    std::vector<word> program;
    std::vector<operand> leaves(operands.size());
    const index_t n[] = {static_cast<index_t>(elements)};
    const layout line = contiguous_layout(n);
    std::vector<buffer_ref> memory;
    for (std::size_t i = 0; i < operands.size(); ++i) {
        program.push_back(make_word(word_kind::leaf, operands[i].type));
        memory.push_back(unowned_buffer(const_cast<std::byte*>(operands[i].bytes.data()), operands[i].bytes.size(),
                                        device::host()));
        leaves[i].type = operands[i].type;
        leaves[i].where = &line;
        leaves[i].memory = memory.back().get();
    }
    program.push_back(w);
    buffer_ref none;
    layout where;
    const output out{dtype_of_word(w), &none, &where};
    s.program = program;
    s.operands = leaves;
    s.outputs = {&out, 1};
    runtime::classifier classifier;
    const runtime::classified& c = classifier.classify(s, {target::host, 0, math_mode::strict});
    std::vector<std::uint32_t> words;
    runtime::classifier::full_key(c, program, words);
    const codegen::key key = codegen::decode(words);
    value result{dtype_of_word(w), std::vector<std::byte>(elements * size_of(dtype_of_word(w)))};
    std::vector<runtime::bound_operand> bound;
    for (std::size_t i = 0; i < operands.size(); ++i)
        bound.push_back({operands[i].bytes.data(), {0, 0}, 0, c.strides_of(i)});
    const runtime::bound_output to{result.bytes.data(), c.strides_of(operands.size())};
    runtime::interpret(key, codegen::lower(key), bound, {&to, 1}, c.extents);
    return result;
}

}  // namespace

std::vector<index_t> random_shape(std::mt19937_64& random) {
    constexpr index_t edges[] = {1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 32, 33, 63, 100, 257};
    std::vector<index_t> shape(random() % 5);
    index_t size = 1;
    for (index_t& n : shape) {
        n = chance(random, 3) ? 0 : edges[random() % std::size(edges)];
        if (size * n > 40000) n = 1 + static_cast<index_t>(random() % 3);
        size *= std::max<index_t>(n, 1);
    }
    if (shape.size() == 1 && chance(random, 30)) shape[0] = static_cast<index_t>(random() % 30000);
    return shape;
}

random_tree grow(std::uint64_t seed, const std::vector<index_t>& shape, const tree_options& options) {
    random_tree tree;
    tree.seed = seed;
    tree.shape = shape;
    grower g{random_engine(seed), options, tree};
    // One leaf has the whole shape, or the tree could be smaller than it.
    tree.leaves.push_back(random_array(g.random, shape));
    random_leaf& first = tree.leaves.back();
    first.where = contiguous_layout(shape);
    first.bytes.resize((static_cast<std::size_t>(std::max<index_t>(first.where.size(), 1))) * size_of(first.type));
    with_type(first.type, [&]<class T>(T) {
        for (std::size_t i = 0; i * sizeof(T) < first.bytes.size(); ++i) {
            const T v = any_value<T>(g.random);
            std::memcpy(first.bytes.data() + i * sizeof(T), &v, sizeof(T));
        }
    });
    tree.program.push_back(make_word(word_kind::leaf, first.type));
    operand_type types[] = {{dtype::b1}, {first.type}, {g.grow_node(6)}};
    // where(other, first, other): legal for all dtypes, and of the whole shape.
    tree.leaves.push_back(random_array(g.random, shape));
    tree.program.insert(tree.program.begin(), make_word(word_kind::leaf, tree.leaves.back().type));
    std::rotate(tree.leaves.begin(), tree.leaves.end() - 1, tree.leaves.end());
    types[0] = {tree.leaves.front().type};
    const signature s = resolve(op::where, types);
    tree.program.push_back(make_word(word_kind::map, s.result, static_cast<std::uint32_t>(op::where)));
    tree.type = s.result;
    return tree;
}

std::vector<std::byte> plain_value(const random_tree& tree) {
    std::size_t elements = 1;
    for (index_t n : tree.shape) elements *= static_cast<std::size_t>(n);
    if (elements == 0) return {};
    std::vector<value> stack;
    std::size_t leaf = 0;
    for (const word w : tree.program) {
        if (kind_of_word(w) == word_kind::map) {
            const auto arity = static_cast<std::ptrdiff_t>(arity_of_word(w));
            const std::vector<value> operands(std::make_move_iterator(stack.end() - arity),
                                              std::make_move_iterator(stack.end()));
            stack.resize(stack.size() - static_cast<std::size_t>(arity));
            stack.push_back(apply(w, operands, elements));
        } else {
            stack.push_back({tree.leaves[leaf].type, materialised(tree.leaves[leaf], tree.shape, elements)});
            ++leaf;
        }
    }
    return stack.back().bytes;
}

std::string describe(const random_tree& tree) {
    std::string text = "seed " + std::to_string(tree.seed) + ", shape " + to_text(tree.shape) + ":";
    std::size_t leaf = 0;
    for (const word w : tree.program) {
        text += ' ';
        if (kind_of_word(w) == word_kind::map) {
            text += std::string(facts(op_of_word(w)).name) + ":" + std::string(name(dtype_of_word(w)));
            continue;
        }
        const random_leaf& l = tree.leaves[leaf++];
        text += std::string(name(l.type));
        if (l.kind == operand_kind::scalar)
            text += "#" + std::to_string(l.bits);
        else
            text += to_text(l.where.extents()) + "/" +
                    to_text({l.where.strides(), static_cast<std::size_t>(l.where.rank())}) + "+" +
                    std::to_string(l.where.offset);
    }
    return text;
}

std::string difference(dtype type, const std::vector<std::byte>& got, const std::vector<std::byte>& wanted) {
    if (got.size() != wanted.size())
        return "sizes " + std::to_string(got.size()) + " and " + std::to_string(wanted.size());
    std::string text;
    with_type(type, [&]<class T>(T) {
        for (std::size_t i = 0; i * sizeof(T) < got.size() && text.empty(); ++i) {
            T a, b;
            std::memcpy(&a, got.data() + i * sizeof(T), sizeof(T));
            std::memcpy(&b, wanted.data() + i * sizeof(T), sizeof(T));
            if (std::memcmp(&a, &b, sizeof(T)) == 0) continue;
            if constexpr (std::is_floating_point_v<T>)
                if (std::isnan(a) && std::isnan(b)) continue;
            text = "element " + std::to_string(i) + " is " + std::to_string(a) + ", wanted " + std::to_string(b);
        }
    });
    return text;
}

}  // namespace ingot::tests
