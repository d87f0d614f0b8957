// Folds of narrow elements that lie side by side in words: one instruction joins several of them
// (cuda/fold/along/row_fold.hpp).
#include "codegen/cuda/fold/along/row_fold.hpp"

namespace ingot::codegen {

using namespace detail;

namespace {

/// Adds the struct of that name: words are taken into two packed words, which become the result in the end. `take` is
/// the text that joins words[i].
void add_struct(prelude& needs, const std::string& comment, const std::string& name, const std::string& element,
                std::uint32_t start, std::uint32_t a_word, const std::string& take, const std::string& members) {
    needs.add(name, "/// " + comment + "\nstruct " + name +
                        " {\n    static constexpr unsigned int start = " + std::to_string(start) +
                        "u;\n    template <int n>\n"
                        "    static __device__ __forceinline__ void take(unsigned int (&packed)[2], const " +
                        element +
                        " (&v)[n]) {\n"
                        "        const unsigned int* const words = reinterpret_cast<const unsigned int*>(v);\n"
                        "#pragma unroll\n"
                        "        for (int i = 0; i < n / " +
                        std::to_string(a_word) + "; ++i) {\n" + take + "        }\n    }\n" + members + "};\n");
}

/// One instruction compares pairs of 16 bits. For bytes the upper byte of each pair decides, whatever the lower one is;
/// a shift moves the lower bytes up.
std::string add_extremes(prelude& needs, dtype t, bool greatest) {
    const bool bytes = size_of(t) == 1;
    const std::string type = needs.type(t), name = std::string(greatest ? "most_" : "least_") + type;
    const std::string best = std::string(greatest ? "__vmax" : "__vmin") + (is_signed(t) ? "s2" : "u2");
    const std::string pick = greatest ? "a > b ? a : b" : "a < b ? a : b",
                      function = "    static __device__ __forceinline__ ";
    // The start value, which every element beats, in each place of a word.
    const std::uint32_t top = bytes ? 0x80808080u : 0x80008000u;
    const std::uint32_t start = is_signed(t) ? (greatest ? top : ~top) : (greatest ? 0 : ~0u);
    const auto part = [&](int word, int bit) {
        return type + "(packed[" + std::to_string(word) + (bit == 0 ? "])" : "] >> " + std::to_string(bit) + ')');
    };
    const std::string whole =
        bytes ? "join(join(" + part(0, 8) + ", " + part(0, 24) + "), join(" + part(1, 8) + ", " + part(1, 24) + "))"
              : "join(" + part(0, 0) + ", " + part(0, 16) + ')';
    add_struct(needs,
               std::string("Computes the ") + (greatest ? "maximum" : "minimum") +
                   " of elements packed in words, by 16-bit pairs" +
                   (bytes ? "; the upper byte of each half decides." : "."),
               name, type, start, static_cast<std::uint32_t>(4 / size_of(t)),
               "            packed[0] = " + best + "(packed[0], words[i]);\n" +
                   (bytes ? "            packed[1] = " + best + "(packed[1], words[i] << 8);\n" : std::string()),
               function + type + " join(" + type + " a, " + type + " b) { return " + pick + "; }\n" + function + type +
                   " whole(const unsigned int (&packed)[2]) {\n        return " + whole + ";\n    }\n");
    return name;
}

/// Dot products of four bytes with ones, summed into 32 bits. A sum holds 2^23 words of the largest bytes; a lane's
/// share of a row that fits into memory has fewer.
std::string add_sums(prelude& needs, dtype t, const std::string& result) {
    const std::string type = needs.type(t), name = "sum_of_" + type,
                      number = needs.type(is_signed(t) ? dtype::i4 : dtype::u4);
    add_struct(needs, "Sums bytes, four per instruction.", name, type, 0, 4,
               "            packed[i % 2] = __dp4a(" + number + "(words[i]), " + number + "(0x01010101), " + number +
                   "(packed[i % 2]));\n",
               "    static __device__ __forceinline__ " + result +
                   " whole(const unsigned int (&packed)[2]) {\n        return " + result + '(' + number +
                   "(packed[0])) + " + result + '(' + number + "(packed[1]));\n    }\n");
    return name;
}

}  // namespace

std::string row_fold::add_packed(fold_writer& f, const array_argument& in) {
    const dtype t = in.at->head.type;
    const bool greatest = f.of() == fold::max;
    return greatest || f.of() == fold::min ? add_extremes(b_.needs, t, greatest) : add_sums(b_.needs, t, f.type());
}

}  // namespace ingot::codegen
