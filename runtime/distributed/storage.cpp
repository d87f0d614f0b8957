// See storage.hpp.
#include "runtime/distributed/storage.hpp"

#include <algorithm>

#include <ingot/core/error.hpp>

#include "runtime/front/evaluate.hpp"
#include "runtime/system/per_thread.hpp"

namespace ingot::runtime {

index_t size_of_box(const box& b) noexcept {
    index_t n = 1;
    for (const range& r : b) n *= r.size();
    return n;
}

box common(const box& a, const box& b) {
    box both(a.size());
    for (std::size_t k = 0; k < a.size(); ++k) both[k] = common(a[k], b[k]);
    return both;
}

detail::layout contiguous_layout(const box& b) {
    std::vector<index_t> extents;
    for (const range& r : b) extents.push_back(r.size());
    return detail::contiguous_layout(extents);
}

bool placement::is_split() const noexcept {
    return std::ranges::any_of(over, [](int axis) { return axis >= 0; });
}

range placement::range_of(int rank, int axis) const noexcept {
    const auto k = static_cast<std::size_t>(axis);
    return ranges[k][over[k] < 0 ? 0 : static_cast<std::size_t>(mesh->coordinate(rank, over[k]))];
}

box placement::box_of(int rank) const {
    box b(shape.size());
    for (int k = 0; k < axes(); ++k) b[static_cast<std::size_t>(k)] = range_of(rank, k);
    return b;
}

box placement::held_by(int rank) const {
    box b = box_of(rank);
    for (std::size_t k = 0; k < b.size(); ++k)
        if (over[k] >= 0 && b[k].size() > 0)
            b[k] = {std::max<index_t>(b[k].low - ghosts[k], 0), std::min(b[k].high + ghosts[k], shape[k])};
    return b;
}

void placement::find_own_parts() {
    const int rank = mesh->session->rank;
    own = box_of(rank);
    held = held_by(rank);
    const detail::layout all = contiguous_layout(held);
    owned = part_of(all, held, own);
    neighbours.clear();
    if (std::ranges::all_of(ghosts, [](index_t g) { return g == 0; })) return;
    for (int other = 0; other < mesh->session->size; ++other) {
        if (other == rank || is_replica_of(rank, other)) continue;
        const box sent = common(own, held_by(other)), received = common(box_of(other), held);
        if (size_of_box(sent) > 0 || size_of_box(received) > 0)
            neighbours.push_back({other, part_of(all, held, sent), part_of(all, held, received)});
    }
}

bool placement::is_replica_of(int rank, int other) const noexcept {
    for (int m = 0; m < mesh->axes(); ++m)
        if (std::ranges::find(over, m) == over.end() && mesh->coordinate(rank, m) != mesh->coordinate(other, m))
            return true;
    return false;
}

std::vector<range> even_ranges(index_t extent, index_t parts) {
    std::vector<range> all;
    const index_t each = extent / parts, more = extent % parts;
    for (index_t i = 0; i < parts; ++i)
        all.push_back({each * i + std::min(i, more), each * (i + 1) + std::min(i + 1, more)});
    return all;
}

std::shared_ptr<const placement> place(const char* operation, std::span<const index_t> shape, const split_axes& p) {
    if (p.over.size() > shape.size())
        throw distributed_error("[" + std::string(operation) + "] the partition names " +
                                std::to_string(p.over.size()) + " axes, and the shape is " + detail::to_text(shape));
    auto made = std::make_shared<placement>();
    made->mesh = p.mesh;
    made->shape.assign(shape.begin(), shape.end());
    made->over = p.over;
    made->over.resize(shape.size(), -1);
    for (int& axis : made->over)
        if (axis >= 0 && p.mesh->extents[static_cast<std::size_t>(axis)] == 1) axis = -1;  // one part is the whole
    for (std::size_t k = 0; k < shape.size(); ++k) {
        const int axis = made->over[k];
        made->ranges.push_back(even_ranges(shape[k], axis < 0 ? 1 : p.mesh->extents[static_cast<std::size_t>(axis)]));
        made->ghosts.push_back(axis < 0 ? 0 : p.ghost);
    }
    return p.mesh->session->shared(std::move(made));
}

namespace {

/// Storages of arrays that have ended, kept for later ones of the thread.
struct spare_storages {
    static constexpr std::size_t most = 16;
    std::vector<std::unique_ptr<distributed_storage>> all;
    void leave() noexcept { all.clear(); }
};

}  // namespace

void kept_by_thread::operator()(distributed_storage* s) const noexcept {
    std::unique_ptr<distributed_storage> ended(s);
    ended->memory = {};
    ended->where.reset();
    std::vector<std::unique_ptr<distributed_storage>>& spare = per_thread<spare_storages>::own().all;
    if (spare.capacity() == 0) spare.reserve(spare_storages::most);
    if (spare.size() < spare_storages::most) spare.push_back(std::move(ended));
}

storage_ref storage_without_memory(dtype type, std::shared_ptr<const placement> where) {
    std::vector<std::unique_ptr<distributed_storage>>& spare = per_thread<spare_storages>::own().all;
    storage_ref made;
    if (spare.empty()) {
        made.reset(new distributed_storage);
    } else {
        made.reset(spare.back().release());
        spare.pop_back();
    }
    made->where = std::move(where);
    made->type = type;
    made->owned = made->where->owned;
    made->ghosts_are_valid = false;
    return made;
}

storage_ref make_storage(dtype type, std::shared_ptr<const placement> where) {
    storage_ref made = storage_without_memory(type, std::move(where));
    const rank_session& s = made->session();
    made->memory = allocate_buffer(static_cast<std::size_t>(size_of_box(made->where->held)) * detail::size_of(type),
                                   s.device, *context_on(s.device).stream);
    return made;
}

buffer_ref buffer_over(storage_ref storage) {
    std::size_t bytes = detail::size_of(storage->type);
    for (const index_t extent : storage->where->shape) bytes *= static_cast<std::size_t>(extent);
    buffer_ref made = unowned_buffer(
        nullptr, bytes, detail::all_ranks, [](void* s) { kept_by_thread{}(static_cast<distributed_storage*>(s)); },
        storage.get());
    storage.release();
    made->unowned = false;  // written as Ingot's own: in place, or a copy where others share it
    return made;
}

detail::layout part_of(const detail::layout& of, const box& whole, const box& part) {
    detail::layout l = of;
    for (int k = 0; k < l.rank(); ++k) {
        const auto at = static_cast<std::size_t>(k);
        l.shape()[k] = part[at].size();
        if (part[at].size() > 0) l.offset += (part[at].low - whole[at].low) * of.strides()[k];
    }
    return l;
}

std::string to_text(const placement& p) {
    std::string text;
    for (std::size_t k = 0; k < p.over.size(); ++k)
        if (p.over[k] >= 0)
            text += (text.empty() ? "axis " : ", axis ") + std::to_string(k) + " over " +
                    p.mesh->names[static_cast<std::size_t>(p.over[k])] +
                    (p.ghosts[k] > 0 ? " with ghost layers of " + std::to_string(p.ghosts[k]) : "");
    return text.empty() ? "replicated" : text;
}

}  // namespace ingot::runtime
