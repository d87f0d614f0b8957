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
        const double x = radius * cos(6.28318530717958647692 * next());
        v = 1 + c * x;
        if (v <= 0) continue;
        v = v * v * v;
        rejected = log(next()) >= 0.5 * x * x + d - d * v + d * log(v);
    }
    if (k < 1) further = log(next()) / k;
}
