// Kernels from text, as in CuPy. Their calls are expressions, which fuse with the expressions around them:
//
//   const reduction_kernel<"T x", "T y"> l2("x * x", "a + b", "y = sqrt(a)", "0", "l2");
//   array<float> lengths = l2(m - mean(m), 1) + 1;   // one kernel
//
// A parameter's type is a letter, which stands for the argument's dtype, or a dtype's name (float, int64); with `raw`
// before it, it is a whole array, which an elementwise kernel's text indexes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include <ingot/core/array_indexing.hpp>
#include <ingot/core/reduction_nodes.hpp>
#include <ingot/core/written_arguments.hpp>
#include <ingot/kernels/kernel_text.hpp>

namespace ingot {

/// A reduction given as text. map: an expression in the inputs; join: joins two partial results a and b, in any order
/// and grouping; post: statements that set the output from the joined a; identity: the neutral value of join. A
/// parameter's type is a letter, which stands for the argument's dtype, or a dtype's name. `Partial`: the type of
/// partial results, by default the output's. In post `_in_ind.size()` is the number of elements, and `_out_ind.size()`
/// the number of results.
///
///     const reduction_kernel<"T x", "T y"> length("x * x", "a + b", "y = sqrt(a)", "0", "length");
///     const reduction_kernel<"T x", "float y", "double"> middle(
///         "x", "a + b", "y = a / (_in_ind.size() / _out_ind.size())", "0", "middle");
///     array<double> m{{3, 4}, {6, 8}};
///     std::cout << length(m, 1) + 1 << ' ' << middle(m, 1);
///     // prints: [ 6. 11.] [3.5 7. ]
template <detail::fixed_string In, detail::fixed_string Out, detail::fixed_string Partial = "">
class reduction_kernel {
    static constexpr detail::parameter_list inputs = detail::parse_parameters(In.view());
    static constexpr detail::parameter_list outputs = detail::parse_parameters(Out.view());
    static_assert(!inputs.has_raw() && !outputs.has_raw(), "a reduction has no raw parameters");
    static_assert(inputs.valid && inputs.count > 0,
                  "inputs are a list like \"T x, float y\" of up to 8 parameters with names of their own");
    static_assert(outputs.valid && outputs.count == 1, "a reduction's output is one parameter like \"T y\"");
    static constexpr bool output_is_known = [] {
        detail::placeholder_list known;
        known.add(inputs);
        return !outputs[0].is_placeholder() || known.find(outputs[0].type[0]) < known.count;
    }();
    static_assert(output_is_known, "the output's type is one of the inputs' or a dtype's name");
    static constexpr detail::kernel_parameter partial{Partial.view().empty() ? outputs[0].type : Partial.view(), "a"};
    static_assert(Partial.view().empty() || inputs.has_type(partial) || partial.fixed_dtype() < detail::dtype_count,
                  "the partial results' type is one of the inputs' or a dtype's name");
    static constexpr std::size_t n = static_cast<std::size_t>(inputs.count);

    template <class... A>
    static constexpr detail::text_binding binding = detail::bind_placeholders<A...>(inputs);
    template <class... A>
    static constexpr bool fits = (operand_like<A> && ...) && (array_expression<A> || ...) && binding<A...>.legal;
    template <std::size_t... I, class... A>
    static constexpr bool callable(std::index_sequence<I...>, std::type_identity<std::tuple<A...>>) {
        return fits<std::tuple_element_t<I, std::tuple<A...>>...>;
    }

public:
    /// `preamble`: text before the kernel, functions with `__device__` or types. Throws error where post does not name
    /// the output, which would never be set, or a text has a zero byte; compile_error where a comment does not end.
    reduction_kernel(std::string_view map, std::string_view join, std::string_view post, std::string_view identity,
                     std::string_view name = "reduction", std::string_view preamble = "")
        : text_(detail::keep_text({name, In.view(), Out.view(), map, join, post, identity, Partial.view()}, preamble)) {
    }

