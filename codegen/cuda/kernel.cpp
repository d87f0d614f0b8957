// Memory accesses and index arithmetic as CUDA text. Loads and stores name their cache policy: streaming loads past the
// first-level cache, and stores evicted first, gain 1 to 3% of the bandwidth.
#include "codegen/cuda/kernel.hpp"

#include <algorithm>

#include <ingot/core/error.hpp>

#include "codegen/cuda/join.hpp"
#include "codegen/cuda/load_window.cuh.hpp"
#include "codegen/plan/stages.hpp"
#include "codegen/text/random.hpp"

namespace ingot::codegen {

std::uint32_t bytes_of(const array_argument& at) {
    return static_cast<std::uint32_t>(detail::size_of(at.at->head.type));
}

std::string_view word_of(std::uint32_t bytes) {
    switch (bytes) {
        case 16:
            return "uint4";
        case 8:
            return "uint2";
        case 4:
            return "unsigned int";
        case 2:
            return "unsigned short";
        case 1:
            return "unsigned char";
        default:
            throw error("[emit] no word has " + std::to_string(bytes) + " bytes");
    }
}

std::string_view word_of(std::uint32_t bytes, dtype of) {
    return bytes == 16 && of == dtype::f8 ? "double2" : word_of(bytes);
}

bool has_intrinsics(dtype t) {
    return detail::kind_of(t) == detail::kind::integer || detail::kind_of(t) == detail::kind::floating;
}

bool cuda_kernel::moves_along(const array_argument& at, std::uint64_t axes) const {
    for (std::size_t a = 0; a < at.at->strides.size(); ++a)
        if ((axes >> a & 1u) != 0 && at.at->strides[a] != stride_class::broadcast) return true;
    return false;
}

reading cuda_kernel::reading_of(const array_argument& in, std::uint64_t axes) const {
    if (in.at->head.aliased) return reading::in_place;
    if ((axes & ~graph.nodes[in.node].axes) != 0) return reading::again;
    return reading::once;
}

std::string cuda_kernel::element(const array_argument& in, const std::string& offset) {
    const std::string from = pointer(in) + offset;
    // The intrinsic has overloads for numbers only; the compiler sees anyway that the array is only read.
    if (in.at->head.aliased || !has_intrinsics(in.at->head.type))
        return offset.empty() ? '*' + from : "*(" + from + ')';
    return "__ldg(" + from + ')';
}

std::uint32_t cuda_kernel::vector_of_row(const loop_choice::row& row, std::uint32_t n) const {
    const array_argument at = array_of(row);
    const std::uint32_t bytes = bytes_of(at);
    if (!at.at->head.vector || n == 1) return bytes;
    if (class_along(at, row.axis) != stride_class::unit) return bytes;
    for (const std::uint32_t vector : {16u, 8u, 4u})
        if (vector > bytes && n * bytes % vector == 0) return vector;
    return bytes;
}

bool cuda_kernel::is_run_of_rows(const loop_choice::row& row, std::uint32_t n, int along,
                                 std::uint32_t elements) const {
    const array_argument at = array_of(row);
    return row.each && at.at->head.dense && known_stride(at) == n && elements * n * bytes_of(at) % 16 == 0 &&
           graph.nodes[row.operand].axes == (axis_bit(row.axis) | axis_bit(along)) &&
           class_along(at, row.axis) == stride_class::unit;
}

void cuda_kernel::load_row(const loop_choice::row& row, const std::string& to, source_writer& out) {
    const array_argument at = array_of(row);
    if (row.window) return load_window(row, to, out);
    const std::uint32_t n = length_of(row);
    const bool run = is_run_of_rows(row, n, looping.along, looping.elements);
    const std::uint32_t vector = run ? 16 : vector_of_row(row, n);
    if (vector == bytes_of(at)) return kernel_builder::load_row(row, to, out);
    // For elements beside each other in memory the row begins at the first.
    const bool of_elements = row.axis == looping.along, in_digit = of_elements && element_axis >= 0;
    const int elements = element_axis;
    if (of_elements || run) element_axis = -1;
    std::uint64_t inside = in_digit ? 0 : axis_bit(row.axis);
    if (run && elements < 0) inside |= axis_bit(looping.along);  // the elements are a loop behind the rows' load
    const std::string from = pointer(at) + offset(at, graph.nodes[row.operand].axes & ~inside);
    element_axis = elements;
    needs.add("load_row",
              function("Loads n consecutive elements by vectors.", "template <class word, class type, int n>\n") +
                  "void load_row(type (&to)[n], const type* from) {\n"
                  "#pragma unroll\n"
                  "    for (int i = 0; i < n; i += int(sizeof(word) / sizeof(type)))\n"
                  "        reinterpret_cast<word&>(to[i]) = __ldg(reinterpret_cast<const word*>(from + i));\n}\n");
    out.line("alignas(", vector, ") ", needs.type(at.at->head.type), ' ', to, dimensions_of(row), ";");
    if (run) {
        needs.add("load_rows", function("Loads m rows of n elements, one behind the other, by vectors.",
                                        "template <class word, class type, int m, int n>\n") +
                                   "void load_rows(type (&to)[m][n], const type* from) {\n"
                                   "    load_row<word>(reinterpret_cast<type (&)[m * n]>(to), from);\n}\n");
        out.line("load_rows<", word_of(vector), ">(", to, ", ", from, ");");
        return;
    }
    if (row.each) open_elements(out);
    out.line("load_row<", word_of(vector), ">(", to, row.each ? '[' + element_digit() + ']' : "", ", ", from, ");");
    if (row.each) out.close();
}

void cuda_kernel::load_window(const loop_choice::row& row, const std::string& to, source_writer& out) {
    const array_argument at = array_of(row);
    const int elements = element_axis;
    element_axis = -1;
    const std::uint64_t inside = axis_bit(row.axis) | (elements < 0 ? axis_bit(looping.along) : 0);
    const std::string from = pointer(at) + offset(at, graph.nodes[row.operand].axes & ~inside);
    element_axis = elements;
    std::uint32_t vector = 16;  // of some of the thread's elements; one element where they are few or wide
    while (vector > bytes_of(at) && vector > bytes_of(at) * looping.elements) vector /= 2;
    needs.add("load_window", embedded::load_window);
    out.line(needs.type(at.at->head.type), ' ', to, dimensions_of(row), ";");
    out.line("load_window<", word_of(std::max(vector, bytes_of(at)), at.at->head.type), ">(", to, ", ", from, ");");
}

std::string cuda_kernel::joined_lanes(fold_writer& f, const std::string& joiner, const std::string& value) {
    return join_lanes(f, needs) + '<' + joiner + ", " + std::to_string(looping.lanes) + ">(" + value + ')';
}

std::string cuda_kernel::lane() const { return "threadIdx.x % " + std::to_string(looping.lanes); }

void cuda_kernel::store_element(const array_argument& out, const std::string& offset, const std::string& value) {
    const std::string to = pointer(out) + offset;
    if (!has_intrinsics(out.at->head.type)) {
        code.line(offset.empty() ? '*' + to : "*(" + to + ')', " = ", value, ";");
    } else {
        code.line("__stcs(", to, ", ", value, ");");
    }
}

std::string cuda_kernel::loader(reading how, std::string_view word) {
    static constexpr std::pair<std::string_view, std::string_view> streamed[] = {
        {"unsigned int",
         "    asm volatile(\"ld.global.nc.L1::no_allocate.u32 %0, [%1];\" : \"=r\"(w) : \"l\"(from));\n"},
        {"uint2",
         "    asm volatile(\"ld.global.nc.L1::no_allocate.v2.u32 {%0, %1}, [%2];\" : \"=r\"(w.x), \"=r\"(w.y) : "
         "\"l\"(from));\n"},
        {"uint4",
         "    asm volatile(\"ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];\"\n"
         "                 : \"=r\"(w.x), \"=r\"(w.y), \"=r\"(w.z), \"=r\"(w.w) : \"l\"(from));\n"},
        {"double2",
         "    asm volatile(\"ld.global.nc.L1::no_allocate.v2.f64 {%0, %1}, [%2];\" : \"=d\"(w.x), \"=d\"(w.y) : "
         "\"l\"(from));\n"}};
    std::string name = "load_cached", access = "__ldg", why = "Loads elements that other threads also read.";
    const auto by = std::ranges::find(streamed, word, &std::pair<std::string_view, std::string_view>::first);
    if (how == reading::in_place) {
        name = "load_own", access = "__ldcs", why = "Loads elements of an array that this kernel also writes.";
    } else if (how == reading::once && by != std::end(streamed)) {
        const std::string type(word);
        name = "load_stream", access = "stream",
        why = "Loads elements that are read only once, without allocating lines in the first-level cache.";
        // Specialisations of one template: load_stream would not find an overload that is declared behind it.
        needs.add("stream", "template <class word>\n__device__ word stream(const word* from);\n");
        needs.add("stream " + type, "template <>\n" + function("") + type + " stream(const " + type +
                                        "* from) {\n    " + type + " w;\n" + std::string(by->second) +
                                        "    return w;\n}\n");
    }
    needs.add(name, function(why, "template <class word, class type, int n>\n") + "void " + name +
                        "(type (&to)[n], const type* from) {\n    reinterpret_cast<word&>(to) = " + access +
                        "(reinterpret_cast<const word*>(from));\n}\n");
    return name;
}

std::string cuda_kernel::storer() {
    needs.add("store", function("Stores elements that are not read soon; the caches evict them first.",
                                "template <class word, class type, int n>\n") +
                           "void store(type* to, const type (&from)[n]) {\n"
                           "    __stcs(reinterpret_cast<word*>(to), reinterpret_cast<const word&>(from));\n}\n");
    return "store";
}

std::string cuda_kernel::copier(std::uint32_t bytes) {
    const std::string size = std::to_string(bytes), word(word_of(bytes)), name = "copy" + size;
    const std::string copy = copies_asynchronously()
                                 ? "    asm volatile(\"cp.async." + std::string(bytes == 16 ? "cg" : "ca") +
                                       ".shared.global [%0], [%1], " + size +
                                       ";\"\n                 :: \"r\"(unsigned(__cvta_generic_to_shared(to))), "
                                       "\"l\"(from) : \"memory\");\n"
                                 : "    *static_cast<" + word + "*>(to) = *static_cast<const " + word + "*>(from);\n";
    needs.add(
        name,
        function("Copies global to shared memory, bypassing registers. The copy may still be pending on return.") +
            "void " + name + "(void* to, const void* from) {\n" + copy + "}\n");
    return name;
}

void cuda_kernel::wait_for_copies() {
    if (copies_asynchronously()) code.line("asm volatile(\"cp.async.wait_all;\" ::: \"memory\");");
}

array_argument cuda_kernel::leaf_of(node_id generator) const {
    const std::uint16_t index = graph.nodes[generator].index;
    return {&key.operands[index], names[index], index, false, generator};
}

void cuda_kernel::draw_groups(node_id generator, const std::string& to, std::uint32_t n, const std::string& index,
                              bool unaligned) {
    const node& drawn = graph.nodes[generator];
    const std::uint32_t group = generator_group(drawn.type);
    const std::string seed = generator_key(generator);
    if (unaligned || !leaf_of(generator).at->head.vector || n % group != 0) {
        const std::string from = spell_generator_from(static_cast<detail::generator_kind>(drawn.code), drawn.type,
                                                      key.header.math == detail::math_mode::fast, needs);
        return code.line(from, '<', n, ">(", to, ", ", seed, ", ", index, ");");
    }
    const std::string name = generator_name(generator);
    const std::string first = needs.type(dtype::u8) + '(' + index + ") / " + std::to_string(group);
    if (n == group) return code.line(name, '(', to, ", ", seed, ", ", first, ");");
    code.margin("#pragma unroll");
    code.line("for (int e = 0; e < ", n / group, "; ++e) ", name, '(', to, " + ", group, " * e, ", seed, ", ", first,
              " + e);");
}

std::string cuda_kernel::join_pairs(const std::string& fold, std::uint32_t count, const std::string& values) {
    return codegen::join_pairs(needs) + '<' + fold + ", " + std::to_string(count) + ">(" + values + ')';
}

void cuda_kernel::write_digits(std::string linear, const std::vector<int>& axes) {
    const std::string type = signed_index();
    for (std::size_t k = axes.size(); k-- > 1;) {
        const formula extent = points_of(axis_bit(axes[k]));
        const std::string axis = std::to_string(axes[k]), rest = "q" + axis;
        code.line("const ", this->linear(), ' ', rest, " = quotient(", linear, ", ", divisor(extent, "by_n" + axis),
                  ");");
        code.line("const ", type, ' ', digit(axes[k]), " = ", type, '(', linear, " - ", rest, " * ",
                  count(extent, "n" + axis), ");");
        linear = rest;
    }
    if (!axes.empty()) code.line("const ", type, ' ', digit(axes[0]), " = ", type, '(', linear, ");");
}

void cuda_kernel::open_unrolled(const char* variable, std::uint32_t n) {
    code.margin("#pragma unroll");
    code.open("for (unsigned int ", variable, " = 0; ", variable, " < ", n, "; ++", variable, ")");
}

void cuda_kernel::finish(plan& p, const std::string& name, std::uint32_t threads, std::uint32_t resident_blocks,
                         const std::string& comment) {
    step.threads = threads;
    const std::string blocks = resident_blocks > 0 ? ", " + std::to_string(resident_blocks) : "";
    add_to(p, comment.empty() ? p.expression : comment,
           "extern \"C\" __global__ void __launch_bounds__(" + std::to_string(threads) + blocks + ")\n", name,
           "(const __grid_constant__ arguments p)");
}

void cuda_kernel::read_constants(std::uint64_t axes) {
    for (const array_argument& in : inputs) {
        if (moves_along(in, axes)) continue;
        code.line("const ", needs.type(in.at->head.type), ' ', in.name, " = ", element(in, ""), ";");
        body.name(in.node, in.name);
    }
}

bool cuda_kernel::has_quick_bodies() const {
    // A loop is not written twice, and a text that writes is not run twice.
    return key.header.math != detail::math_mode::fast && loops == 0 &&
           std::ranges::none_of(graph.texts, &user_text::writes) &&
           std::ranges::any_of(graph.nodes, [](const node& n) { return n.axes != 0 && has_quick_body(n); });
}

int cuda_kernel::folded_axis() const {
    if (!unravellings.empty() || !generators.empty() || loops != 0) return -1;
    for (int a = 0; a < rank; ++a)
        if ((key.folded_before & axis_bit(a)) != 0 &&
            std::ranges::all_of(outputs, [&](const array_argument& z) { return moves_along(z, axis_bit(a)); }) &&
            std::ranges::any_of(inputs, [&](const array_argument& in) { return !moves_along(in, axis_bit(a)); }))
            return a;
    return -1;
}

std::string cuda_kernel::block_index() {
    const std::string block = key.folded_before != 0 ? "(gridDim.x - 1 - blockIdx.x)"
                              : wide()               ? "(blockIdx.x)"
                                                     : "blockIdx.x";
    return (wide() ? linear() : "") + block;
}

std::string cuda_kernel::thread_index(std::uint32_t block_elements) {
    return block_index() + " * " + std::to_string(block_elements) + "u + threadIdx.x";
}

}  // namespace ingot::codegen
