// Strips over several short rows on the host. A strip has as many whole points of an axis as fit, the axis being the
// innermost of which one point fits. Its lanes are therefore at the same digits from its start wherever it lies, and a
// table of offsets, made once a call, tells where each array's lanes are. No element costs a division, and only lanes
// of rows are computed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "codegen/host/loops.hpp"

namespace ingot::codegen {

class packed_strips {
public:
    /// Strips of at most `room` points of these axes, of which the last is the innermost.
    packed_strips(kernel_builder& b, std::vector<int> axes, std::uint32_t room)
        : b_(b), axes_(std::move(axes)), room_(room) {}

    std::uint64_t bits() const;
    /// Written before the loop over blocks: declares how the rows are packed.
    void declare();
    /// Then adds a table of the lanes' offsets of an array, a random leaf or a place. `flagged`: a variable tells
    /// whether the offsets are 0, 1, 2, ...
    void add_table(const array_argument& at, bool flagged = false);
    static std::string offset_of(const array_argument& at) { return at.name + "_at[j]"; }
    static std::string dense(const array_argument& at) { return at.name + "_dense"; }
    /// Calls that copy lanes [0, m) of a strip to or from memory; `row` is its first element there.
    std::string gather(const array_argument& at, const std::string& copy, const std::string& row);
    std::string scatter(const array_argument& at, const std::string& copy, const std::string& row);
    /// Fills lanes [0, m) with one element for each row, the one at `offsets` of the row's first lane.
    std::string spread(const std::string& copy, const std::string& row, const std::string& offsets);
    /// The loop that fills the tables: lane j's digits from the strip's start are i0, i1, ...
    void open_lanes();
    void close_lanes();
    /// A loop over the strips that begin at linear places [from, to): lanes [0, m) from place `start` on, whose digits
    /// are i0, i1, ...
    void open(const std::string& from, const std::string& to);

private:
    kernel_builder& b_;
    std::vector<int> axes_;
    std::uint32_t room_;
    struct table {
        array_argument of;
        std::string type;
        bool flagged;
    };
    std::vector<table> tables_;
};

}  // namespace ingot::codegen
