// The folds of rows on the host: strips (host/walk.hpp) of lanes (host/lanes.hpp), whatever uses a row's results.
//
// Only a few partial results are added in the elements' own dtype: after a group of strips they are joined, across
// memory in double, so that the error does not grow with the length.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "codegen/host/lanes.hpp"
#include "codegen/host/walk.hpp"

namespace ingot::codegen {

class row_folds {
public:
    row_folds(kernel_builder& b, host_walk& walk) : b_(b), walk_(walk), reach_(reach_of(walk.way())) {}

    /// Writes the folds of a space, and names their results. `only`: there is no other space, so a block of a split
    /// reduction has one piece. `number` distinguishes its length from other spaces'.
    void write(const folded_space& s, const std::string& number, bool only, std::span<lane_fold> folds,
               const std::vector<host_walk::cached_value>& cached = {});

    /// The fold of a whole row: a variable, or across memory an element of an array.
    std::string whole(const fold_writer& f) const { return walk_.across() ? f.name() + "[j]" : f.name(); }
    std::string whole_type(fold_writer& f) const { return walk_.across() ? f.wide_type() : f.type(); }
    /// Sets it to the start of the fold.
    void start(fold_writer& f);

private:
    void write_group(const folded_space& s, std::span<lane_fold> folds,
                     const std::vector<host_walk::cached_value>& cached, const std::string& from, const std::string& to,
                     bool one_of_many);

    kernel_builder& b_;
    host_walk& walk_;
    const reach reach_;
};

}  // namespace ingot::codegen
