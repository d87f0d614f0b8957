// Distributions made of others, and the kernel texts of those that use rejection.
#include <ingot/distributions/composed_distributions.hpp>

#include <string>
#include <vector>

#include <ingot/core/error.hpp>
#include <ingot/ingot.hpp>

#include "runtime/random/next_number.hpp"

namespace ingot::detail {

namespace {

using one_parameter = elementwise_kernel<"int64 number, double a, uint64 seed, uint64 call", "double y">;
using two_parameters = elementwise_kernel<"int64 number, double a, double b, uint64 seed, uint64 call", "double y">;
using three_parameters =
    elementwise_kernel<"int64 number, double a, double b, double c, uint64 seed, uint64 call", "double y">;

// Best and Fisher, 1979: rejection from a wrapped Cauchy distribution. For a kappa so small that its terms cancel, any
// angle is equally likely; for a large one the angle is normally distributed.
constexpr const char* vonmises = R"(const double pi = 3.14159265358979323846;
if (!(b >= 0 && b <= 1e300 && a - a == 0)) {
    y = NAN;
} else if (b < 1e-8) {
    y = pi * (2 * next() - 1);
} else {
    if (b > 1e6) {
        const double radius = sqrt(-2 * log(next()) / b);
        y = a + radius * cos(2 * pi * next());
    } else {
        const double r = 1 + sqrt(1 + 4 * b * b), rho = (r - sqrt(2 * r)) / (2 * b);
        const double s = b < 1e-5 ? 1 / b + b : (1 + rho * rho) / (2 * rho);
        double w = 0;
        for (;;) {
            const double z = cos(pi * next());
            w = (1 + s * z) / (s + z);
            const double v = b * (s - w), u = next();
            if (v * (2 - v) - u >= 0 || log(v / u) + 1 - v >= 0) break;
        }
        const double angle = acos(w < -1 ? -1.0 : w > 1 ? 1.0 : w);
        y = a + (next() < 0.5 ? -angle : angle);
    }
    y -= 2 * pi * floor((y + pi) / (2 * pi));
}
)";

// Devroye, 1986: rejection of the floor of a number with density x^-a.
constexpr const char* zipf = R"(if (!(a > 1)) {
    y = NAN;
} else if (a >= 1025) {
    y = 1;
} else {
    const double less = a - 1, power = pow(2.0, less), least = pow(0x1p63, -less);
    for (;;) {
        const double u = next(), v = next();
        y = floor(pow(u * least + (1 - u), -1 / less));
        if (!(y >= 1 && y <= 0x1p63)) continue;
        const double t = pow(1 + 1 / y, less);
        if (v * y * (t - 1) / (power - 1) <= t / power) break;
    }
}
)";

// Kemp, 1981.
constexpr const char* logseries = R"(if (!(a >= 0 && a < 1)) {
    y = NAN;
} else {
    const double r = log1p(-a);
    for (y = 0; y < 1;) {
        const double v = next();
        if (v >= a) {
            y = 1;
        } else {
            const double q = -expm1(r * next());
            y = v <= q * q ? floor(1 + log(v) / log(q)) : v >= q ? 1.0 : 2.0;
        }
    }
}
)";

// a good elements, b bad ones, c draws. The rarer kind is counted, in the draws or in the rest. For few draws by sums
// of the probabilities, else by Stadlober's HRUA, 1990.
constexpr const char* hypergeometric = R"(const double all = a + b;
if (!(a >= 0 && b >= 0 && c >= 0 && c <= all && all <= 0x1p53)) {
    y = NAN;
} else {
    const double fewer = a < b ? a : b, more = a < b ? b : a, drawn = c < all - c ? c : all - c;
    if (drawn < 10) {
        double p = 1, u = next();
        for (int i = 0; i < drawn; ++i) p *= (more - i) / (all - i);
        for (y = 0; u > p && y < drawn && y < fewer;) {
            u -= p;
            p *= (fewer - y) * (drawn - y) / ((y + 1) * (more - drawn + y + 1));
            y += 1;
        }
    } else {
        const double share = fewer / all, centre = drawn * share + 0.5;
        const double width = sqrt((all - drawn) * drawn * share * (more / all) / (all - 1) + 0.5);
        const double h = 1.7155277699214135 * width + 0.8989161620588988;
        const double mode = floor((drawn + 1) * ((fewer + 1) / (all + 2)));
        const auto weight = [&](double k) {
            return lgamma(k + 1) + lgamma(fewer - k + 1) + lgamma(drawn - k + 1) + lgamma(more - drawn + k + 1);
        };
        const double top = weight(mode), least = drawn < fewer ? drawn : fewer, far = floor(centre + 16 * width);
        const double end = least + 1 < far ? least + 1 : far;
        for (;;) {
            const double u = next(), v = next(), x = centre + h * (v - 0.5) / u;
            if (!(x >= 0 && x < end)) continue;
            y = floor(x);
            const double t = top - weight(y);
            if (u * (4 - u) - 3 <= t) break;
            if (u * (u - t) < 1 && 2 * log(u) <= t) break;
        }
    }
    if (a > b) y = drawn - y;
    if (drawn < c) y = a - y;
}
)";

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
    static const two_parameters text(std::string(next_number) + vonmises, "vonmises");
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
    static const three_parameters text(std::string(next_number) + hypergeometric, "hypergeometric");
    return d.by(text, ngood, nbad, nsample);
}

lazy<double> zipf_numbers(const draw<double>& d, const lazy<double>& a) {
    static const one_parameter text(std::string(next_number) + zipf, "zipf");
    return d.by(text, a);
}

lazy<double> logseries_numbers(const draw<double>& d, const lazy<double>& p) {
    static const one_parameter text(std::string(next_number) + logseries, "logseries");
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
            throw dtype_error("[multinomial] pvals from " + std::to_string(least.item()) + " to " +
                              std::to_string(most.item()) + ", of which all but the last add up to " +
                              std::to_string(before) + ": probabilities from 0 to 1 are wanted, that add up to 1");
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