    /// k(x, y, axes{0, 2}, keepdims): the inputs, the axes to reduce (by default all), and whether these stay. The
    /// result has the inputs' common shape without the axes. Throws shape_error where the inputs do not broadcast or do
    /// not have the axes; the evaluation throws compile_error where the text is no C++.
    template <class... A>
        requires(sizeof...(A) >= n) && (callable(std::make_index_sequence<n>{}, std::type_identity<std::tuple<A...>>{}))
    auto operator()(A&&... arguments) const {
        return call(std::make_index_sequence<n>{}, std::make_index_sequence<sizeof...(A) - n>{},
                    std::forward_as_tuple(std::forward<A>(arguments)...));
    }
    /// A call with one input and the axes in bare braces: k(x, {0, 2}).
    template <class A, detail::keeps_tag... T>
        requires(n == 1) && (fits<A>)
    auto operator()(A&& argument, const axes& over, T... tags) const {
        detail::reduction how{text_.name.c_str(), &over};
        (how.note(tags), ...);
        return of(how, std::index_sequence<0>{}, std::forward<A>(argument));
    }

private:
    struct options {
        std::optional<axes> over;
        bool keep = false;
        void note(keepdims_t) { keep = true; }
        void note(const axes& a) { over = a; }
    };

    template <std::size_t... I, std::size_t... J, class... A>
    auto call(std::index_sequence<I...> own, std::index_sequence<J...>, std::tuple<A...> arguments) const {
        options o;
        (o.note(std::get<n + J>(arguments)), ...);
        const detail::reduction how{text_.name.c_str(), o.over ? &*o.over : nullptr, o.keep};
        return of(how, own, std::get<I>(std::move(arguments))...);
    }

    template <std::size_t... I, class... A>
    auto of(const detail::reduction& how, std::index_sequence<I...>, A&&... arguments) const {
        using namespace detail;
        constexpr text_binding b = binding<A...>;
        constexpr dtype result = b.type_of(outputs[0]), joined = b.type_of(partial);
        const text_leaf text(text_, b.encode());
        auto mapped = make_node<user_op(user_part::map), joined>(
            how.operation, as_text_argument(how.operation, b.type_of(inputs[I]), std::forward<A>(arguments))..., text);
        shape_room room;
        const auto before = element_leaf<index_t>(how.operation, mapped.extents(room).size());
        auto folded = reduced<fold::user>(how, std::move(mapped), text);
        const auto after = element_leaf<index_t>(how.operation, folded.extents(room).size());
        return make_node<user_op(user_part::post), result>(how.operation, std::move(folded), before, after, text);
    }

    const detail::kernel_text& text_;
};

namespace detail {

/// A whole array for a text that reads or writes it at any index: the node has no axes.
template <class T>
class raw_leaf : public expression_base {
public:
    using value_type = T;
    static constexpr dtype type = dtype_of<T>;
    static constexpr std::array<word, 1> program{make_word(word_kind::scalar, type, 1)};
    static constexpr int operands = 1, binders = 0, nodes = 1;

    /// A leaf over an array in C order; an empty array gets memory, so that there is a pointer. Throws shape_error
    /// where it has more than most_raw_axes axes.
    raw_leaf(const char* operation, const leaf<T>& whole) : count_(whole.where().size()), where_(whole.where()) {
        if (where_.rank() > most_raw_axes)
            throw shape_error("[" + std::string(operation) + "] a raw array has up to " +
                              std::to_string(most_raw_axes) + " axes, got " + std::to_string(where_.rank()) +
                              ": reshape(x, {-1}) has one");
        memory_ = count_ != 0 ? whole.memory() : allocate_buffer(sizeof(T));
        if (count_ == 0) where_.offset = 0;
    }

