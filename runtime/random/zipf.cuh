// Zipf numbers. Devroye, 1986: rejection of the floor of a number with density x^-a.

if (!(a > 1)) {
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
