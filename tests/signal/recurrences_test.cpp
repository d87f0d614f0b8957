// Filters by recurrences, compared with SciPy: lengths on both sides of a block, axes, states, dtypes.
#include "tests/arrays/expect.hpp"
#include "tests/signal/scipy.hpp"

using namespace ingot;
using testing::draw;
using testing::drawn;
using testing::numpy_cases;
using testing::text_of;

namespace {

array<double> as_matrix(const signal::second_order_sections& sos) {
    std::vector<double> values;
    for (const auto& s : sos) values.insert(values.end(), s.begin(), s.end());
    return asarray(values, {static_cast<index_t>(sos.size()), 6});
}

/// A shape whose axis has that extent.
shape_like shape_with(draw& d, index_t extent, index_t& axis) {
    const index_t rank = d.number(1, 3);
    axis = d.number(0, rank - 1);
    std::vector<index_t> shape;
    for (index_t j = 0; j < rank; ++j) shape.push_back(j == axis ? extent : d.number(1, 6));
    if (d.number(0, 1) == 1) axis -= rank;
    return shape_like(shape);
}

}  // namespace

TEST_CASE("results before NaN are as they are without it, and from it on NaN") {
    if (!testing::has_scipy()) return;
    numpy_cases c;
    c.forgive(64);
    array<double> x = drawn<double>({3, 900}, 1), many = drawn<double>({700, 20}, 2);
    x(0, 850) = std::nan("");
    x(1, 3) = std::nan("");
    many(690, 7) = std::nan("");
    const signal::filter_design f = signal::butter(2, 0.3);
    const array<double> sos = as_matrix(f), zi = zeros({1, 3, 2});
    c.add("signal.sosfilt(b.copy(), a.copy())", signal::sosfilt(f, x), x, sos);
    c.add("signal.sosfilt(b.copy(), a.copy(), axis=0)", signal::sosfilt(f, many, 0), many, sos);
    c.add("signal.sosfilt(b.copy(), a.copy(), zi=c.copy())[1]", signal::sosfilt(f, x, -1, zi).zf, x, sos, zi);
    const array<float> single = astype<float>(x);
    c.add("signal.lfilter(np.array([1], 'f4'), np.array([1, -0.5], 'f4'), a.copy())",
          signal::lfilter({1}, {1, -0.5}, single), single);
    array<double> late = zeros({3000}), infinite = ones({90});
    late(2900) = 1;
    infinite(50) = std::numeric_limits<double>::infinity();
    // Powers of an unstable filter are beyond all numbers, and so is the last result.
    c.add("signal.lfilter([1], [1, -1.5], a.copy())", signal::lfilter({1}, {1, -1.5}, late), late);
    c.add("signal.lfilter([1], [1, -0.5], a.copy())", signal::lfilter({1}, {1, -0.5}, infinite), infinite);
    const array<float> b{1, 2, 3};
    const array<int> whole{2, 1};
    c.add("signal.lfilter(b, c, a.copy())", signal::lfilter(b, whole, late), late, b, whole);
    c.add("signal.filtfilt([1, 2], [1, .5], a.copy())", signal::filtfilt(array<double>{1, 2}, {1, 0.5}, late), late);
    CHECK_THROWS_WITH_AS(signal::lfilter(ones({2, 2}), {1}, late),
                         "[filter] coefficients of shape (2, 2); one axis is wanted", shape_error);
    c.run();
}

TEST_CASE("taps give NaN and infinity to the results that they reach alone") {
    if (!testing::has_scipy()) return;
    numpy_cases c;
    c.forgive(512);
    array<double> x = drawn<double>({3, 4000}, 1);
    x(0, 1700) = std::nan("");
    x(1, 30) = std::numeric_limits<double>::infinity();
    const array<float> down = astype<float>(transpose(x));
    for (const index_t taps : {8, 9, 70, 1500}) {
        const array<double> b = abs(drawn<double>({taps}, 2)) + 1;  // a tap of 0 is left out
        c.add("signal.lfilter(b, 1, a)", signal::lfilter(b.to_host(), {1}, x), x, b);
        c.add("signal.lfilter(b.astype('f4'), np.float32(1), a, 0)", signal::lfilter(b.to_host(), {1}, down, 0), down,
              b);
    }
    c.run();
}