    void gather(cursor& c) const {
        operand& o = *c.operands++;
        o.kind = operand_kind::raw;
        o.type = type;
        o.where = &where_;
        o.memory = memory_.get();
        o.bits[1] = static_cast<std::uint64_t>(count_);
    }
    extents_ref extents(shape_room&) const noexcept { return {nullptr, 0}; }
    void apply(const axis_view&, int) noexcept {}
    bool try_reshape(std::span<const index_t>, int) const noexcept { return true; }
    device_id on_device() const noexcept { return memory_->device; }
    std::uint32_t count(const buffer* b) const noexcept { return memory_.get() == b ? 1u : 0u; }

private:
    buffer_ref memory_;
    index_t count_;
    layout where_;
};

/// Evaluates a statement whose text writes its outputs. Throws shape_error where one has no elements, device_error
/// where operands and outputs are on two devices.
INGOT_API void write_raw_outputs(const char* operation, slot&, std::span<const word> program, std::span<const operand>,
                                 std::span<const word> attributes, std::span<const output>);

/// The operand for an argument of an elementwise text: for a raw parameter the whole array, evaluated if it is an
/// expression. `Evaluated`: every array is a leaf, and shares no memory with what the text writes.
template <bool Raw, bool Evaluated, class A>
decltype(auto) as_elementwise_argument(const char* operation, dtype d, A&& a) {
    if constexpr (Evaluated && !Raw && array_expression<A>) {
        if constexpr (requires { std::forward<A>(a).as_leaf(); }) {
            auto given = std::remove_cvref_t<decltype(std::forward<A>(a).as_leaf())>(std::forward<A>(a).as_leaf());
            return given.memory() && given.memory()->unowned ? values_apart(given) : given;
        } else {
            return values_apart(as_node(std::forward<A>(a)));
        }
    } else if constexpr (Raw) {
        using T = typename std::remove_cvref_t<A>::value_type;
        const array<T> given(a);
        const leaf<T>& whole = given.as_leaf();
        return raw_leaf<T>(operation, is_in_c_order(whole.where()) ? whole : values_apart(whole));
    } else {
        return as_text_argument(operation, d, std::forward<A>(a));
    }
}

/// The common shape of the arguments, without raw ones.
template <class... N>
std::span<const index_t> shape_of_arguments(const char* operation, shape_room& room, const N&... nodes) {
    shape_room rooms[sizeof...(N)];
    int i = 0, rank = 0;
    const extents_ref shapes[] = {nodes.extents(rooms[i++])...};
    if (const int whole = broadcast_shapes(operation, shapes, sizeof...(N), room, rank); whole >= 0) {
        rank = shapes[whole].rank;
        for (int j = 0; j < rank; ++j) room[j] = shapes[whole].data[j];
    }
    return {room, static_cast<std::size_t>(rank)};
}

}  // namespace detail

/// The number of elements of an elementwise kernel whose arrays are all raw, or that has none.
///
///     const elementwise_kernel<"raw T x", "T y"> pairs("y = x[2 * i] + x[2 * i + 1];", "pairs");
///     const elementwise_kernel<"", "int64 y"> squares("y = i * i", "squares");
///     std::cout << pairs(array<int>{1, 2, 3, 4}, of_size(2)) << ' ' << squares(of_size(4));
///     // prints: [3 7] [0 1 4 9]
class of_size {
public:
    /// Throws shape_error where the number is negative.
    explicit of_size(index_t elements) : value_(elements) {
        if (elements < 0) throw shape_error("[kernel] a size of " + std::to_string(elements) + " was given");
    }
    // Inner
    index_t value() const noexcept { return value_; }

private:
    index_t value_;
};

/// An elementwise function given as text: C++ statements that set the outputs from the inputs, as in CuPy. A call is an
/// expression, or a tuple of them for several outputs, and fuses with the expressions around it. A parameter's type is
/// a letter, which stands for the argument's dtype, or a dtype's name. `raw T x` is a whole array, x[k] and x.size(),
/// which takes no part in broadcasting; x(i, j) is the element at these indices, x[ij] at an array of them, x.ndim,
/// x.shape()[k] and x.strides()[k] (bytes) are as in CuPy. In the text `i` is the element's number in C order, and
/// `_ind.size()` the number of elements, which of_size gives where all arrays are raw or there are none. A letter that
/// only outputs have is decided by the arrays given for them, as out(z): the call is then a statement that writes them.
/// `raw T y` among the outputs is an array that the text writes at any index; other elements keep their values, and
/// inputs that are expressions are evaluated first. Complex
/// numbers are complex<float> and complex<double> in the text. The target's compiler compiles the text on first use.
///
///     const elementwise_kernel<"T x, T y", "T z"> k("if (x - 2 > y) z = x * y; else z = x + y;", "pick");
///     array<double> x{1, 5}, y{2, 2}, counts = zeros<double>(3);
///     const elementwise_kernel<"T x, raw T y", "T z"> add_backwards("z = x + y[_ind.size() - i - 1];",
///     "add_reversed"); const elementwise_kernel<"T x", "raw T n"> count("atomicAdd(&n[int(x) / 2], T(1))", "count");
///     count(array<double>{1, 5, 4}, out(counts));
///     std::cout << sqrt(k(x, y) + 6) << ' ' << add_backwards(x, array<double>{10, 20}) << ' ' << counts;
///     // prints: [3. 4.] [21. 15.] [1. 0. 2.]
template <detail::fixed_string In, detail::fixed_string Out>
class elementwise_kernel {
    static constexpr detail::parameter_list inputs = detail::parse_parameters(In.view());
    static constexpr detail::parameter_list outputs = detail::parse_parameters(Out.view());
    static_assert(inputs.valid,
                  "inputs are a list like \"T x, raw float y\" of up to 8 parameters with names of their own");
    static_assert(outputs.valid && outputs.count > 0,
                  "outputs are a list like \"T y, raw float z\" of up to 8 parameters with names of their own");
    static_assert(!outputs.has_raw() || inputs.count + outputs.count <= detail::parameter_list::most,
                  "a kernel with raw outputs has up to 8 parameters");
    static_assert(!inputs.has("i") && !outputs.has("i"), "i is the element's number");
    static constexpr bool outputs_are_known = [] {
        if (outputs.has_raw()) return false;  // arrays are given for them
        detail::placeholder_list known;
        known.add(inputs);
        for (const detail::kernel_parameter& p : outputs)
            if (p.is_placeholder() && known.find(p.type[0]) == known.count) return false;
        return true;
    }();
    static constexpr std::size_t n = static_cast<std::size_t>(inputs.count),
                                 m = static_cast<std::size_t>(outputs.count);
    using of_inputs = std::make_index_sequence<n>;
    using of_outputs = std::make_index_sequence<m>;

