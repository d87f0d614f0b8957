// Elements read and written where arrays of indices and masks say, against NumPy.
#include "tests/reductions/comparison.hpp"

using namespace ingot;
using ingot::testing::comparison;
using ingot::testing::over;

namespace {

/// Values that are all different, in an order of their own: (i * 37) mod 120 of shape (4, 5, 6).
template <class T>
array<T> mixed() {
    std::vector<T> values;
    for (int i = 0; i < 120; ++i) values.push_back(static_cast<T>(i * 37 % 120));
    return reshape(asarray<T>(values), {4, 5, 6});
}

const array<int>& five() {
    static const array<int> i{2, 0, -1, 1, 2};
    return i;
}
array<std::int64_t> column() { return reshape(array<std::int64_t>{3, -2}, {2, 1}); }

template <class T>
class cases {
public:
    explicit cases(comparison& c) : to_(c), x_(mixed<T>()) {}

    void read() {
        const array<T>& x = x_;
        const auto &i = five(), first = array<int>{2, 0};
        const auto j = column();
        const array<std::int8_t> k{1, 0};
        const array<std::uint16_t> u{{4, 0, 1}, {2, 2, 3}};
        add("take0", take(x, i, 0));
        add("take1", take(x, u, 1));
        add("take2", take(x, k, -1));
        add("take_flat", take(x, array<int>{{0, 119}, {-1, 60}}));
        add("take_wrap", take<index_mode::wrap>(x, array<int>{-9, 13, 5}, 1));
        add("take_clip", take<index_mode::clip>(x, array<int>{-9, 13, 3}, 1));
        add("take_of_map", take(x * x + 1, i, 0) - 2);
        add("take_of_take", take(take(x, i, 0), array<int>{4, 0}, 0));
        add("take_at_take", take(x, take(i, array<int>{0, 3}), 0));
        add("take_of_reshape", take(transpose(reshape(x, {6, 20})), i, 0));
        add("reshape_of_take", reshape(take(x, i, 1), {10, 12}));
        add("view_of_take", transpose(take(x, i, 0)(slice(none, none, -2), 1, slice(none, none, 2))));
        add("take_of_view",
            take(permute_dims(x(slice(none, none, -1), slice(1, none, 2), slice(none, 4)), {2, 0, 1}), i, 0));
        add("standardised", take(x - max(x, 2, keepdims), i, 0));
        add("pair", x(first, j));
        add("split", x(i, all, array<int>{0, 5, 1, 1, -1}));
        add("behind", x(ellipsis, i));
        add("between", x(slice(1, none), i, slice(none, none, -2)));
        add("with_integer", x(0, all, i));
        add("with_integer_beside", x(all, 2, i));
        add("new_axis", x(all, newaxis, i));
        add("three", x(first, j, u(all, slice(none, 2))));
        add("of_map", (x + x)(i, slice(1, 3)));
        add("mask", x(x > 40));
        add("mask_rows", x(x(all, 0, 0) > 30));
        add("mask_planes", x(x(all, all, 2) > 40));
        add("mask_beside", x(1, x(0, all, 0) > 10));
        add("compress", compress(array<bool>{true, false, true, true}, x, 1));
        add("along_broadcast", take_along_axis(x, reshape(j, {1, 2, 1}), 1));
    }

    /// Integers: remainders, and sums that wrap.
    void read_integers() {
        const array<T>& x = x_;
        const auto& i = five();
        const array<std::uint16_t> u{{4, 0, 1}, {2, 2, 3}};
        add("take_of_sum", take(sum(x, 1), i, 0));
        add("take_at_sum", take(x, sum(u % 2, 1), 0));
        add("sum_of_take", sum(take(x, i, 1), 1));
        add("sum_of_all_taken", sum(take(x, u, 1)));
        add("scan_of_take", cumsum(take(x, i, 2), 2));
        add("take_of_scan", take(cumsum(x, 1), i, 1));
        add("nonzero", nonzero(x % 3 == 0)[1]);
        add("argwhere", argwhere(x % 7 == 0));
        add("flatnonzero", flatnonzero(x % 7 == 0));
        add("extract", extract(x % 2 == 0, x));
        add("choose", choose(x % 3, std::tuple{x, -x, x * 2}));
        add("select", select(std::tuple{x < 20, x < 60}, std::tuple{x, x * x}, -1));
    }

