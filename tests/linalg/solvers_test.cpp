// Solvers as LAPACK judges itself: residual / (norm x n x epsilon) below 30, orthogonality too, over shapes, dtypes,
// batches, strides and condition numbers; in loops over the host's numbers. Shapes and conventions against NumPy 2.
#include <algorithm>
#include <cmath>
#include <random>

#include "tests/arrays/expect.hpp"
#include "tests/joins/numpy_cases.hpp"
#include "tests/linalg/has_blas.hpp"

using namespace ingot;
using testing::drawn;
using testing::numpy_cases;

namespace {

using number = std::complex<double>;

/// A matrix of the host's, which every type fits in.
struct matrix {
    matrix(index_t m, index_t n) : rows(m), columns(n), values(static_cast<std::size_t>(m * n)) {}
    number& operator()(index_t i, index_t j) { return values[static_cast<std::size_t>(i * columns + j)]; }
    number operator()(index_t i, index_t j) const { return values[static_cast<std::size_t>(i * columns + j)]; }

    index_t rows, columns;
    std::vector<number> values;
};

matrix product(const matrix& a, const matrix& b) {
    REQUIRE(a.columns == b.rows);
    matrix c(a.rows, b.columns);
    for (index_t i = 0; i < a.rows; ++i)
        for (index_t k = 0; k < a.columns; ++k)
            for (index_t j = 0; j < b.columns; ++j) c(i, j) += a(i, k) * b(k, j);
    return c;
}
matrix adjoint(const matrix& a) {
    matrix c(a.columns, a.rows);
    for (index_t i = 0; i < a.rows; ++i)
        for (index_t j = 0; j < a.columns; ++j) c(j, i) = std::conj(a(i, j));
    return c;
}
matrix less(matrix a, const matrix& b) {
    REQUIRE(a.rows == b.rows);
    REQUIRE(a.columns == b.columns);
    for (std::size_t i = 0; i < a.values.size(); ++i) a.values[i] -= b.values[i];
    return a;
}
matrix identity_matrix(index_t n) {
    matrix c(n, n);
    for (index_t i = 0; i < n; ++i) c(i, i) = 1;
    return c;
}
template <class R>
matrix diagonal_matrix(const R* values, index_t m, index_t n) {
    matrix c(m, n);
    for (index_t i = 0; i < std::min(m, n); ++i) c(i, i) = values[i];
    return c;
}
bool zero_below(const matrix& a) {
    bool zero = true;
    for (index_t j = 0; j < a.rows; ++j)
        for (index_t k = 0; k < std::min(j, a.columns); ++k) zero = zero && a(j, k) == 0.0;
    return zero;
}
double norm_1(const matrix& a) {
    double most = 0;
    for (index_t j = 0; j < a.columns; ++j) {
        double column = 0;
        for (index_t i = 0; i < a.rows; ++i) column += std::abs(a(i, j));
        most = std::isnan(column) ? column : std::max(most, column);
    }
    return most;
}

/// Arrays in C order, transposed in memory, and with gaps and backwards, all with these matrices in them.
enum class lies { in_order, transposed, with_gaps };

template <class T>
class cases {
public:
    using R = detail::part_of_type<T>;
    static constexpr double epsilon = static_cast<double>(std::numeric_limits<R>::epsilon());
    static constexpr bool is_complex = !std::is_same_v<T, R>;

    explicit cases(unsigned seed) : random_(seed) {}

    /// U diag(s) V of reflections, s from 1 down to 1 / condition; hermitian with V = U^H.
    matrix draw(index_t m, index_t n, double condition, bool hermitian, bool definite = true) {
        const index_t lesser = std::min(m, n);
        std::vector<double> s;
        for (index_t i = 0; i < lesser; ++i) {
            const double part = lesser > 1 ? static_cast<double>(i) / static_cast<double>(lesser - 1) : 0;
            s.push_back(std::pow(condition, -part) * (definite || i % 2 == 0 ? 1 : -1));
        }
        const matrix u = reflection(m), v = hermitian ? adjoint(u) : reflection(n);
        matrix a = product(product(u, diagonal_matrix(s.data(), m, n)), v);
        for (number& x : a.values) x = rounded(x);
        if (hermitian)
            for (index_t i = 0; i < n; ++i) {
                a(i, i) = a(i, i).real();
                for (index_t j = 0; j < i; ++j) a(j, i) = std::conj(a(i, j));
            }
        return a;
    }
    matrix draw_any(index_t m, index_t n) {
        matrix a(m, n);
        for (number& x : a.values) x = rounded(any());
        return a;
    }