// SciPy's transfer functions of an order above 3 are further from the truth than Ingot's: it computes in long double.
TEST_CASE("sections and transfer functions of any length and axis, from rest and from a state") {
    if (!testing::has_scipy()) return;
    numpy_cases c;
    for (unsigned long k = 0; k < (current_device().is_cuda() ? 3 : 9); ++k) {
        draw d(k);
        testing::for_a_type(d, [&]<class T>(std::type_identity<T>) {
            index_t axis;
            const shape_like shape = shape_with(d, d.one_of<index_t>({1, 2, 31, 32, 33, 64, 100, 512, 1100}), axis);
            const array<T> x = drawn<T>(shape, d.seed());
            const signal::filter_design f = signal::butter(d.number(1, 5), d.one_of({0.03, 0.1, 0.3, 0.6, 0.8}));
            const auto [numerator, denominator] = f.ba();
            const array<double> sos = as_matrix(f), b = asarray(numerator), a = asarray(denominator);
            const std::string precisely = "a.astype(np.result_type(a, 'g')), axis=" + text_of(axis);
            const std::string result = ".astype(a.dtype)";
            const std::string by_sections = "signal.sosfilt(b.astype('g'), " + precisely;
            const std::string by_transfer = "signal.lfilter(b.astype('g'), c.astype('g'), " + precisely;
            c.forgive(64);
            c.add(by_sections + ")" + result, signal::sosfilt(f, x, axis), x, sos);
            c.forgive(1 << 11);  // five poles near 1 multiply an error by hundreds, in SciPy's float64 by 1e5
            c.add(by_transfer + ")" + result, signal::lfilter(numerator, denominator, x, axis), x, b, a);

            std::vector<index_t> state(shape.begin(), shape.end());
            const auto at = static_cast<std::size_t>(axis < 0 ? axis + shape.count() : axis);
            state[at] = 2;
            state.insert(state.begin(), sos.shape()[0]);
            const array<T> states = drawn<T>(state, d.seed());
            const auto sections = signal::sosfilt(f, x, axis, states);
            const std::string from = ", zi=c.astype(np.result_type(c, 'g')))";
            c.add(by_sections + from + "[0]" + result, sections.y, x, sos, states);
            c.add(by_sections + from + "[1]" + result, sections.zf, x, sos, states);
            state.erase(state.begin());
            state[at] = a.size() - 1;
            const array<T> zi = drawn<T>(state, d.seed());
            const auto transfer = signal::lfilter(numerator, denominator, x, axis, zi);
            const std::string start = ", zi=d.astype(np.result_type(d, 'g')))";
            c.forgive(1 << 12);  // numbers that are no state of a signal cancel
            c.add(by_transfer + start + "[0]" + result, transfer.y, x, b, a, zi);
            c.add(by_transfer + start + "[1]" + result, transfer.zf, x, b, a, zi);
        });
    }
    c.run();
}

TEST_CASE("taps alone, one coefficient, a0 that is not 1, more coefficients on either side") {
    if (!testing::has_scipy()) return;
    numpy_cases c;
    c.forgive(64);
    const array<double> x = drawn<double>({3, 70}, 1);
    const std::vector<std::vector<double>> sides{{2}, {1, 2, 3}, {2, -1}, {4, 1, -0.5, 0.25, 0.1}, {1, 0, 0}};
    for (const auto& b : sides)
        for (const auto& a : sides)
            if (&a != &sides[1]) {
                c.add("signal.lfilter(b, c, a)", signal::lfilter(b, a, x), x, asarray(b), asarray(a));
                c.add("signal.lfilter(b, c, a, 0)", signal::lfilter(b, a, x, 0), x, asarray(b), asarray(a));
            }
    const array<double> zi = drawn<double>({3, 2}, 2);
    c.add("signal.lfilter(b, 1, a, zi=c)[0]", signal::lfilter({1, 2, 3}, {1}, x, -1, zi).y, x, array<double>{1, 2, 3},
          zi);
    c.add("signal.lfilter(b, 1, a, zi=c)[1]", signal::lfilter({1, 2, 3}, {1}, x, -1, zi).zf, x, array<double>{1, 2, 3},
          zi);
    c.add("signal.lfilter([2.], 1, a, zi=np.zeros((3, 0)))[0]", signal::lfilter({2}, {1}, x, -1, zeros({3, 0})).y, x);
    const array<double> many = drawn<double>({100}, 4), y = drawn<double>({3, 500}, 5);
    c.add("signal.lfilter(b, 1, a)", signal::lfilter(many.to_host(), {1}, y), y, many);
    c.add("signal.lfilter(b, 1, a, 0)", signal::lfilter(many.to_host(), {1}, y, 0), y, many);
    const array<double> very_many = drawn<double>({1100}, 6), z = drawn<double>({2, 3000}, 7);
    c.add("signal.lfilter(b, 1, a)", signal::lfilter(very_many.to_host(), {1}, z), z, very_many);
    const array<int> k = drawn<int>({40}, 3);
    c.add("signal.lfilter([1, .5], [1, -.5], a)", signal::lfilter({1, 0.5}, {1, -0.5}, k), k);
    c.add("signal.lfilter([1, .5], 1, a)", signal::lfilter({1, 0.5}, {1}, k), k);
    c.run();
}

