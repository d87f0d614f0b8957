// A statement as data: nodes, operands before their users, over a space of one to three axes. A node varies along some
// of them and has extent 1 along the others; folds keep their axis with extent 1. Every node has bounds of its values,
// so that functions are drawn where they are well conditioned.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <ingot/core/dtype.hpp>
#include <ingot/core/operators.hpp>
#include <ingot/core/shape.hpp>

namespace bench {

using ingot::dtype;
using ingot::index_t;
using ingot::detail::op;

enum class action : std::uint8_t {
    array,      // a leaf of the statement's dtype
    converted,  // a leaf of int32, cast
    uniform,
    normal,
    map,     // of one or two operands, or of one and a constant
    select,  // where(operand 0 < constant, operand 1, operand 2)
    fold,
    scan
};
enum class folding : std::uint8_t { sum, mean, max, min, var, logsumexp };
using axis_set = unsigned;  // bit j: axis j

struct statement_node {
    action what = action::array;
    axis_set axes = 0;
    std::array<int, 3> from{-1, -1, -1};
    op row = op::add;
    bool with_constant = false;
    double constant = 0;
    folding fold = folding::sum;
    axis_set along = 0;       // of a fold; one axis of a scan
    std::uint64_t place = 0;  // of an array: its first element in the pool; of a random leaf: the call's number
    bool reversed = false;    // an array whose axes lie in memory the other way round
    double low = 0, high = 0;
    bool exact = false;  // whatever computes it, it has the same bits

    bool is_leaf() const { return what <= action::normal; }
    bool is_array() const { return what <= action::converted; }
    /// Whether a pass over its operands ends with it.
    bool is_pass() const { return what == action::fold || what == action::scan; }
};

struct statement {
    std::uint64_t seed = 0;  // of the random leaves
    dtype type = dtype::f4;
    std::vector<index_t> extents = {};
    std::vector<statement_node> nodes = {};
    std::vector<int> results = {};

    index_t extent(const statement_node& n, int axis) const {
        return n.axes >> axis & 1 ? extents[static_cast<std::size_t>(axis)] : 1;
    }
    std::uint64_t elements(const statement_node& n) const {
        std::uint64_t product = 1;
        for (int j = 0; j < rank(); ++j) product *= static_cast<std::uint64_t>(extent(n, j));
        return product;
    }
    int rank() const { return static_cast<int>(extents.size()); }
    std::uint64_t item() const { return type == dtype::f8 ? 8 : 4; }
    const statement_node& operand(const statement_node& n, std::size_t i) const {
        return nodes[static_cast<std::size_t>(n.from[i])];
    }

    /// Counts each array once.
    std::uint64_t bytes_read() const {
        std::uint64_t sum = 0;
        for (const statement_node& n : nodes)
            if (n.is_array()) sum += elements(n) * (n.what == action::converted ? 4 : item());
        return sum;
    }
    /// Counts an array again where it is read again after a fold over more than a chip holds: x / norm(x).
    std::uint64_t bytes_read_again() const {
        // For each node the number of such folds beneath it, and after how many of them it is needed, as bits.
        std::vector<int> folds(nodes.size(), 0);
        std::vector<unsigned> wanted(nodes.size(), 0);
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            for (const int from : nodes[i].from)
                if (from >= 0) folds[i] = std::max(folds[i], folds[static_cast<std::size_t>(from)]);
            folds[i] += folds_more_than_a_chip(nodes[i]);
        }
        for (const int i : results) wanted[static_cast<std::size_t>(i)] |= 1u << folds[static_cast<std::size_t>(i)];
        std::uint64_t sum = 0;
        for (std::size_t i = nodes.size(); i-- > 0;) {
            const statement_node& n = nodes[i];
            if (n.is_array())
                sum += elements(n) * (n.what == action::converted ? 4 : item()) *
                       static_cast<unsigned>(std::popcount(wanted[i]));
            // A fold's result is small and stays; the fold is computed once.
            const unsigned operands = n.what == action::fold ? 1u << (folds[i] - folds_more_than_a_chip(n)) : wanted[i];
            for (const int from : n.from)
                if (from >= 0) wanted[static_cast<std::size_t>(from)] |= operands;
        }
        return sum;
    }
    /// A row of 2 MiB of float32 along memory. Across memory a row also loads its neighbours in the same 32 bytes.
    bool folds_more_than_a_chip(const statement_node& n) const {
        if (n.what != action::fold) return false;
        std::uint64_t row = item(), neighbours = 1;
        for (int j = 0; j < rank(); ++j) {
            const auto extent = static_cast<std::uint64_t>(extents[static_cast<std::size_t>(j)]);
            if (n.along >> j & 1) {
                row *= extent;
                neighbours = 1;
            } else {
                neighbours *= extent;
            }
        }
        return row * std::min(neighbours, 32 / item()) > std::uint64_t{1} << 21;
    }
    std::uint64_t bytes_written() const {
        std::uint64_t sum = 0;
        for (const int i : results) sum += elements(nodes[static_cast<std::size_t>(i)]) * item();
        return sum;
    }
    /// Operations by the table's costs, where every node is computed once over no more axes than it varies along. What
    /// a random number costs is that of Philox, and of Box-Muller's four functions for two normal ones.
    std::uint64_t operations() const {
        std::uint64_t sum = 0;
        for (const statement_node& n : nodes) {
            const std::uint64_t one = elements(n), words = item() / 4;
            if (n.what == action::uniform) sum += one * words * 22;
            if (n.what == action::normal) sum += one * words * 42;
            if (n.what == action::map) sum += one * ingot::detail::facts(n.row).cost;
            if (n.what == action::select) sum += one * 2;
            if (n.is_pass())
                sum += elements(operand(n, 0)) * (n.fold == folding::logsumexp ? 10 : n.fold == folding::var ? 3 : 1);
        }
        return sum;
    }