    static array<T> as_array(const std::vector<matrix>& given, const shape_like& batch) {
        std::vector<T> values;
        for (const matrix& a : given)
            for (const number x : a.values) values.push_back(as_T(x));
        std::vector<index_t> shape(batch.begin(), batch.end());
        shape.insert(shape.end(), {given[0].rows, given[0].columns});
        return asarray<T>(values, shape_like(shape));
    }
    /// f of the matrices as an expression that lies so in memory.
    template <class F>
    static void with(const std::vector<matrix>& given, const shape_like& batch, lies how, const F& f) {
        if (how == lies::in_order) return f(as_array(given, batch));
        std::vector<matrix> stored;
        for (const matrix& a : given) {
            matrix b = how == lies::transposed ? matrix(a.columns, a.rows) : matrix(a.rows * 2, a.columns * 3);
            for (index_t i = 0; i < a.rows; ++i)
                for (index_t j = 0; j < a.columns; ++j)
                    (how == lies::transposed ? b(j, i) : b(2 * (a.rows - 1 - i) + 1, 3 * j)) = a(i, j);
            stored.push_back(b);
        }
        const array<T> all_of_it = as_array(stored, batch);
        if (how == lies::transposed) return f(mT(all_of_it));
        f(all_of_it(ellipsis, slice(none, none, -2), slice(none, none, 3)));
    }

    /// Number i of a stack.
    template <class U>
    static matrix at(const array<U>& stack, index_t i) {
        const shape_like shape = stack.shape();
        matrix a(shape[shape.count() - 2], shape[shape.count() - 1]);
        if (a.values.empty()) return a;
        const std::vector<U> values = stack.to_host();
        for (std::size_t k = 0; k < a.values.size(); ++k)
            a.values[k] = number(values[static_cast<std::size_t>(i) * a.values.size() + k]);
        return a;
    }

    /// The ratio that LAPACK's own tests print.
    static bool small(const matrix& residual, double norm, index_t n) {
        const double ratio = norm_1(residual) / (norm * static_cast<double>(std::max<index_t>(n, 1)) * epsilon);
        CAPTURE(ratio);
        CHECK((residual.values.empty() || ratio < 30));
        return residual.values.empty() || ratio < 30;
    }
    static void orthonormal(const matrix& q) {
        small(less(product(adjoint(q), q), identity_matrix(q.columns)), 1, q.rows);
    }

private:
    number any() {
        std::normal_distribution<double> normal;
        const double re = normal(random_);
        return is_complex ? number(re, normal(random_)) : number(re);
    }
    static T as_T(number x) {
        if constexpr (is_complex)
            return T(static_cast<R>(x.real()), static_cast<R>(x.imag()));
        else
            return static_cast<T>(x.real());
    }
    static number rounded(number x) { return number(as_T(x)); }
    /// Two reflections, so that nothing is symmetric by itself.
    matrix reflection(index_t n) {
        matrix q = identity_matrix(n);
        for (int times = 0; times < 2; ++times) {
            std::vector<number> v;
            double length = 0;
            for (index_t i = 0; i < n; ++i) v.push_back(any()), length += std::norm(v.back());
            matrix h = identity_matrix(n);
            for (index_t i = 0; i < n; ++i)
                for (index_t j = 0; j < n; ++j)
                    h(i, j) -=
                        2.0 * v[static_cast<std::size_t>(i)] * std::conj(v[static_cast<std::size_t>(j)]) / length;
            q = product(q, h);
        }
        return q;
    }

