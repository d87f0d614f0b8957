// Gamma numbers of shape k: d * v * exp(further).
//
// Marsaglia and Tsang, 2000: the cube of a shifted normal number; for k below 1, that of k + 1 times a power of a
// uniform number.

double v = NAN, d = 1, further = 0;
if (k > 0 && k <= 1e300) {
    d = (k < 1 ? k + 1 : k) - 1 / 3.0;
    const double c = 1 / sqrt(9 * d);
    for (bool rejected = true; rejected;) {
        const double radius = sqrt(-2 * log(next()));
        const unsigned long long high = word & 0x7ff;
        const double x = radius * cos(6.28318530717958647692 * next()), squared = x * x;
        v = 1 + c * x;
        if (v <= 0) continue;
        v = v * v * v;
        // The high bits of the number that decides are spare ones. Mostly they say that it is below a bound which takes
        // no logarithm.
        const double spare = double(high << 11 | (word & 0x7ff));
        rejected = (spare + 1) * 0x1p-22 > 1 - 0.0331 * squared * squared &&
                   log((spare + next()) * 0x1p-22) >= 0.5 * squared + d - d * v + d * log(v);
    }
    if (k < 1) further = log(next()) / k;
}
