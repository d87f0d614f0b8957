// Nearest neighbours: two interleaved half circles, told apart by the labels of the nearest known points. All distances
// are an expression, of which `topk` takes the least. nearest_neighbours [KNOWN]
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include <ingot/ingot.hpp>

using namespace ingot;

namespace {

struct sample {
    array<float> points;  // (n, 2)
    array<int> labels;
};

sample two_moons(index_t n, random::generator& g) {
    const array<int> labels = random::integers<int>(0, 2, {n}, false, g);
    const array<float> angle = 3.1415927F * g.uniform<float>({n}), side = astype<float>(1 - 2 * labels);
    const array<float> x = side * cos(angle) + where(labels == 1, 1.0F, 0.0F),
                       y = side * sin(angle) + where(labels == 1, 0.5F, 0.0F);
    return {stack({x, y}, 1) + 0.15F * g.normal<float>({n, 2}), labels};
}

}  // namespace

// NOLINTNEXTLINE(bugprone-exception-escape): an error ends the program with its text
int main(int argc, char** argv) {
    const device d = current_device();
    const index_t n = argc > 1 ? std::atoll(argv[1]) : d.is_cuda() ? 20'000 : 2000, asked = n / 4, neighbours = 7;
    random::generator g(5);
    const sample known = two_moons(n, g), unknown = two_moons(asked, g);
    std::printf("%lld points to be told by %lld, on %s, %s\n", static_cast<long long>(asked), static_cast<long long>(n),
                to_string(d).c_str(), d.name().c_str());
    const auto classify = [&] {
        const auto distances = sum(square(unknown.points(all, newaxis, all) - known.points), -1);
        const auto [least, which] = topk(distances, neighbours, 1, false);
        return array<bool>(sum(take(known.labels, which), 1) * 2 > neighbours);
    };
    classify();  // compiles
    synchronize();
    const auto start = std::chrono::steady_clock::now();
    const array<bool> told = classify();
    synchronize();
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    std::printf("right: %.4f of them, in %.2f ms\n", mean(told == (unknown.labels == 1)).item(), time.count());
}
