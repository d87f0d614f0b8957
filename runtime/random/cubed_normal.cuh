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
        // The sine of half a turn, by its series: no branches. Each sum of a product is an fma, so that every target has
        // the same bits.
        const double angle = 3.14159265358979323846 * (next() - 0.5), s = angle * angle;
        double sine = fma(1.9572941063391263e-20, s, -8.22063524662433e-18);
        sine = fma(fma(sine, s, 2.8114572543455206e-15), s, -7.647163731819816e-13);
        sine = fma(fma(sine, s, 1.6059043836821613e-10), s, -2.505210838544172e-08);
        sine = fma(fma(sine, s, 2.7557319223985893e-06), s, -0.0001984126984126984);
        sine = fma(fma(sine, s, 0.008333333333333333), s, -0.16666666666666666);
        const double x = radius * fma(sine * s, angle, angle), squared = x * x;
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
