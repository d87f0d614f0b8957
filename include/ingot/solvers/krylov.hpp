// Krylov solvers for operators: cg, bicgstab, gmres and lsqr, as scipy.sparse.linalg has them. An operator is a matrix,
// a sparse matrix, or a function from an array to an expression of the same shape. On a GPU cg and bicgstab are one
// launch that ends by itself, where the operator's work can be recorded; elsewhere the host reads a number each
// iteration.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <ingot/core/array.hpp>
#include <ingot/core/assignment.hpp>
#include <ingot/core/creation.hpp>
#include <ingot/core/reductions.hpp>
#include <ingot/linalg/products.hpp>
#include <ingot/solvers/loops.hpp>

namespace ingot::linalg {

/// The options of cg, bicgstab, gmres and lsqr.
struct iterative_options {
    double rtol = 1e-5;    ///< the residual's norm is to be at most this share of the right-hand side's
    double atol = 0;       ///< or at most this
    index_t maxiter = -1;  ///< iterations at most; -1: ten for each unknown
    index_t restart = 20;  ///< gmres: vectors that are kept
};

/// The reason why a solver ended.
enum class ending : std::uint8_t {
    converged,
    iterations_spent,
    broken_down,  ///< a divisor was 0, or a number not finite
};

/// The solution of a Krylov solver, and how it was found.
template <class T>
struct iterative_solution {
    array<T> x;
    index_t iterations = 0;
    double residual = 0;  ///< the norm of b - A x, by the recurrence
    ending reason = ending::converged;
};

/// The preconditioner that does nothing.
struct no_preconditioner {};

}  // namespace ingot::linalg

namespace ingot::detail {

/// A x as an expression.
template <class A, class T>
decltype(auto) applied(const A& a, const array<T>& x) {
    if constexpr (std::same_as<A, linalg::no_preconditioner>)
        return x;
    else if constexpr (std::invocable<const A&, const array<T>&>)
        return a(x);
    else
        return matmul(a, x);
}

/// A x of a square operator, as an expression. Throws shape_error where it has another shape than x.
template <class A, class T>
decltype(auto) applied_square(const char* operation, const A& a, const array<T>& x) {
    decltype(auto) y = applied(a, x);
    if (y.shape() != x.shape())
        throw shape_error("[" + std::string(operation) + "] the operator makes shape " + to_text(y.shape().values()) +
                          " of shape " + to_text(x.shape().values()) + "; the same is wanted");
    return y;
}

/// A sparse matrix by rows: a csr itself, of the other formats a new csr.
template <class A>
decltype(auto) by_rows(const A& a) {
    if constexpr (requires { a.to_csr(); })
        return a.to_csr();
    else
        return (a);
}
/// The conjugate transpose of a matrix. That of a sparse one is a csr, whose products are the fast ones.
template <class T, class A>
auto adjoint_of(const A& a) {
    constexpr bool is_complex = kind_of(dtype_of<T>) == kind::complex;
    if constexpr (!requires { a.nnz(); }) {
        if constexpr (is_complex)
            return conj(transpose(a));
        else
            return transpose(a);
    } else if constexpr (is_complex) {
        return by_rows(a.transpose()).map_values([](const auto& values) { return conj(values); });
    } else {
        return by_rows(a.transpose());
    }
}

/// The sum of conj(a) b.
template <class A, class B>
auto inner_product(const A& a, const B& b) {
    if constexpr (kind_of(A::type) == kind::complex)
        return sum(conj(a) * b);
    else
        return sum(a * b);
}
template <class A>
auto squared_norm(const A& a) {
    if constexpr (kind_of(A::type) == kind::complex)
        return sum(real(a) * real(a) + imag(a) * imag(a));
    else
        return sum(a * a);
}

/// The state that every solver has: the solution, the residual and when to end.
template <class T>
struct krylov_state {
    using R = norm_type<T>;
    array<T> x, r;
    array<R> rr = zeros<R>(shape_like{});  // the squared norm of r
    array<index_t> turns = zeros<index_t>(shape_like{});
    R enough = 0;
    index_t most = 0;

    template <class A, class B, class G>
    krylov_state(const A& a, const B& b, const linalg::iterative_options& o, const G& guess) : r(own_copy<T>(b)) {
        const double norm = std::sqrt(static_cast<double>(squared_norm(r).item()));
        const double end = std::max(o.rtol * norm, o.atol);
        enough = static_cast<R>(end * end);
        most = o.maxiter >= 0 ? o.maxiter : 10 * std::max<index_t>(r.size(), 1);
        if constexpr (std::same_as<G, linalg::no_preconditioner>) {
            x = zeros<T>(r.shape());
        } else {
            x = broadcast_to(astype<T>(guess), r.shape());
            r = r - applied(a, x);
        }
        assign(rr, squared_norm(r));
    }

