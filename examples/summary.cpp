// What is in .npy and .npz files: of each array the dtype and shape, and the least, the greatest, the mean and the
// deviation of its numbers (of complex ones their absolute values), with the count of NaN, which are left out. The five
// are one statement; the last column says in how many kernels.
// summary FILE...
#include <cstdio>
#include <sstream>
#include <string>

#include <ingot/ingot.hpp>

using namespace ingot;

namespace {

template <class T>
void print_line(const std::string& title, const array<T>& x) {
    std::ostringstream what;
    what << name(x.dtype()) << ' ' << x.shape();
    std::printf("%-20s %-24s", title.c_str(), what.str().c_str());
    if (x.size() == 0) return (void)std::puts(" empty");
    const auto before = counters().kernel_launches;
    const auto v = [&] {
        if constexpr (array<T>::type == dtype::c8 || array<T>::type == dtype::c16)
            return astype<double>(abs(x));
        else
            return astype<double>(x);
    }();
    const auto [least, greatest, middle, deviation, missing] =
        eval(nanmin(v), nanmax(v), nanmean(v), nanstddev(v), sum(isnan(v)));
    std::printf(" %11.5g %11.5g %11.5g %11.5g %8lld %8llu\n", least.item(), greatest.item(), middle.item(),
                deviation.item(), static_cast<long long>(missing.item()),
                static_cast<unsigned long long>(counters().kernel_launches - before));
}

void summarise(const std::string& path) {
    if (!path.ends_with(".npz")) return load_any(path, [&](const auto& x) { print_line(path, x); });
    const npz_file archive = load_npz(path);
    for (const std::string& array : archive.names())
        archive.load_any(array, [&](const auto& x) { print_line(array, x); });
}

}  // namespace

int main(int argc, char** argv) try {
    if (argc < 2) {
        std::puts("summary FILE...; of no file, that of three arrays in a file of its own, summary.npz");
        const array<float> waves = sin(linspace<float>(0, 100, 100'000));
        savez_compressed("summary.npz", named("waves", reshape(waves, {100, 1000})),
                         named("spectrum", exp(complex_of(waves, waves))), named("roots", sqrt(waves)));
    }
    std::printf("%45s %11s %11s %11s %11s %8s %8s\n", "", "least", "greatest", "mean", "deviation", "NaN", "kernels");
    for (int i = 1; i < argc; ++i) summarise(argv[i]);
    if (argc < 2) summarise("summary.npz");
} catch (const error& what) {
    std::fprintf(stderr, "%s\n", what.what());
    return 1;
}
