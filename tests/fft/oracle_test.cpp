// Every transform against NumPy's: lengths, axes, layouts, norms, dtypes.
#include "tests/fft/has_fft.hpp"
#include "tests/reductions/comparison.hpp"

using namespace ingot;
using ingot::testing::comparison;

namespace {

template <class T>
array<T> drawn(const shape_like& shape) {
    random::generator g(7);
    if constexpr (detail::complex_number<T>)
        return complex_of(g.normal<typename T::value_type>(shape), g.normal<typename T::value_type>(shape));
    else
        return g.normal<T>(shape);
}

/// All cases of one dtype.
template <class T>
class cases {
public:
    static constexpr bool is_real = !detail::complex_number<T>;
    explicit cases(comparison& c) : to_(c) {}

    /// Lengths of every kind, in a batch.
    void lengths() {
        for (const index_t n : {1, 2, 3, 5, 8, 12, 17, 97, 128, 243, 1000, 1024}) {
            const array<T> x = drawn<T>({3, n});
            add("fft(x)", n, x, fft::fft(x));
            add("ifft(x)", n, x, fft::ifft(x));
            if (n > 1) add("irfft(x)", 2 * n, x, fft::irfft(x));
            add("irfft(x," + std::to_string(2 * n - 1) + ")", 2 * n, x, fft::irfft(x, 2 * n - 1));
            if constexpr (is_real) add("rfft(x)", n, x, fft::rfft(x));
        }
    }
    void axes_and_points() {
        const array<T> x = drawn<T>({4, 6, 10});
        for (const auto& [n, axis] : {std::pair<index_t, index_t>{3, 0}, {9, 0}, {6, 1}, {9, -2}, {7, 2}, {16, -1}}) {
            const std::string how = "(x," + std::to_string(n) + "," + std::to_string(axis) + ")";
            add("fft" + how, n, x, fft::fft(x, n, axis));
            add("irfft" + how, n, x, fft::irfft(x, n, axis));
            if constexpr (is_real) add("rfft" + how, n, x, fft::rfft(x, n, axis));
            if (axis < 0) add("hfft" + how, n, x, fft::hfft(x, n, axis));
            if (axis < 0) add("ifft" + how, n, x, fft::ifft(x, n, axis));
            if constexpr (is_real)
                if (axis < 0) add("ihfft" + how, n, x, fft::ihfft(x, n, axis));
        }
    }
    void norms() {
        const array<T> x = drawn<T>({5, 12});
        const std::pair<const char*, fft::norm> all[] = {
            {"backward", fft::norm::backward}, {"ortho", fft::norm::ortho}, {"forward", fft::norm::forward}};
        for (const auto& [name, norm] : all) {
            const std::string how = "(x,norm='" + std::string(name) + "')";
            add("fft" + how, 12, x, fft::fft(x, norm));
            add("ifft" + how, 12, x, fft::ifft(x + T(0), norm));
            add("irfft" + how, 22, x, fft::irfft(x, norm));
            add("hfft" + how, 22, x, fft::hfft(x, norm));
            add("fft2" + how, 60, x, fft::fft2(x, norm));
            add("ifft2" + how, 60, x, fft::ifft2(x, norm));
            add("irfft2" + how, 110, x, fft::irfft2(x, norm));
            add("fftn" + how, 60, x, fft::fftn(x, norm));
            add("ifftn" + how, 60, x, fft::ifftn(x, norm));
            add("irfftn" + how, 110, x, fft::irfftn(x, norm));
            if constexpr (is_real) {
                add("rfft" + how, 12, x, fft::rfft(x, norm));
                add("ihfft" + how, 12, x, fft::ihfft(x, norm));
                add("rfft2" + how, 60, x, fft::rfft2(x, norm));
                add("rfftn" + how, 60, x, fft::rfftn(x, norm));
            }
        }
    }
    void several_axes() {
        const array<T> x = drawn<T>({3, 4, 5, 6});
        add("fftn(x)", 360, x, fft::fftn(x));
        add("ifftn(x)", 360, x, fft::ifftn(x));
        add("irfftn(x)", 600, x, fft::irfftn(x));
        add("irfftn(x,(-1,-1),axes=(1,2))", 600, x, fft::irfftn(x, {-1, -1}, {1, 2}));
        add("fftn(x,axes=(1,2,3))", 120, x, fft::fftn(x, none, {1, 2, 3}));
        add("fftn(x,axes=(3,0))", 18, x, fft::fftn(x, none, {3, 0}));
        add("fftn(x,axes=(0,2,0))", 45, x, fft::fftn(x, none, {0, 2, 0}));
        if constexpr (!is_real) add("fftn(x,axes=())", 1, x, fft::fftn(x, none, {}));
        add("fftn(x,(2,-1),axes=(-1,1))", 8, x, fft::fftn(x, {2, -1}, {-1, 1}));
        add("fftn(x,(7,3),axes=(2,3))", 21, x, fft::fftn(x, {7, 3}));
        add("ifft2(x,(5,8),axes=(0,1))", 40, x, fft::ifft2(x, {5, 8}, {0, 1}));
        add("fft2(x)", 30, x, fft::fft2(x));
        add("irfft2(x)", 50, x, fft::irfft2(x));
        add("irfftn(x,axes=(3,1))", 36, x, fft::irfftn(x, none, {3, 1}));
        add("irfftn(x,(4,5,7),axes=(0,1,3))", 140, x, fft::irfftn(x, {4, 5, 7}, {0, 1, 3}));
        if constexpr (is_real) {
            add("rfftn(x)", 360, x, fft::rfftn(x));
            add("rfftn(x,axes=(3,1))", 24, x, fft::rfftn(x, none, {3, 1}));
            add("rfftn(x,axes=(1,2,3))", 120, x, fft::rfftn(x, none, {1, 2, 3}));
            add("rfftn(x,axes=(1,1))", 16, x, fft::rfftn(x, none, {1, 1}));
            add("rfft2(x,(7,9))", 63, x, fft::rfft2(x, {7, 9}));
            add("rfftn(x,(5,9,1),axes=(0,2,3))", 45, x, fft::rfftn(x, {5, 9, 1}, {0, 2, 3}));
        }
        const array<T> thin = drawn<T>({1, 4, 1, 6, 1});
        add("fftn(x)", 24, thin, fft::fftn(thin));
        add("ifftn(x,axes=(0,2))", 1, thin, fft::ifftn(thin, none, {0, 2}));
        if constexpr (is_real) add("rfftn(x,axes=(1,2,4))", 4, thin, fft::rfftn(thin, none, {1, 2, 4}));
    }
    void layouts() {
        const array<T> x = drawn<T>({4, 6, 10});
        view("x.T", transpose(x));
        view("x[:,::2,1::3]", x(all, slice(0, none, 2), slice(1, none, 3)));
        view("x[::-1,:,::-1]", x(slice(none, none, -1), all, slice(none, none, -1)));
        view("x[1:,1:,1:]", x(slice(1, none), slice(1, none), slice(1, none)));
        view("np.broadcast_to(x[:,:1],x.shape)", broadcast_to(x(all, slice(0, 1)), x.shape()));
        view("np.broadcast_to(x[0,0,0],x.shape)", broadcast_to(x(0, 0, 0), x.shape()));
        view("np.lib.stride_tricks.sliding_window_view(x[0],4,1)", sliding_window_view(x(0), 4, 1));
        view("(x*2-x[0])", x * T(2) - x(0));
        view("x.reshape(8,5,6)", reshape(x, {8, 5, 6}));
    }
    void cosines(std::initializer_list<index_t> lengths) {
        for (const index_t n : lengths) {
            const array<T> x = drawn<T>({3, n});
            for (int type = n == 1 ? 2 : 1; type <= 4; ++type) {
                const std::string kind = std::to_string(type);
                add("dct(x," + kind + ")", 2 * n, x, fft::dct(x, type));
                if (n < 8 || n > 9) continue;
                add("idct(x," + kind + ")", 2 * n, x, fft::idct(x, type));
                add("dct(x," + kind + ",norm='ortho')", 2 * n, x, fft::dct(x, type, none, -1, fft::norm::ortho));
            }
        }
        const array<T> x = drawn<T>({4, 6, 10});
        for (int type = 1; type <= 4; ++type) {
            const std::string kind = std::to_string(type);
            add("dct(x," + kind + ",7,1,'forward')", 14, x, fft::dct(x, type, 7, 1, fft::norm::forward));
            add("idct(x.T*2," + kind + ",5,0,'forward')", 10, x,
                fft::idct(transpose(x) * T(2), type, 5, 0, fft::norm::forward));
        }
    }
    void shifts() {
        const array<T> x = drawn<T>({4, 5, 3});
        add("fftshift(fft(x))", 3, x, fft::fftshift(fft::fft(x)));
        add("ifftshift(fft(x,axis=1),(1,-1))", 5, x, fft::ifftshift(fft::fft(x, none, 1), {1, -1}));
        add("fft(fftshift(x,0),axis=0)", 4, x, fft::fft(fft::fftshift(x, 0), none, 0));
    }
    /// Fewer cases, for other dtypes.
    void briefly(const array<T>& x) {
        add("fft(x)", 6, x, fft::fft(x));
        add("ifft2(x)", 24, x, fft::ifft2(x));
        add("irfft(x)", 10, x, fft::irfft(x));
        if constexpr (is_real) {
            add("rfft(x,5)", 5, x, fft::rfft(x, 5));
            add("rfftn(x)", 24, x, fft::rfftn(x));
        }
    }

private:
    template <class R>
    void add(const std::string& name, index_t points, const array<T>& x, const R& result) {
        using Made = typename R::value_type;
        to_.add(name.c_str(), testing::over(axes(points)), x, array<Made>(result));
    }
    template <class E>
    void view(const std::string& of, const E& e) {
        const array<T> x = drawn<T>({4, 6, 10});
        add("fft(" + of + ")", 10, x, fft::fft(e));
        add("ifft(" + of + ",axis=0)", 10, x, fft::ifft(e, none, 0));
        add("fft2(" + of + ")", 60, x, fft::fft2(e));
        add("fftn(" + of + ",axes=(0,2))", 60, x, fft::fftn(e, none, {0, 2}));
        add("irfft(" + of + ",axis=1)", 20, x, fft::irfft(e, none, 1));
        if constexpr (is_real) {
            add("rfft(" + of + ")", 10, x, fft::rfft(e));
            add("rfft(" + of + ",axis=0)", 10, x, fft::rfft(e, none, 0));
            add("rfft2(" + of + ")", 60, x, fft::rfft2(e));
        }
    }

