// Erosions and dilations of truths: "and" and "or" of the elements at the structure's places.
#include <ingot/ndimage/morphology.hpp>

#include <algorithm>

#include <ingot/core/creation.hpp>
#include <ingot/core/host.hpp>
#include <ingot/core/index_functions.hpp>
#include <ingot/core/reductions.hpp>
#include <ingot/core/scatter.hpp>
#include <ingot/ndimage/measurements.hpp>

#include "runtime/ndimage/images.hpp"

namespace ingot::detail {

using ndimage::border;
using ndimage::morphology_options;
using ndimage::neighbourhood;
using runtime::any_lazy;
using runtime::apply;
using runtime::as_type;
using runtime::places;
using runtime::reach;

namespace {

/// The places of the structure and how often they are looked at.
class morphology {
public:
    morphology(const char* operation, const any_lazy& x, const morphology_options& how, bool dilates)
        : operation_(operation),
          how_(how),
          dilates_(dilates),
          structure_(how.structure ? *how.structure : runtime::cross(x.extents().rank)) {
        const int rank = x.extents().rank;
        check_axes(operation, "a structure", structure_, x);
        places_ = runtime::places_of(dilates ? runtime::reversed(structure_) : structure_);
        const std::vector<index_t> origins = runtime::for_axes(operation, "origin", how.origin, rank);
        for (std::size_t j = 0; j < origins.size(); ++j) {
            const reach r = runtime::reach_of(operation, places_.shape[j], origins[j]);
            reaches_.push_back(dilates ? runtime::reversed(r) : r);
        }
        if (how.mask && !same_extents(how.mask->tree()->extents(), x.extents()))
            throw shape_error("[" + std::string(operation) + "] a mask of shape " +
                              to_text(how.mask->tree()->extents().span()) + " for an operand of shape " +
                              to_text(x.extents().span()) + "; the same is wanted");
    }

    any_lazy once(const any_lazy& x) const {
        const std::vector<border> borders(reaches_.size(), border::constant);
        const any_lazy p = bordered_for(places_.at.size(), x, reaches_, borders, how_.border_value);
        std::optional<any_lazy> all;
        for (const std::vector<index_t>& at : places_.at) {
            const any_lazy tap = part_of(p, at, x.extents().span());
            all = all ? apply(dilates_ ? op::logical_or : op::logical_and, {*all, tap}) : tap;
        }
        const any_lazy found = all ? *all : apply(dilates_ ? op::less : op::less_equal, {x, x});
        return how_.mask ? choose(any_lazy(*how_.mask), found, x) : found;
    }

    any_lazy repeated(const any_lazy& given) const {
        if (how_.iterations < 1 && spreads_by_parts()) return spread(given);
        any_lazy x = once(given);
        if (how_.iterations >= 1) {
            for (index_t n = 1; n < how_.iterations; ++n) x = once(x.kept());
            return x;
        }
        // A result that equals its operand is final, so one comparison after several repetitions is enough.
        constexpr int repetitions = 8;
        for (;;) {
            for (int n = 2; n < repetitions; ++n) x = once(x.kept());
            const array<bool> now(x.as<bool>()), next(once(now).as<bool>());
            x = next;
            if (!any(next != now).item()) return x;
        }
    }

private:
    /// Whether repetition spreads a change to all of a connected part of the mask, as `label` connects it.
    bool spreads_by_parts() const {
        const std::vector<double>& v = structure_.values();
        return !reaches_.empty() && runtime::is_symmetric(structure_) && v[v.size() / 2] != 0 &&
               std::ranges::all_of(reaches_, [](reach r) { return r.before == 1 && r.after == 1; });
    }
    /// Repeats until nothing changes. An element outside of the mask never changes, so the first repetition shows each
    /// part of the mask that any of them or the border reaches.
    any_lazy spread(const any_lazy& x) const {
        const with_device there(runtime::device_of(x));
        const shape_like shape(x.extents().span());
        const array<bool> next(once(x).as<bool>());
        const array<bool> mask = how_.mask ? array<bool>(*how_.mask) : full<bool>(shape, true);
        const ndimage::labelled parts = labels_of(operation_, mask, &structure_);
        array<int> reached = zeros<int>(parts.count + 1);
        scatter_max(reached(parts.labels), astype<int>(mask && next == dilates_));
        const auto changed = take<unchecked_mode>(reached, parts.labels, 0) != 0;
        return any_lazy(lazy<bool>(where(mask, changed == dilates_, x.as<bool>())));
    }

    const char* operation_;
    const morphology_options& how_;
    bool dilates_;
    neighbourhood structure_;
    places places_;
    std::vector<reach> reaches_;
};

tree_ref morphed(const char* operation, const image& e, const morphology_options& how, bool dilates) {
    const any_lazy given = runtime::read_often(e);
    const any_lazy x = as_type(given, dtype::b1);
    const morphology m(operation, x, how, dilates);
    return x.extents().size() == 0 ? x.tree() : m.repeated(x).tree();
}

}  // namespace

tree_ref eroded(const char* operation, const image& e, const morphology_options& how) {
    return morphed(operation, e, how, false);
}
tree_ref dilated(const char* operation, const image& e, const morphology_options& how) {
    return morphed(operation, e, how, true);
}

}  // namespace ingot::detail
