// A fold over strips on the host: every place of a strip is a lane with a partial result of its own, so joining a strip
// is a loop without dependences, which the system's compiler vectorises whatever the fold. The order of joining depends
// on a row's length alone.
//
// For places (argmax) a lane has the best element and the number of its strip, in an integer as wide as the element, so
// that both are one loop; a row, or a piece of one, therefore has at most `most_strips` strips. For sums about a value
// see host/shifted_lanes.hpp.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "codegen/host/shifted_lanes.hpp"
#include "codegen/text/fold.hpp"
#include "codegen/text/writer.hpp"

namespace ingot::codegen {

inline constexpr std::uint32_t most_strips = 128;

class lane_fold {
public:
    /// `of_one_row`: all lanes belong to one row, else each to its own.
    lane_fold(fold_writer& f, const graph& g, std::size_t number, std::uint32_t width, bool of_one_row, prelude& needs);

    fold_writer& fold() const { return *fold_; }
    /// Declares the arrays; sets lanes [0, count) to the start.
    void declare(source_writer& out) const;
    void start(source_writer& out, const std::string& count) const;
    /// The statement that folds an element into lane j; `strip` is the number of its strip, `turn` its place among the
    /// strips of one loop.
    std::string join(const std::string& value, const std::string& strip, int turn) const;
    /// Written behind the loop over elements, m of each of `strips` strips, of which `strip` was the first.
    void end_strips(source_writer& out, const std::string& strip, int strips) const;
    /// Joins all lanes to a partial result; the strips are the row's elements [from, to).
    std::string joined(const std::string& from, const std::string& to) const;
    /// Lane j as a partial result, where the strips are elements [from, to) of every lane's own row.
    std::string lane(const std::string& from, const std::string& to) const;

private:
    std::string lanes_, strips_;  // arrays
    std::string value_type_, value_start_, strip_type_, keep_;
    std::optional<shifted_lanes> shifted_;
    fold_writer* fold_;
    std::uint32_t width_;
    prelude* needs_;
};

}  // namespace ingot::codegen
