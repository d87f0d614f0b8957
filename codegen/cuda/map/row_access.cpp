// See row_access.hpp.
#include "codegen/cuda/map/row_access.hpp"

#include "codegen/cuda/map/store_run.cuh.hpp"

namespace ingot::codegen {

using namespace detail;

namespace {

/// Indents lines by one step, except preprocessor lines.
std::string indented(const std::string& lines) {
    std::string out;
    for (std::size_t at = 0, end = 0; at < lines.size(); at = end + 1) {
        end = lines.find('\n', at);
        out += (lines[at] == '#' ? "" : "    ") + lines.substr(at, end + 1 - at);
    }
    return out;
}

}  // namespace

std::string element_at(const array_argument& in, const std::string& address) {
    return in.at->head.aliased || !has_intrinsics(in.at->head.type) ? "*(" + address + ')' : "__ldg(" + address + ')';
}

row_loaders add_row_loaders(cuda_kernel& b, const array_argument& in, bool aligned, bool wide) {
    const bool own = in.at->head.aliased;
    const bool intrinsic = has_intrinsics(in.at->head.type);
    const auto element = [&](const std::string& at) { return element_at(in, at); };
    const auto word = [&](const std::string& at) { return own ? "*(" + at + ')' : "__ldg(" + at + ')'; };
    const std::string suffix = own ? "_own" : intrinsic ? "" : "_plain";
    const std::string u8 = b.needs.type(dtype::u8);
    const std::string vector = "    alignas(sizeof(word)) type vector[each];\n    reinterpret_cast<word&>(vector) = " +
                               word("reinterpret_cast<const word*>(from)") +
                               ";\n#pragma unroll\n"
                               "    for (int e = 0; e < each; ++e) to[first + e] = vector[e];\n";
    const std::string one_by_one =
        "#pragma unroll\n    for (int e = 0; e < each; ++e) to[first + e] = " + element("from + e") + ";\n";
    const std::string ends =
        "#pragma unroll\n    for (int e = -left; e < 0; ++e) to[first + e] = " + element("from + e") +
        ";\n#pragma unroll\n"
        "    for (int e = each; e < each + right; ++e) to[first + e] = " +
        element("from + e") + ";\n";
    const std::string templated =
        "template <class word, int each, int left, int right, int first, class type, int n>\n";
    const std::string name = std::string(aligned ? "load_aligned_row" : "load_row") + (wide ? "_wide" : "") + suffix;
    std::string beside = ends;
    if (wide) {
        const std::string load = "load_beside" + suffix;
        b.needs.add("word_type",
                    "template <int bytes> struct word_type;\n"
                    "template <> struct word_type<1> { using type = unsigned char; };\n"
                    "template <> struct word_type<2> { using type = unsigned short; };\n"
                    "template <> struct word_type<4> { using type = unsigned int; };\n"
                    "template <> struct word_type<8> { using type = uint2; };\n"
                    "template <> struct word_type<16> { using type = uint4; };\n");
        b.needs.add(
            load,
            b.function("Loads `count` elements before `from` (way -1) or from it on (way 1), which is aligned for "
                       "`step` elements, by the\n/// widest accesses: to[at - 1] is the one before it, to[at] "
                       "its own.",
                       "template <int way, int step, int count, int at, class type, int n>\n") +
                "void " + load +
                "(type (&to)[n], const type* from) {\n"
                "    if constexpr (step > count && count > 0) {\n        " +
                load +
                "<way, step / 2, count, at>(to, from);\n"
                "    } else if constexpr (count > 0) {\n"
                "        using word = typename word_type<step * int(sizeof(type))>::type;\n"
                "        constexpr int first = way < 0 ? -step : 0;\n"
                "        alignas(sizeof(word)) type vector[step];\n"
                "        reinterpret_cast<word&>(vector) = " +
                word("reinterpret_cast<const word*>(from + first)") +
                ";\n#pragma unroll\n"
                "        for (int e = 0; e < step; ++e) to[at + first + e] = vector[e];\n        " +
                load + "<way, step, count - step, at + way * step>(to, from + way * step);\n    }\n}\n");
        beside = "    " + load + "<-1, each, left, first>(to, from);\n    " + load +
                 "<1, each, right, first + each>(to, from + each);\n";
    }
    if (aligned)
        b.needs.add(name, b.function("Loads the aligned vector at `from` into to[first], ..., with `left` elements "
                                     "before it and `right`\n/// after it.",
                                     templated) +
                              "void " + name + "(type (&to)[n], const type* from) {\n" + vector + beside + "}\n");
    else
        b.needs.add(
            name,
            b.function("Loads `each` elements into to[first], ..., by one access if `from` is aligned, with `left` "
                       "elements\n/// before them and `right` after them.",
                       templated) +
                "void " + name + "(type (&to)[n], const type* from) {\n    if (reinterpret_cast<" + u8 +
                ">(from) % sizeof(word) == 0) {\n" + indented(vector + (wide ? beside : "")) + "    } else {\n" +
                indented(one_by_one + (wide ? ends : "")) + "    }\n" + (wide ? "" : ends) + "}\n");
    b.needs.add("load_ends" + suffix,
                b.function("Loads the elements whose columns lie in [low, high); `column` is the column of to[0].",
                           "template <class type, int n>\n") +
                    "void load_ends" + suffix + "(type (&to)[n], const type* from, " + b.signed_index() + " column, " +
                    b.signed_index() + " low, " + b.signed_index() +
                    " high) {\n"
                    "#pragma unroll\n"
                    "    for (int e = 0; e < n; ++e)\n"
                    "        if (column + e >= low && column + e < high) to[e] = " +
                    element("from + e") + ";\n}\n");
    return {name, "load_ends" + suffix};
}

std::string add_row_storer(cuda_kernel& b, const array_argument& z) {
    const bool intrinsic = has_intrinsics(z.at->head.type);
    const std::string name = intrinsic ? "store_row" : "store_row_plain", wide = b.needs.type(dtype::u8);
    const std::string address = "reinterpret_cast<" + wide + ">(to)";
    b.needs.add("store_run", embedded::store_run);
    b.needs.add(name,
                b.function("Stores elements [begin, end) of each lane: by one access per lane if all vectors are whole "
                           "and aligned\n/// or the warp has one run of memory, else transposed in `room`, so that "
                           "adjacent lanes store adjacent elements.",
                           "template <class word, class type, int n>\n") +
                    "void " + name +
                    "(type* to, const type (&from)[n], int begin, int end, unsigned char* room) {\n"
                    "    const int lane = int(threadIdx.x % 32);\n"
                    "    const bool whole = begin == 0 && end == n, aligned = end <= begin || (whole && " +
                    address +
                    " % sizeof(word) == 0);\n"
                    "    if (__all_sync(~0u, aligned)) {\n"
                    "        if (begin < end) __stcs(reinterpret_cast<word*>(to), reinterpret_cast<const "
                    "word&>(from));\n"
                    "        return;\n"
                    "    }\n"
                    "    if constexpr (sizeof(word) % 4 == 0) {\n"
                    "        const " +
                    wide + " first = __shfl_sync(~0u, " + address +
                    ", 0);\n"
                    "        if (__all_sync(~0u, whole && " +
                    address +
                    " == first + lane * sizeof(word))) return store_run<word>(to, from);\n"
                    "    }\n"
                    "    type* const turned = reinterpret_cast<type*>(room);\n"
                    "    __syncwarp();\n"
                    "    reinterpret_cast<word&>(turned[lane * n]) = reinterpret_cast<const word&>(from);\n"
                    "    __syncwarp();\n"
                    "#pragma unroll\n"
                    "    for (int i = 0; i < n; ++i) {\n"
                    "        const int k = i * 32 + lane, owner = k / n, e = k % n;\n"
                    "        type* const at = reinterpret_cast<type*>(__shfl_sync(~0u, " +
                    address +
                    ", owner));\n"
                    "        const int range = __shfl_sync(~0u, begin | (end << 8), owner);\n"
                    "        if (e >= (range & 255) && e < range >> 8) " +
                    (intrinsic ? "__stcs(at + e, turned[k])" : "at[e] = turned[k]") + ";\n    }\n}\n");
    return name;
}

}  // namespace ingot::codegen
