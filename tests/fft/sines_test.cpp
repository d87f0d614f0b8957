// Sine transforms, and those along several axes, against their definitions in double precision.
#include "tests/arrays/expect.hpp"
#include "tests/fft/has_fft.hpp"
#include "tests/reductions/comparison.hpp"

using namespace ingot;
using ingot::testing::comparison;

namespace {

template <class T>
class cases {
public:
    explicit cases(comparison& c) : to_(c) {}

    void lengths(std::initializer_list<index_t> all) {
        for (const index_t n : all) {
            const array<T> x = drawn({3, n});
            for (int type = 1; type <= 4; ++type) {
                const std::string kind = std::to_string(type);
                add("dst(x," + kind + ")", 2 * n, x, fft::dst(x, type));
                if (n < 8 || n > 9) continue;
                add("idst(x," + kind + ")", 2 * n, x, fft::idst(x, type));
                add("dst(x," + kind + ",norm='ortho')", 2 * n, x, fft::dst(x, type, none, -1, fft::norm::ortho));
                add("idst(x," + kind + ",norm='ortho')", 2 * n, x, fft::idst(x, type, none, -1, fft::norm::ortho));
            }
        }
    }
    void axes_and_points() {
        const array<T> x = drawn({4, 6, 10});
        for (int type = 1; type <= 4; ++type) {
            const std::string kind = std::to_string(type);
            add("dst(x," + kind + ",7,1,'forward')", 14, x, fft::dst(x, type, 7, 1, fft::norm::forward));
            add("idst(x.T*2," + kind + ",5,0,'forward')", 10, x,
                fft::idst(transpose(x) * T(2), type, 5, 0, fft::norm::forward));
        }
    }
    void several_axes() {
        const array<T> x = drawn({3, 4, 6});
        add("dctn(x)", 8 * 72, x, fft::dctn(x));
        add("idctn(x,3,norm='ortho')", 8 * 72, x, fft::idctn(x, 3, none, fft::norm::ortho));
        add("dctn(x,1,(5,3))", 60, x, fft::dctn(x, 1, {5, 3}));
        add("idctn(x,4,None,(0,2),'forward')", 72, x, fft::idctn(x, 4, none, {0, 2}, fft::norm::forward));
        add("dstn(x,4)", 8 * 72, x, fft::dstn(x, 4));
        add("idstn(x,2,norm='ortho')", 8 * 72, x, fft::idstn(x, 2, none, fft::norm::ortho));
        add("dstn(x,1,(5,2),(-1,0))", 60, x, fft::dstn(x, 1, {5, 2}, {-1, 0}));
        add("idstn(x[:,::2],3,None,(1,))", 8, x, fft::idstn(x(all, slice(0, none, 2)), 3, none, 1));
    }

    static array<T> drawn(const shape_like& shape) {
        random::generator g(8);
        return g.normal<T>(shape);
    }
    template <class E>
    void add(const std::string& name, index_t points, const array<T>& x, const E& result) {
        using Made = typename E::value_type;
        to_.add(name.c_str(), testing::over(axes(points)), x, array<Made>(result));
    }

private:
    comparison& to_;
};

}  // namespace

TEST_CASE("sine transforms of every type, length, axis and norm") {
    if (!test::has_fft()) return;
    comparison c("transforms.py");
    cases<double> every(c);
    every.lengths({1, 2, 3, 8, 9, 97});
    every.axes_and_points();
    every.several_axes();
    cases<float>(c).lengths({9, 128});
    c.run();
    CHECK(decltype(fft::dst(ones<int>({2})))::type == dtype::f8);
    CHECK(decltype(fft::dstn(full<bfloat16>({2}, 1)))::type == dtype::f4);
}

TEST_CASE("sine transforms that there are not are refused by name") {
    const array<double> x = ones<double>({2, 3});
    CHECK(thrown<shape_error>([&] { (void)fft::dst(x, 5); }) == "[dst] type 5: there are 1 to 4");
    CHECK(thrown<shape_error>([&] { (void)fft::idstn(x, 0); }) == "[idstn] type 0: there are 1 to 4");
    CHECK(thrown<shape_error>([&] { (void)fft::dctn(x, 1, {1, 3}); }).find("[dctn] of type 1 wants two points") == 0);
    CHECK(thrown<shape_error>([&] { (void)fft::dstn(x, 2, {1, 2, 3}); }).find("[dstn] 3 extents for shape (2, 3)") ==
          0);
    CHECK(thrown<shape_error>([&] { (void)fft::dctn(x, 2, {4, 4}, {0}); }) == "[dctn] 2 extents for 1 axes");
    CHECK_THROWS_AS((void)fft::idst(x, 2, none, 2), error);
    CHECK_THROWS_AS((void)fft::dst(x, 2, 0), shape_error);
}
