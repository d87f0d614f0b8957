// Convolutions as sums over windows, by cuDNN, or as products of the weights with the elements of all windows.
#include <ingot/nn/convolutions.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include <ingot/core/array_indexing.hpp>
#include <ingot/core/creation.hpp>
#include <ingot/core/functions.hpp>
#include <ingot/core/padding.hpp>
#include <ingot/core/reductions.hpp>
#include <ingot/core/reshape.hpp>
#include <ingot/core/views.hpp>
#include <ingot/core/windows.hpp>
#include <ingot/linalg/products.hpp>

#include "runtime/device/ordering.hpp"
#include "runtime/front/evaluate.hpp"
#include "runtime/functions/any_lazy.hpp"
#include "runtime/nn/cudnn.hpp"
#include "runtime/system/counters.hpp"

namespace ingot::detail {

namespace {

constexpr index_t most_elements = index_t{1} << 28;  // windows in memory at once have no more
constexpr index_t most_outputs_of_sums = 4;          // in a group: more repay a product's operand in memory

using path = runtime::convolution_path;

/// The extents of a convolution.
struct conv_sizes {
    index_t batch, groups, channels, outputs;  // channels and outputs of each group
    std::vector<index_t> weights, results;     // along the axes of the images
    std::vector<index_t> strides, padding, dilations;