    int passes() const {
        int count = 0;
        for (const statement_node& n : nodes) count += n.is_pass();
        return count;
    }
    int operators() const {
        int count = 0;
        for (const statement_node& n : nodes) count += !n.is_leaf();
        return count;
    }
};

namespace detail {

inline const char* name_of(const statement_node& n) {
    static constexpr const char* folds[] = {"sum", "mean", "max", "min", "var", "logsumexp"};
    static constexpr const char* scans[] = {"cumsum", "", "cummax", "cummin", "", ""};
    return (n.what == action::scan ? scans : folds)[static_cast<int>(n.fold)];
}

inline std::string number_text(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%g", value);
    return text;
}

inline std::string axes_text(axis_set axes) {
    std::string text;
    for (int j = 0; axes >> j != 0; ++j)
        if (axes >> j & 1) text += (text.empty() ? "" : ", ") + std::to_string(j);
    return text.size() > 1 ? "{" + text + "}" : text;
}

class statement_text {
public:
    explicit statement_text(const statement& s) : s_(s), uses_(s.nodes.size(), 0), defined_(s.nodes.size(), false) {
        for (const statement_node& n : s.nodes)
            for (const int i : n.from)
                if (i >= 0) ++uses_[static_cast<std::size_t>(i)];
        for (const int i : s.results) ++uses_[static_cast<std::size_t>(i)];
    }
    /// The text with names for nodes that are used several times.
    std::string whole() {
        std::string results;
        for (const int i : s_.results) results += (results.empty() ? "" : ", ") + of(i);
        return definitions_ + results;
    }

private:
    std::string of(int i) {
        const auto at = static_cast<std::size_t>(i);
        const statement_node& n = s_.nodes[at];
        if (n.is_leaf() || uses_[at] < 2) return inline_text(i);
        const std::string name = "t" + std::to_string(i);
        if (!defined_[at]) {
            defined_[at] = true;
            const std::string value = inline_text(i);
            definitions_ += name + " = " + value + "; ";
        }
        return name;
    }
    std::string inline_text(int i) {
        const statement_node& n = s_.nodes[static_cast<std::size_t>(i)];
        const auto leaf = [&](const char* prefix) {
            std::string text = prefix + std::to_string(i);
            if (n.reversed) text += "'";
            if (std::popcount(n.axes) == s_.rank()) return text;
            text += "[";
            for (int j = 0; j < s_.rank(); ++j) text += n.axes >> j & 1 ? ":" : "1";
            return text + "]";
        };
        switch (n.what) {
            case action::array:
                return leaf("x");
            case action::converted:
                return leaf("i");
            case action::uniform:
                return leaf("u");
            case action::normal:
                return leaf("n");
            case action::select:
                return "where(" + of(n.from[0]) + " < " + number_text(n.constant) + ", " + of(n.from[1]) + ", " +
                       of(n.from[2]) + ")";
            case action::map: {
                std::string text = std::string(ingot::detail::facts(n.row).name) + "(" + of(n.from[0]);
                if (n.from[1] >= 0) text += ", " + of(n.from[1]);
                if (n.with_constant) text += ", " + number_text(n.constant);
                return text + ")";
            }
            default:
                return std::string(name_of(n)) + "(" + of(n.from[0]) + ", " + axes_text(n.along) + ")";
        }
    }

    const statement& s_;
    std::vector<int> uses_;
    std::vector<bool> defined_;
    std::string definitions_;
};

}  // namespace detail

inline std::string text_of(const statement& s) { return detail::statement_text(s).whole(); }
inline std::string shape_text(const statement& s) {
    const char* const type = s.type == dtype::f8 ? "f8 " : s.type == dtype::i4 ? "i4 " : "f4 ";
    return type + ingot::detail::to_text(s.extents);
}

}  // namespace bench
