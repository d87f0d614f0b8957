// Row programs: graphs whose reductions all fold over the same axes (the row) and give one value for each point of the
// same other axes (the rows), and whose scans all go along that row: softmax, layer norm, logsumexp, the greatest
// prefix. The threads that hold a row compute everything about it from one read, phase after phase: reductions and
// scans of a phase need only results of earlier phases, and the outputs come last. Scans alone, none of which needs
// another, are no row program. This file analyses the graph; each target chooses whether and how its threads hold such
// rows (plan/kernel_choice.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <ingot/core/key.hpp>
#include "codegen/graph/axes.hpp"
#include "codegen/graph/graph.hpp"
#include "codegen/graph/row_length.hpp"

namespace ingot::codegen {

/// The loops that walk the axes of a binder, outermost first.
std::vector<int> loops_of_binder(const key& k, const graph& g, std::uint16_t binder);

struct row_program {
    std::vector<int> kept_axes;                // loop axes: each of their points has a row
    std::vector<int> row;                      // loop axes of a row, as the reductions fold over them
    std::uint64_t gathered = 0;                // loop axes at which gathers read: one place for each row
    std::uint8_t length_class;                 // of a row's length
    std::uint8_t subclass = 0;                 // the part of that class, or 0
    std::vector<std::vector<node_id>> phases;  // reductions and scans

    std::uint64_t kept_bits() const { return bits(kept_axes); }
    std::uint64_t row_bits() const { return bits(row); }
    int inner() const { return row.back(); }
    /// Every row of the class has more elements than `fewest`, and at most `most`.
    std::uint32_t most() const { return longest_of(length_class, subclass); }
    std::uint32_t fewest() const { return fewest_of(length_class, subclass); }
    /// The nodes that a phase computes: the values that it folds, or in the last phase the graph's roots.
    std::vector<node_id> computed_nodes(const graph& g, std::size_t phase) const;
    /// The scans of all phases.
    std::vector<node_id> scans(const graph& g) const;

private:
    static std::uint64_t bits(const std::vector<int>& axes) {
        std::uint64_t b = 0;
        for (const int a : axes) b |= axis_bit(a);
        return b;
    }
};

/// Empty unless (1) a reduction's value is used along its row, by another fold of the row or by an output; or (2) a
/// scan's value is used by another fold or beside a reduction.
std::optional<row_program> find_row_program(const key& k, const graph& g);

/// The axes along which an output moves: those of its root, and those along which the root is broadcast into it.
std::uint64_t axes_of_output(const key& k, const graph& g, std::size_t output);

/// The rows of a reduction or a scan, as loop axes.
struct rows {
    std::uint64_t kept_axes = 0, folded = 0;
    friend bool operator==(const rows&, const rows&) = default;
};
rows rows_of(const key& k, const graph& g, const node& fold);

/// Rows that no kernel holds; where `scanned`, that no kernel with scans holds.
struct refused_rows {
    rows of;
    bool scanned = false;
    friend bool operator==(const refused_rows&, const refused_rows&) = default;
};
/// The axes that the outputs' loops walk.
std::uint64_t outputs_axes(const key& k);

/// Whether memory runs along the last kept axis and not along the folded ones. Arrays that move along both decide, for
/// they make the traffic; where there are none, all that move along the folded axes.
bool reduces_strided_axis(const key& k, const graph& g, std::uint64_t folded, int innermost_kept);

/// Decides which uses of reductions' and scans' values stay in the kernel that computes them, as it holds the row.
class row_uses {
public:
    enum class use : std::uint8_t {
        plain,   // the value is not used along a row
        held,    // used along the row, in a kernel that holds it
        parted,  // used beside folds of other rows, so not in their kernel
    };
    row_uses(const key& k, const graph& g, const std::vector<refused_rows>& refused);

    use of_argument(node_id user, int argument) const { return arguments_[argument_index(user, argument)]; }
    use of_root(std::size_t output) const { return roots_[output]; }
    /// Whether one kernel can compute two nodes that move along the same axes.
    bool can_be_fused(node_id a, node_id b) const {
        const state &one = nodes_[a], &other = nodes_[b];
        return !one.folds || !other.folds || one.of == other.of || !(one.deep || other.deep) || scan_alike(one, other);
    }
    /// Whether the folds below two nodes, reductions or scans, have the same rows, which a kernel may hold.
    bool share_rows(node_id a, node_id b) const {
        return nodes_[a].folds && nodes_[b].folds && nodes_[a].of == nodes_[b].of;
    }
    /// Whether a kernel that holds the rows of `fold`, or of a value over it, has one index a row for each gather below
    /// `n`, which stands beside it or is folded.
    bool gathers_rows(node_id fold, node_id n) const {
        return in_rows_[fold] && !nodes_[fold].scans && !nodes_[n].reads_elsewhere &&
               (nodes_[n].indices & nodes_[fold].of.folded) == 0;
    }
    /// Whether a kernel that computes `others`, which move along `axes`, can compute `n` as well where it holds rows.
    bool can_join(node_id n, std::uint64_t axes, const std::vector<node_id>& others) const;

private:
    /// The nodes below a node that the same kernel computes.
    struct state {
        rows of;
        bool folds = false;            // there are reductions, or scans of rows that a kernel may hold
        bool deep = false;             // a fold of the row uses a fold of it, or a value moves along the row
        bool scans = false;            // there are scans
        bool scans_alone = false;      // there are only scans, none of which needs another
        bool reads_elsewhere = false;  // there is a reshape, a gather that no row program reads, or a scan alone
        std::uint64_t indices = 0;     // the axes along which indices of gathers move
    };
    /// Scans along one axis need not have the same rows, as no kernel holds these.
    static bool scan_alike(const state& a, const state& b) {
        return a.scans_alone && b.scans_alone && a.of.folded == b.of.folded;
    }
    static std::size_t argument_index(node_id user, int argument) {
        return std::size_t{detail::most_arguments} * user + static_cast<std::size_t>(argument);
    }
    bool is_refused(const rows& of, bool scans) const;
    bool fits(const state& s, std::uint64_t axes) const;
    bool holds(const state& s, const rows& own) const { return s.of == own && fits(s, own.kept_axes | own.folded); }
    state join(std::span<const node_id> values, std::uint64_t axes, use* uses) const;

    /// Marks the folds whose kernel holds their rows, and the values over them in it.
    void find_in_rows(const graph& g);

    std::vector<refused_rows> refused_;
    std::vector<state> nodes_;
    std::vector<bool> in_rows_;
    std::vector<use> arguments_, roots_;
};

}  // namespace ingot::codegen
