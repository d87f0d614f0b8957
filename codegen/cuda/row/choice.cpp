// See choice.hpp. Staged rows come first, as they are read and written as one run of memory.
#include "codegen/cuda/row/choice.hpp"

namespace ingot::codegen {

std::optional<row_choice> choose_row(const key& k, const graph& g, const row_program& r) {
    if (auto staged = choose_staged_rows(k, g, r)) return row_choice(std::move(*staged));
    if (auto held = choose_register_rows(k, g, r)) return row_choice(std::move(*held));
    return {};
}

void emit_row_cuda(const key& k, const graph& g, const row_program& r, const row_choice& choice, plan& p) {
    if (const auto* staged = std::get_if<staged_rows>(&choice))
        emit_staged_rows(k, g, r, *staged, p);
    else
        emit_register_rows(k, g, r, std::get<register_rows>(choice), p);
}

}  // namespace ingot::codegen
