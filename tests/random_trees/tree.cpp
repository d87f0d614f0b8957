#include "tree.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "codegen/graph/key.hpp"
#include "runtime/front/classify.hpp"
#include "runtime/kernels/interpreter.hpp"

namespace ingot::tests {

namespace {

using namespace detail;

/// For 0 and -0 these operators return either.
bool chooses_between_zeros(op o) {
    return o == op::maximum || o == op::minimum || o == op::fmax || o == op::fmin || o == op::clip;
}

struct grower {
    random_engine random;
    const tree_options& options;
    random_tree& tree;
    extents context;
    int left;

    dtype add_leaf(random_leaf leaf) {
        constexpr auto kind_of_leaf = [](operand_kind k) {
            return k == operand_kind::scalar      ? word_kind::scalar
                   : k == operand_kind::generator ? word_kind::generator
                                                  : word_kind::leaf;
        };
        // A scalar is weak, as most are: its dtype is the operand's alone.
        const dtype told = leaf.kind == operand_kind::scalar ? dtype::b1 : leaf.type;
        const bool draws = leaf.kind == operand_kind::generator;
        const generator_kind generator = leaf.type == dtype::u4 ? generator_kind::integers : generator_kind::uniform;
        tree.program.push_back(
            make_word(kind_of_leaf(leaf.kind), told, draws ? static_cast<std::uint32_t>(generator) : 0));
        tree.leaves.push_back(std::move(leaf));
        return tree.leaves.back().type;
    }

    dtype grow_leaf() {
        // Repeats a leaf now and then: one view, loaded once.
        if (random.chance(25)) {
            const random_leaf& again = random.one_of(tree.leaves);
            if (again.context == context) return add_leaf(random_leaf(again));
        }
        if (random.chance(options.scalars)) return add_leaf(random_scalar(random, context));
        if (options.contiguous) return add_leaf(covering_array(random, context));
        if (random.chance(8)) return add_leaf(random_generator(random, context));
        return add_leaf(random_array(random, context));
    }

    dtype add_map(op o, dtype result) {
        tree.program.push_back(make_word(word_kind::map, result, static_cast<std::uint32_t>(o)));
        return result;
    }

    dtype grow_node(int depth) {
        if (left <= 0 || depth == 0 || random.chance(12)) return grow_leaf();
        --left;
        if (context == tree.shape && random.chance(options.sums)) return grow_sum(depth - 1);
        // Chooses an operator that the operands have: operands come first, because their dtypes decide.
        const int arity = 1 + random.below(3);
        operand_type types[3];
        for (int i = 0; i < arity; ++i) types[i] = {grow_node(depth - 1)};
        std::vector<word> fitting;
        for (std::size_t i = 0; i < op_count; ++i) {
            const auto o = static_cast<op>(i);
            if (facts(o).arity != arity || facts(o).ulp != 0 || !has_function(o))
                continue;                                         // only exact or correctly rounded results
            if (o == op::signbit || o == op::copysign) continue;  // a computed NaN has either sign
            if (chooses_between_zeros(o) && kind_of(resolve(o, types).result) == kind::floating) continue;
            signature s = resolve(o, types);
            if (o == op::astype) s = {true, {}, random.one_of(grown_dtypes)};
            if (s.legal) fitting.push_back(make_word(word_kind::map, s.result, static_cast<std::uint32_t>(o)));
        }
        tree.program.push_back(random.one_of(fitting));  // equal, where and astype take anything
        return dtype_of_word(tree.program.back());
    }

    /// where(x, y, node), whose y has the whole shape; otherwise the tree's shape could be smaller.
    dtype grow_covering(int depth) {
        operand_type types[3];
        types[0] = {add_leaf(options.contiguous ? covering_array(random, context) : random_array(random, context))};
        types[1] = {add_leaf(covering_array(random, context))};
        types[2] = {grow_node(depth)};
        return add_map(op::where, resolve(op::where, types).result);
    }

    /// A sum of integers over one or two more axes than the tree's; any order gives the same result.
    dtype grow_sum(int depth) {
        constexpr index_t lengths[] = {0, 1, 2, 3, 5, 16, 31, 32, 33, 64, 100, 257, 1000, 4099};
        const std::size_t bound = 1 + random() % 2;
        for (std::size_t k = 0; k < bound; ++k) {
            const index_t n = random.chance(3) ? 0 : lengths[1 + random() % (std::size(lengths) - 1)];
            // Memory is as large as if extents of 0 were 1: a leaf's layout steps over the other axes.
            index_t room = std::max<index_t>(n, 1);
            for (const index_t extent : context) room *= std::max<index_t>(extent, 1);
            context.push_back(room > 40000 ? 1 + random.below(index_t{2}) : n);
        }
        dtype type = grow_covering(depth);
        if (kind_of(type) == kind::floating) type = add_map(op::astype, dtype::i4);
        context.resize(tree.shape.size());
        const dtype result = kind_of(type) == kind::integer && !is_signed(type) ? dtype::u8 : dtype::i8;
        tree.program.push_back(make_word(word_kind::reduce, result, static_cast<std::uint32_t>(fold::sum)));
        tree.attributes.push_back(static_cast<word>(bound));
        return result;
    }

