// Hypergeometric numbers: a good elements, b bad ones, c draws.
//
// The rarer kind is counted, in the draws or in the rest. For few draws by sums of the probabilities, else by
// Stadlober's HRUA, 1990.

const double all = a + b;
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
