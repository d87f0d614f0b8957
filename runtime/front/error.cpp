// The statement of the user's that a thread is in, which exceptions say.
#include <ingot/core/error.hpp>

namespace ingot::detail {

constinit thread_local source_place current_statement(nullptr, 0);

}  // namespace ingot::detail