    std::mt19937 random_;
};

/// f(cases, matrices, batch, how they lie) for sizes, condition numbers and batches.
template <class T, class F>
void sweep(bool square, bool hermitian, bool definite, const F& f) {
    cases<T> c(7);
    const std::array<index_t, 2> sizes[] = {{1, 1}, {2, 2}, {5, 5},   {17, 17}, {30, 30},
                                            {7, 3}, {3, 7}, {28, 19}, {1, 6}};
    const shape_like batches[] = {{}, {3}, {2, 2}};
    const double conditions[] = {1.0, 100.0, 0.01 / cases<T>::epsilon};
    std::size_t turn = 0;
    for (const std::array<index_t, 2>& size : sizes) {
        if (square && size[0] != size[1]) continue;
        ++turn;
        for (std::size_t j = 0; j < 3; ++j) {
            const double condition = conditions[j];
            const auto how = static_cast<lies>((turn + j) % 3);
            const shape_like& batch = batches[static_cast<std::size_t>(how)];
            index_t count = 1;
            for (const index_t n : batch) count *= n;
            std::vector<matrix> a;
            for (index_t i = 0; i < count; ++i) a.push_back(c.draw(size[0], size[1], condition, hermitian, definite));
            CAPTURE(size[0]);
            CAPTURE(size[1]);
            CAPTURE(condition);
            CAPTURE(static_cast<int>(how));
            cases<T>::with(a, batch, how, [&](const auto& e) { f(c, a, batch, e); });
        }
    }
}

#define EVERY_SOLVED_TYPE float, double, std::complex<float>, std::complex<double>

}  // namespace

TEST_CASE_TEMPLATE("factors give the matrices again", T, EVERY_SOLVED_TYPE) {
    if (!test::has_lapack()) return;
    using c_t = cases<T>;
    sweep<T>(true, true, true, [](auto&, const auto& a, const shape_like&, const auto& e) {
        const array<T> lower = linalg::cholesky(e), upper = linalg::cholesky(e, linalg::triangle::upper);
        CHECK(lower.shape() == e.shape());
        for (std::size_t i = 0; i < a.size(); ++i) {
            const matrix l = c_t::at(lower, static_cast<index_t>(i)), u = c_t::at(upper, static_cast<index_t>(i));
            c_t::small(less(product(l, adjoint(l)), a[i]), norm_1(a[i]), l.rows);
            c_t::small(less(product(adjoint(u), u), a[i]), norm_1(a[i]), l.rows);
            CHECK((zero_below(adjoint(l)) && zero_below(u)));
        }
    });
    sweep<T>(false, false, true, [](auto&, const auto& a, const shape_like&, const auto& e) {
        for (const linalg::qr_mode mode : {linalg::qr_mode::reduced, linalg::qr_mode::complete}) {
            const auto [q, r] = linalg::qr(e, mode);
            for (std::size_t i = 0; i < a.size(); ++i) {
                const matrix x = c_t::at(q, static_cast<index_t>(i)), y = c_t::at(r, static_cast<index_t>(i));
                CHECK(x.columns == (mode == linalg::qr_mode::complete ? x.rows : std::min(a[i].rows, a[i].columns)));
                c_t::small(less(product(x, y), a[i]), norm_1(a[i]), std::max(a[i].rows, a[i].columns));
                c_t::orthonormal(x);
                CHECK(zero_below(y));
            }
        }
        const auto values = linalg::svdvals(e).to_host();
        for (const bool full : {false, true}) {
            const auto [u, s, vh] = linalg::svd(e, full);
            const auto lesser = static_cast<std::size_t>(s.shape()[s.ndim() - 1]);
            const auto given = s.to_host();
            for (std::size_t i = 0; i < a.size(); ++i) {
                const matrix x = c_t::at(u, static_cast<index_t>(i)), y = c_t::at(vh, static_cast<index_t>(i));
                const auto* const own = given.data() + i * lesser;
                CHECK(x.columns == (full ? x.rows : static_cast<index_t>(lesser)));
                c_t::small(less(product(product(x, diagonal_matrix(own, x.columns, y.rows)), y), a[i]), norm_1(a[i]),
                           std::max(a[i].rows, a[i].columns));
                c_t::orthonormal(x), c_t::orthonormal(adjoint(y));
                for (std::size_t j = 0; j < lesser; ++j) {
                    CHECK(own[j] >= 0);
                    if (j > 0) CHECK(own[j] <= own[j - 1]);
                    CHECK(std::abs(static_cast<double>(own[j] - values[i * lesser + j])) <
                          30 * c_t::epsilon * static_cast<double>(own[0]) * static_cast<double>(x.rows + y.columns));
                }
            }
        }
    });
}

