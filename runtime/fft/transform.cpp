// Converts a call's arrays to the libraries' form: axes of one element are dropped, and batch axes that can be walked
// as one are joined.
#include "runtime/fft/transform.hpp"

#include <algorithm>

#include "runtime/front/libraries.hpp"

namespace ingot::runtime {

namespace {

using direction = transform::direction;

void join_axes(std::vector<transform::axis>& batch) {
    std::vector<transform::axis> joined;
    for (const transform::axis& inner : batch) {
        if (inner.extent == 1) continue;
        if (!joined.empty() && joined.back().from == inner.from * inner.extent &&
            joined.back().to == inner.to * inner.extent)
            joined.back() = {joined.back().extent * inner.extent, inner.from, inner.to};
        else
            joined.push_back(inner);
    }
    batch = std::move(joined);
}

void run_transform(const library_arguments& given, direction how) {
    const library_array &from = given.operands[0], &to = given.results[0];
    const dtype complex = how == direction::to_real ? from.type : to.type;
    transform t{how, detail::part_of(complex), {}, {}, from.data, to.data};
    for (std::size_t j = 0; j < from.extents.size(); ++j) {
        const bool of_batch = j < given.batch_axes;
        (of_batch ? t.batch : t.own)
            .push_back({how == direction::to_real && !of_batch ? to.extents[j] : from.extents[j], from.strides[j],
                        to.strides[j]});
    }
    const auto is_empty = [](const transform::axis& a) { return a.extent == 0; };
    if (std::ranges::any_of(t.batch, is_empty) || std::ranges::any_of(t.own, is_empty)) return;
    const bool of_complex = how == direction::forward || how == direction::inverse;
    const transform::axis last = t.own.back();
    if (!of_complex) t.own.pop_back();
    std::erase_if(t.own, [](const transform::axis& a) { return a.extent == 1; });
    if (!of_complex || t.own.empty()) t.own.push_back(last);
    join_axes(t.batch);
    libraries::transforms(t, given.stream);
}

}  // namespace

std::size_t transform::longest_of_batch() const {
    const auto longest = std::ranges::max_element(batch, {}, &axis::extent);
    return static_cast<std::size_t>(longest - batch.begin());
}

std::string transform::text() const {
    std::vector<index_t> extents;
    index_t times = 1;
    for (const axis& a : own) extents.push_back(a.extent);
    for (const axis& a : batch) times *= a.extent;
    return "a transform of " + detail::to_text(extents) + (times == 1 ? "" : ", " + std::to_string(times) + " times");
}

void fft(const library_arguments& given) { run_transform(given, direction::forward); }
void ifft(const library_arguments& given) { run_transform(given, direction::inverse); }
void rfft(const library_arguments& given) { run_transform(given, direction::to_complex); }
void irfft(const library_arguments& given) { run_transform(given, direction::to_real); }

}  // namespace ingot::runtime
