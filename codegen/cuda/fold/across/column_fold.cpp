// See column_fold.hpp: loads of vectors, and the joins over the threads of a column.
#include "codegen/cuda/fold/across/column_fold.hpp"

#include "codegen/cuda/join.hpp"

namespace ingot::codegen {

using namespace detail;

void column_fold::load_vectors(const folded_space& s,
                               const std::function<std::string(const array_argument& in)>& address) {
    for (const array_argument* in : inputs_of(s)) {
        const std::string from = address(*in);
        const std::string_view word = word_of(bytes_of(*in) * each_, in->at->head.type);
        if (each_ == 1)
            b_.code.line(in->name, "[u] = ", scalar_load(*in), from, ");");
        else
            b_.code.line(b_.loader(b_.reading_of(*in, kept_bits() | s.bits()), word), '<', word, ">(", in->name,
                         "[u], ", from, ");");
    }
}

void column_fold::combine_down(fold_writer& f, const std::string& joiner, const std::string& variable,
                               const std::string& across) {
    const std::string name = join_down(f, b_.linear(), b_.needs);
    b_.code.line(name, "<", joiner, ", ", columns_, ">(", columns_ == 1 ? "&" : "", variable, ", room, ", across, ", ",
                 lane(), ", ", lanes(), ");");
}

void column_fold::share_down(fold_writer& f, const std::string& across) {
    b_.code.line(codegen::share_down(b_.linear(), b_.needs), "<", columns_, ">(", columns_ == 1 ? "&" : "", f.name(),
                 ", room, ", across, ", ", lane(), ", ", lanes(), ");");
}

void column_fold::declare_room(std::uint32_t parts) {
    b_.code.line("alignas(16) __shared__ ", b_.needs.type(dtype::u8), " room[", parts * widest_part() / 8, "];");
}

}  // namespace ingot::codegen
