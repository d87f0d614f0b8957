// See host/loops.hpp.
#include "codegen/host/loops.hpp"

#include <algorithm>

namespace ingot::codegen {

void write_digits(kernel_builder& b, const std::string& linear, const std::vector<int>& axes,
                  const std::string& constant) {
    const std::string type = b.signed_index();
    for (std::size_t k = axes.size(); k-- > 1;) {
        const std::string n = b.extent(axes[k]);
        b.code.line(constant, type, ' ', digit(axes[k]), " = ", type, '(', linear, " % ", n, ");");
        b.code.line(linear, " /= ", n, ";");
    }
    if (!axes.empty()) b.code.line(constant, type, ' ', digit(axes[0]), " = ", type, '(', linear, ");");
}

void carry_digits(kernel_builder& b, const std::vector<int>& axes) {
    for (std::size_t k = axes.size(); k-- > 1;) {
        const std::string n = b.extent(axes[k]);
        b.code.line("if (", digit(axes[k]), " < ", b.signed_index(), '(', n, ")) continue;");
        b.code.line(digit(axes[k]), " = 0;");
        b.code.line("++", digit(axes[k - 1]), ";");
    }
}

std::uint32_t lanes_of_whole_vectors(const graph& g) {
    std::size_t narrowest = 8;
    for (const node& n : g.nodes) narrowest = std::min<std::size_t>(narrowest, detail::size_of(n.type));
    return static_cast<std::uint32_t>(64 / narrowest);
}

void add_rolled(prelude& needs) {
    needs.add(
        "rolled",
        "/// Keeps the next loop rolled until it is vectorised; if unrolled before, its calls would stay scalar.\n"
        "#ifdef __clang__\n"
        "#define rolled\n"
        "#else\n"
        "#define rolled _Pragma(\"GCC unroll 1\")\n"
        "#endif\n");
}

void open_whole_vectors(kernel_builder& b, const std::string& m, bool independent) {
    const std::uint32_t lanes = lanes_of_whole_vectors(b.graph);
    add_rolled(b.needs);
    b.code.open("for (int vector = 0; vector < ", m, "; vector += ", lanes, ")");
    b.code.line("rolled");
    if (independent) b.declare_independent();
    b.code.open("for (int j = vector; j < vector + ", lanes, "; ++j)");
}

void close_whole_vectors(kernel_builder& b) {
    b.code.close();
    b.code.close();
}

}  // namespace ingot::codegen
