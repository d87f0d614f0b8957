// See host/random_numbers.hpp.
#include "codegen/host/random_numbers.hpp"

#include "codegen/text/random.hpp"

namespace ingot::codegen {

using namespace detail;

namespace {

constexpr std::uint32_t groups_at_once = 16;  // whole vectors of every dtype

/// The words of groups, in the order of the elements. g++ needs many shuffles for products of 32-bit lanes, and none in
/// 64-bit lanes, whose upper halves a product does not read.
constexpr std::string_view words_of_groups = R"(/// Computes the words of 16 consecutive groups.
#ifdef __AVX2__
typedef uint64 word_lanes __attribute__((vector_size(32)));
static inline word_lanes low_product(word_lanes a, word_lanes b) {
#ifdef __clang__
    return (a & 0xffffffffu) * (b & 0xffffffffu);
#else
    typedef int half_lanes __attribute__((vector_size(32)));
    return (word_lanes)__builtin_ia32_pmuludq256((half_lanes)a, (half_lanes)b);
#endif
}
template <class word>
static inline void philox_groups(word* to, generator_key key, uint64 group) {
    const word_lanes zero = {}, multiplier0 = zero + 0xd2511f53u, multiplier1 = zero + 0xcd9e8d57u;
    rolled
    for (int j = 0; j < 16; j += 4) {
        const word_lanes counter = word_lanes{0, 1, 2, 3} + (group + j);
        word_lanes c0 = counter, c1 = counter >> 32, c2 = zero + key.call, c3 = zero + (key.call >> 32);
        uint32 k0 = uint32(key.seed), k1 = uint32(key.seed >> 32);
        for (int round = 0; round < 10; ++round) {
            const word_lanes a = low_product(c0, multiplier0), b = low_product(c2, multiplier1);
            c0 = b >> 32 ^ c1 ^ k0;
            c2 = a >> 32 ^ c3 ^ k1;
            c1 = b;
            c3 = a;
            k0 += 0x9e3779b9u;
            k1 += 0xbb67ae85u;
        }
        const word_lanes w01 = (c0 & 0xffffffffu) | c1 << 32, w23 = (c2 & 0xffffffffu) | c3 << 32;
        const word_lanes groups[] = {__builtin_shufflevector(w01, w23, 0, 4, 1, 5),
                                     __builtin_shufflevector(w01, w23, 2, 6, 3, 7)};
        __builtin_memcpy((char*)to + 16 * j, groups, sizeof groups);
    }
}
#else
template <class word>
static inline void philox_groups(word* to, generator_key key, uint64 group) {
    rolled
    independent
    for (int j = 0; j < 16; ++j) {
        const philox_words r = philox(key, group + j);
        __builtin_memcpy((char*)to + 16 * j, r.w, sizeof r.w);
    }
}
#endif
)";

/// Computes integers from `words`, as the upper halves of products.
constexpr std::string_view integers_of_words = R"(        const uint32 last = uint32(key.last);
        uint32 may_carry = 0;
        rolled
        for (int j = 0; j < 64; ++j) {
            const uint64 product = scaled(words[j], last);
            at[j] = uint32(product >> 32);
            may_carry |= uint32(product) > ~last;
        }
        if (may_carry == 0) continue;
        alignas(64) uint32 lower[64];
        philox_groups(lower, key.of, first / 4 + vector + (1ull << 60));
        rolled
        independent
        for (int j = 0; j < 64; ++j)
            at[j] = uint32((scaled(words[j], last) + (scaled(lower[j], last) >> 32)) >> 32);
)";

/// The loop that computes a group's numbers from `words`.
std::string numbers_of_words(generator_kind kind, bool single) {
    if (kind == generator_kind::integers) return std::string(integers_of_words);
    const std::string n = std::to_string(groups_at_once * (single ? 4 : 2) / (kind == generator_kind::normal ? 2 : 1));
    const std::string number = kind == generator_kind::normal ? "polar(at + 2 * j, words[2 * j], words[2 * j + 1])"
                               : single                       ? "at[j] = float(int(words[j] >> 8)) * 0x1p-24f"
                                                              : "at[j] = fraction(words[j])";
    return "        rolled\n        independent\n        for (int j = 0; j < " + n + "; ++j) " + number + ";\n";
}

/// Adds the function that computes groups to the prelude.
std::string spell_run(kernel_builder& b, node_id generator) {
    const node& n = b.graph.nodes[generator];
    const auto kind = static_cast<generator_kind>(n.code);
    const bool single = generator_group(n.type) == 4;
    const std::string name = b.generator_name(generator), type = b.needs.type(n.type);
    const std::string size = std::to_string(generator_group(n.type)), groups = std::to_string(groups_at_once);
    add_rolled(b.needs);
    add_independent(b.needs);
    b.needs.add("philox_groups", words_of_groups);
    std::string text =
        "/// Computes the numbers [first, first + m) in `to`, which has room for whole vectors of groups.\n"
        "static inline const " +
        type + "* " + name + "_run(" + type + "* to, " + std::string(key_type_of(kind)) +
        " key, uint64 first, int m) {\n    const int before = int(first % " + size + "), groups = (before + m + " +
        size + " - 1) / " + size + ";\n    for (int vector = 0; vector < groups; vector += " + groups +
        ") {\n        " + type + "* const at = to + " + size + " * vector;\n";
    if (kind != generator_kind::bits)
        text += std::string("        alignas(64) ") + (single ? "uint32" : "uint64") + " words[" + groups + " * " +
                size + "];\n";
    text += std::string("        philox_groups(") + (kind == generator_kind::bits ? "at" : "words") +
            (kind == generator_kind::integers ? ", key.of" : ", key") + ", first / " + size + " + vector);\n";
    if (kind != generator_kind::bits) text += numbers_of_words(kind, single);
    b.needs.add(name + "_run", text + "    }\n    return to + before;\n}\n");
    return name + "_run";
}

}  // namespace

bool calls_philox(const graph& g, node_id generator) {
    return static_cast<generator_kind>(g.nodes[generator].code) != generator_kind::position;
}

void declare_numbers(kernel_builder& b, node_id generator, const std::string& name, std::uint32_t room) {
    const dtype t = b.graph.nodes[generator].type;
    const std::uint32_t beyond = (groups_at_once + 1) * generator_group(t);  // of the last vector and the first group
    b.code.line("alignas(64) ", b.needs.type(t), ' ', name, "_numbers[", room + beyond, "] = {};");
}

void write_numbers(kernel_builder& b, node_id generator, const std::string& name, const std::string& first,
                   const std::string& along, const std::string& consecutive) {
    source_writer& out = b.code;
    const std::string run = spell_run(b, generator), key = b.generator_key(generator);
    const std::string type = b.needs.type(b.graph.nodes[generator].type), numbers = name + "_numbers";
    const std::string strip = name + "_strip", of_run = run + '(' + numbers + ", " + key + ", " + first + ", m)";
    if (consecutive.empty()) return out.line("const ", type, "* const ", strip, " = ", of_run, ";");
    const bool never = consecutive == "false";
    out.line("const ", type, "* ", strip, " = ", numbers, ";");
    if (!never) {
        out.open("if (", consecutive, ")");
        out.line(strip, " = ", of_run, ";");
        out.otherwise();
    }
    open_whole_vectors(b);
    out.line(numbers, "[j] = ", b.generator_call(generator, first + along), ";");
    close_whole_vectors(b);
    if (!never) out.close();
}

}  // namespace ingot::codegen
