// The cross-entropy of a softmax with labels: the loss gathers each row's labelled element, the gradient takes it away
// from the softmax. Both are compared with differences of the loss; then descent on a linear classifier.
// cross_entropy [ROWS] [CLASSES]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include <ingot/ingot.hpp>

using namespace ingot;

namespace {

/// The mean over rows of -log softmax at the label: a row is read once.
auto loss(const array<double>& logits, const array<int>& labels) {
    return -mean(take_along_axis(log_softmax(logits, 1), labels(all, newaxis), 1));
}
/// The gradient of the loss with respect to the logits.
auto gradient_of_loss(const array<double>& logits, const array<int>& labels) {
    const auto labelled = astype<double>(arange<int>(logits.shape()[1]) == labels(all, newaxis));
    return (softmax(logits, 1) - labelled) / static_cast<double>(logits.shape()[0]);
}

}  // namespace

// NOLINTNEXTLINE(bugprone-exception-escape): an error ends the program with its text
int main(int argc, char** argv) {
    const index_t rows = argc > 1 ? std::atoll(argv[1]) : 2000, classes = argc > 2 ? std::atoll(argv[2]) : 10;
    constexpr index_t features = 16;
    random::seed(7);
    const array<double> x = random::normal<double>({rows, features});
    const array<double> truth = random::normal<double>({features, classes});
    const array<int> labels =
        astype<int>(argmax(matmul(x, truth) + random::gumbel<double>(0, 0.3, {rows, classes}), 1));

    array<double> logits = random::normal<double>({rows, classes});
    const auto before = counters().kernel_launches;
    const double start = loss(logits, labels).item();
    const array<double> g = gradient_of_loss(logits, labels);
    const auto launched = counters().kernel_launches - before;
    const double h = 1e-4;
    double off = 0;
    for (index_t k = 0; k < 5; ++k) {
        const index_t i = k * 37 % rows, j = k * 3 % classes;
        array<double> up = logits, down = logits;
        up(i, j) += h;
        down(i, j) -= h;
        const double slope = (loss(up, labels).item() - loss(down, labels).item()) / (2 * h);
        off = std::max(off, std::fabs(slope - g(i, j).item()) * static_cast<double>(rows));
    }
    std::printf("%lld rows, %lld classes: loss %.4f, %llu kernels for loss and gradient\n",
                static_cast<long long>(rows), static_cast<long long>(classes), start,
                static_cast<unsigned long long>(launched));
    std::printf("gradient off what differences give: %.1e\n", off);

    array<double> w = zeros({features, classes});
    for (int step = 0; step < 60; ++step) {
        logits = matmul(x, w);
        w -= 2.0 * matmul(transpose(x), array<double>(gradient_of_loss(logits, labels)));
    }
    logits = matmul(x, w);
    std::printf("after descent: loss %.4f, right: %.3f\n", loss(logits, labels).item(),
                mean(argmax(logits, 1) == labels).item());
}
