// Row programs over rows that an index takes from a table: one kernel on a GPU, and the values of the same steps one
// by one.
#include <doctest/doctest.h>

#include <string>

#include <ingot/ingot.hpp>

using namespace ingot;

namespace {

/// Whether the statement over a lazy take is what it is over the rows taken before; `kernels`: on a GPU.
template <class A, class F>
void check(const A& table, const array<int>& rows, F f, std::size_t kernels = 1) {
    const array<double> taken = take(table, rows, 0);
    const auto statement = f(take(table, rows, 0));
    CAPTURE(table.shape());
    CAPTURE(rows.shape());
    if (current_device().is_cuda()) CHECK(explain(statement).kernels.size() == kernels);
    const array<double> found = statement, wanted = f(lazy<double>(taken));
    CHECK(found.shape() == wanted.shape());
    CHECK(allclose(found, wanted, 1e-13, 1e-13).item());
}

template <class E>
auto centred(const E& e) {
    return e - mean(e, -1, keepdims);
}

}  // namespace

TEST_CASE("one kernel takes rows of a table and folds them") {
    for (const index_t width : {100, 257, 768, 3001}) {
        const array<double> whole = sin(reshape(arange<double>(40 * (width + 3)), {40, width + 3}));
        const array<double> p = cos(arange<double>(width));
        const array<int> rows{3, -1, 0, 17, 17, 39, -40, 5};
        const auto check_all = [&](const auto& table) {
            check(table, rows, [&](const auto& x) { return centred(x + p); });
            check(table, rows, [&](const auto& x) { return softmax(x * 3.0, -1); });
            check(table, rows, [&](const auto& x) {
                const auto c = centred(x + p);
                return c / sqrt(mean(c * c, -1, keepdims) + 1e-5);
            });
            check(table, rows, [&](const auto& x) {
                const auto c = centred(x);
                return sum(c * c, -1);
            });
        };
        // Rows that begin at vectors, and rows that do not.
        check_all((whole(all, slice(0, width)) + 0.0).eval());
        check_all(whole(all, slice(3, width + 3)));
    }
}

TEST_CASE("indices of gathered rows are computed, gathered and chosen") {
    const array<double> table = sin(reshape(arange<double>(30 * 300), {30, 300})), scales = arange<double>(30) + 1.0;
    const array<int> rows = arange<int>(64) * 7 % 30, order = arange<int>(64) * 5 % 64;
    const auto values_of = [&](const auto& x, const auto& s) { return centred(x * s(all, newaxis)); };
    const array<double> x = take(table, rows, 0), s = take(scales, rows), far = take(table, take(rows, order), 0);
    const auto expect = [&](const auto& statement, const array<double>& wanted) {
        if (current_device().is_cuda()) CHECK(explain(statement).kernels.size() == 1);
        CHECK(allclose(array<double>(statement), wanted, 1e-13, 1e-13).item());
    };
    expect(values_of(take(table, rows, 0), take(scales, rows)), values_of(x, s));
    expect(centred(take(table, (rows + 4) % 30, 0)),
           centred(array<double>(take(table, array<int>((rows + 4) % 30), 0))));
    expect(centred(take(table, take(rows, order), 0)), centred(far));
    expect(centred(take(table, rows, 0) - take(table, order % 30, 0)),
           centred(array<double>(take(table, rows, 0) - take(table, array<int>(order % 30), 0))));
    // Sums, and a table that is computed.
    expect(centred(take(exp(table), rows, 0) * 2.0), centred(array<double>(exp(x) * 2.0)));
}

TEST_CASE("what no row of lanes gathers is gathered before") {
    const array<double> table = sin(reshape(arange<double>(40 * 300), {40, 300}));
    const array<int> rows = arange<int>(12) * 3, columns = arange<int>(300) * 7 % 300;
    const auto same = [&](const auto& statement, const auto& wanted) {
        CHECK(allclose(array<double>(statement), array<double>(wanted), 1e-13, 1e-13).item());
    };
    const array<double> along = take(table, columns, 1), chosen = take(table, rows, 0);
    same(centred(take(table, columns, 1)), centred(along));  // along the rows
    same(centred(take(take(table, columns, 1), rows, 0)), centred(array<double>(take(along, rows, 0))));
    same(chosen - mean(take(table, rows, 0), 0, keepdims), chosen - mean(chosen, 0, keepdims));  // across them
    same(sum(take(table, rows, 0), -1), sum(chosen, -1));                                        // a fold alone
    same(cumsum(take(table, rows, 0), -1), cumsum(chosen, -1));
    same(cumsum(chosen, -1) * take(table, rows, 0), cumsum(chosen, -1) * chosen);  // beside a scan
    same(cumsum(chosen, -1) * take(table, rows, 0) - max(chosen, -1, keepdims),
         cumsum(chosen, -1) * chosen - max(chosen, -1, keepdims));
    const array<double> narrow = (table(all, slice(0, 5)) + 0.0).eval(), few = take(narrow, rows, 0);
    same(centred(take(narrow, rows, 0)), centred(few));
    const auto by_columns = transpose((transpose(table) + 0.0).eval());
    same(centred(take(by_columns, rows, 0)), centred(chosen));
    // The greatest value's place is an index that the fold itself gives.
    const array<index_t> greatest = argmax(table, -1) % 40;
    same(centred(take(table, argmax(table, -1) % 40, 0)), centred(array<double>(take(table, greatest, 0))));
}

TEST_CASE("an index outside the table of gathered rows is an error") {
    const array<double> table = ones<double>({30, 300});
    const array<int> rows{3, 30, 4};
    std::string said;
    try {
        const array<double> z = centred(take(table, rows, 0));
        synchronize();
        (void)z(0, 0).item();
    } catch (const index_error& e) {
        said = e.what();
    }
    CAPTURE(said);
    CHECK(said.find("30") != said.npos);
}