    /// The dtypes that the inputs `Given`, a tuple, give the placeholders.
    template <class Given, std::size_t... I>
    static constexpr detail::text_binding bind(std::index_sequence<I...>) {
        return detail::bind_placeholders<std::tuple_element_t<I, Given>...>(inputs);
    }
    /// bind for the inputs and the outputs behind them.
    template <class Given, std::size_t... O>
    static constexpr detail::text_binding bind_all(std::index_sequence<O...>) {
        detail::text_binding b = bind<Given>(of_inputs{});
        const int known = b.count;
        b.add(outputs);
        constexpr dtype given[] = {
            detail::dtype_of<typename std::remove_cvref_t<std::tuple_element_t<n + O, Given>>::value_type>...};
        // An array that is written whole decides before a number does.
        for (int i = 0; i < outputs.count; ++i)
            if (outputs[i].is_placeholder() && (b.find(outputs[i].type[0]) >= known ||
                                                (outputs[i].raw && !an_array_decides<Given>(of_inputs{}, outputs[i]))))
                b.types[b.find(outputs[i].type[0])] = given[i];
        return b;
    }
    /// Whether an array is given for an input of this parameter's type.
    template <class Given, std::size_t... I>
    static constexpr bool an_array_decides(std::index_sequence<I...>, const detail::kernel_parameter& p) {
        return ((inputs[static_cast<int>(I)].type == p.type &&
                 !detail::operand_type_of<std::tuple_element_t<I, Given>>().weak) ||
                ...);
    }
    template <class Given, std::size_t... I>
    static constexpr bool fits(std::index_sequence<I...>, bool sized) {
        if constexpr (!(operand_like<std::tuple_element_t<I, Given>> && ...)) {
            return false;
        } else {
            constexpr bool arrays[] = {array_expression<std::tuple_element_t<I, Given>>..., false};
            bool any = false;
            for (int i = 0; i < inputs.count; ++i) {
                any = any || (arrays[i] && !inputs[i].raw);
                if (inputs[i].raw && !arrays[i]) return false;
            }
            return sized != any && bind<Given>(of_inputs{}).legal;
        }
    }
    /// Whether raw outputs have the dtypes of their parameters, and no raw parameter is a float of 16 bits, in which a
    /// text does not compute.
    template <class Given, std::size_t... O>
    static constexpr bool raw_types_fit(std::index_sequence<O...>) {
        using namespace detail;
        constexpr text_binding b = bind_all<Given>(of_outputs{});
        for (const kernel_parameter& p : inputs)
            if (p.raw && is_half(b.type_of(p))) return false;
        constexpr dtype given[] = {
            dtype_of<typename std::remove_cvref_t<std::tuple_element_t<n + O, Given>>::value_type>...};
        for (int i = 0; i < outputs.count; ++i)
            if (outputs[i].raw && (given[i] != b.type_of(outputs[i]) || is_half(given[i]))) return false;
        return true;
    }
    template <class Given, std::size_t... O>
    static constexpr bool are_written(std::index_sequence<O...>) {
        return (detail::is_written_argument<std::remove_cvref_t<std::tuple_element_t<n + O, Given>>> && ...);
    }
    template <class Given>
    static constexpr bool is_sized =
        std::is_same_v<std::remove_cvref_t<std::tuple_element_t<std::tuple_size_v<Given> - 1, Given>>, of_size>;
    /// Whether a call with these arguments is an expression, or a statement that writes.
    template <class... A>
    static constexpr bool is_expression() {
        using given = std::tuple<A...>;
        if constexpr (sizeof...(A) == n)
            return outputs_are_known && fits<given>(of_inputs{}, false);
        else if constexpr (sizeof...(A) == n + 1)
            return outputs_are_known && is_sized<given> && fits<given>(of_inputs{}, true);
        else
            return false;
    }
    template <class... A>
    static constexpr bool is_statement() {
        using given = std::tuple<A...>;
        if constexpr (sizeof...(A) == n + m || sizeof...(A) == n + m + 1) {
            if constexpr (are_written<given>(of_outputs{})) {
                constexpr bool sized = sizeof...(A) == n + m + 1;
                if constexpr (sized && !is_sized<given>)
                    return false;
                else if constexpr (fits<given>(of_inputs{}, sized))
                    return raw_types_fit<given>(of_outputs{});
            }
        }
        return false;
    }

public:
    /// `preamble`: text before the kernel, functions with `__device__` or types. Throws error where the name is no
    /// identifier, the text does not name an output or has a zero byte; compile_error where a comment does not end.
    explicit elementwise_kernel(std::string_view statements, std::string_view name = "kernel",
                                std::string_view preamble = "")
        : text_(detail::keep_text({name, In.view(), Out.view(), statements}, preamble)) {}

