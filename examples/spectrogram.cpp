// A spectrogram: frames of a signal, which are a view of it, times a window, transformed; the power of each frequency
// in decibels is a picture. The signal is a tone that rises and one that sways, in noise. spectrogram [FILE.pgm]
#include <cmath>
#include <cstdio>
#include <fstream>
#include <numbers>

#include <ingot/ingot.hpp>

using namespace ingot;

// NOLINTNEXTLINE(bugprone-exception-escape): an error ends the program with its text
int main(int argc, char** argv) {
    const char* const path = argc > 1 ? argv[1] : "spectrogram.pgm";
    const index_t rate = 8000, length = 8 * rate, frame = 512, hop = 64;
    const double pi = std::numbers::pi;

    const array<double> t = arange<double>(static_cast<double>(length)) / static_cast<double>(rate);
    const double slowest = 300, rise = 350;  // Hz, and Hz a second
    const auto rising = sin(2 * pi * (slowest + rise / 2 * t) * t);
    const auto swaying = 0.3 * sin(2 * pi * 3200 * t + 150 * sin(2 * pi * 0.5 * t));
    const array<float> signal = rising + swaying + 0.02 * random::generator(1).normal<double>({length});

    const auto window =
        0.5 - 0.5 * cos(2 * pi / static_cast<double>(frame) * arange<double>(static_cast<double>(frame)));
    const auto frames = sliding_window_view(signal, frame)(slice(0, none, hop));
    const counter_values before = counters();
    const array<float> power = [&] {
        const auto spectrum = fft::rfft(frames * astype<float>(window));
        return 10 * log10(real(spectrum * conj(spectrum)) + 1e-6f);
    }();
    const counter_values after = counters();

    // The top of the picture is the highest frequency, and 70 dB are from white to black.
    const auto grey = clip((power - (max(power) - 70)) / 70, 0, 1);
    const array<std::uint8_t> picture = astype<std::uint8_t>(255 - 255 * flipud(transpose(grey)));
    const auto bytes = picture.to_host();
    std::ofstream file(path, std::ios::binary);
    file << "P5\n" << picture.shape()[1] << ' ' << picture.shape()[0] << "\n255\n";
    file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    file.close();
    if (!file) {
        std::fprintf(stderr, "%s cannot be written\n", path);
        return 1;
    }
    std::printf("%s: %lld frames of %lld frequencies, by %llu kernels and %llu library call\n", path,
                static_cast<long long>(power.shape()[0]), static_cast<long long>(power.shape()[1]),
                static_cast<unsigned long long>(after.kernel_launches - before.kernel_launches),
                static_cast<unsigned long long>(after.library_calls - before.library_calls));

    // The loudest frequency of each frame, beside that of the tone in the frame's middle.
    const array<double> loudest = take(fft::rfftfreq(frame, 1.0 / static_cast<double>(rate)), argmax(power, 1));
    const array<double> middles = t(slice(frame / 2, none))(slice(0, none, hop))(slice(0, loudest.size()));
    const array<double> played = slowest + rise * middles;
    for (index_t i = 0; i < loudest.size(); i += loudest.size() / 5)
        std::printf("%5.2f s: %6.1f Hz, played %6.1f\n", middles(i).item(), loudest(i).item(), played(i).item());
    std::printf("farthest from what was played: %.1f Hz, and frequencies are %.1f apart\n",
                max(abs(loudest - played)).item(), static_cast<double>(rate) / static_cast<double>(frame));
}
