// The hash-consed graph of a key: the nodes to compute, with every cast explicit and every equal subtree once. Nodes
// are numbered so that operands come before their users.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "codegen/graph/key.hpp"
#include "codegen/graph/user_text.hpp"

namespace ingot::codegen {

using node_id = std::uint32_t;
inline constexpr node_id no_node = ~node_id{0};

enum class node_kind : std::uint8_t {
    operand,   // an array's element, a scalar or a random number (of generator `code`): operand `index` of the key
    constant,  // `value`, made during lowering
    map,       // row `code` of the operator table over `arguments`, all in the dtypes in which the row computes
    cast,      // `arguments[0]` as `type`, by the rules of astype
    reduce,    // fold `code` of `arguments[0]` over the axes bound by binder `index`; a user's is in text `pick`
    scan,      // fold `code` of `arguments[0]` along the axis bound by binder `index`, up to pick operand `pick`; in
               // shared loops all prefixes, along that axis's loop
    gather,    // `arguments[0]` at `arguments[1]` on the axis bound by binder `index`
    unravel,   // `arguments[0]` at the digits of pick operand `pick` on the axes bound by binder `index`; of place_rule
               // `code`
    user,      // function `code` of the user's text `index` over `arguments`
    text,      // the text `index` itself; dropped when the graph is made
    shifted,   // the sum of reduction `arguments[0]`, of rule `shifted`, about c = `arguments[1]`; where `pick` is 1,
               // about the row's sum divided by that; where 2, the greatest element of a sum of exponentials
    // Made in a loop of the thread that uses the value (plan/thread_folds.hpp).
    thread_fold,  // as reduce
    thread_scan,  // as scan of all prefixes: in a loop along its axis, the prefix up to there
    // Library functions, whose operands and results lie in memory.
    library,  // the whole result of function `code` of `arguments`; `index` is the binder of its axes
    view,     // the result of the library `arguments[0]` at the place of pick operand `pick`
    scatter,  // at a root only: `arguments[0]` written `arguments[1]` elements behind the output's first, nowhere if
              // that is negative; joined by scatter_rule `code`
    store,    // `arguments[0]` in memory, along the axes of binder `index` that bits of `code` name, and the others
              // along which it moves; in shared loops only
};

struct node {
    node_kind kind = node_kind::operand;
    dtype type = dtype::b1;
    std::uint16_t code = 0;
    std::uint16_t index = 0;
    std::uint16_t pick = 0;
    std::uint8_t arity = 0;
    node_id arguments[detail::most_arguments] = {};
    bool flushed = false;  // for a map node: subnormal results may be 0
    double value = 0;
    std::uint64_t axes = 0;  // bit a: the value changes along loop axis a (axes that a binder below binds not counted)
    friend bool operator==(const node&, const node&) = default;
};

/// The place_rule of an unravel.
constexpr detail::place_rule rule_of(const node& n) { return static_cast<detail::place_rule>(n.code); }

/// Whether a node is a whole array, of which a text reads any element.
inline bool is_raw(const key& k, const node& n) {
    return n.kind == node_kind::operand && k.operands[n.index].head.kind == detail::operand_kind::raw;
}

struct graph {
    std::vector<node> nodes;
    std::vector<node_id> roots;  // one for each output, in the output's dtype
    /// For each axis of the key the axis whose loop walks it: its own, or an axis of an earlier binder over the same
    /// extents, so that two reductions of one row share a loop and its loads. Nodes know loop axes only.
    std::vector<std::uint8_t> loop_axis;
    std::vector<user_text> texts;  // the texts that users' nodes name
};

/// Whether binders over the same extents share one loop, as emitters need, or each has its own.
enum class loops : std::uint8_t { own, shared };

/// Lowers a key by a stack machine over its program words, so a chain of 10^6 nodes needs no deep stack.
graph lower(const key& k, loops l = loops::own);
/// Drops nodes that a rewriting left without a user (the exponent of a strength-reduced power).
void drop_unused(graph& g);
/// The expression as a reader would write it, with operands named x0, x1, ... and scalars s0, s1, ...
std::string text(const graph& g, node_id root, const key& k);
/// The nodes that have a node as an argument.
std::vector<node_id> users_of(const graph& g, node_id of);

/// The name of each operand of the key in source and text: x0, x1 for arrays, s0 for scalars, g0 for random leaves, p0
/// for places; empty where the graph does not read it.
std::vector<std::string> operand_names(const graph& g, const key& k);

}  // namespace ingot::codegen
