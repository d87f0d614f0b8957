// A function written once, as a generic lambda, serves a number and an array: softplus(z) = log(1 + exp(z)), in the
// form that neither overflows nor loses small results.
#include <cmath>
#include <cstdio>
#include <iostream>
#include <vector>

#include <ingot/ingot.hpp>

using namespace ingot;

int main() {
    const auto softplus = [](const auto& z) { return log1p(exp(-abs(z))) + maximum(z, 0); };

    const array<double> z{-1000, -40, -2, -0.5, 0, 0.5, 2, 40, 1000};
    const std::vector<double> arguments = z.to_host();
    const std::vector<double> as_array = softplus(z).to_host();
    const std::vector<double> naive = log(1 + exp(z)).to_host();

    std::printf("%8s %24s %24s %24s\n", "z", "of a number", "of an array", "log(1 + exp(z))");
    for (std::size_t i = 0; i < arguments.size(); ++i)
        std::printf("%8g %24.16g %24.16g %24.16g\n", arguments[i], softplus(arguments[i]), as_array[i], naive[i]);

    // It takes expressions too, and joins the kernel of the operations around it.
    const array<float> x = random::normal<float>({1 << 20});
    const auto before = counters().kernel_launches;
    const array<float> mish = x * tanh(softplus(x));
    std::printf("\nmish(x) = x * tanh(softplus(x)) over %lld elements: %llu kernel\n", static_cast<long long>(x.size()),
                static_cast<unsigned long long>(counters().kernel_launches - before));
    std::cout << "x       " << x << "\nmish(x) " << mish << '\n';
}
