// Expressions that must not compile, seen by overload resolution.
#include <complex>
#include <cstdint>
#include <type_traits>

#include "expect.hpp"

using namespace ingot;

namespace {

enum plain { one };
enum class scoped { one };

template <class A, class B>
concept adds = requires(A a, B b) { a + b; };
template <class A, class B>
concept subtracts = requires(A a, B b) { a - b; };
template <class A>
concept negates = requires(A a) { -a; };
template <class A>
concept inverts = requires(A a) { ~a; };
template <class A, class B>
concept shifts = requires(A a, B b) { a << b; };
template <class A, class B>
concept assigns = requires(A&& a, B b) { std::forward<A>(a) = b; };
template <class A, class B>
concept assigns_by_function = requires(A&& a, B b) { assign(std::forward<A>(a), b); };
template <class A, class B>
concept adds_to = requires(A&& a, B b) { std::forward<A>(a) += b; };
template <class A, class B>
concept divides_to = requires(A&& a, B b) { std::forward<A>(a) /= b; };
template <class A, class... I>
concept indexes = requires(A&& a, I... i) { std::forward<A>(a)(i...); };

using floats = array<float>;
using ints = array<int>;
using bools = array<bool>;
using unsigneds = array<unsigned>;
using complexes = array<std::complex<float>>;
using part = decltype(std::declval<floats&>()(slice(1)));
using int_part = decltype(std::declval<ints&>()(slice(1)));
using tree = decltype(exp(std::declval<floats&>()));

// operators
static_assert(adds<floats, floats> && adds<floats, int> && adds<float, ints> && adds<floats, plain>);
static_assert(adds<bools, bools>);
static_assert(!adds<floats, scoped> && !adds<floats, const char*> && !adds<floats, std::string>);
static_assert(subtracts<bools, ints> && !subtracts<bools, bools> && !subtracts<bools, bool>);
static_assert(shifts<ints, int> && shifts<ints, ints> && !shifts<floats, int> && !shifts<ints, float>);
static_assert(negates<ints> && negates<floats> && !negates<bools>);
static_assert(inverts<ints> && inverts<bools> && !inverts<floats>);
static_assert(requires(ints i) {
    +i;
    !i;
});

// truth
static_assert(!std::is_convertible_v<decltype(std::declval<floats>() == 1), bool>);
static_assert(!std::is_constructible_v<bool, decltype(std::declval<floats>() == std::declval<floats>())>);
static_assert(!std::is_constructible_v<bool, bools>);
static_assert(requires(floats x) {
    x == x;
    x == 1;
    1 == x;
    x != x;
    x != 1;
    1 != x;
    x && true;
    false || x;
});

// whole arrays
static_assert(assigns<floats&, floats> && assigns<floats&, ints> && assigns<floats&, array<double>>);
static_assert(!assigns<ints&, tree> && !assigns<ints&, floats> && !assigns<bools&, ints> && !assigns<unsigneds&, ints>);
static_assert(assigns<ints&, unsigneds> && assigns<ints&, array<std::int64_t>> && !assigns<floats&, complexes>);
static_assert(!assigns<floats&, int> && !assigns<floats&, float>);
static_assert(!assigns<floats, floats> && !assigns<const floats&, floats>);
static_assert(!std::is_convertible_v<int, floats> && !std::is_constructible_v<floats, int>);
static_assert(std::is_convertible_v<ints, floats> && std::is_convertible_v<array<double>, floats>);
static_assert(!std::is_convertible_v<tree, ints> && !std::is_constructible_v<ints, floats>);
static_assert(!std::is_constructible_v<lazy<int>, floats> && !std::is_constructible_v<floats, complexes>);

// selections
static_assert(assigns<int_part, floats> && assigns<int_part, double> && assigns_by_function<ints&, floats>);
static_assert(assigns<part, floats> && assigns<part, int> && assigns<part, part>);
static_assert(!assigns<part&, floats> && !assigns<part&, part> && !assigns<part&, int>);
static_assert(!assigns<const part, floats> && !assigns<const part&, const part&>);
static_assert(!assigns<decltype(std::declval<const floats&>()(slice(1))), floats>);
static_assert(!assigns<decltype(std::declval<floats>()(slice(1))), floats>);
static_assert(!assigns<part, std::complex<float>> && !assigns<part, scoped> && !assigns<part, const char*>);
static_assert(!adds_to<part&, floats> && adds_to<part, floats> && adds_to<part, int>);
static_assert(assigns_by_function<floats&, int> && assigns_by_function<part, ints>);
static_assert(!assigns_by_function<floats, int> && !assigns_by_function<const floats&, int>);
static_assert(!assigns_by_function<part&, ints> && !assigns_by_function<tree, ints>);

// trees and views that cannot be written
static_assert(!assigns<tree, tree> && !assigns<tree, int>);
static_assert(!assigns<decltype(exp(std::declval<floats&>())), decltype(exp(std::declval<floats&>()))>);
static_assert(!assigns<decltype(std::declval<floats&>() + 1), decltype(std::declval<floats&>() + 1)>);
static_assert(!assigns<decltype(broadcast_to(std::declval<floats&>(), {2})), int>);
static_assert(!assigns<decltype(std::declval<const floats&>()(0)), decltype(std::declval<const floats&>()(0))>);
static_assert(assigns<decltype(transpose(std::declval<floats&>())), floats>);
static_assert(assigns<decltype(diagonal(std::declval<floats&>())(slice(1))), int>);
static_assert(!assigns<decltype(transpose(std::declval<const floats&>())), int>);

// compound assignment wants a same-kind cast
static_assert(adds_to<floats&, array<double>> && adds_to<floats&, ints> && adds_to<ints&, array<std::int64_t>>);
static_assert(!adds_to<ints&, array<double>> && !adds_to<ints&, double> && !divides_to<ints&, int>);
static_assert(!adds_to<array<std::uint8_t>&, ints> && adds_to<array<std::uint8_t>&, int>);
static_assert(!adds_to<array<std::uint64_t>&, ints> && !adds_to<bools&, int> && adds_to<bools&, bools>);
static_assert(!adds_to<floats, floats> && !adds_to<const floats&, floats> && !adds_to<tree, int>);

// indices
static_assert(indexes<floats&, int> && indexes<floats&, std::uint8_t, slice> && indexes<tree, ellipsis_t, newaxis_t>);
static_assert(!indexes<floats&, bool> && !indexes<floats&, double> && !indexes<floats&, none_t>);
static_assert(!indexes<floats&, const char*> && !indexes<tree, float> && !indexes<part, bool>);
static_assert(indexes<floats&, bools> && indexes<floats&, ints> && indexes<tree, ints, slice>);
static_assert(!indexes<floats&, floats> && !indexes<tree, floats, int>);

// the range of bools would be a difference of bools
template <class A>
concept has_range = requires(A a) {
    ptp(a);
    ptp(a, 0, keepdims);
};
static_assert(has_range<floats&> && has_range<ints> && has_range<tree> && !has_range<bools&> && !has_range<bools>);

// results
static_assert(std::same_as<decltype(std::declval<floats&>() - 2)::value_type, float>);
static_assert(std::same_as<decltype(std::declval<ints&>() * 2.0f)::value_type, double>);
static_assert(std::same_as<decltype((std::declval<ints&>() + 1).eval()), array<int>>);

}  // namespace

TEST_CASE("a generic function asks whether an operator is there") {
    const auto negated = [](const auto& e) {
        if constexpr (requires { -e; })
            return true;
        else
            return false;
    };
    CHECK(negated(array<float>{1}));
    CHECK_FALSE(negated(array<bool>{true}));
}
