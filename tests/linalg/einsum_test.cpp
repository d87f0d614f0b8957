// einsum against NumPy 2: equations that are drawn, interpreted in a child process so that no kernel of theirs is
// compiled, and some that are.
#include <algorithm>
#include <random>

#include "tests/arrays/expect.hpp"
#include "tests/cache/fixture.hpp"
#include "tests/joins/numpy_cases.hpp"
#include "tests/linalg/has_blas.hpp"
#include "tests/walls/count.hpp"

using namespace ingot;
using testing::drawn;
using testing::numpy_cases;

namespace {

/// Indices of one to four operands, with repeated ones, ellipses, extents of 1 and results in any order.
class drawn_equation {
public:
    explicit drawn_equation(unsigned seed) : random_(seed) {
        for (index_t& extent : extents_) extent = below(8) == 0 ? 7 : 2 + static_cast<index_t>(below(4));
        const std::size_t operands = 1 + below(4);
        const bool ellipses = below(4) == 0;
        for (std::size_t i = 0; i < operands; ++i) {
            if (i > 0) text += ',';
            add_operand(below(4) + (i == 0), ellipses);
        }
        if (below(3) != 0) add_result();
    }

    std::string text;
    std::vector<std::vector<index_t>> shapes;

private:
    std::size_t below(std::size_t n) { return random_() % n; }

    void add_operand(std::size_t axes, bool ellipsis) {
        const std::string letters = "ijkLm";
        std::string term;
        for (std::size_t j = 0; j < axes; ++j) term += letters[below(letters.size())];
        std::vector<index_t> shape;
        for (const char letter : term) {
            const bool alone = std::count(term.begin(), term.end(), letter) == 1;
            shape.push_back(alone && below(6) == 0 ? 1 : extents_[letters.find(letter)]);
        }
        if (ellipsis) {
            const std::size_t at = below(axes + 1);
            term.insert(at, "...");
            for (index_t k = 0, n = static_cast<index_t>(below(3)); k < n; ++k)  // from the last one on
                shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(at), below(5) == 0 ? 1 : 2 + k);
        }
        text += term;
        shapes.push_back(shape);
    }
    void add_result() {
        std::string letters;
        for (const char c : text)
            if (c != ',' && c != '.' && letters.find(c) == std::string::npos) letters += c;
        std::shuffle(letters.begin(), letters.end(), random_);
        letters.resize(below(letters.size() + 1));
        if (text.find('.') != std::string::npos) letters.insert(below(letters.size() + 1), "...");
        text += "->" + letters;
    }

    std::mt19937 random_;
    index_t extents_[5];
};

template <class T>
void add_drawn(numpy_cases& c, unsigned seed) {
    const drawn_equation e(seed);
    std::vector<array<T>> x;
    for (std::size_t i = 0; i < e.shapes.size(); ++i)
        x.push_back(drawn<T>(shape_like(e.shapes[i]), seed + 1000 * static_cast<unsigned>(i)));
    const std::string call = "np.einsum('" + e.text + "', a";
    if (x.size() == 1) c.add(call + ")", einsum(e.text, x[0]), x[0]);
    if (x.size() == 2) c.add(call + ", b)", einsum(e.text, x[0], x[1]), x[0], x[1]);
    if (x.size() == 3) c.add(call + ", b, c)", einsum(e.text, x[0], x[1], x[2]), x[0], x[1], x[2]);
    if (x.size() == 4) c.add(call + ", b, c, d)", einsum(e.text, x[0], x[1], x[2], x[3]), x[0], x[1], x[2], x[3]);
}

}  // namespace

TEST_CASE("drawn equations give what NumPy's give") {
    if (thread_sanitizer) return test::untested("not under the thread sanitizer");
    const int status = test::exit_status(test::start_child([] {
        setenv("INGOT_CXX", "/nonexistent", 1);
        runtime::observe_new_keys(nullptr);
        const with_device on_the_host(device::host());
        numpy_cases c;
        const unsigned equations = std::getenv("INGOT_TEST_ALL") != nullptr ? 500 : 100;
        for (unsigned seed = 0; seed < equations; ++seed) switch (seed % 5) {
                case 0:
                    add_drawn<int>(c, seed);
                    break;
                case 1:
                    add_drawn<float>(c, seed);
                    break;
                case 2:
                    add_drawn<double>(c, seed);
                    break;
                case 3:
                    add_drawn<std::complex<float>>(c, seed);
                    break;
                default:
                    add_drawn<std::complex<double>>(c, seed);
            }
        const std::string faults = c.faults();
        std::fputs(faults.c_str(), stderr);
        return faults.empty() ? 0 : 1;
    }));
    CHECK(status == 0);
}