    /// Throws shape_error where the inputs do not broadcast; the evaluation throws compile_error where the text is no
    /// C++. An expression for a raw parameter is evaluated now. Where all inputs are raw, of_size is the last argument.
    template <class... A>
        requires(is_expression<A...>())
    auto operator()(A&&... arguments) const {
        auto nodes = call<std::tuple<A...>, false>(of_inputs{}, of_outputs{},
                                                   std::forward_as_tuple(std::forward<A>(arguments)...));
        if constexpr (m == 1)
            return std::get<0>(std::move(nodes));
        else
            return nodes;
    }
    /// k(x, y, out(z)): a statement that writes all its outputs, as assign does. Raw outputs are given in C order, or
    /// become so. On a GPU several elements may write one place at once; on the host elements come in order.
    ///
    ///     const elementwise_kernel<"X x, Y y", "Z z"> squared_diff("z = (x - y) * (x - y)", "squared_diff");
    ///     array<double> z = empty(2);
    ///     squared_diff(array<float>{1, 2}, array<int>{4, 5}, out(z));
    ///     std::cout << z;
    ///     // prints: [9. 9.]
    template <class... A>
        requires(is_statement<A...>())
    void operator()(A&&... arguments) const {
        const std::tuple<A&&...> given(std::forward<A>(arguments)...);
        if constexpr (outputs.has_raw())
            write_raw<std::tuple<A...>>(of_inputs{}, of_outputs{}, given);
        else
            write(of_outputs{}, given, call<std::tuple<A...>, true>(of_inputs{}, of_outputs{}, given));
    }
    INGOT_REJECTED(
        "these are not the kernel's inputs: one for each, of a letter one type; then of_size(...) or out(z, ...)",
        (class... A), (!is_expression<A...>() && !is_statement<A...>()),
        ::ingot::detail::rejected operator()(const A&...) const)

private:
    template <class Given, bool Statement>
    static constexpr detail::text_binding binding = [] {
        if constexpr (Statement)
            return bind_all<Given>(of_outputs{});
        else
            return bind<Given>(of_inputs{});
    }();

