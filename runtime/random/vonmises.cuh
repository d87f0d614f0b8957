// Von Mises numbers: a is mu, b is kappa.
//
// Best and Fisher, 1979: rejection from a wrapped Cauchy distribution. For a kappa so small that its terms cancel, any
// angle is equally likely; for a large one the angle is normally distributed.

const double pi = 3.14159265358979323846;
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