    void written() {
        const array<int> first{2, 0}, four{2, 0, -1, 1};
        const array<int> j = reshape(array<int>{3, -3}, {2, 1});
        change("set", [&](array<T>& y) { y(four) = 7; });
        change("set_values", [&](array<T>& y) { y(all, four) = y(all, slice(none, 4)) * 2; });
        change("set_pair", [&](array<T>& y) { y(first, j) = array<int>{{1, 2}, {3, 4}}(all, all, newaxis); });
        change("set_split", [&](array<T>& y) { y(array<int>{2, 0, -1}, slice(1, 4), array<int>{0, 5, 1}) = 8; });
        change("set_last", [&](array<T>& y) { y(all, array<int>{3, 1}) = 9; });
        change("set_in_view", [&](array<T>& y) { y(slice(none, none, 2), slice(1, none))(all, array<int>{0, 3}) = 6; });
        change("set_own", [&](array<T>& y) { y(array<int>{0, 1}) = y(array<int>{1, 0}) + 1; });
        change("add", [&](array<T>& y) { y(four) += 3; });
        change("mask_set", [&](array<T>& y) { y(y > 40) = 2; });
        change("mask_set_row", [&](array<T>& y) { y(y(all, 0, 0) > 30) = arange<int>(6); });
        change("mask_set_values", [&](array<T>& y) { y(y > 40) = arange<int>(count_nonzero(y > 40).item()); });
        change("mask_add", [&](array<T>& y) { y(y > 40) += 5; });
        change("put", [&](array<T>& y) { put(y, array<int>{0, 3, -1}, array<int>{7, 8}); });
        change("place", [&](array<T>& y) { place(y, y > 40, array<int>{1, 2, 3}); });
        change("putmask", [&](array<T>& y) { putmask(y, y > 40, array<int>{1, 2, 3}); });
        change("copyto", [&](array<T>& y) { copyto(y, floor_divide(y, 2), y > 40); });
        change("diagonal", [&](array<T>& y) { fill_diagonal(y(all, 0, slice(none, 4)), 3); });
        change("put_along", [&](array<T>& y) { put_along_axis(y, argmax(y, 1, keepdims), 0, 1); });
        change("scatter_add", [&](array<T>& y) { scatter_add(y(five()), 5); });
        change("scatter_add_values", [&](array<T>& y) { scatter_add(y(all, five()), y(all, slice(none, none, -1))); });
        change("scatter_max", [&](array<T>& y) { scatter_max(y(five()), 50); });
        change("scatter_min", [&](array<T>& y) { scatter_min(y(all, all, five()), 30); });
    }

private:
    template <class E>
    void add(const char* name, const E& e) {
        to_.add(name, over(), x_, array<typename E::value_type>(e));
    }
    /// Runs `write` on an array that nothing else holds, then on a copy; the other array must keep its values.
    template <class F>
    void change(const char* name, const F& write) {
        array<T> y = mixed<T>();
        write(y);
        to_.add(name, over(), x_, y);
        array<T> z = x_;
        write(z);
        to_.add(name, over(), x_, z);
        CHECK(array_equal(x_, mixed<T>()).item());
    }

    comparison& to_;
    array<T> x_;
};

}  // namespace

TEST_CASE("what is read and written at indices and under masks is NumPy's") {
    comparison all_cases("indexing.py");
    cases<int> ints(all_cases);
    ints.read();
    ints.read_integers();
    ints.written();
    cases<double>(all_cases).read();
    cases<float>(all_cases).written();
    cases<std::int16_t>(all_cases).written();
    all_cases.run();
}