    /// The operands of the inputs.
    template <class Given, bool Statement, std::size_t... I, class... A>
    auto hold_inputs(std::index_sequence<I...>, const std::tuple<A...>& arguments) const {
        constexpr detail::text_binding b = binding<Given, Statement>;
        return std::tuple(detail::as_elementwise_argument<inputs[static_cast<int>(I)].raw, outputs.has_raw()>(
            text_.name.c_str(), b.type_of(inputs[static_cast<int>(I)]),
            std::forward<std::tuple_element_t<I, std::tuple<A...>>>(std::get<I>(arguments)))...);
    }
    /// The shape of a call: of its arrays, or the size that was given.
    template <class Given, std::size_t... I, class... A, class Held>
    std::span<const index_t> shape_of(std::index_sequence<I...>, const std::tuple<A...>& arguments, const Held& given,
                                      detail::shape_room& room) const {
        if constexpr (is_sized<Given>) {
            room[0] = std::get<sizeof...(A) - 1>(arguments).value();
            return {room, 1};
        } else {
            return detail::shape_of_arguments(text_.name.c_str(), room, std::get<I>(given)...);
        }
    }

    /// The nodes of the outputs.
    template <class Given, bool Statement, std::size_t... I, std::size_t... O, class... A>
    auto call(std::index_sequence<I...> of, std::index_sequence<O...>, const std::tuple<A...>& arguments) const {
        using namespace detail;
        constexpr text_binding b = binding<Given, Statement>;
        const char* const name = text_.name.c_str();
        const auto given = hold_inputs<Given, Statement>(of, arguments);
        shape_room room;
        const std::span<const index_t> shape = shape_of<Given>(of, arguments, given, room);
        index_t count = 1;
        for (const index_t extent : shape) count *= extent;
        const auto number = positions(contiguous_layout(shape));
        const auto size = element_leaf<index_t>(name, count);
        const text_leaf text(text_, b.encode());
        return std::tuple(make_node<user_op(static_cast<int>(O)), b.type_of(outputs[static_cast<int>(O)])>(
            name, std::get<I>(given)..., number, size, text)...);
    }