TEST_CASE_TEMPLATE("eigenvectors are multiplied by their values", T, EVERY_SOLVED_TYPE) {
    if (!test::has_lapack()) return;
    using c_t = cases<T>;
    sweep<T>(true, true, false, [](auto&, const auto& a, const shape_like&, const auto& e) {
        const auto values = linalg::eigvalsh(e, linalg::triangle::upper).to_host();
        for (const linalg::triangle of : {linalg::triangle::lower, linalg::triangle::upper}) {
            const auto [w, v] = linalg::eigh(e, of);
            const auto all_values = w.to_host();
            for (std::size_t i = 0; i < a.size(); ++i) {
                const matrix x = c_t::at(v, static_cast<index_t>(i));
                const auto n = static_cast<std::size_t>(x.rows);
                const auto* const own = all_values.data() + i * n;
                c_t::small(less(product(a[i], x), product(x, diagonal_matrix(own, x.rows, x.rows))), norm_1(a[i]),
                           x.rows);
                c_t::orthonormal(x);
                for (std::size_t j = 0; j < n; ++j) {
                    if (j > 0) CHECK(own[j] >= own[j - 1]);
                    CHECK(std::abs(static_cast<double>(own[j] - values[i * n + j])) <
                          30 * c_t::epsilon * static_cast<double>(n) * norm_1(a[i]));
                }
            }
        }
    });
    sweep<T>(true, false, true, [](auto&, const auto& a, const shape_like&, const auto& e) {
        const auto [w, v] = linalg::eig(e);
        const auto all_values = w.to_host();
        const auto alone = linalg::eigvals(e).to_host();
        for (std::size_t i = 0; i < a.size(); ++i) {
            const matrix x = c_t::at(v, static_cast<index_t>(i));
            const auto n = static_cast<std::size_t>(x.rows);
            const auto* const own = all_values.data() + i * n;
            c_t::small(less(product(a[i], x), product(x, diagonal_matrix(own, x.rows, x.rows))), norm_1(a[i]), x.rows);
            number trace_of_a = 0, sum_of_values = 0;
            for (index_t j = 0; j < x.rows; ++j) {
                double length = 0;
                for (index_t k = 0; k < x.rows; ++k) length += std::norm(x(k, j));
                CHECK(std::abs(length - 1) < 30 * c_t::epsilon * static_cast<double>(n));
                trace_of_a += a[i](j, j), sum_of_values += number(alone[i * n + static_cast<std::size_t>(j)]);
            }
            CHECK(std::abs(trace_of_a - sum_of_values) < 30 * c_t::epsilon * static_cast<double>(n) * norm_1(a[i]));
        }
    });
}

