// One fold: its partial results, how two are joined, and their start. A row of <ingot/core/folds.def> has all of it, so
// schedules know only that there are values to join. Schedules are chosen by `fold_traits` (graph/fold_traits.hpp);
// emitters print through `fold_writer`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <ingot/core/folds.hpp>

#include "codegen/graph/fold_traits.hpp"
#include "codegen/graph/reduction.hpp"
#include "codegen/graph/scan.hpp"
#include "codegen/text/shifted_reduction.hpp"
#include "codegen/text/spelling.hpp"
#include "codegen/text/user_text.hpp"

namespace ingot::codegen {

class fold_writer : public fold_traits {
public:
    /// Names its results after the fold and `number`.
    fold_writer(const graph& g, node_id reduction, std::size_t number, prelude& needs);

    /// "sum0": the variable of this thread's partial result, and in the end of the row's result.
    const std::string& name() const { return name_; }
    std::string part() const { return "part" + number_; }
    std::string held() const { return "held" + number_; }
    std::string message() const { return "taken" + number_; }
    std::string edge() const { return "edge" + number_; }
    std::string whole() const { return "whole" + number_; }
    /// The variable for a whole row: as `name`, but a float's partial sums are joined in double.
    std::string wide_type();
    std::string wide_joiner() { return joiner_in(wide()); }

    std::string type() { return type_in(type_); }
    std::string start() { return start_in(type_); }
    std::string wide_start() { return start_in(wide()); }
    /// For places: the joiner of values alone, and their start.
    std::string extreme_joiner() { return value_joiner(extreme_row(), type_); }
    std::string value_start() { return value_start_in(type_); }
    /// The struct whose `join` joins two partial results.
    std::string joiner() { return joiner_in(type_); }
    /// The struct that joins two where the second stands behind the first; the start of such a fold, whose first place
    /// is `first`.
    std::string ordered_joiner();
    std::string start_at(const std::string& first);
    std::string joined(const std::string& a, const std::string& b) { return joiner() + "::join(" + a + ", " + b + ")"; }
    /// The form in which an element is kept until several are folded at once; `at` is its place in the row. The start
    /// stands for a missing element.
    std::string entry_type() { return is_shifted() ? needs_.type(type_) : type(); }
    std::string entry(const std::string& value, const std::string& at) {
        return is_shifted() ? value : element(value, at);
    }
    std::string entry_start() { return is_shifted() ? spell_constant(type_, 0, needs_) : start(); }
    /// A partial result of one entry.
    std::string of_one(const std::string& entry);
    /// A part is a thread's fold of a few tiles: a partial result, or a type that joins entries more quickly. It begins
    /// as part_start, takes an array of entries (all, or the first `present`), and becomes a partial result by of_part.
    std::string part_type() { return has_parts() ? spell_shifted_sums(row_.of, type_, needs_) : type(); }
    std::string part_start() { return has_parts() ? spell_shifted_sums_start(row_.of, type_, needs_) : start(); }
    std::string with(const std::string& part, const std::string& array, const std::string& present);
    std::string with_one(const std::string& part, const std::string& entry);
    /// CUDA's one instruction that joins over all lanes of a warp, from compute capability 8.0 on; "" for none.
    std::string of_warp(const std::string& value);
    std::string of_part(const std::string& part);
    /// An element as a partial result.
    std::string element(const std::string& value, const std::string& at);
    /// The row's result, in the node's dtype, from the variable.
    std::string result() const { return result(name_); }
    std::string result(const std::string& from) const { return is_arg_reduction() ? from + ".at" : from; }
    /// The text of each of a partial result's words of scratch, to be written and read.
    std::string word(std::uint32_t i) const { return word(i, name_); }
    std::string word(std::uint32_t i, const std::string& of) const;
    /// On the host: the type of each word.
    std::string word_type(std::uint32_t i) {
        return needs_.type(is_arg_reduction() && i == 1 ? dtype::i8 : is_shifted() ? dtype::f8 : type_);
    }

private:
    std::string type_in(dtype t);
    std::string start_in(dtype t);
    std::string value_start_in(dtype t);
    std::string joiner_in(dtype t);
    std::string value_joiner(const detail::fold_facts& row, dtype t);
    const detail::fold_facts& extreme_row() const { return facts(greatest() ? detail::fold::max : detail::fold::min); }
    std::string join_head(const std::string& type) const;
    std::string user_functions() { return spell_user_text(graph_.texts, graph_.nodes[reduction_].pick, needs_); }
    std::string join_indexed(dtype t) const;
    std::string join_logarithms(dtype t) const;
    std::string join_ordered(dtype t) const;

    const graph& graph_;
    std::string number_, name_;
    prelude& needs_;
};

/// The writers of the folds of each space, numbered through.
std::vector<std::vector<fold_writer>> folds_of(const folding& f, const graph& g, prelude& needs);
/// The writers of the scans' folds, numbered through.
std::vector<fold_writer> folds_of(const scanning& s, const graph& g, prelude& needs);

}  // namespace ingot::codegen
