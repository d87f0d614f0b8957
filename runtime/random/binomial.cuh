// Binomial numbers of n trials of probability p.
//
// Uses the smaller of p and 1 - p. If few are expected by sums of the probabilities, else by Hormann's BTRS, 1993.

const double less = p > 0.5 ? 1 - p : p, ratio = less / (1 - less);
if (!(n >= 0 && n <= 0x1p53 && p >= 0 && p <= 1)) {
    y = NAN;
} else if (n * less < 10) {
    double q = exp(n * log1p(-less)), u = next();
    for (y = 0; u > q && y < n && y < 110;) {
        u -= q;
        y += 1;
        q *= (n - y + 1) / y * ratio;
    }
} else {
    const double root = sqrt(n * less * (1 - less)), b = 1.15 + 2.53 * root;
    const double a = -0.0873 + 0.0248 * b + 0.01 * less, most = 0.92 - 4.2 / b, alpha = (2.83 + 5.1 / b) * root;
    const double mode = floor((n + 1) * less), top = lgamma(mode + 1) + lgamma(n - mode + 1);
    for (;;) {
        const double u = next() - 0.5, v = next(), s = 0.5 - abs(u);
        y = floor((2 * a / s + b) * u + n * less + 0.5);
        if (s >= 0.07 && v <= most) break;
        if (!(y >= 0 && y <= n)) continue;
        if (log(v * alpha / (a / (s * s) + b)) <=
            top - lgamma(y + 1) - lgamma(n - y + 1) + (y - mode) * log(ratio)) break;
    }
}
if (p > 0.5) y = n - y;