TEST_CASE_TEMPLATE("solutions leave small residuals", T, EVERY_SOLVED_TYPE) {
    if (!test::has_lapack()) return;
    using c_t = cases<T>;
    sweep<T>(true, false, true, [](auto& c, const auto& a, const shape_like& batch, const auto& e) {
        const index_t n = a[0].rows;
        std::vector<matrix> b;
        for (std::size_t i = 0; i < a.size(); ++i) b.push_back(c.draw_any(n, 3));
        const array<T> right = c_t::as_array(b, batch), one = c_t::as_array({b[0]}, {});
        const array<T> x = linalg::solve(e, right), of_one = linalg::solve(e, one), inverse = linalg::inv(e);
        const array<T> of_vector = linalg::solve(e, one(all, 1));
        CHECK(x.shape() == right.shape());
        CHECK(of_vector.ndim() == right.ndim() - 1);
        const auto vectors = of_vector.to_host();
        for (std::size_t i = 0; i < a.size(); ++i) {
            const auto at = static_cast<index_t>(i);
            const matrix y = c_t::at(x, at), z = c_t::at(of_one, at), own = c_t::at(inverse, at);
            c_t::small(less(product(a[i], y), b[i]), norm_1(a[i]) * norm_1(y), n);
            c_t::small(less(product(a[i], z), b[0]), norm_1(a[i]) * norm_1(z), n);
            c_t::small(less(product(a[i], own), identity_matrix(n)), norm_1(a[i]) * norm_1(own), n);
            for (index_t j = 0; j < n; ++j)
                CHECK(std::abs(number(vectors[i * static_cast<std::size_t>(n) + static_cast<std::size_t>(j)]) -
                               z(j, 1)) <= 30 * c_t::epsilon * norm_1(z) * norm_1(a[i]) * norm_1(own));
        }
    });
    sweep<T>(false, false, true, [](auto& c, const auto& a, const shape_like& batch, const auto& e) {
        if (batch.count() != 0) return;
        const index_t longer = std::max(a[0].rows, a[0].columns);
        const matrix p = c_t::at(linalg::pinv(e, 0), 0);
        c_t::small(less(product(product(a[0], p), a[0]), a[0]), norm_1(a[0]) * norm_1(a[0]) * norm_1(p), longer);
        c_t::small(less(product(product(p, a[0]), p), p), norm_1(p) * norm_1(a[0]) * norm_1(p), longer);
        const matrix b = c.draw_any(a[0].rows, 2);
        const auto [x, rest, rank, s] = linalg::lstsq(e, c_t::as_array({b}, {}));
        const matrix y = c_t::at(x, 0), left = less(product(a[0], y), b);
        c_t::small(product(adjoint(a[0]), left), norm_1(a[0]) * (norm_1(b) + norm_1(a[0]) * norm_1(y)), longer);
        CHECK(rank.item() == std::min(a[0].rows, a[0].columns));
        CHECK(rest.size() == (a[0].rows > a[0].columns ? 2 : 0));
    });
}

