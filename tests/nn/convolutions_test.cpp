// Convolutions compared with sums over NumPy's windows: axes, strides, paddings, dilations, groups, dtypes.
#include <string>

#include <ingot/nn.hpp>

#include "runtime/nn/cudnn.hpp"
#include "tests/arrays/expect.hpp"
#include "tests/drawn.hpp"
#include "tests/joins/numpy_cases.hpp"

using namespace ingot;
using testing::drawn;
using testing::numpy_cases;

namespace {

std::string text_of(const std::vector<index_t>& v) {
    std::string text = "(";
    for (const index_t n : v) text += std::to_string(n) + ",";
    return text + ")";
}

/// All convolutions take this path while it lives.
struct forced_path {
    explicit forced_path(runtime::convolution_path path) { runtime::forced_convolution_path = path; }
    forced_path(const forced_path&) = delete;
    ~forced_path() { runtime::forced_convolution_path = runtime::convolution_path::by_shape; }
};

/// The same in NumPy, of a and b.
std::string in_numpy(const std::vector<index_t>& weights, const std::vector<index_t>& stride,
                     const std::vector<index_t>& padding, const std::vector<index_t>& dilation, index_t groups) {
    std::string pads = "(0,0),(0,0),", steps = ":,:,", along;
    std::vector<index_t> reach;
    for (std::size_t j = 0; j < weights.size(); ++j) {
        pads += "(" + std::to_string(padding[j]) + "," + std::to_string(padding[j]) + "),";
        steps += "::" + std::to_string(stride[j]) + ",";
        reach.push_back(dilation[j] * (weights[j] - 1) + 1);
        along += std::to_string(j + 2) + ",";
    }
    for (const index_t d : dilation) steps += "::" + std::to_string(d) + ",";
    const std::string images = std::string("xyz").substr(0, weights.size()),
                      window = std::string("klm").substr(0, weights.size());
    return "(lambda w: np.concatenate([np.einsum('nc" + images + window + ",oc" + window + "->no" + images +
           "', u, v) for u, v in zip(np.split(w, " + std::to_string(groups) + ", 1), np.split(b, " +
           std::to_string(groups) + "))], 1))(np.lib.stride_tricks.sliding_window_view(np.pad(a, (" + pads + ")), " +
           text_of(reach) + ", (" + along + "))[" + steps + "])";
}

}  // namespace

TEST_CASE("convolutions are sums over windows, with few outputs and with many") {
    numpy_cases c;
    unsigned seed = static_cast<unsigned>(test::drawing_seed() % 1000);
    const auto add = [&]<class T>(std::type_identity<T>, index_t batch, index_t channels, index_t outputs,
                                  const std::vector<index_t>& images, const std::vector<index_t>& weights,
                                  const std::vector<index_t>& stride, const std::vector<index_t>& padding,
                                  const std::vector<index_t>& dilation, index_t groups) {
        std::vector<index_t> of_x{batch, channels * groups}, of_w{outputs * groups, channels};
        of_x.insert(of_x.end(), images.begin(), images.end());
        of_w.insert(of_w.end(), weights.begin(), weights.end());
        const array<T> x = drawn<T>(shape_like(of_x), ++seed), w = drawn<T>(shape_like(of_w), ++seed);
        c.add(in_numpy(weights, stride, padding, dilation, groups),
              nn::conv(x, w, {.stride = stride, .padding = padding, .dilation = dilation, .groups = groups}), x, w);
    };
    const std::type_identity<float> f4;
    const std::type_identity<double> f8;
    add(f4, 2, 3, 8, {9, 11}, {3, 3}, {1, 1}, {0, 0}, {1, 1}, 1);
    add(f4, 2, 3, 7, {9, 11}, {3, 2}, {2, 1}, {1, 2}, {1, 3}, 1);
    add(f8, 1, 4, 6, {8, 8}, {1, 1}, {1, 1}, {0, 0}, {1, 1}, 2);
    add(f8, 3, 2, 5, {20}, {4}, {3}, {2}, {2}, 3);
    add(f4, 1, 2, 6, {5, 6, 7}, {2, 3, 2}, {1, 2, 2}, {1, 0, 1}, {2, 1, 1}, 1);
    add(f4, 2, 1, 1, {12, 10}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 4);
    add(f8, 2, 3, 2, {30}, {5}, {2}, {4}, {1}, 1);
    add(f4, 1, 1, 1, {4, 5, 6}, {3, 2, 1}, {1, 1, 1}, {2, 1, 0}, {1, 1, 1}, 1);
    add(std::type_identity<std::complex<float>>{}, 2, 2, 5, {6, 5}, {2, 2}, {1, 1}, {0, 1}, {1, 1}, 1);
    add(f4, 0, 2, 5, {6, 5}, {2, 2}, {1, 1}, {0, 0}, {1, 1}, 1);
    c.run();
}