TEST_CASE("filters forth and back: every extension, lengths that it allows") {
    if (!testing::has_scipy()) return;
    using signal::extension;
    numpy_cases c;
    c.forgive(256);
    const std::pair<extension, std::string> extensions[] = {{extension::odd, "'odd'"},
                                                            {extension::even, "'even'"},
                                                            {extension::constant, "'constant'"},
                                                            {extension::none, "None"}};
    for (unsigned long k = 0; k < (current_device().is_cuda() ? 2 : 4); ++k) {
        draw d(100 + k);
        testing::for_a_type(d, [&]<class T>(std::type_identity<T>) {
            index_t axis;
            const shape_like shape = shape_with(d, d.one_of<index_t>({35, 40, 64, 200}), axis);
            const array<T> x = drawn<T>(shape, d.seed());
            const auto& [how, name] = extensions[d.number(0, 3)];
            const signal::filter_design f = signal::butter(d.number(1, 4), 0.3);
            const array<double> sos = as_matrix(f), b = asarray(f.ba().b), a = asarray(f.ba().a);
            const std::string options = ", axis=" + text_of(axis) + ", padtype=" + name;
            c.add("signal.sosfiltfilt(b.copy(), a" + options + ").astype(a.dtype)",
                  signal::sosfiltfilt(f, x, axis, {.padtype = how}), x, sos);
            c.add("signal.filtfilt(b, c, a" + options + ", padlen=5).astype(a.dtype)",
                  signal::filtfilt(f.ba().b, f.ba().a, x, axis, {.padtype = how, .padlen = 5}), x, b, a);
        });
    }
    c.run();
}

TEST_CASE("a long row keeps the precision of its dtype where a pole lies near the unit circle") {
    if (!testing::has_scipy()) return;
    numpy_cases c;
    c.forgive(2000);  // as many as SciPy's own float32 is off
    const signal::filter_design f = signal::butter(2, 0.01);
    const array<float> x = drawn<float>({40000}, 4);
    c.add("signal.sosfilt(b.copy(), a.astype(float)).astype('f4')", signal::sosfilt(f, x), x, as_matrix(f));
    c.run();
}

TEST_CASE("states of signals of ones") {
    if (!testing::has_scipy()) return;
    numpy_cases c;
    c.forgive(64);
    for (const index_t order : {1, 2, 5}) {
        const signal::filter_design f = signal::butter(order, 0.3);
        const array<double> b = asarray(f.ba().b), a = asarray(f.ba().a);
        c.add("signal.lfilter_zi(a, b)", asarray(signal::lfilter_zi(f.ba().b, f.ba().a)), b, a);
        std::vector<double> states;
        for (const auto& z : signal::sosfilt_zi(f)) states.insert(states.end(), z.begin(), z.end());
        c.add("signal.sosfilt_zi(a).ravel()", asarray(states), as_matrix(f));
    }
    c.run();
}

TEST_CASE("wrong filters and states are named") {
    const array<double> x = zeros({4, 5});
    CHECK_THROWS_AS(signal::lfilter({}, {1}, x), error);
    CHECK_THROWS_AS(signal::lfilter({1}, {0, 1}, x), error);
    CHECK_THROWS_AS(signal::sosfilt({}, x), error);
    CHECK_THROWS_AS(signal::lfilter({1}, {1, 2}, x, 2), error);
    CHECK_THROWS_AS(signal::lfilter({1}, {1, 2}, x, 0, x), shape_error);
    CHECK_THROWS_AS(signal::lfilter({1}, {1, 2}, x, 0, zeros<std::complex<double>>({1, 5})), dtype_error);
    CHECK_THROWS_AS(signal::filtfilt({1}, {1, -0.5}, x), shape_error);
    CHECK_THROWS_AS(signal::lfilter_zi({1}, {1, -1}), error);
    CHECK(signal::lfilter({1}, {1, -0.5}, zeros({3, 0})).shape() == shape_like{3, 0});
}