TEST_CASE("solvers have NumPy's shapes, conventions and values") {
    if (!test::has_lapack()) return;
    numpy_cases c;
    c.forgive(300);
    const array<double> a = drawn<double>({2, 3, 4, 4}, 3), m = drawn<double>({5, 3}, 4), v = drawn<double>({5}, 5);
    const array<double> b = drawn<double>({3, 4, 2}, 6);
    const array<std::complex<float>> z = drawn<std::complex<float>>({3, 3}, 7);
    const array<int> i = drawn<int>({4, 4}, 8);
    c.add("np.linalg.det(a)", linalg::det(a), a);
    c.add("np.linalg.slogdet(a)[0]", std::get<0>(linalg::slogdet(a)), a);
    c.add("np.linalg.slogdet(a)[1]", std::get<1>(linalg::slogdet(a)), a);
    c.add("np.linalg.slogdet(a * 0)[1]", std::get<1>(linalg::slogdet(a * 0)), a);
    c.add("np.linalg.slogdet(a)[0]", std::get<0>(linalg::slogdet(z)), z);
    c.add("np.linalg.det(a)", linalg::det(z), z);
    c.add("np.linalg.det(a)", linalg::det(i), i);
    c.add("np.linalg.inv(a)", linalg::inv(i), i);
    c.add("np.linalg.inv(a)", linalg::inv(z), z);
    c.add("np.linalg.solve(a, b)", linalg::solve(a, b), a, b);
    c.add("np.linalg.solve(a[0, 0], b)", linalg::solve(a(0, 0), b), a, b);
    c.add("np.linalg.solve(a, b[0, :, 1])", linalg::solve(a, b(0, all, 1)), a, b);
    c.add("np.linalg.solve(a, a[:, :1] * 1j)", linalg::solve(z, z(all, slice(0, 1)) * std::complex<float>(0, 1)), z, z);
    c.add("np.linalg.svd(a)[1]", linalg::svdvals(a), a);
    c.add("np.linalg.svd(a)[1]", std::get<1>(linalg::svd(i)), i);
    c.add("np.linalg.eigvalsh(a)", linalg::eigvalsh(a), a);
    c.add("np.linalg.eigvalsh(a, 'U')", linalg::eigvalsh(a, linalg::triangle::upper), a);
    c.add("np.linalg.pinv(a)", linalg::pinv(m), m);
    c.add("np.linalg.pinv(a)", linalg::pinv(z), z);
    c.add("np.linalg.pinv(a, 0.5)", linalg::pinv(m, 0.5), m);
    c.add("np.linalg.matrix_rank(a)", linalg::matrix_rank(a), a);
    c.add("np.linalg.matrix_rank(a, 3.0)", linalg::matrix_rank(m, 3), m);
    c.add("np.linalg.matrix_rank(np.outer(a, a))", linalg::matrix_rank(outer(v, v)), v);
    {
        const auto [x, rest, rank, s] = linalg::lstsq(m, v);
        for (const char* part : {"0", "1", "3"}) {
            const std::string expression = std::string("np.linalg.lstsq(a, b)[") + part + "]";
            c.add(expression, part[0] == '0' ? x : part[0] == '1' ? rest : s, m, v);
        }
        c.add("np.int64(np.linalg.lstsq(a, b)[2])", rank, m, v);
        const auto deficient = linalg::lstsq(m(all, array<int>{0, 1, 0}), v);
        c.add("np.linalg.lstsq(a[:, [0, 1, 0]], b)[0]", std::get<0>(deficient), m, v);
        c.add("np.linalg.lstsq(a[:, [0, 1, 0]], b)[1]", std::get<1>(deficient), m, v);
    }
    c.add("np.linalg.cond(a)", linalg::cond(a), a);
    c.add("np.linalg.cond(a, -2)", linalg::cond(a, -2), a);
    c.add("np.linalg.cond(a, 1)", linalg::cond(a, 1), a);
    c.add("np.linalg.cond(a, 'fro').real", linalg::cond(z, "fro"), z);
    c.add("np.linalg.cond(a * 0 + 1, 1)", linalg::cond(i * 0 + 1, 1), i);
    c.add("np.linalg.cond(a * 0)", linalg::cond(i * 0), i);
    c.add("np.linalg.matrix_power(a, -3)", eval(linalg::matrix_power(a, -3)), a);
    c.add("np.linalg.matrix_power(a, 5)", eval(linalg::matrix_power(i, 5)), i);
    c.add("np.linalg.matrix_power(a, 0)", eval(linalg::matrix_power(a, 0)), a);
    c.add("np.linalg.matrix_power(a, 1)", eval(linalg::matrix_power(z, 1)), z);
    c.run();
}

