// Drawn statements over rows of 1 to 300 elements on the host, in ranks 1 to 4: broadcasts of rows and columns, random
// leaves, folds and row programs beside functions that cost much and little. Each is printed as Python that NumPy
// understands, with the shape and the CPU time of one evaluation; short_rows.py runs both and compares.
//   INGOT_DEVICE=host short_rows [SEED [DRAWS]]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <random>
#include <string>

#include <ingot/ingot.hpp>

namespace {

using namespace ingot;

double cpu_milliseconds() {
    std::timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) * 1e-6;
}

void print_time(const char* type, const std::vector<index_t>& shape, const char* python,
                const std::function<void()>& run) {
    double least = 1e9;
    for (int turn = 0; turn < 6; ++turn) {
        const double from = cpu_milliseconds();
        run();
        if (turn > 0) least = std::min(least, cpu_milliseconds() - from);
    }
    std::printf("%s\t", type);
    for (std::size_t a = 0; a < shape.size(); ++a) std::printf(a == 0 ? "%lld" : ",%lld", (long long)shape[a]);
    std::printf("\t%s\t%.4f\n", python, least);
}

template <class T>
void draw(std::mt19937& random, const char* type) {
    const auto below = [&](unsigned n) { return static_cast<index_t>(random() % n); };
    std::vector<index_t> shape(static_cast<std::size_t>(1 + below(4)));
    shape.back() = below(2) == 0 ? 1 + below(31) : 1 + below(300);
    for (std::size_t a = 1; a + 1 < shape.size(); ++a) shape[a] = 1 + below(12);
    if (shape.size() > 1) {
        index_t rest = 1;
        for (std::size_t a = 1; a < shape.size(); ++a) rest *= shape[a];
        shape[0] = 1 + 400000 / rest;
    }
    std::vector<index_t> of_column = shape;
    of_column.back() = 1;
    const array<T> x = random::uniform<T>(shape) + T(0.5), v = random::uniform<T>({shape.back()}) + T(0.5);
    const array<T> c = random::uniform<T>(of_column) + T(0.5);
    array<T> z;
    const int last = -1;
    switch (below(10)) {
        case 0:
            return print_time(type, shape, "x + v", [&] { z = x + v; });
        case 1:
            return print_time(type, shape, "x * c - v", [&] { z = x * c - v; });
        case 2:
            return print_time(type, shape, "np.log(x + v)", [&] { z = log(x + v); });
        case 3:
            return print_time(type, shape, "np.power(x, v) + c", [&] { z = power(x, v) + c; });
        case 4:
            return print_time(type, shape, "x * np.exp(c)", [&] { z = x * exp(c); });
        case 5:
            return print_time(type, shape, "uniform(x.shape) * v", [&] { z = random::uniform<T>(shape) * v; });
        case 6:
            return print_time(type, shape, "normal(x.shape) * v", [&] { z = random::normal<T>(shape) * v; });
        case 7:
            return print_time(type, shape, "np.exp(x * v).sum(-1)", [&] { z = sum(exp(x * v), last); });
        case 8:
            return print_time(type, shape, "np.log(x + v).sum()", [&] { z = sum(log(x + v)); });
        default:
            return print_time(type, shape, "np.exp(x - c) / np.exp(x - c).sum(-1, keepdims=True)",
                              [&] { z = exp(x - c) / sum(exp(x - c), last, keepdims); });
    }
}

}  // namespace

int main(int argc, char** argv) {
    const with_device on_host(device::host());
    std::mt19937 random(argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 1);
    const int draws = argc > 2 ? std::atoi(argv[2]) : 100;
    for (int i = 0; i < draws; ++i) {
        if (random() % 2 == 0)
            draw<float>(random, "f4");
        else
            draw<double>(random, "f8");
        std::fflush(stdout);
    }
}
