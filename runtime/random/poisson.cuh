// Poisson numbers of mean lam.
//
// Up to 10 by sums of the probabilities; above by Hormann's PTRS, 1993. There the logarithm of a probability is
// computed by lgamma while that is exact enough, and for more by a series in (lam - y) / y.

if (!(lam >= 0)) {
    y = NAN;
} else if (lam < 10) {
    double p = exp(-lam), u = next();
    for (y = 0; u > p && y < 100;) {
        u -= p;
        y += 1;
        p *= lam / y;
    }
} else {
    const double root = sqrt(lam), b = 0.931 + 2.53 * root, a = -0.059 + 0.02483 * b;
    const double inverse = 1.1239 + 1.1328 / (b - 3.4), most = 0.9277 - 3.6224 / (b - 2);
    for (;;) {
        const double u = next() - 0.5, v = next(), s = 0.5 - abs(u);
        y = floor((2 * a / s + b) * u + lam + 0.43);
        if (s >= 0.07 && v <= most) break;
        if (!(y >= 0) || (s < 0.013 && v > s)) continue;
        const double near = (lam - y) / y;
        const double wanted = y < 1000 ? y * log(lam) - lam - lgamma(y + 1)
                                       : y * (log1p(near) - near) - 0.5 * log(6.28318530717958647692 * y) -
                                             1 / (12 * y);
        if (log(v * inverse / (a / (s * s) + b)) <= wanted) break;
    }
}
