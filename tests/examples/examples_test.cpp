// Runs every example at a small size and checks the numbers it prints. Without the examples there is nothing to test.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>
#include <vector>

#include <ingot/ingot.hpp>

#include "tests/cache/fixture.hpp"
#include "tests/examples/readme.hpp"
#include "tests/untested.hpp"

TEST_CASE("what the README shows may leave things out") {
    CHECK(readme::matches("a b c\n", "a b c\n"));
    CHECK(readme::matches("a b c\n", "a ... c\n"));
    CHECK(readme::matches("a b c c\n", "a ... c\n"));
    CHECK_FALSE(readme::matches("a b c\n", "a b\n"));
    CHECK_FALSE(readme::matches("a b d\n", "a ... c\n"));
    CHECK_FALSE(readme::matches("a b c\n", "b ... c\n"));
}

namespace {

std::string output_of(const std::string& command) {
    std::FILE* const pipe = popen(command.c_str(), "r");
    REQUIRE(pipe != nullptr);
    std::string text;
    for (int c; (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
    REQUIRE_MESSAGE(pclose(pipe) == 0, command, "\n", text);
    return text;
}

}  // namespace

TEST_CASE("the page of the operators is made from their table") {
    std::ifstream page(INGOT_TEST_SOURCES "/../docs/operators.md");
    const std::string text(std::istreambuf_iterator<char>(page), {});
    CHECK(text == output_of(INGOT_TEST_PROGRAMS "/operator_reference"));
}

#ifdef INGOT_TEST_EXAMPLES

namespace {

std::string example(const std::string& arguments) { return output_of(INGOT_TEST_EXAMPLES "/" + arguments); }

/// The numbers that follow `label`, as many as there are in a row.
std::vector<double> numbers_after(const std::string& text, const std::string& label) {
    const std::size_t at = text.find(label);
    REQUIRE_MESSAGE(at != text.npos, "\"", label, "\" is not in\n", text);
    std::vector<double> numbers;
    const char* next = text.c_str() + at + label.size();
    for (char* end;; next = end) {
        const double value = std::strtod(next, &end);
        if (end == next) return numbers;
        numbers.push_back(value);
    }
}

double normal_distribution(double z) { return std::erfc(-z / std::sqrt(2.0)) / 2; }

}  // namespace

TEST_CASE("the example where: fused one kernel, op by op five, equal results") {
    const std::string text = example("where 100003");
    const auto fused = numbers_after(text, "\nfused"), one_by_one = numbers_after(text, "\nop by op");
    REQUIRE(fused.size() == 4);
    REQUIRE(one_by_one.size() == 4);
    CHECK(fused[0] == 1);
    CHECK(one_by_one[0] == 5);
    CHECK(fused[3] == doctest::Approx(12 * 100003 / fused[2] / 1e3).epsilon(0.05));
    CHECK(numbers_after(text, "the results differ in") == std::vector<double>{0});
    CHECK(text.find("// where(x0 - s0 > x1, x0 * x1, x0 + x1)") != text.npos);
}

TEST_CASE("the example Black-Scholes: one kernel, prices of the closed form, parity") {
    const std::string text = example("black_scholes 100003");
    const auto spot = numbers_after(text, "spot   ["), strike = numbers_after(text, "strike [");
    const auto years = numbers_after(text, "years  ["), call = numbers_after(text, "call   [");
    const auto put = numbers_after(text, "put    [");
    constexpr double r = 0.02, sigma = 0.3;
    for (std::size_t i = 0; i < 3; ++i) {
        const double deviation = sigma * std::sqrt(years[i]);
        const double d1 = (std::log(spot[i] / strike[i]) + (r + sigma * sigma / 2) * years[i]) / deviation;
        const double present = strike[i] * std::exp(-r * years[i]);
        const double exact = spot[i] * normal_distribution(d1) - present * normal_distribution(d1 - deviation);
        CHECK(std::abs(call[i] - exact) < 2e-6 * spot[i]);
        CHECK(std::abs(put[i] - (exact - spot[i] + present)) < 2e-6 * spot[i]);
    }
    CHECK(numbers_after(text, "parity holds to").at(0) < 1e-6);
    CHECK(numbers_after(text, "on average.\n").at(0) == 1);
}

TEST_CASE("the example softplus: a number and an array give the same") {
    const std::string text = example("softplus");
    for (const double z : {-1000.0, -40.0, -2.0, -0.5, 0.0, 0.5, 2.0, 40.0, 1000.0}) {
        char label[32];
        std::snprintf(label, sizeof label, "\n%8g ", z);
        const auto row = numbers_after(text, label);
        const double exact = std::log1p(std::exp(-std::abs(z))) + std::max(z, 0.0);
        CHECK(std::abs(row.at(0) - exact) <= 1e-14 * exact);
        CHECK(std::abs(row.at(1) - exact) <= 1e-14 * exact);
    }
    CHECK(numbers_after(text, "elements:") == std::vector<double>{1});
}

TEST_CASE("the example Horner: polynomials of one degree are one kernel, long ones a chain") {
    const std::string text = example("horner");
    for (const char* name : {"exp, degree 17", "sin, degree 17", "cos, degree 17"}) {
        const auto row = numbers_after(text, name);
        CHECK(row.at(1) == 1);
        CHECK(row.at(3) < 1e-15);
    }
    CHECK(numbers_after(text, "sin, degree 17").at(0) == 0);
    CHECK(numbers_after(text, "cos, degree 17").at(0) == 0);
    CHECK(numbers_after(text, "x^1000").at(0) <= 4);
    CHECK(numbers_after(text, "x^1000").at(1) >= 2);
    CHECK(numbers_after(text, "x^1000").at(3) < 1e-13);
}

TEST_CASE("the example row programs: fused in one kernel, and what op by op gives") {
    const std::string text = example("row_programs 50 700");
    CHECK(numbers_after(text, "softmax, op by op").at(0) == 5);
    CHECK(numbers_after(text, "softmax, fused").at(0) == 1);
    CHECK(numbers_after(text, "rows sum to 1 within").at(0) < 1e-6);
    CHECK(numbers_after(text, "layer norm, op by op").at(0) == 8);
    CHECK(numbers_after(text, "layer norm, fused").at(0) == 1);
    const std::string differ = "differ by at most";
    CHECK(numbers_after(text, differ).at(0) < 1e-6);
    CHECK(numbers_after(text.substr(text.find(differ) + 1), differ).at(0) < 1e-5);
}

TEST_CASE("the example k-means: the inertia falls, three kernels an iteration, the clouds are found") {
    const std::string text = example("k_means 20000");
    double last = 1e300;
    int iteration = 0, iterations = 0;
    for (std::istringstream lines(text.substr(text.find("kernels\n") + 8)); lines >> iteration;) {
        double inertia = 0, kernels = 0;
        REQUIRE(bool(lines >> inertia >> kernels));
        CHECK(inertia <= last);
        CHECK(kernels == 3);
        CHECK(iteration == ++iterations);
        last = inertia;
    }
    CHECK(iterations > 3);
    CHECK(last == doctest::Approx(2 * 0.7 * 0.7).epsilon(0.05));
    CHECK(numbers_after(text, "radius:").at(0) == doctest::Approx(3).epsilon(0.02));
}

TEST_CASE("the example Game of Life: a glider comes back, one kernel a generation") {
    const std::string text = example("game_of_life 12");
    CHECK(numbers_after(text, "48 generations,").at(0) == 48);
    CHECK(numbers_after(text, "alive:").at(0) == 5);
    CHECK(text.find("where they were: yes") != text.npos);
}

TEST_CASE("the example heat: one kernel a step, and the lowest mode decays as it must") {
    const std::string text = example("heat 40 30");
    CHECK(numbers_after(text, "30 steps,").at(0) == 30);
    CHECK(numbers_after(text, "should be:").at(0) < 1e-12);
    CHECK(numbers_after(text, "hottest:").at(0) == doctest::Approx(0.97).epsilon(0.03));
}

TEST_CASE("the example of a Gaussian process: closer to the function than its samples are") {
    const std::string text = example("gaussian_process 200");
    const double noise = numbers_after(text, "samples of noise").at(0), off = numbers_after(text, "off by").at(0);
    CHECK(noise == 0.1);
    CHECK(off < 0.6 * noise);
    CHECK(off > 0);
    CHECK(numbers_after(text, "its own guess").at(0) == doctest::Approx(off).epsilon(0.6));
}

TEST_CASE("the example of an own kernel: outliers go, the signal stays") {
    const std::string text = example("own_kernel 50000");
    CHECK(numbers_after(text, "mean square of the error:").at(0) > 0.2);
    CHECK(numbers_after(text, "after the median:").at(0) < 0.02);
}

TEST_CASE("the example of overlap: what comes back is what was computed") {
    const std::string text = example("overlap 3000 5");
    CHECK(numbers_after(text, "on one stream").at(0) > 0);
    CHECK(numbers_after(text, "ms, on two").at(0) > 0);
    CHECK(numbers_after(text, "of 1 became").at(0) ==
          doctest::Approx(numbers_after(text, "should be:").at(0)).epsilon(1e-5));
}

TEST_CASE("the examples on all ranks: heat decays as it must, and Poisson's equation is solved") {
    const auto check_heat = [](const std::string& text, const std::string& ranks) {
        CHECK(text.starts_with(ranks));
        CHECK(text.find("64^2 cells, 50 steps") != text.npos);
        CHECK(numbers_after(text, "left of the heat:").at(0) ==
              doctest::Approx(numbers_after(text, "by the formula").at(0)).epsilon(1e-5));
        CHECK(numbers_after(text, "a row's middle:").at(0) ==
              doctest::Approx(numbers_after(text, "by the formula").at(0)).epsilon(2e-3));
    };
    check_heat(example("heat_on_all 64 50"), ingot::device::cuda_count() > 0 ? "" : "4 ranks on host:0");
    const std::string solved = example("poisson_on_all 48");
    CHECK(numbers_after(solved, "off by").at(0) < 1e-8);
#ifdef INGOT_TEST_MPIEXEC
    const ingot::test::environment_variable as_root("OMPI_ALLOW_RUN_AS_ROOT", "1");
    const ingot::test::environment_variable confirmed("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    const ingot::test::environment_variable any_cores("OMPI_MCA_rmaps_base_oversubscribe", "1");
    const ingot::test::environment_variable on_the_host("INGOT_DEVICE", "host");
    check_heat(output_of(INGOT_TEST_MPIEXEC " -n 3 " INGOT_TEST_EXAMPLES "/heat_on_all 64 50"), "3 ranks on host:0");
#else
    ingot::test::untested("mpiexec was not found when this was built");
#endif
}

TEST_CASE("the example of a module for Python: arrays come and go by DLPack") {
#ifdef INGOT_TEST_PYTHON_EXAMPLE
    const char* const python = std::getenv("INGOT_PYTHON");
    const std::string interpreter = python != nullptr ? python : "python3";
    const ingot::test::environment_variable path("PYTHONPATH", INGOT_TEST_EXAMPLES);
    if (std::system((interpreter + " -c 'import numpy' 2> /dev/null").c_str()) != 0) {
        return ingot::test::untested("INGOT_PYTHON names no Python with NumPy, as tests/run does");
    }
    const std::string text = output_of(interpreter + " " INGOT_TEST_PYTHON_EXAMPLE);
    CHECK(numbers_after(text, "differ by at most").at(0) < 1e-6);
#else
    ingot::test::untested("Python's headers were not found when this was built");
#endif
}

TEST_CASE("the example of Poisson's equation: by transforms what gradients come to") {
    const std::string text = example("poisson 48");
    CHECK(numbers_after(text, "iterations of the latter:").at(0) > 20);
    CHECK(numbers_after(text, "residual of the former:").at(0) < 1e-12);
    CHECK(numbers_after(text, "largest difference:").at(0) < 1e-6);
    CHECK(numbers_after(text, "potential from").at(0) < 0);
    CHECK(text.find("library calls") != text.npos);
}

TEST_CASE("the example of a spectrogram: the loudest frequency is the one played, and a picture") {
    const ingot::test::scratch_directory scratch;
    const std::string file = scratch.path() / "s.pgm";
    const std::string text = example("spectrogram " + file);
    CHECK(numbers_after(text, "frequencies, by").at(0) <= 2);
    CHECK(numbers_after(text, "from what was played:").at(0) < 20);
    std::ifstream picture(file, std::ios::binary);
    std::string kind;
    int width = 0, height = 0, white = 0;
    picture >> kind >> width >> height >> white;
    CHECK(kind == "P5");
    CHECK(height == 257);
    CHECK(white == 255);
    CHECK(std::filesystem::file_size(file) > static_cast<std::uintmax_t>(width) * 257);
}

TEST_CASE("the example conjugate gradient: two kernels an iteration, to the solution") {
    const std::string text = example("conjugate_gradient 100");
    CHECK(numbers_after(text, "kernels an iteration:").at(0) == 2);
    CHECK(numbers_after(text, "converged in").at(0) < 400);
    CHECK(numbers_after(text, "from the solution:").at(0) < 4e-4);
}

TEST_CASE("the example conjugate gradient as a graph: one launch, and what the loop with reads finds") {
    const std::string text = example("conjugate_gradient_graph 60");
    const std::string whole = text.substr(text.find("one launch")), reads = text.substr(text.find("with reads"));
    const double iterations = numbers_after(whole, "one launch").at(0);
    CHECK(iterations == numbers_after(reads, "with reads").at(0));
    CHECK((iterations > 10 && iterations < 400));
    if (ingot::current_device().is_cuda()) CHECK(numbers_after(whole, "iterations,").at(0) == 1);
    const double off = numbers_after(whole, "largest difference").at(0);
    CHECK(off < 2e-3);
    CHECK(off == doctest::Approx(numbers_after(reads, "largest difference").at(0)).epsilon(1e-6));
}

TEST_CASE("the example summary: every array of every dtype in a statement") {
    const ingot::test::scratch_directory scratch;
    const std::string alone = scratch.path() / "alone.npy", several = scratch.path() / "several.npz";
    ingot::save(alone, ingot::array<float>{3, std::numeric_limits<float>::quiet_NaN(), 4, 5});
    ingot::savez_compressed(several, ingot::named("none", ingot::zeros({0, 3})),
                            ingot::named("truths", ingot::array<bool>{true, false, false, true}),
                            ingot::named("turns", ingot::asarray(std::vector<std::complex<float>>{{3, 4}, {0, -1}})));
    const std::string text = example("summary " + alone + " " + several);
    const double deviation = std::sqrt(2 / 3.0);
    const auto floats = numbers_after(text, "float32 (4,)"), truths = numbers_after(text, "bool (4,)");
    CHECK(floats.at(3) == doctest::Approx(deviation).epsilon(1e-4));
    CHECK(floats == std::vector<double>{3, 5, 4, floats[3], 1, 1});
    CHECK(truths == std::vector<double>{0, 1, 0.5, 0.5, 0, 1});
    CHECK(numbers_after(text, "complex64 (2,)") == std::vector<double>{1, 5, 3, 2, 0, 1});
    CHECK(text.find("float64 (0, 3)") != text.npos);
}

TEST_CASE("the example option pricing: both prices within their errors, the first by one kernel") {
    const std::string text = example("option_pricing 200000"), asian = text.substr(text.find("Asian call"));
    CHECK(std::abs(numbers_after(text, "off by").at(0)) < 4);
    CHECK(std::abs(numbers_after(asian, "off by").at(0)) < 4);
    CHECK(numbers_after(text, "exactly").at(0) == doctest::Approx(7.1281));
    CHECK(numbers_after(text, "standard errors of").at(0) == doctest::Approx(0.028).epsilon(0.1));
    CHECK(numbers_after(text, "kernels:").at(0) == 1);
}

TEST_CASE("the example principal components: the plane that the points were made of") {
    const std::string text = example("principal_components 1000");
    const auto deviations = numbers_after(text, "first axes:");
    CHECK(deviations.at(0) == doctest::Approx(5).epsilon(0.1));
    CHECK(deviations.at(1) == doctest::Approx(2).epsilon(0.1));
    CHECK(numbers_after(text, "on average:").at(0) == doctest::Approx(0.095).epsilon(0.05));
    CHECK(numbers_after(text, "between the planes:").at(0) > 0.9999);
}

TEST_CASE("the example nearest neighbours tells the half circles apart") {
    CHECK(numbers_after(example("nearest_neighbours 1200"), "right:").at(0) > 0.95);
}

TEST_CASE("the example n bodies: a few kernels a step, energy and momentum kept") {
    const std::string text = example("n_body 60 50");
    CHECK(numbers_after(text, "50 steps,").at(0) <= 5);
    CHECK(numbers_after(text, "changed by").at(0) < 1e-4);
    CHECK(numbers_after(text, "momentum:").at(0) < 1e-12);
}

TEST_CASE("the example cross-entropy: a gradient that differences confirm, and descent") {
    const std::string text = example("cross_entropy 500 7");
    CHECK(numbers_after(text, "differences give:").at(0) < 1e-6);
    const double start = numbers_after(text, "classes: loss").at(0), end = numbers_after(text, "descent: loss").at(0);
    CHECK(start > 1.5);
    CHECK(end < 0.7);
    CHECK(numbers_after(text, "right:").at(0) > 0.8);
}

TEST_CASE("the example Mandelbrot: forty kernels, the area of the set, a picture") {
    const ingot::test::scratch_directory scratch;
    const std::string file = scratch.path() / "m.png";
    const std::string text = example("mandelbrot " + file);
    CHECK(numbers_after(text, "\n").at(0) == 40);
    CHECK(numbers_after(text, "Area inside:").at(0) == doctest::Approx(1.526).epsilon(0.002));
    std::ifstream picture(file, std::ios::binary);
    std::string head(24, '\0');
    picture.read(head.data(), 24);
    CHECK(head == std::string("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x03\x20\0\0\x02\x58", 24));
}
TEST_CASE("the example pictures: curves, colours and grey levels in files") {
    const ingot::test::scratch_directory scratch;
    const std::string text = example("pictures " + scratch.path().string());
    CHECK(numbers_after(text, "brightest").at(0) == 1);
    CHECK(numbers_after(text, ";").at(0) > 100);
    for (const char* name : {"oscillation.svg", "diffraction.png", "grey.png", "grey.pgm"})
        CHECK(std::filesystem::file_size(scratch.path() / name) > 5000);
}
TEST_CASE("the example filters: few kernels each, and a median takes specks away") {
    const ingot::test::scratch_directory scratch;
    const std::string text = example("filters " + scratch.path().string());
    for (const char* name : {"blurred", "median", "sharpened", "edges"}) {
        CAPTURE(name);
        // One on a GPU; the host computes the borders before.
        CHECK(numbers_after(text, std::string(name) + ":").at(0) == (ingot::current_device().is_cuda() ? 1 : 2));
        CHECK(std::filesystem::file_size(scratch.path() / (std::string(name) + ".png")) > 1000);
    }
    const double specked = numbers_after(text, "picture: specked").at(0),
                 blurred = numbers_after(text, ", blurred").at(0), median = numbers_after(text, ", median").at(0);
    CHECK(specked == doctest::Approx(0.03).epsilon(0.1));
    CHECK(median < 0.4 * specked);
    CHECK(median < blurred);
    CHECK(numbers_after(text, "strongest edge:").at(0) > 1);
}

#else
TEST_CASE("the examples print what they should") { ingot::test::untested("built without them: INGOT_BUILD_EXAMPLES"); }
#endif
