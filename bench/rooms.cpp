// Filters of images, signals, sparse matrices and distances: their time beside the wanted one, their kernels, and the
// time to the first result. rooms.py times the same statements of CuPy.
//   rooms RESULTS.jsonl [SHRINK]
// SHRINK divides the first extent of every shape by 2^SHRINK, for trials without goals.
#include <complex>
#include <cstdlib>

#include <ingot/ingot.hpp>
#include <ingot/ndimage.hpp>
#include <ingot/signal.hpp>
#include <ingot/sparse.hpp>
#include <ingot/spatial.hpp>

#include "goal_table.hpp"

using namespace ingot;

namespace {

class table : bench::goal_table {
public:
    using goal_table::goal_table;

    void run() {
        filters();
        measurements();
        places();
        signals();
        distances();
        sparse_matrices();
    }

private:
    void filters() {
        const array<float> x = random::uniform<float>({first(8192), 8192});
        const array<std::uint8_t> bytes = random::integers<std::uint8_t>(0, 255, {first(8192), 8192});
        const ndimage::neighbourhood weights(random::uniform<float>({7, 7}));
        array<float> z;
        array<std::uint8_t> b;
        measure("gaussian_filter, 8192^2, sigma 2", 400, [&] { z = ndimage::gaussian_filter(x, 2); });
        measure("uniform_filter of 9, 8192^2", 300, [&] { z = ndimage::uniform_filter(x, 9); });
        measure("maximum_filter of 9, 8192^2", 300, [&] { z = ndimage::maximum_filter(x, 9); });
        measure("sobel, 8192^2", 300, [&] { z = ndimage::sobel(x); });
        measure("convolve by 7 x 7, 8192^2", 350, [&] { z = ndimage::convolve(x, weights); });
        measure("median_filter 3 x 3 of bytes, 8192^2", 200, [&] { b = ndimage::median_filter(bytes, 3); });
        const array<float> kernel = random::uniform<float>({65, 65});
        measure("fftconvolve by 65 x 65, 8192^2", 2500,
                [&] { z = signal::fftconvolve(x, kernel, convolve_mode::same); });
        measure("median_filter 5 x 5, 8192^2", 1500, [&] { z = ndimage::median_filter(x, 5); });
    }

    void measurements() {
        const array<bool> x = random::uniform<float>({first(4096), 4096}) > 0.5f;
        measure("label, 4096^2", 600, [&] { ndimage::label(x); });
    }

    void places() {
        const index_t n = first(4096);
        const array<float> x = random::uniform<float>({n, 4096}),
                           at = random::uniform<float>({2, first(1 << 24)}) * static_cast<float>(n - 1);
        array<float> z;
        measure("map_coordinates of 2^24 places, order 1", 450,
                [&] { z = ndimage::map_coordinates(x, at, {.order = 1}); });
        measure("map_coordinates of 2^24 places, order 3", 3000, [&] { z = ndimage::map_coordinates(x, at); });
        measure("zoom 2 of 4096^2, order 1", 150, [&] { z = ndimage::zoom(x, 2, {.order = 1}); });
    }

    void signals() {
        const auto sos = signal::butter(4, 0.2).sos();
        const array<float> rows = random::uniform<float>({first(4096), 65536});
        array<float> z;
        measure("sosfilt of butter(4), (4096, 65536)", 2500, [&] { z = signal::sosfilt(sos, rows); });
        measure("savgol_filter of 11, (4096, 65536)", 700, [&] { z = signal::savgol_filter(rows, 11, 3); });
        const array<float> x = random::uniform<float>({first(1 << 26)});
        array<std::complex<float>> spectra;
        measure("stft of 2^26, 1024", 1500, [&] { spectra = signal::stft(x, 1, {.nperseg = 1024}).s; });
        measure("welch of 2^26, 1024", 700, [&] { z = signal::welch(x, 1, {.nperseg = 1024}).p; });
        measure("resample_poly 3 / 2 of 2^26", 500, [&] { z = signal::resample_poly(x, 3, 2); });
    }

    void distances() {
        const array<float> x = random::uniform<float>({first(16384), 3});
        array<float> z;
        measure("cdist of 16384^2 in three dimensions", 280, [&] { z = spatial::cdist(x, x); });
    }

    void sparse_matrices() {
        const index_t n = first(1 << 20), entries = 10 * first(1000000);
        const auto triplets = [&](index_t count) {
            return sparse::coo<float, int>(random::uniform<float>(count), random::integers<index_t>(0, n, count),
                                           random::integers<index_t>(0, n, count), {n, n});
        };
        const sparse::csr<float, int> a = triplets(entries).to_csr(), b = triplets(entries).to_csr();
        const array<float> x = random::uniform<float>(n), many = random::uniform<float>({n, 32});
        array<float> z;
        measure("CSR of 2^20 rows and 10^7 entries by a vector", 124, [&] { z = matmul(a, x); });
        measure("the same, with a map behind", 124, [&] { z = matmul(a, x) * 2 + x; });
        measure("CSR of 2^20 rows and 10^7 entries by 32 columns", 2500, [&] { z = matmul(a, many); });
        sparse::csr<float, int> made;
        measure("CSR + CSR of 10^7", 2000, [&] { made = a + b; });
        const array<float> values = random::uniform<float>(entries);
        const array<index_t> rows = random::integers<index_t>(0, n, entries),
                             columns = random::integers<index_t>(0, n, entries);
        measure("COO to CSR of 10^7", 3000,
                [&] { made = sparse::coo<float, int>(values, rows, columns, {n, n}).to_csr(); });

        const index_t side = first(2048);
        const array<float> line = ones<float>(side * side);
        const sparse::csr<float, int> laplacian(
            sparse::diags<float, int>({line * -4.0f, line(slice(1, none)), line(slice(1, none)),
                                       line(slice(side, none)), line(slice(side, none))},
                                      {0, 1, -1, side, -side}));
        const array<float> v = random::uniform<float>(side * side);
        measure("five points as CSR, 2048^2, by a vector", 80, [&] { z = matmul(laplacian, v); });
    }
};

}  // namespace

// NOLINTNEXTLINE(bugprone-exception-escape): an error ends the program with its text
int main(int argc, char** argv) {
    if (argc < 2) return std::fprintf(stderr, "usage: rooms RESULTS.jsonl [SHRINK]\n"), 2;
    table("rooms", argv[1], argc > 2 ? std::atoi(argv[2]) : 0).run();
}