TEST_CASE("norms of every order are NumPy's") {
    if (!test::has_lapack()) return;
    numpy_cases c;
    c.forgive(16);
    constexpr double inf = std::numeric_limits<double>::infinity();
    const array<double> a = drawn<double>({2, 3, 4}, 1), v = a(0, 1);
    c.add_all(std::tie(a, v),
              {"np.linalg.norm(a)", "np.linalg.norm(b)", "np.linalg.norm(b, 1)", "np.linalg.norm(b, 0)",
               "np.linalg.norm(b, np.inf)", "np.linalg.norm(b, -np.inf)", "np.linalg.norm(b, 3)",
               "np.linalg.norm(b, 2)", "np.linalg.norm(b, -1)", "np.linalg.norm(b, -2)"},
              linalg::norm(a), linalg::norm(v), linalg::norm(v, 1), linalg::norm(v, 0), linalg::norm(v, inf),
              linalg::norm(v, -inf), linalg::norm(v, 3), linalg::norm(v, 2), linalg::norm(v + 0, -1),
              linalg::norm(v + 0, -2));
    c.add_all(std::tie(a, v),
              {"np.linalg.norm(a, 1, 1)", "np.linalg.norm(a, None, 1, keepdims=True)",
               "np.linalg.norm(a, None, (0, 2))", "np.linalg.norm(a, 'fro', (-1, 0), keepdims=True)",
               "np.linalg.norm(a, 1, (0, 2))", "np.linalg.norm(a, -1, (2, 0))", "np.linalg.norm(a, np.inf, (1, 2))",
               "np.linalg.norm(a, -np.inf, (1, 2), keepdims=True)", "np.linalg.norm(a, 'nuc', (2, 0))",
               "np.linalg.norm(a, 2, (1, 2), keepdims=True)", "np.linalg.norm(a, -2, (1, 2))"},
              linalg::norm(a, 1, 1), linalg::norm(a, none, 1, keepdims), linalg::norm(a, none, {0, 2}),
              linalg::norm(a, "fro", {-1, 0}, keepdims), linalg::norm(a, 1, {0, 2}), linalg::norm(a, -1, {2, 0}),
              linalg::norm(a, inf, {1, 2}), linalg::norm(a, -inf, {1, 2}, keepdims), linalg::norm(a, "nuc", {2, 0}),
              linalg::norm(a, 2, {1, 2}, keepdims), linalg::norm(a, -2, {1, 2}));
    const array<std::complex<float>> z = drawn<std::complex<float>>({3, 3}, 7);
    const array<int> i = drawn<int>({4}, 8);
    c.add_all(std::tie(z, i), {"np.linalg.norm(a)", "np.linalg.norm(a, 'nuc')", "np.linalg.norm(a, 1)"},
              linalg::norm(z), linalg::norm(z, "nuc"), linalg::norm(z, 1));
    c.add("np.linalg.norm(a, 3)", eval(linalg::norm(i, 3)), i);
    c.add("np.linalg.norm(a)", eval(linalg::norm(array<float16>(astype<float16>(i)))),
          array<float16>(astype<float16>(i)));
    c.run();
    CHECK(thrown<shape_error>([&] { (void)linalg::norm(a, 1); }) ==
          "[norm] shape (2, 3, 4): a norm is over one axis or two, which have to be named");
    CHECK(thrown<shape_error>([&] { (void)linalg::norm(v, "fro"); }) == "[norm] vectors have no norm of order \"fro\"");
    CHECK(thrown<shape_error>([&] { (void)linalg::norm(a(0), 3); }) == "[norm] matrices have no norm of order 3");
    CHECK(thrown<shape_error>([&] { (void)linalg::norm(v, "max"); }) ==
          "[norm] \"max\" is no order of a norm: a number, \"fro\" or \"nuc\" is wanted");
    CHECK_THROWS_AS((void)linalg::norm(a, 1, 3), shape_error);
    CHECK_THROWS_AS((void)linalg::norm(a, 1, {1, -2}), shape_error);
}

TEST_CASE("matrices without elements") {
    if (!test::has_lapack()) return;
    const array<double> none_at_all = zeros({0, 0}), wide = zeros({0, 3}), stack = zeros({0, 2, 2});
    CHECK(linalg::det(none_at_all).item() == 1);
    CHECK(linalg::inv(stack).shape() == shape_like{0, 2, 2});
    CHECK(linalg::cholesky(none_at_all).shape() == shape_like{0, 0});
    CHECK(linalg::solve(none_at_all, wide).shape() == shape_like{0, 3});
    const auto [u, s, vh] = linalg::svd(wide);
    CHECK((u.shape() == shape_like{0, 0} && s.size() == 0 && holds(vh, {3, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1})));
    const auto [q, r] = linalg::qr(array<double>(transpose(wide)), linalg::qr_mode::complete);
    CHECK((r.shape() == shape_like{3, 0} && holds(q, {3, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1})));
    CHECK(std::get<0>(linalg::eigh(stack)).shape() == shape_like{0, 2});
    CHECK(linalg::pinv(wide).shape() == shape_like{3, 0});
    CHECK(holds(std::get<0>(linalg::lstsq(wide, zeros({0}))), {3}, {0, 0, 0}));
    // Without right sides, the rank and the singular values are still the matrix's.
    for (const array<double>& m :
         {array<double>(diag(array<double>{3, 2, 0})), array<double>{{3, 0}, {0, 2}, {0, 0}}}) {
        const auto [x, sums, rank, singular] = linalg::lstsq(m, zeros({3, 0}));
        CHECK(x.shape() == shape_like{m.shape()[1], 0});
        CHECK(sums.shape() == shape_like{0});
        CHECK(rank.item() == 2);
        CHECK(allclose(singular(slice(0, 2)), array<double>{3, 2}).item());
    }
}