    /// Writes outputs of which some are raw. The text's function writes all of them and returns -1, the index at which
    /// a scatter into the outputs writes nothing. Outputs that are not raw get new memory first.
    template <class Given, std::size_t... I, std::size_t... O, class... A>
    void write_raw(std::index_sequence<I...> of, std::index_sequence<O...>, const std::tuple<A...>& arguments) const {
        using namespace detail;
        constexpr text_binding b = binding<Given, true>;
        const char* const name = text_.name.c_str();
        const auto given = hold_inputs<Given, true>(of, arguments);
        shape_room room;
        const std::span<const index_t> shape = shape_of<Given>(of, arguments, given, room);
        index_t count = 1;
        for (const index_t extent : shape) count *= extent;
        device_id device = no_device;
        ((device = outputs[static_cast<int>(O)].raw && std::get<n + O>(arguments).to.size() != 0
                       ? static_cast<device_id>(std::get<n + O>(arguments).to.as_leaf().on_device())
                       : device),
         ...);
        if (device == no_device) device = current_place();
        std::tuple results(output_memory<outputs[static_cast<int>(O)].raw, b.type_of(outputs[static_cast<int>(O)])>(
            name, std::get<n + O>(arguments).to, shape, device)...);
        if (count != 0) {
            const auto write = make_node<user_op(0), dtype::i8>(
                name, std::get<I>(given)..., raw_leaf(name, *std::get<O>(results))...,
                positions(contiguous_layout(shape)), element_leaf<index_t>(name, count), text_leaf(text_, b.encode()));
            write_leaves(name, write, *std::get<O>(results)...);
        }
        (keep_result(std::get<n + O>(arguments).to, std::get<O>(results)), ...);
    }
    /// Memory for an output: the array's own, unshared and in C order, or new memory of the shape.
    template <bool Raw, dtype Type, class T>
    static auto output_memory(const char* name, array<T>& to, std::span<const index_t> shape, ingot::device device) {
        using namespace detail;
        if constexpr (Raw) {
            leaf<T>& own = access::target(to);
            if (!is_in_c_order(own.where())) {
                if (own.memory()->unowned)
                    throw shape_error(
                        "[" + std::string(name) +
                        "] a raw output over memory that is not Ingot's is in C order, or is copied first");
                to = array<T>(values_apart(own));
            }
            make_unique(own.memory());
            return &own;
        } else {
            // The shape is checked before the text writes.
            view_room view;
            const shape_like given = to.shape();
            view_assigned(view, name, extents_ref::of(shape), extents_ref::of(given.values()));
            using C = type_of<computed_in(Type)>;
            return new_result<C>{array<C>(adopted{}, new_leaf<C>(name, shape, device))};
        }
    }
    template <class T>
    struct new_result {
        array<T> values;
        detail::leaf<T>& operator*() { return detail::access::target(values); }
    };
    template <class T>
    static void keep_result(array<T>&, detail::leaf<T>*) {}
    template <class T, class C>
    static void keep_result(array<T>& to, new_result<C>& from) {
        if constexpr (detail::same_kind(detail::dtype_of<C>, detail::dtype_of<T>))
            detail::write("kernel", to, std::move(from.values));
        else
            detail::write("kernel", to, astype<T>(from.values));
    }
    template <class Node, class... T>
    static void write_leaves(const char* name, const Node& place, detail::leaf<T>&... to) {
        using namespace detail;
        static constexpr auto program =
            join_words(join_words(weak_leaf::program, Node::program,
                                  std::array<word, 1>{make_word(word_kind::scatter, dtype_of<T>,
                                                                static_cast<std::uint32_t>(scatter_rule::set))})...);
        constexpr int each = 1 + Node::operands;
        operand operands[each * sizeof...(T)];
        word attributes[Node::binders * sizeof...(T) + 1];
        cursor c{operands, attributes};
        const weak_leaf nothing(0, dtype::b1);
        for (std::size_t k = 0; k < sizeof...(T); ++k) nothing.gather(c), place.gather(c);
        layout whole[] = {((void)to, layout(0))...};
        std::size_t k = 0;
        const output written[] = {{dtype_of<T>, &to.memory(), &whole[k++], true}...};
        write_raw_outputs(name, slot_of<T..., Node>::cache, program, operands,
                          {attributes, Node::binders * sizeof...(T)}, written);
    }

    template <std::size_t... O, class... A, class... N>
    static void write(std::index_sequence<O...>, const std::tuple<A...>& arguments, std::tuple<N...> nodes) {
        if constexpr (sizeof...(O) == 1)
            detail::write("kernel", std::get<n>(arguments).to, std::get<0>(std::move(nodes)));
        else
            assign(std::forward_as_tuple(std::get<n + O>(arguments).to...), std::get<O>(std::move(nodes))...);
    }

    const detail::kernel_text& text_;
};

}  // namespace ingot