    static index_t product(const std::vector<index_t>& v) {
        index_t n = 1;
        for (const index_t extent : v) n *= extent;
        return n;
    }
    index_t window() const { return channels * product(weights); }
    index_t places() const { return product(results); }
};

[[noreturn]] void fail(const std::string& why) { throw shape_error("[conv] " + why); }

/// One number for each axis of the images. Throws shape_error where there are others, or one is below `least`.
std::vector<index_t> of_axes(const char* name, const shape_like& given, std::size_t count, index_t least) {
    std::vector<index_t> all(given.begin(), given.end());
    if (all.size() == 1) all.resize(count, all[0]);
    if (all.size() != count)
        fail(std::to_string(all.size()) + " numbers of " + name + " for " + std::to_string(count) +
             " axes of images; one is wanted, or one for each");
    for (const index_t n : all)
        if (n < least)
            fail(std::string(name) + " " + std::to_string(n) + "; at least " + std::to_string(least) + " is wanted");
    return all;
}

conv_sizes sizes_of(const shape_like& x, const shape_like& w, const nn::conv_options& how) {
    const std::string shapes =
        "images of shape " + to_text(x.values()) + " and weights of shape " + to_text(w.values());
    if (x.count() < 3 || x.count() > 5 || x.count() != w.count())
        fail(shapes +
             "; (batch, channels, ...) and (outputs, channels, ...) with the same one to three axes of images "
             "are wanted");
    const std::size_t count = x.size() - 2;
    conv_sizes s{};
    s.strides = of_axes("stride", how.stride, count, 1);
    s.padding = of_axes("padding", how.padding, count, 0);
    s.dilations = of_axes("dilation", how.dilation, count, 1);
    if (how.groups < 1 || x[1] != w[1] * how.groups || w[0] % how.groups != 0)
        fail(shapes + " in " + std::to_string(how.groups) + " groups; " +
             "the images' channels have to be those of the weights times the groups, and the outputs a multiple of the "
             "groups");
    s.batch = x[0], s.groups = how.groups, s.channels = w[1], s.outputs = w[0] / how.groups;
    for (std::size_t j = 0; j < count; ++j) {
        const index_t extent = x[static_cast<int>(j) + 2] + 2 * s.padding[j], k = w[static_cast<int>(j) + 2];
        const index_t reach = s.dilations[j] * (k - 1) + 1;
        if (k < 1 || reach > extent)
            fail(shapes + "; the weights do not fit into " + std::to_string(extent) + " elements along axis " +
                 std::to_string(j + 2));
        s.weights.push_back(k);
        s.results.push_back((extent - reach) / s.strides[j] + 1);
    }
    return s;
}

std::vector<index_t> joined(std::initializer_list<std::vector<index_t>> parts) {
    std::vector<index_t> all;
    for (const std::vector<index_t>& part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
}

/// All windows of x: (batch, channels, results..., weights...).
template <class T>
lazy<T> windows_of(const lazy<T>& x, const conv_sizes& s) {
    const std::size_t count = s.weights.size();
    std::vector<pad_width> widths{{0, 0}, {0, 0}};
    for (const index_t n : s.padding) widths.push_back({n, n});
    const bool pads = std::ranges::any_of(s.padding, [](index_t n) { return n != 0; });
    const runtime::any_lazy wide = pads ? runtime::any_lazy(pad(x, pad_widths(std::move(widths)))).kept() : x;
    std::vector<index_t> reach, along;
    std::vector<index_item> items(2, as_index_item(all));
    for (std::size_t j = 0; j < count; ++j) {
        reach.push_back(s.dilations[j] * (s.weights[j] - 1) + 1);
        along.push_back(static_cast<index_t>(j) + 2);
        items.push_back(as_index_item(slice(none, none, s.strides[j])));
    }
    for (const index_t step : s.dilations) items.push_back(as_index_item(slice(none, none, step)));
    view_room view;
    const axes over{along};
    view_windows(view, wide.extents(), reach, &over);
    const runtime::any_lazy windows = wide.viewed(view);
    view_by_index(view, windows.extents(), items.data(), static_cast<int>(items.size()));
    return windows.viewed(view).template as<T>();
}

/// One fold over the windows.
template <class T>
lazy<T> as_sums(const lazy<T>& windows, const lazy<T>& weights, const conv_sizes& s) {
    const std::vector<index_t> ones(s.results.size(), 1);
    const lazy<T> x = reshape(windows, shape_like(joined({{s.batch, s.groups, 1, s.channels}, s.results, s.weights})));
    const lazy<T> w = reshape(weights, shape_like(joined({{1, s.groups, s.outputs, s.channels}, ones, s.weights})));
    std::vector<index_t> over{3};
    for (std::size_t j = 0; j < s.weights.size(); ++j) over.push_back(static_cast<index_t>(4 + s.results.size() + j));
    return lazy<T>(sum<T>(x * w, axes(over)));
}

/// Products of each group's weights with the windows, an image's results side by side.
template <class T>
lazy<T> as_products(const lazy<T>& windows, const lazy<T>& weights, const conv_sizes& s) {
    const index_t images = std::clamp<index_t>(most_elements / std::max<index_t>(s.groups * s.window() * s.places(), 1),
                                               1, std::max<index_t>(s.batch, 1));
    const lazy<T> w = reshape(weights, {s.groups, s.outputs, s.window()});
    std::vector<index_t> order{0, 1};
    const index_t count = static_cast<index_t>(s.results.size());
    for (index_t j = 0; j < count; ++j) order.push_back(2 + count + j);
    for (index_t j = 0; j < count; ++j) order.push_back(2 + j);
    array<T> made = empty<T>({s.batch, s.groups, s.outputs, s.places()});
    for (index_t first = 0; first < s.batch; first += images) {
        const slice some(first, std::min(first + images, s.batch));
        const array<T> columns(transpose(windows(some), axes(order)));
        made(some) = matmul(w, reshape(columns, {columns.shape()[0], s.groups, s.window(), s.places()}));
    }
    return lazy<T>(made);
}

/// The choice among the paths. Sums are one kernel with the expression around them, of which cuDNN knows nothing. On an
/// H200, cuBLAS is quicker for doubles (1.4 to 3.6 times), for windows of one place (1.1 to 5.6 times), and for halves
/// whose windows have gaps (1.4 times); cuDNN for other windows (1.2 to 2.9 times).
path path_of(const conv_sizes& s, dtype type) {
    const path forced = runtime::forced_convolution_path.load(std::memory_order_relaxed);
    if (forced != path::by_shape) return forced;
    if (s.outputs <= most_outputs_of_sums) return path::sums;
    const bool has_gaps = std::ranges::any_of(s.dilations, [](index_t step) { return step > 1; });
    const bool by_products =
        type == dtype::f8 || conv_sizes::product(s.weights) == 1 || (size_of(type) == 2 && has_gaps);
    return current_device().is_cuda() && !by_products ? path::library : path::products;
}

/// By cuDNN, now; nothing where it is missing or has no algorithm.
template <class T>
std::optional<lazy<T>> by_library(const lazy<T>& x, const lazy<T>& weights, const conv_sizes& s,
                                  const shape_like& shape) {
    if (!current_device().is_cuda()) return std::nullopt;
    const shape_like of_x = x.shape(), of_weights = weights.shape();
    runtime::convolution_call call{dtype_of<T>,
                                   runtime::current_of_thread.math,
                                   {of_x.begin(), of_x.end()},
                                   {of_weights.begin(), of_weights.end()},
                                   {shape.begin(), shape.end()},
                                   s.padding,
                                   s.strides,
                                   s.dilations,
                                   s.groups};
    if (!runtime::suits_cudnn(call)) return std::nullopt;
    const leaf<T> images = contiguous_values_as<T>(x), w = contiguous_values_as<T>(weights);
    runtime::stream_state& stream = *runtime::context_on(images.on_device()).stream;
    leaf<T> result = new_leaf<T>("conv", shape.values(), stream.device);
    runtime::order_read(*images.memory(), stream);
    runtime::order_read(*w.memory(), stream);
    runtime::order_write(*result.memory(), stream);
    call.operands[0] = static_cast<const T*>(images.memory()->data) + images.where().offset;
    call.operands[1] = static_cast<const T*>(w.memory()->data) + w.where().offset;
    call.result = result.memory()->data;
    if (!runtime::call_cudnn(call, stream)) return std::nullopt;
    runtime::add(runtime::counter::library_calls);
    return lazy<T>(array<T>(adopted{}, std::move(result)));
}

}  // namespace

template <class T>
lazy<T> convolved(const lazy<T>& x, const lazy<T>& weights, const nn::conv_options& how) {
    const conv_sizes s = sizes_of(x.shape(), weights.shape(), how);
    const device_id here = x.tree()->device, of_weights = weights.tree()->device;
    if (!may_meet(here, of_weights)) throw_two_devices("conv", here, of_weights);
    const shape_like shape(joined({{s.batch, s.groups * s.outputs}, s.results}));
    std::optional<with_device> there;  // on the current device the current stream stays, which may be recorded
    if (x.device() != current_device()) there.emplace(x.device());
    const path chosen = path_of(s, dtype_of<T>);
    if (chosen == path::sums) return reshape(as_sums(windows_of(x, s), weights, s), shape);
    if (chosen == path::library)
        if (const std::optional<lazy<T>> made = by_library(x, weights, s, shape)) return *made;
    return reshape(as_products(windows_of(x, s), weights, s), shape);
}

#define INGOT_CONVOLVED(T) \
    template INGOT_API lazy<T> convolved(const lazy<T>&, const lazy<T>&, const nn::conv_options&);
INGOT_CONVOLVED(float16)
INGOT_CONVOLVED(bfloat16)
INGOT_CONVOLVED(float)
INGOT_CONVOLVED(double)
INGOT_CONVOLVED(std::complex<float>)
INGOT_CONVOLVED(std::complex<double>)

}  // namespace ingot::detail