    comparison& to_;
};

}  // namespace

TEST_CASE_TEMPLATE("transforms are NumPy's, for every length, axis, layout and norm", T, double, std::complex<float>) {
    if (!test::has_fft()) return;
    comparison c("transforms.py");
    cases<T> every(c);
    every.lengths();
    every.axes_and_points();
    if constexpr (cases<T>::is_real) every.norms();
    every.several_axes();
    every.layouts();
    every.shifts();
    c.run();
}

TEST_CASE_TEMPLATE("transforms in the other precision", T, float, std::complex<double>) {
    if (!test::has_fft()) return;
    comparison c("transforms.py");
    cases<T>(c).lengths();
    cases<T>(c).briefly(drawn<T>({4, 6}));
    if constexpr (std::is_same_v<T, float>) cases<T>(c).cosines({9, 128});
    c.run();
}

TEST_CASE("cosine transforms of double precision") {
    if (!test::has_fft()) return;
    comparison c("transforms.py");
    cases<double>(c).cosines({1, 2, 3, 4, 5, 8, 9, 97, 128});
    c.run();
}

TEST_CASE("integers and bool are transformed as float64, float16 as float32") {
    if (!test::has_fft()) return;
    comparison c("transforms.py");
    const array<int> x = reshape(arange<int>(24) * 7 % 11, {4, 6});
    cases<int>(c).briefly(x);
    cases<bool>(c).briefly(x % 3 == 0);
    cases<std::uint8_t>(c).briefly(astype<std::uint8_t>(x));
    cases<float16>(c).briefly(astype<float16>(x));
    c.run();
    CHECK(decltype(fft::fft(full<bfloat16>({2}, 1)))::type == dtype::c8);
}
