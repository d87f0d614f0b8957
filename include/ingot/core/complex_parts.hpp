// Writable parts of a complex array: real(z) = e and imag(z) = e, as NumPy's z.real and z.imag.
#pragma once

#include <type_traits>
#include <utility>

#include <ingot/core/index_functions.hpp>

namespace ingot {
namespace detail {

/// The type of real(z) and imag(z) for an array z that may be written: an expression, and a target within the
/// statement. Part: the operator row that reads the part.
template <op Part, class C>
class part_selection : public expression_members<part_selection<Part, C>>,
                       public compound_members<part_selection<Part, C>, typename C::value_type> {
public:
    using value_type = typename C::value_type;
    static constexpr dtype type = dtype_of<value_type>;
    using read_node = decltype(apply_operator<Part>(std::declval<const leaf<C>&>()));

    explicit part_selection(selection<C> whole)
        : target_(&access::target(whole)), seen_(access::seen(whole)), read_(apply_operator<Part>(seen_)) {}
    part_selection(const part_selection&) = default;
    part_selection(part_selection&&) noexcept = default;

    /// Writes e, broadcast and converted, to this part; the other one stays. Throws shape_error where e does not
    /// broadcast.
    template <class E>
        requires assignable_to<E, value_type>
    void operator=(E&& e) && {
        assign_value("assign", std::forward<E>(e));
    }
    template <class E>
        requires assignable_to<E, value_type>
    void operator=(E&&) & = delete;  // a part is written in the statement that names it: real(z) = 7
    // NOLINTNEXTLINE(bugprone-unhandled-self-assignment)
    void operator=(const part_selection& e) && { assign_value("assign", e); }

    // Inner
    const read_node& as_leaf() const& noexcept { return read_; }
    read_node as_leaf() && noexcept { return std::move(read_); }
    template <class E>
    void assign_value(const char* operation, E&& e) {
        if constexpr (array_expression<E>)
            write(operation, converted_to<value_type>(as_node(std::forward<E>(e))));
        else
            write(operation, element_leaf<value_type>(operation, std::forward<E>(e)));
    }
    template <op O, class E>
    void update(E&& e) {
        assign_value(facts(O).name.data(), apply_operator<O>(*this, std::forward<E>(e)));
    }

private:
    template <class N>
    void write(const char* operation, const N& part) {
        if constexpr (Part == op::real)
            write_whole(operation, apply_operator<op::complex_of>(part, apply_operator<op::imag>(seen_)));
        else
            write_whole(operation, apply_operator<op::complex_of>(apply_operator<op::real>(seen_), part));
    }
    template <class N>
    void write_whole(const char* operation, const N& node) {
        const buffer* b = seen_.memory().get();
        // The statement's own references: one of the target, two here, and those of the tree.
        assign_selected(operation, gather_as<C>(node), {dtype_of<C>, target_->memory(), target_->where()}, b,
                        seen_.where(), 3 + node.count(b));
    }

    leaf<C>* target_;
    leaf<C> seen_;
    read_node read_;
};

/// A complex array that may be written, or a selection from one.
template <class D>
concept selectable_complex = selectable<D> && complex_number<selected_type<D>>;

/// The real part. Where z may be written, `real(z) = e` writes it, broadcast and converted, and the imaginary part
/// stays. Throws shape_error where e does not broadcast.
///
///     array<std::complex<double>> z = zeros<std::complex<double>>(3);
///     real(z) = array<double>{1, 2, 3};
///     imag(z(slice(1, none))) -= 4;
///     std::cout << z << ' ' << real(z) * 2;
///     // prints: [1.+0.j 2.-4.j 3.-4.j] [2. 4. 6.]
template <selectable_complex D>
auto real(D&& z) {
    return part_selection<op::real, selected_type<D>>(std::forward<D>(z).as_selection());
}

/// The imaginary part, as in `real`: `imag(z) = e` writes it, and the real part stays.
///
///     array<std::complex<float>> z = ones<std::complex<float>>(2);
///     imag(z) = real(z) * 2;
///     std::cout << z;
///     // prints: [1.+2.j 1.+2.j]
template <selectable_complex D>
auto imag(D&& z) {
    return part_selection<op::imag, selected_type<D>>(std::forward<D>(z).as_selection());
}

}  // namespace detail

using detail::imag;
using detail::real;

}  // namespace ingot
