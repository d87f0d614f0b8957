// Lists the arrays of .npy and .npz files: of each one the dtype and shape, and the least, the greatest, the mean and
// the deviation of its numbers (of complex ones their absolute values), with the count of NaN, which are left out. The
// five are one statement; the last column says in how many kernels. summary FILE...
#include <complex>
#include <concepts>
#include <cstdio>
#include <sstream>
#include <string>
#include <type_traits>

#include <ingot/ingot.hpp>

using namespace ingot;

namespace {

/// The numbers of an array of any dtype as double, of complex ones their absolute values. load_any compiles this for
/// each dtype; the statement below is compiled once.
constexpr auto as_numbers = [](const auto& x) -> lazy<double> {
    using T = typename std::remove_cvref_t<decltype(x)>::value_type;
    if constexpr (std::same_as<T, std::complex<float>> || std::same_as<T, std::complex<double>>)
        return abs(x);
    else
        return x;
};

void print_line(const std::string& title, const npy_header& header, const lazy<double>& v) {
    std::ostringstream what;
    what << name(header.type) << ' ' << header.shape;
    std::printf("%-20s %-24s", title.c_str(), what.str().c_str());
    if (v.size() == 0) return (void)std::puts(" empty");
    const auto before = counters().kernel_launches;
    const auto [least, greatest, middle, deviation, missing] =
        eval(nanmin(v), nanmax(v), nanmean(v), nanstddev(v), sum(isnan(v)));
    std::printf(" %11.5g %11.5g %11.5g %11.5g %8lld %8llu\n", least.item(), greatest.item(), middle.item(),
                deviation.item(), static_cast<long long>(missing.item()),
                static_cast<unsigned long long>(counters().kernel_launches - before));
}

void summarise(const std::string& path) {
    if (!path.ends_with(".npz")) return print_line(path, npy_info(path), load_any(path, as_numbers));
    const npz_file archive = load_npz(path);
    for (const std::string& array : archive.names())
        print_line(array, archive.info(array), archive.load_any(array, as_numbers));
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