    linalg::iterative_solution<T> ended() {
        const R last = rr.item();
        const index_t n = turns.item();
        return {std::move(x), n, std::sqrt(static_cast<double>(last)),
                last <= enough ? linalg::ending::converged
                : n >= most    ? linalg::ending::iterations_spent
                               : linalg::ending::broken_down};
    }

    /// Repeats `body` until the residual is small, not finite, or the iterations are spent.
    template <class F>
    void run(const F& body) {
        repeat_on_device([&] { return rr > enough && rr < std::numeric_limits<R>::infinity() && turns < most; }, body);
    }
};

}  // namespace ingot::detail

namespace ingot::linalg {

/// Solves A x = b for a Hermitian positive definite operator by conjugate gradients. `a` and `m`, a preconditioner that
/// approximates the inverse of A, are matrices or functions from an array of b's shape to an expression of that shape.
/// Throws shape_error where an operator's result has another shape.
///
///     const array<double> a{{4, 1}, {1, 3}}, b{1, 2};
///     const auto s = linalg::cg(a, b, {.rtol = 1e-10});
///     std::cout << round(s.x, 4) << ' ' << s.iterations << ' ' << (s.reason == linalg::ending::converged);
///     // prints: [0.0909 0.6364] 2 1
template <class A, array_expression B, class M = no_preconditioner, class G = no_preconditioner>
iterative_solution<detail::unknown_of<B>> cg(const A& a, const B& b, const iterative_options& options = {},
                                             const M& m = {}, const G& guess = {}) {
    using T = detail::unknown_of<B>;
    detail::krylov_state<T> s(a, b, options, guess);
    constexpr bool plain = std::same_as<M, no_preconditioner>;
    // Arrays of their own: what shares memory would get new memory when it is written.
    array<T> p = detail::own_copy<T>(detail::applied(m, s.r)), q = zeros<T>(s.r.shape()), z = zeros<T>(s.r.shape());
    array<T> rz = detail::inner_product(s.r, p), step = zeros<T>(shape_like{}), last = zeros<T>(shape_like{});
    s.run([&] {
        assign(q, detail::applied_square("cg", a, p));
        assign(step, rz / detail::inner_product(p, q));
        assign(std::forward_as_tuple(s.x, s.r), s.x + step * p, s.r - step * q);
        assign(last, rz);
        if constexpr (plain) {
            assign(rz, detail::inner_product(s.r, s.r));
            assign(s.rr, detail::squared_norm(s.r));
            assign(p, s.r + rz / last * p);
        } else {
            assign(z, detail::applied(m, s.r));
            assign(rz, detail::inner_product(s.r, z));
            assign(s.rr, detail::squared_norm(s.r));
            assign(p, z + rz / last * p);
        }
        s.turns += index_t{1};
    });
    return s.ended();
}

/// Solves A x = b for any square operator by stabilised biconjugate gradients. Arguments and errors as those of `cg`.
///
///     const array<double> a{{4, 1}, {-2, 3}}, b{1, 2};
///     std::cout << round(linalg::bicgstab(a, b, {.rtol = 1e-10}).x, 4);
///     // prints: [0.0714 0.7143]
template <class A, array_expression B, class M = no_preconditioner, class G = no_preconditioner>
iterative_solution<detail::unknown_of<B>> bicgstab(const A& a, const B& b, const iterative_options& options = {},
                                                   const M& m = {}, const G& guess = {}) {
    using T = detail::unknown_of<B>;
    detail::krylov_state<T> s(a, b, options, guess);
    const array<T> shadow = detail::own_copy<T>(s.r);
    array<T> p = zeros<T>(s.r.shape()), v = detail::own_copy<T>(p), t = detail::own_copy<T>(p),
             ph = detail::own_copy<T>(p), sh = detail::own_copy<T>(p);
    array<T> rho = ones<T>(shape_like{}), alpha = detail::own_copy<T>(rho), omega = detail::own_copy<T>(rho),
             beta = detail::own_copy<T>(rho), now = detail::own_copy<T>(rho);
    s.run([&] {
        assign(now, detail::inner_product(shadow, s.r));
        assign(beta, now / rho * (alpha / omega));
        assign(rho, now);
        assign(p, s.r + beta * (p - omega * v));
        assign(ph, detail::applied(m, p));
        assign(v, detail::applied_square("bicgstab", a, ph));
        assign(alpha, rho / detail::inner_product(shadow, v));
        assign(s.r, s.r - alpha * v);
        assign(sh, detail::applied(m, s.r));
        assign(t, detail::applied_square("bicgstab", a, sh));
        // A residual that is exactly 0 ends the iteration: 0 / 0 is not to spoil the solution.
        assign(omega,
               where(detail::squared_norm(t) == 0, T(0), detail::inner_product(t, s.r) / detail::squared_norm(t)));
        assign(std::forward_as_tuple(s.x, s.r), s.x + alpha * ph + omega * sh, s.r - omega * t);
        assign(s.rr, detail::squared_norm(s.r));
        s.turns += index_t{1};
    });
    return s.ended();
}

/// Solves A x = b for any square operator by generalised minimal residuals, begun anew after `restart` iterations, with
/// the preconditioner on the right. The host reads the new column of the Hessenberg matrix in each iteration. Arguments
/// and errors as those of `cg`.
///
///     const array<double> a{{0, 1}, {-2, 3}}, b{1, 2};
///     std::cout << round(linalg::gmres(a, b, {.rtol = 1e-10}).x, 4);
///     // prints: [0.5 1. ]
template <class A, array_expression B, class M = no_preconditioner, class G = no_preconditioner>
iterative_solution<detail::unknown_of<B>> gmres(const A& a, const B& b, const iterative_options& options = {},
                                                const M& m = {}, const G& guess = {}) {
    using T = detail::unknown_of<B>;
    using R = detail::norm_type<T>;
    if (options.restart < 1)
        throw error("[gmres] restart " + std::to_string(options.restart) + "; at least 1 is wanted");
    detail::krylov_state<T> s(a, b, options, guess);
    const index_t n = s.r.size(), kept = std::clamp<index_t>(options.restart, 1, std::max<index_t>(n, 1));
    const auto k_most = static_cast<std::size_t>(kept);
    const shape_like shape(s.r.shape());
    array<T> basis = zeros<T>({kept + 1, n});
    index_t turns = 0;
    const auto conjugate = [](T v) {
        if constexpr (detail::kind_of(detail::dtype_of<T>) == detail::kind::complex)
            return std::conj(v);
        else
            return v;
    };
    R norm = std::sqrt(s.rr.item());
    const R end = std::sqrt(s.enough);
    bool broken = false;
    while (norm > end && turns < s.most && !broken && std::isfinite(norm)) {
        basis(0) = reshape(s.r, {n}) / T(norm);
        // Columns of the Hessenberg matrix, made upper triangular by rotations, and its right-hand side.
        std::vector<std::vector<T>> h;
        std::vector<T> g(k_most + 1), sines;
        std::vector<R> cosines;
        g[0] = T(norm);
        index_t k = 0;
        for (; k < kept && turns < s.most && norm > end; ++k, ++turns) {
            const array<T> v = reshape(basis(k), shape);
            array<T> w = reshape(detail::applied_square("gmres", a, array<T>(detail::applied(m, v))), {n});
            std::vector<T> column(static_cast<std::size_t>(k) + 2);
            for (int pass = 0; pass < 2; ++pass) {  // once more, against rounding
                array<T> along;
                if constexpr (detail::kind_of(detail::dtype_of<T>) == detail::kind::complex)
                    along = sum(conj(basis(slice(0, k + 1))) * w, 1);
                else
                    along = sum(basis(slice(0, k + 1)) * w, 1);
                w = w - sum(basis(slice(0, k + 1)) * along(all, newaxis), 0);
                const std::vector<T> part = along.to_host();
                for (std::size_t i = 0; i < part.size(); ++i) column[i] += part[i];
            }
            const R length = std::sqrt(detail::squared_norm(w).item());
            column[static_cast<std::size_t>(k) + 1] = T(length);
            const auto at = static_cast<std::size_t>(k);
            for (std::size_t i = 0; i < at; ++i) {
                const T upper = column[i], lower = column[i + 1];
                column[i] = cosines[i] * upper + sines[i] * lower;
                column[i + 1] = -conjugate(sines[i]) * upper + cosines[i] * lower;
            }
            const R size = std::hypot(std::abs(column[at]), length), head = std::abs(column[at]);
            if (!(size > 0) || !std::isfinite(size)) {
                broken = true;
                break;
            }
            // The rotation that takes the lower entry away.
            const T turn = head > 0 ? column[at] / head : T(1);
            cosines.push_back(head / size);
            sines.push_back(turn * (length / size));
            column[at] = turn * size;
            g[at + 1] = -conjugate(sines[at]) * g[at];
            g[at] = cosines[at] * g[at];
            norm = std::abs(g[at + 1]);
            h.push_back(std::move(column));
            if (length > 0) basis(k + 1) = w / T(length);
        }
        const std::size_t columns = h.size();
        std::vector<T> y(columns);
        for (std::size_t i = columns; i-- > 0;) {
            y[i] = g[i];
            for (std::size_t j = i + 1; j < columns; ++j) y[i] -= h[j][i] * y[j];
            y[i] /= h[i][i];
        }
        if (columns > 0) {
            const array<T> weights = asarray<T>(y);
            const array<T> correction =
                reshape(sum(basis(slice(0, static_cast<index_t>(columns))) * weights(all, newaxis), 0), shape);
            s.x = s.x + detail::applied(m, correction);
            s.r = astype<T>(b) - detail::applied_square("gmres", a, s.x);
            norm = std::sqrt(detail::squared_norm(s.r).item());
        }
    }
    return {std::move(s.x), turns, static_cast<double>(norm),
            norm <= end       ? ending::converged
            : turns >= s.most ? ending::iterations_spent
                              : ending::broken_down};
}

/// Minimises the norm of A x - b by the bidiagonalisation of Golub and Kahan (Paige and Saunders, 1982). `a` is a
/// matrix, a sparse one too, or a std::pair of two functions: x to A x, and y to the conjugate transpose of A times y.
/// The transpose of a sparse matrix is computed once and kept. `residual` is the norm of b - A x; the iteration ends
/// too where the conjugate transpose of A takes the residual to `rtol` of their norms. Throws as `cg`.
///
///     const array<double> a{{1, 0}, {1, 1}, {1, 2}}, b{1, 3, 5};
///     std::cout << round(linalg::lsqr(a, b, {.rtol = 1e-10}).x, 4) << ' ';
///     const auto forward = [&](const array<double>& x) { return matmul(a, x); };
///     const auto adjoint = [&](const array<double>& y) { return matmul(transpose(a), y); };
///     std::cout << round(linalg::lsqr(std::pair(forward, adjoint), b, {.rtol = 1e-10}).x, 4);
///     // prints: [1. 2.] [1. 2.]
template <class A, array_expression B>
iterative_solution<detail::unknown_of<B>> lsqr(const A& a, const B& b, const iterative_options& options = {}) {
    using T = detail::unknown_of<B>;
    using R = detail::norm_type<T>;
    // The two operators.
    const auto operators = [&] {
        if constexpr (requires { std::get<1>(a); })
            return std::pair(std::cref(std::get<0>(a)), std::cref(std::get<1>(a)));
        else
            return std::pair<decltype(detail::by_rows(a)), decltype(detail::adjoint_of<T>(a))>(
                detail::by_rows(a), detail::adjoint_of<T>(a));
    }();
    const auto forward = [&](const array<T>& x) { return array<T>(detail::applied(operators.first, x)); };
    const auto backward = [&](const array<T>& y) { return array<T>(detail::applied(operators.second, y)); };
    const auto norm_of = [](const array<T>& x) { return static_cast<R>(std::sqrt(detail::squared_norm(x).item())); };
    array<T> u = astype<T>(b);
    R beta = norm_of(u);
    const R of_b = beta;
    if (beta > 0) u = u / T(beta);
    array<T> v = backward(u);
    R alpha = norm_of(v);
    if (alpha > 0) v = v / T(alpha);
    array<T> w = v, x = zeros<T>(v.shape());
    R rho_bar = alpha, phi_bar = beta, of_a = 0;
    const index_t most = options.maxiter >= 0 ? options.maxiter : 10 * std::max<index_t>(x.size(), 1);
    const R end = static_cast<R>(std::max(options.rtol * static_cast<double>(of_b), options.atol));
    index_t turns = 0;
    bool fits = phi_bar <= end || alpha * beta == 0;
    while (!fits && turns < most && std::isfinite(phi_bar)) {
        u = forward(v) - T(alpha) * u;
        beta = norm_of(u);
        if (beta > 0) u = u / T(beta);
        of_a = std::sqrt(of_a * of_a + alpha * alpha + beta * beta);
        v = backward(u) - T(beta) * v;
        alpha = norm_of(v);
        if (alpha > 0) v = v / T(alpha);
        const R rho = std::hypot(rho_bar, beta), c = rho_bar / rho, s = beta / rho, theta = s * alpha;
        const R phi = c * phi_bar;
        rho_bar = -c * alpha;
        phi_bar = s * phi_bar;
        x = x + T(phi / rho) * w;
        w = v - T(theta / rho) * w;
        ++turns;
        fits = phi_bar <= end || phi_bar * alpha * std::abs(c) <= static_cast<R>(options.rtol) * of_a * phi_bar;
    }
    return {std::move(x), turns, static_cast<double>(phi_bar),
            fits            ? ending::converged
            : turns >= most ? ending::iterations_spent
                            : ending::broken_down};
}

}  // namespace ingot::linalg
