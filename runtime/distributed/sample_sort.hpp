// The sort of a vector that lies in parts.
#pragma once

#include "runtime/distributed/storage.hpp"

namespace ingot::runtime {

/// Sorts a vector, whose other axes have extent 1, and moves the result to another partition over the same mesh axis.
/// `function`: sort_rows or argsort_rows, stable as on one device. `is_descending`: the last rank has the first
/// elements, under both partitions. Returns the memory of this rank's part. A collective call.
///
/// Each rank sorts its part. Samples of all parts give the elements at which the result is cut among the ranks; each
/// rank sends its elements between two cuts to one rank, which sorts all that it gets. Equal elements are told apart by
/// their rank and place, so that many of them are cut evenly too. (H. Shi, J. Schaeffer: Parallel sorting by regular
/// sampling, 1992.)
buffer_ref sample_sort(detail::word function, const distributed_storage& from, std::size_t axis, const placement& to,
                       bool is_descending);

/// Whether sample_sort sorts elements of this dtype.
bool has_sample_sort(detail::word function, dtype of);

}  // namespace ingot::runtime
