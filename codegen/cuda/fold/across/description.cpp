// The text that explain prints about a column fold's choice.
#include <algorithm>

#include "codegen/cuda/fold/across/choice.hpp"

namespace ingot::codegen {

kernel_shape column_fold_choice::shape() const {
    static constexpr std::string_view names[] = {"columns",          "wide columns",    "narrow columns",
                                                 "packed columns",   "runs of columns", "strips of columns",
                                                 "unrolled columns", "short columns"};
    kernel_shape s;
    s.name = names[static_cast<std::size_t>(how)];
    s.threads = threads;
    if (how == layout::packed) s.lanes = height;
    s.each = tile_columns;
    s.chunks = vectors_per_thread * *std::ranges::max_element(unroll);
    s.source = how == layout::contiguous ? element_source::run
               : how == layout::staged   ? element_source::staged
                                         : element_source::direct;
    if (how == layout::staged) s.tile = elements;
    s.exchange = split                                             ? thread_exchange::scratch
                 : how == layout::staged                           ? thread_exchange::lanes
                 : how == layout::alone || how == layout::unrolled ? thread_exchange::none
                                                                   : thread_exchange::block;
    s.read_ahead = tiles_ahead ? 1 : 0;
    s.resident_blocks = resident_blocks;
    return s;
}

std::string column_fold_choice::reason() const {
    const std::string n = std::to_string(tile_columns);
    const std::string ahead = tiles_ahead ? ", a tile on its way while one is joined" : "",
                      shared = split ? ", several blocks a column for there are too few to fill the GPU" : "";
    const auto where_they_lie = [&](const std::string& threads_of_columns) {
        return (columns == 1 ? "a column" : std::to_string(columns) + " columns") +
               " a thread, neighbours read neighbours" + threads_of_columns + ahead + shared +
               ": memory runs across what is folded";
    };
    switch (how) {
        case layout::alone:
            return where_they_lie("");
        case layout::wide:
            return where_they_lie(", some threads beside each other, the others below");
        case layout::narrow:
            return where_they_lie(", a short row of columns side by side, the others below");
        case layout::packed:
            return where_they_lie(", several groups a block: both axes are short");
        case layout::contiguous:
            return where_they_lie(", " + n + " at once of their run of memory");
        case layout::strips:
            return "strips of neighbouring columns, " + n + " a thread at once" +
                   (aligned ? "" : ", rows that begin alike by the same threads") + ahead + shared +
                   ": whole lines of memory at a time";
        case layout::unrolled:
            return std::to_string(vectors_per_thread * columns) +
                   " short columns a thread, all of them loaded before the first is folded: loads wait for memory "
                   "together";
        case layout::staged:
            break;
    }
    return "short columns staged in shared memory, as many threads a column as a block has to spare: read as they lie";
}

}  // namespace ingot::codegen