TEST_CASE("sums, diagonals and small products are NumPy's") {
    numpy_cases c;
    c.forgive(8);
    const array<double> a = drawn<double>({6, 7}, 1), s = drawn<double>({5, 5, 3}, 3), t = drawn<double>({5, 3, 4}, 4);
    c.add_all(std::tie(a, s, t),
              {"np.einsum('iij->ji', b)", "np.einsum('bij,bik->bjk', c, c * 2)", "np.einsum('...i,...i', c, c)",
               "np.einsum('ij->', a)", "np.einsum('i,j', a[0], a[:, 1])"},
              einsum("iij->ji", s), einsum("bij,bik->bjk", t, t * 2), einsum("...i,...i", t, t), einsum("ij->", a),
              einsum(" i , j ", a(0), a(all, 1)));
    const array<bool> m = drawn<bool>({3, 4}, 5);
    const array<float> f = drawn<float>({4}, 6);
    const array<int> i = drawn<int>({4}, 7);
    c.add("np.einsum('ij,kj->ik', a, a)", eval(einsum("ij,kj->ik", m, m)), m);
    c.add("np.einsum('i,i,i', a, b, a)", eval(einsum("i,i,i", f, i, f)), f, i);
    c.run();
}

TEST_CASE("a product of matrices is the library's, and the cheap pair is first") {
    const array<float> a = drawn<float>({40, 50}, 1), b = drawn<float>({50, 60}, 2), v = drawn<float>({60}, 3);
    const auto calls = [](auto&& f) {
        const std::uint64_t before = counters().library_calls;
        f();
        return counters().library_calls - before;
    };
    CHECK(calls([&] { eval(einsum("ij,jk,k", a, b, v)); }) == 0);
    CHECK(explain(einsum("ij,jk,k", a, b, v)).flops() < 20'000);
    if (!test::has_blas()) return;
    CHECK(calls([&] { eval(einsum("ij,jk->ki", a, b)); }) == 1);
    numpy_cases c;
    c.forgive(8);
    const array<double> x = drawn<double>({6, 7}, 1), y = drawn<double>({7, 8}, 2), z = drawn<double>({3, 5, 6, 7}, 3);
    c.add_all(std::tie(x, y, z),
              {"np.einsum('ij,jk', a, b)", "np.einsum('ij,jk->ki', a, b)",
               "np.einsum('ij,jk,lk->il', a, b, b[:, ::-1])", "np.einsum('abij,jk,cbil->ackl', c, b, c)"},
              einsum("ij,jk", x, y), einsum("ij,jk->ki", x, y),
              einsum("ij,jk,lk->il", x, y, y(all, slice(none, none, -1))), einsum("abij,jk,cbil->ackl", z, y, z));
    c.run();
}

TEST_CASE("text that does not fit is refused and says why") {
    const array<int> v{1, 2, 3}, m = counted({2, 3});
    const auto says = [&](auto&&... e) { return thrown<shape_error>([&] { (void)einsum(e...); }); };
    CHECK(says("ij,jk", m, m) == "[einsum] \"ij,jk\" of shapes (2, 3), (2, 3): 'j' is of extent 3 and of 2");
    CHECK(says("ii", m) == "[einsum] \"ii\" of shapes (2, 3): 'i' is an axis of 2 and one of 3 of operand 0");
    CHECK(says("i", m) == "[einsum] \"i\" of shapes (2, 3): operand 0 has 2 axes, and \"i\" names 1");
    CHECK(says("ijk", m) == "[einsum] \"ijk\" of shapes (2, 3): operand 0 has 2 axes, and \"ijk\" names 3");
    CHECK(says("i,i", v) == "[einsum] \"i,i\" of shapes (3,): there are 2 lists of indices and 1 operands");
    CHECK(says("i->j", v) == "[einsum] \"i->j\" of shapes (3,): no operand has the result's 'j'");
    CHECK(says("i->ii", v) == "[einsum] \"i->ii\" of shapes (3,): the result has 'i' twice");
    CHECK(says("...j->j", m) ==
          "[einsum] \"...j->j\" of shapes (2, 3): the result has no \"...\" for the axes that operands' stand for");
    CHECK(says("i.j", m).find("'.' is no letter") != std::string::npos);
    CHECK(says("i->j->k", v).find("no letter") != std::string::npos);
    CHECK(says("", v).find("operand 0 has 1 axes") != std::string::npos);
}
