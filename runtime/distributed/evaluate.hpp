// Evaluates statements over distributed arrays.
#pragma once

#include <ingot/sorting/sorts.hpp>

#include "runtime/distributed/storage.hpp"

namespace ingot::runtime {

/// Makes the door (runtime/front) pass such statements to this folder.
void serve_distributed_arrays() noexcept;

// Functions of the door's table (front/evaluate.hpp).
buffer_ref make_like(const buffer& of, bool copy);
/// A copy of the elements around this part; those of the part are not initialised.
buffer_ref make_like_around(const buffer& of, const detail::layout& part);
bool read_shown(const buffer& of, std::span<const index_t> edge, std::vector<unsigned char>& bytes);
detail::own_rows take_own_rows(const detail::destination& to, const buffer& from);
void join_rows(const detail::destination& to, const buffer& part, const detail::layout& where, const buffer& like,
               index_t most);
bool has_shape(const buffer& of, std::span<const index_t> shape) noexcept;

}  // namespace ingot::runtime
