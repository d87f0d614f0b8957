// See copy_view.hpp.
#include "runtime/device/copy_view.hpp"

namespace ingot::runtime {

slot& slot_of_copies(dtype type) {
    static constinit slot slots[detail::dtype_count];
    return slots[static_cast<std::size_t>(type)];
}

void copy_view(dtype type, const buffer& from, const detail::layout& from_where, buffer_ref& to,
               detail::layout& to_where) {
    const detail::word program[] = {detail::make_word(detail::word_kind::leaf, type)};
    operand in;
    in.type = type;
    in.where = &from_where;
    in.memory = &from;
    const output out{type, &to, &to_where};
    detail::evaluate(slot_of_copies(type), program, {&in, 1}, {}, {&out, 1});
}

}  // namespace ingot::runtime
