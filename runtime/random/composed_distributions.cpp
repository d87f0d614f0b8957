// Distributions made of others, and the kernel texts of those that use rejection.
#include <ingot/distributions/composed_distributions.hpp>

#include <string>
#include <vector>

#include <ingot/core/error.hpp>
#include <ingot/ingot.hpp>

#include "runtime/random/hypergeometric.cuh.hpp"
#include "runtime/random/logseries.cuh.hpp"
#include "runtime/random/next_number.hpp"
#include "runtime/random/vonmises.cuh.hpp"
#include "runtime/random/zipf.cuh.hpp"
#include "runtime/system/number_text.hpp"

namespace ingot::detail {

namespace {

using one_parameter = elementwise_kernel<"int64 number, double a, uint64 seed, uint64 call", "double y">;
using two_parameters = elementwise_kernel<"int64 number, double a, double b, uint64 seed, uint64 call", "double y">;
using three_parameters =
    elementwise_kernel<"int64 number, double a, double b, double c, uint64 seed, uint64 call", "double y">;

/// Gamma numbers of shape df / 2 are chisquare / 2.
lazy<double> gamma_numbers(const draw<double>& d, const lazy<double>& k) { return d.by(gamma_kernel(), k); }
lazy<double> poisson_numbers(const draw<double>& d, const lazy<double>& lam) { return d.by(poisson_kernel(), lam); }

/// The shape with the distribution's last axis. Throws shape_error where the argument has no axis.
std::vector<index_t> with_last_axis(const char* operation, const shape_like& given, const shape_like& shape) {
    if (given.count() == 0)
        throw shape_error("[" + std::string(operation) +
                          "] probabilities without an axis: an axis with one for each outcome is wanted");
    std::vector<index_t> all(shape.begin(), shape.end());
    all.push_back(given[given.count() - 1]);
    return all;
}

}  // namespace

lazy<double> standard_t_numbers(const draw<double>& d, const lazy<double>& df) {
    const lazy<double> half = df / 2;
    return d.normal() * sqrt(half / gamma_numbers(d, half));
}

lazy<double> f_numbers(const draw<double>& d, const lazy<double>& dfnum, const lazy<double>& dfden) {
    return gamma_numbers(d, dfnum / 2) / dfnum * (dfden / gamma_numbers(d, dfden / 2));
}

lazy<double> noncentral_chisquare_numbers(const draw<double>& d, const lazy<double>& df, const lazy<double>& nonc) {
    // A chi-square of df + 2 i degrees of freedom, where i is a Poisson number of mean nonc / 2.
    return 2 * gamma_numbers(d, df / 2 + poisson_numbers(d, nonc / 2));
}

lazy<double> wald_numbers(const draw<double>& d, const lazy<double>& mean, const lazy<double>& scale) {
    // The smaller root of the equation that a chi-square of one degree gives, or the greater one, mean^2 / x.
    const lazy<double> q = 4 * scale / (mean * square(d.normal()));
    const lazy<double> part = where(isinf(q), 1, q / square(sqrt(1 + q) + 1));
    return mean * where(d.uniform() <= 1 / (1 + part), part, 1 / part);
}

lazy<double> vonmises_numbers(const draw<double>& d, const lazy<double>& mu, const lazy<double>& kappa) {
    static const two_parameters text(with_next_number(embedded::vonmises), "vonmises");
    return d.by(text, mu, kappa);
}

lazy<double> truncated_normal_numbers(const draw<double>& d, const lazy<double>& lower, const lazy<double>& upper) {
    // Above 0 the mirrored interval is used, whose tail does not cancel.
    const lazy<bool> mirrored = lower > 0;
    const lazy<double> from = where(mirrored, -upper, lower), to = where(mirrored, -lower, upper);
    const lazy<double> low = ndtr(from), x = clip(ndtri(low + (ndtr(to) - low) * d.inside()), from, to);
    return where(mirrored, -x, x);
}

lazy<double> negative_binomial_numbers(const draw<double>& d, const lazy<double>& n, const lazy<double>& p) {
    return poisson_numbers(d, gamma_numbers(d, n) * ((1 - p) / p));
}

lazy<double> hypergeometric_numbers(const draw<double>& d, const lazy<double>& ngood, const lazy<double>& nbad,
                                    const lazy<double>& nsample) {
    static const three_parameters text(with_next_number(embedded::hypergeometric), "hypergeometric");
    return d.by(text, ngood, nbad, nsample);
}

lazy<double> zipf_numbers(const draw<double>& d, const lazy<double>& a) {
    static const one_parameter text(with_next_number(embedded::zipf), "zipf");
    return d.by(text, a);
}

lazy<double> logseries_numbers(const draw<double>& d, const lazy<double>& p) {
    static const one_parameter text(with_next_number(embedded::logseries), "logseries");
    return d.by(text, p);
}

lazy<double> dirichlet_numbers(const lazy<double>& alpha, const shape_like& shape, random::generator& g) {
    const shape_like all = with_last_axis("dirichlet", alpha.shape(), shape);
    const draw<double> d("dirichlet", all, g);
    return softmax(lazy<double>(d.by(log_gamma_kernel(), d.parameter("alpha", alpha))), -1);
}

array<std::int64_t> multinomial_counts(const lazy<double>& n, const lazy<double>& pvals, const shape_like& shape,
                                       random::generator& g) {
    const std::vector<index_t> all = with_last_axis("multinomial", pvals.shape(), shape);
    const index_t outcomes = all.back();
    const array<double> p = pvals, sums = cumsum(p, -1);
    if (p.size() != 0) {
        const auto [least, most] = eval(min(p), max(p));
        const double before = outcomes < 2 ? 0 : max(sums(ellipsis, outcomes - 2)).item();
        if (!(least.item() >= 0 && most.item() <= 1 && before <= 1 + 1e-12))
            throw dtype_error("[multinomial] pvals from " + runtime::number_text(least.item()) + " to " +
                              runtime::number_text(most.item()) + ", of which all but the last add up to " +
                              runtime::number_text(before) +
                              ": probabilities from 0 to 1 are wanted, that add up to 1");
    }
    array<std::int64_t> counts = zeros<std::int64_t>(all);
    array<double> left = broadcast_to(n, shape);
    for (index_t i = 0; i < outcomes; ++i) {
        if (i + 1 == outcomes) {
            counts(ellipsis, i) = left;
            break;
        }
        const lazy<double> rest = i == 0 ? lazy<double>(scalar(1.0)) : lazy<double>(1 - sums(ellipsis, i - 1));
        const lazy<double> part = where(rest > 0, clip(p(ellipsis, i) / rest, 0, 1), 0);
        const draw<double> d("multinomial", shape, g);
        const array<double> taken = d.by(binomial_kernel(), left, d.parameter("pvals", part));
        counts(ellipsis, i) = taken;
        left -= taken;
    }
    return counts;
}

lazy<std::int64_t> categories(const lazy<double>& logits, const shape_like* shape, random::generator& g) {
    const shape_like given = logits.shape();
    const shape_like batch(given.values().first(given.size() == 0 ? 0 : given.size() - 1));
    const shape_like all = with_last_axis("categorical", given, shape != nullptr ? *shape : batch);
    return argmax(random::gumbel<double>(0, 1, all, g) + broadcast_to(logits, all), -1);
}

void check_sample_size(double ngood, double nbad, double nsample) {
    if (nsample > ngood + nbad)
        throw dtype_error("[hypergeometric] nsample is " + std::to_string(static_cast<index_t>(nsample)) +
                          ", and ngood + nbad is " + std::to_string(static_cast<index_t>(ngood + nbad)) +
                          ": at most that many can be drawn");
}

}  // namespace ingot::detail
