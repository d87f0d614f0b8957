// The user's statement that a thread is executing; exceptions name it.
#include <ingot/core/error.hpp>

namespace ingot::detail {

constinit thread_local source_place current_statement = source_place::nowhere();

}  // namespace ingot::detail
