// Complex dtypes in the operator table: rows may have a body for them; nothing computes in them yet.
#include <doctest/doctest.h>

#include <complex>

#include "codegen/plan/schedule.hpp"
#include "tests/codegen/key_builder.hpp"

using namespace ingot;
using namespace ingot::codegen;

namespace {

detail::signature resolved(detail::op o, dtype t) {
    const detail::operand_type operands[] = {{t, false}, {t, false}, {t, false}};
    return detail::resolve(o, operands);
}

}  // namespace

TEST_CASE("a row has a complex body or none, and says what it gives") {
    using detail::op;
    using enum dtype;
    CHECK(detail::body_of(op::add, detail::evaluator::cuda, c8).text == "return a + b;");
    CHECK(resolved(op::add, c8).legal);
    CHECK(resolved(op::add, c8).result == c8);
    CHECK(resolved(op::equal, c16).result == b1);
    CHECK(resolved(op::absolute, c8).result == f4);
    CHECK(resolved(op::absolute, c16).result == f8);
    CHECK(resolved(op::absolute, f4).result == f4);
    CHECK_FALSE(resolved(op::less, c16).legal);
    CHECK_FALSE(resolved(op::floor, c8).legal);
}

TEST_CASE("a complex body is refused where it would be printed") {
    key_builder b(detail::target::host);
    b.axes(1).leaf(dtype::c16, "1").leaf(dtype::c16, "1").map("add").output(dtype::c16, "1");
    const plan p = make_plan(b.done());
    CHECK(p.missing.find("complex128") != std::string::npos);
    CHECK(p.source.empty());
    static_assert(!element_type<std::complex<float>>);
}
