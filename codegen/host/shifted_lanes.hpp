// Lanes of shifted reductions (host/shifted_reduction.cpp). A lane has several numbers, and part of the work on a strip
// follows the loop over its elements.
#pragma once

#include <cstdint>
#include <string>

#include "codegen/text/fold.hpp"
#include "codegen/text/writer.hpp"

namespace ingot::codegen {

class shifted_lanes {
public:
    /// `of_one_row`: all lanes belong to one row, else each to its own.
    shifted_lanes(fold_writer& f, std::string name, std::uint32_t width, bool of_one_row)
        : fold_(&f), name_(std::move(name)), width_(width), of_one_row_(of_one_row) {}

    /// As in lane_fold.
    void declare(source_writer& out) const;
    void start(source_writer& out, const std::string& count) const;
    std::string join(const std::string& value, const std::string& strip, int turn) const;
    void end_strips(source_writer& out, const std::string& strip, int strips) const;
    std::string joined(const std::string& from, const std::string& to) const;
    std::string lane(const std::string& from, const std::string& to) const;

private:
    bool has_one_near() const { return of_one_row_ && fold_->is_moments(); }
    std::string near(const std::string& index) const { return name_ + "_near" + (has_one_near() ? "" : index); }
    std::string sum() const { return name_ + "_sum"; }
    /// The squares of moments, or the greatest elements of exponentials.
    std::string third() const { return name_ + (fold_->is_moments() ? "_squares" : "_top"); }
    std::string call(const std::string& function) const { return fold_->joiner() + "::" + function + '('; }

    fold_writer* fold_;
    std::string name_;
    std::uint32_t width_;
    bool of_one_row_;
};

}  // namespace ingot::codegen