    /// Chooses the target: (1) memory of its own, under any layout that names no element twice; (2) memory of a leaf:
    /// its own elements, those some elements further on, or backwards.
    random_target choose_target() {
        random_target t;
        const std::size_t bytes = size_of(tree.type);
        for (std::size_t i = 0; i < tree.leaves.size() && random.chance(60); ++i) {
            const random_leaf& leaf = tree.leaves[i];
            if (leaf.kind != operand_kind::array || leaf.context != tree.shape) continue;
            t.where = contiguous_layout(tree.shape);
            t.where.offset = random.below(index_t{9});
            if (random.chance(50)) t.where = leaf.where;
            if (random.chance(20))
                for (int j = 0; j < t.where.rank(); ++j) {
                    t.where.offset += t.where.strides()[j] * std::max<index_t>(t.where.shape()[j] - 1, 0);
                    t.where.strides()[j] *= -1;
                }
            if (!names_each_once(t.where) || reach_of(t.where) * bytes > leaf.bytes.size()) continue;
            t.leaf = static_cast<int>(i);
            t.bytes = leaf.bytes;
            return t;
        }
        t.where = random_layout(random, tree.shape, purpose::written);
        t.bytes = random_bytes(random, tree.type, reach_of(t.where) + random() % 5);
        return t;
    }
    bool names_each_once(const layout& where) const {
        if (extents(where.extents().begin(), where.extents().end()) != tree.shape) return false;
        std::vector<bool> seen(reach_of(where));
        bool once = true;
        for_each_element(where, tree.shape, [&](std::size_t, std::size_t element) {
            once = once && !seen[element];
            seen[element] = true;
        });
        return once;
    }
};

struct value {
    dtype type;
    std::vector<std::byte> bytes;
};

/// Interprets one operator over contiguous operands.
value apply(word w, const std::vector<value>& operands, std::size_t elements) {
    runtime::statement s;
    std::vector<word> program;
    std::vector<operand> leaves(operands.size());
    const index_t n[] = {static_cast<index_t>(elements)};
    const layout line = contiguous_layout(n);
    std::vector<buffer_ref> memory;
    for (std::size_t i = 0; i < operands.size(); ++i) {
        program.push_back(make_word(word_kind::leaf, operands[i].type));
        memory.push_back(
            unowned_buffer(const_cast<std::byte*>(operands[i].bytes.data()), operands[i].bytes.size(), device::host()));
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

/// The sum of the last `length` elements of each place: unsigned, so that it wraps.
value summed(const value& of, dtype type, std::size_t places) {
    value result{type, std::vector<std::byte>(8 * places)};
    const std::size_t elements = of.bytes.size() / size_of(of.type);
    with_type(of.type, [&]<class T>(T) {
        for (std::size_t p = 0; p < places; ++p) {
            std::uint64_t total = 0;
            for (std::size_t k = p * (elements / places); k < (p + 1) * (elements / places); ++k) {
                T v;
                std::memcpy(&v, of.bytes.data() + k * sizeof(T), sizeof(T));
                total += static_cast<std::uint64_t>(v);
            }
            std::memcpy(result.bytes.data() + 8 * p, &total, 8);
        }
    });
    return result;
}

}  // namespace

extents random_shape(random_engine& random) {
    constexpr index_t edges[] = {1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 32, 33, 63, 100, 257};
    extents shape(random() % 5);
    index_t size = 1;
    for (index_t& n : shape) {
        n = random.chance(3) ? 0 : random.one_of(edges);
        if (size * n > 40000) n = 1 + random.below(index_t{3});
        size *= std::max<index_t>(n, 1);
    }
    if (shape.size() == 1 && random.chance(30)) shape[0] = random.below(index_t{30000});
    return shape;
}

random_tree grow(std::uint64_t seed, const extents& shape, const tree_options& options) {
    random_tree tree;
    tree.seed = seed;
    tree.shape = shape;
    grower g{random_engine(seed), options, tree, shape, options.nodes};
    tree.type = g.grow_covering(6);
    if (g.random.chance(options.targets)) tree.target = g.choose_target();
    return tree;
}

namespace {

/// Whether the words' dtypes follow from the operands': the words do not contain the dtype of a weak scalar.
bool types_hold(const random_tree& tree) {
    std::vector<dtype> stack;
    std::size_t leaf = 0;
    for (const word w : tree.program) {
        const int arity = arity_of_word(w);
        if (kind_of_word(w) == word_kind::map && op_of_word(w) != op::astype) {
            operand_type types[3];
            for (int i = 0; i < arity; ++i) types[i] = {stack.end()[i - arity]};
            const signature s = resolve(op_of_word(w), types);
            if (!s.legal || s.result != dtype_of_word(w)) return false;
        }
        for (int i = 0; i < arity; ++i) stack.pop_back();
        stack.push_back(is_binder(kind_of_word(w)) || kind_of_word(w) == word_kind::map ? dtype_of_word(w)
                                                                                        : tree.leaves[leaf++].type);
    }
    return true;
}

}  // namespace

random_tree varied(random_engine& random, const random_tree& tree) {
    random_tree other = tree;
    const bool flat = std::ranges::none_of(tree.leaves, [&](const random_leaf& l) { return l.context != tree.shape; });
    if (flat && random.chance(20)) other.shape = random_shape(random);
    for (random_leaf& leaf : other.leaves) {
        if (flat) leaf.context = other.shape;
        if (leaf.kind == operand_kind::scalar) {
            const random_leaf was = leaf;
            leaf = random_scalar(random, leaf.context);
            if (types_hold(other)) continue;
            do {
                leaf = random_scalar(random, leaf.context);
            } while (leaf.type != was.type);
            continue;
        }
        if (other.shape == tree.shape && random.chance(60)) continue;
        const random_leaf fresh = leaf.covers                        ? covering_array(random, leaf.context)
                                  : leaf.kind == operand_kind::array ? random_array(random, leaf.context)
                                                                     : random_generator(random, leaf.context);
        leaf.where = fresh.where;
        std::copy_n(fresh.bits, 2, leaf.bits);
        if (leaf.type == fresh.type) leaf.last = fresh.last;
        if (leaf.kind == operand_kind::array) leaf.bytes = random_bytes(random, leaf.type, reach_of(leaf.where) + 16);
    }
    return other;
}

std::vector<std::byte> plain_value(const random_tree& tree) {
    const auto places = static_cast<std::size_t>(size_of_shape(tree.shape));
    if (places == 0) return tree.target ? tree.target->bytes : std::vector<std::byte>();
    std::vector<value> stack;
    std::size_t leaf = 0;
    for (const word w : tree.program) {
        if (kind_of_word(w) == word_kind::map) {
            const auto arity = static_cast<std::ptrdiff_t>(arity_of_word(w));
            const std::vector<value> operands(std::make_move_iterator(stack.end() - arity),
                                              std::make_move_iterator(stack.end()));
            stack.resize(stack.size() - static_cast<std::size_t>(arity));
            const std::size_t elements = operands[0].bytes.size() / size_of(operands[0].type);
            stack.push_back(elements == 0 ? value{dtype_of_word(w), {}} : apply(w, operands, elements));
        } else if (kind_of_word(w) == word_kind::reduce) {
            stack.back() = summed(stack.back(), dtype_of_word(w), places);
        } else {
            stack.push_back({tree.leaves[leaf].type, materialised(tree.leaves[leaf])});
            ++leaf;
        }
    }
    if (!tree.target) return stack.back().bytes;
    std::vector<std::byte> memory = tree.target->bytes;
    const std::size_t bytes = size_of(tree.type);
    for_each_element(tree.target->where, tree.shape, [&](std::size_t i, std::size_t element) {
        std::memcpy(memory.data() + element * bytes, stack.back().bytes.data() + i * bytes, bytes);
    });
    return memory;
}

std::string describe(const random_tree& tree) {
    std::string text = "seed " + std::to_string(tree.seed) + ", shape " + to_text(tree.shape) + ":";
    std::size_t leaf = 0;
    for (const word w : tree.program) {
        text += ' ';
        if (kind_of_word(w) == word_kind::map)
            text += std::string(facts(op_of_word(w)).name) + ":" + std::string(name(dtype_of_word(w)));
        else if (kind_of_word(w) == word_kind::reduce)
            text += "sum:" + std::string(name(dtype_of_word(w)));
        else
            text += describe(tree.leaves[leaf++]);
    }
    if (!tree.target) return text;
    random_leaf into;
    into.type = tree.type;
    into.where = tree.target->where;
    text += ", into " + describe(into);
    return tree.target->leaf < 0 ? text : text + " of leaf " + std::to_string(tree.target->leaf);
}

std::string difference(dtype type, const std::vector<std::byte>& got, const std::vector<std::byte>& wanted) {
    if (got.size() != wanted.size())
        return "sizes " + std::to_string(got.size()) + " and " + std::to_string(wanted.size());
    std::string text;
    with_type(type, [&]<class T>(T) {
        for (std::size_t i = 0; (i + 1) * sizeof(T) <= got.size() && text.empty(); ++i) {
            T a, b;
            std::memcpy(&a, got.data() + i * sizeof(T), sizeof(T));
            std::memcpy(&b, wanted.data() + i * sizeof(T), sizeof(T));
            if (std::memcmp(&a, &b, sizeof(T)) == 0) continue;
            if constexpr (std::is_floating_point_v<T>)
                if (std::isnan(a) && std::isnan(b)) continue;
            text = "element " + std::to_string(i) + " is " + std::to_string(a) + ", wanted " + std::to_string(b);
        }
    });
    const auto rest = static_cast<std::ptrdiff_t>(got.size() % size_of(type));  // the buffer has another dtype
    if (text.empty() && !std::equal(got.end() - rest, got.end(), wanted.end() - rest)) text = "the last bytes differ";
    return text;
}

}  // namespace ingot::tests