TEST_CASE("what a solver cannot do is said, and arrays stay as they are") {
    if (!test::has_lapack()) return;
    const array<double> m = reshape(arange<double>(6), {2, 3}), square = eye(2), singular{{1, 2}, {2, 4}};
    CHECK(thrown<shape_error>([&] { linalg::inv(m); }) == "[inv] shape (2, 3): square matrices are wanted");
    CHECK(thrown<shape_error>([&] { linalg::det(m(0)); }) == "[det] shape (3,): a matrix has two axes");
    for (const auto& f :
         {+[](const array<double>& e) { linalg::cholesky(e); }, +[](const array<double>& e) { linalg::eigh(e); },
          +[](const array<double>& e) { linalg::eigvalsh(e); }, +[](const array<double>& e) { linalg::slogdet(e); },
          +[](const array<double>& e) { (void)linalg::matrix_power(e, 2); }})
        CHECK_THROWS_AS(f(m), shape_error);
    for (const auto& f :
         {+[](const array<double>& e) { linalg::qr(e); }, +[](const array<double>& e) { linalg::svd(e); },
          +[](const array<double>& e) { linalg::matrix_rank(e); }, +[](const array<double>& e) { linalg::pinv(e); }})
        CHECK_THROWS_AS(f(m(0)), shape_error);
    CHECK(thrown<shape_error>([&] { linalg::solve(square, m(0)); }) ==
          "[solve] shapes (2, 2) and (3,): the second has to have as many rows as the first");
    CHECK_THROWS_AS(linalg::solve(zeros({2, 3, 3}), zeros({4, 3, 1})), shape_error);
    CHECK(thrown<shape_error>([&] { linalg::lstsq(zeros({2, 3, 3}), zeros({3})); }) ==
          "[lstsq] shapes (2, 3, 3) and (3,): one matrix is wanted");
    CHECK_THROWS_AS(linalg::lstsq(m, zeros({3})), shape_error);
    CHECK_THROWS_AS(linalg::eig(m), shape_error);

    CHECK(thrown<linalg_error>([&] { linalg::inv(singular); }) ==
          "[inv] the matrix of shape (2, 2) is singular: pivot 1 is 0");
    array<double> stack = zeros({2, 3, 2, 2});
    stack(all, all) = square;
    stack(1, 2) = singular;
    CHECK(thrown<linalg_error>([&] { linalg::solve(stack, square); }) ==
          "[solve] matrix (1, 2) of shape (2, 3, 2, 2) is singular: pivot 1 is 0");
    stack(1, 0) = -1 * square;
    CHECK(thrown<linalg_error>([&] { linalg::cholesky(stack); }) ==
          "[cholesky] matrix (1, 0) of shape (2, 3, 2, 2) is not positive definite: its minor of order 1 is not "
          "positive");
    stack(0, 1, 0, 1) = std::numeric_limits<double>::quiet_NaN();
    CHECK(thrown<linalg_error>([&] { linalg::svd(stack); }) ==
          "[svd] matrix (0, 1) of shape (2, 3, 2, 2) has elements that are infinite or NaN");
    CHECK_THROWS_AS(linalg::eig(stack), linalg_error);
    CHECK_THROWS_AS(linalg::eigh(stack, linalg::triangle::upper), linalg_error);
    CHECK_NOTHROW(linalg::eigh(stack));  // the NaN is not in the triangle that is read
    CHECK(std::isnan(linalg::det(stack(0, 1)).item()));
    CHECK(thrown<dtype_error>([&] {
              (void)linalg::matrix_power(ones<int>({2, 2}), -1);
          }).find("[matrix_power] int32 has no inverse matrices") == 0);
    CHECK(holds(singular * 1, {2, 2}, {1, 2, 2, 4}));
    CHECK(holds(linalg::inv(square * 2), {2, 2}, {0.5, 0, 0, 0.5}));
    CHECK_NOTHROW(synchronize());
}

TEST_CASE("half floats have no solvers, and a GPU lacks some yet") {
    const auto has_inverse = []<class E>(const E&) { return requires(const E& e) { linalg::inv(e); }; };
    CHECK(has_inverse(array<int>{}));
    CHECK(!has_inverse(array<float16>{}));
    CHECK(!has_inverse(array<bfloat16>{}));
}