TEST_CASE("convolutions by cuDNN are those by sums and by products, whatever lies around them") {
    if (!current_device().is_cuda()) return;
    const auto check = [&]<class T>(std::type_identity<T>, const shape_like& of_x, const shape_like& of_w,
                                    const nn::conv_options& how) {
        const array<T> x = drawn<T>(of_x, 5), w = drawn<T>(of_w, 6);
        const auto computed = [&](runtime::convolution_path path) {
            const forced_path only(path);
            return array<T>(nn::conv(x, w, how));
        };
        const array<T> wanted = computed(runtime::convolution_path::sums);
        CHECK(array_equal(computed(runtime::convolution_path::products), wanted).item());
        for (int again = 0; again < 2; ++again)
            CHECK(array_equal(computed(runtime::convolution_path::library), wanted).item());
        const forced_path only(runtime::convolution_path::library);
        CHECK(array_equal(nn::conv(swapaxes(array<T>(swapaxes(x, 1, 2)), 1, 2) + T(1), w, how) * T(2),
                          nn::conv(array<T>(x + T(1)), w, how) * T(2))
                  .item());
    };
    const std::type_identity<float> f4;
    check(f4, {2, 3, 9, 11}, {8, 3, 3, 3}, {});
    check(f4, {2, 3, 9, 11}, {7, 3, 3, 2}, {.stride = {2, 1}, .padding = {1, 2}, .dilation = {1, 3}});
    check(f4, {1, 8, 8, 8}, {8, 1, 3, 3}, {.padding = 1, .groups = 8});
    check(f4, {2, 2, 5, 6, 7}, {6, 2, 2, 3, 2}, {.stride = {1, 2, 2}, .padding = {1, 0, 1}});
    check(f4, {2, 2, 5, 6, 7}, {6, 2, 2, 3, 2}, {.dilation = {2, 1, 1}});
    check(std::type_identity<double>{}, {3, 6, 20}, {15, 2, 4},
          {.stride = 3, .padding = 2, .dilation = 2, .groups = 3});
    check(std::type_identity<float16>{}, {2, 4, 6, 6}, {8, 4, 3, 3}, {.padding = 1});
    check(std::type_identity<bfloat16>{}, {2, 4, 6, 6}, {8, 4, 1, 1}, {});
}

TEST_CASE("one number is for all axes, and an expression around few outputs is one kernel with them") {
    const array<float> x = drawn<float>({2, 3, 8, 9}, 1), w = drawn<float>({2, 3, 3, 3}, 2);
    CHECK(
        array_equal(nn::conv(x, w, {.stride = 2, .padding = 1}), nn::conv(x, w, {.stride = {2, 2}, .padding = {1, 1}}))
            .item());
    const auto e = maximum(nn::conv(x, w, {.stride = 2}) + 0.5f, 0.0f);
    CHECK(array_equal(e, maximum(array<float>(nn::conv(x, w, {.stride = 2})) + 0.5f, 0.0f)).item());
    std::ostringstream text;
    text << explain(e);
    CHECK(text.str().find(", 1 kernel") != std::string::npos);
}

TEST_CASE("halves are added in float32") {
    const array<float> x = drawn<float>({1, 40, 6, 6}, 3), w = drawn<float>({8, 40, 3, 3}, 4);
    const array<float> wanted = nn::conv(x, w);
    CHECK(array_equal(nn::conv(astype<float16>(x), astype<float16>(w)), astype<float16>(wanted)).item());
    const array<float> few = nn::conv(x, w(slice(0, 2)));
    CHECK(array_equal(nn::conv(astype<float16>(x), astype<float16>(w(slice(0, 2)))), astype<float16>(few)).item());
}

TEST_CASE("shapes and options of convolutions that do not fit are said") {
    const array<float> x = zeros<float>({2, 4, 8, 9}), w = zeros<float>({6, 4, 3, 3});
    CHECK_THROWS_WITH_AS(nn::conv(x, zeros<float>({6, 3, 3, 3})),
                         "[conv] images of shape (2, 4, 8, 9) and weights of shape (6, 3, 3, 3) in 1 groups; the "
                         "images' channels have to be those of the weights times the groups, and the outputs a "
                         "multiple of the groups",
                         shape_error);
    CHECK_THROWS_WITH_AS(nn::conv(x, zeros<float>({6, 4, 3, 10})),
                         "[conv] images of shape (2, 4, 8, 9) and weights of shape (6, 4, 3, 10); the weights do not "
                         "fit into 9 elements along axis 3",
                         shape_error);
    CHECK_THROWS_WITH_AS(nn::conv(x, w, {.stride = 0}), "[conv] stride 0; at least 1 is wanted", shape_error);
    CHECK_THROWS_WITH_AS(nn::conv(x, w, {.padding = {1, 1, 1}}),
                         "[conv] 3 numbers of padding for 2 axes of images; one is wanted, or one for each",
                         shape_error);
    CHECK_THROWS_AS(nn::conv(zeros<float>({2, 4}), zeros<float>({6, 4})), shape_error);
    CHECK_THROWS_WITH_AS(nn::conv(array<float>(x).to(device::host(1)), array<float>(w).to(device::host(0))),
                         "[conv] operands on host:1 and host:0; move one with .to(device)", device_error);
}
