// Logarithmic series numbers: a is p. Kemp, 1981.

if (!(a >= 0 && a < 1)) {
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
