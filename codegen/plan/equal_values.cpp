#include "codegen/plan/equal_values.hpp"

#include <bit>
#include <unordered_map>
#include <utility>

#include "codegen/graph/rows.hpp"

namespace ingot::codegen {

using namespace detail;

namespace {

constexpr std::int8_t unknown = -1;

std::uint64_t mixed(std::uint64_t h, std::uint64_t v) {
    h = (h ^ v) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

bool is_fold(const node& n) { return n.kind == node_kind::reduce || n.kind == node_kind::scan; }

/// Maps loop `own` to loop `other` and back; false where either is mapped to another loop already.
bool match(int own, int other, loop_map& there, loop_map& back) {
    std::int8_t &known = there[static_cast<std::size_t>(own)], &known_back = back[static_cast<std::size_t>(other)];
    if (known == unknown && known_back == unknown) {
        known = static_cast<std::int8_t>(other);
        known_back = static_cast<std::int8_t>(own);
    }
    return known == other && known_back == own;
}

}  // namespace

equal_values::equal_values(const key& k, const graph& g) : key_(k), graph_(g) {
    for (std::size_t a = 0; a < k.axes.size(); ++a)
        extent_of_.push_back(k.axes[a].partner == 0 ? a : extent_of_[k.axes[a].partner - std::size_t{1}]);
    forms_.reserve(g.nodes.size());
    for (const node& n : g.nodes) {
        forms_.push_back(form(n));
        bool folds = is_fold(n);
        for (int a = 0; a < n.arity; ++a) folds = folds || folds_[n.arguments[a]];
        folds_.push_back(folds);
    }
}

std::uint64_t equal_values::form(const node& n) const {
    std::uint64_t h = mixed(static_cast<std::uint64_t>(n.kind) | static_cast<std::uint64_t>(n.type) << 8 |
                                static_cast<std::uint64_t>(n.code) << 16 | static_cast<std::uint64_t>(n.pick) << 32 |
                                static_cast<std::uint64_t>(n.flushed) << 48,
                            static_cast<std::uint64_t>(std::popcount(n.axes)));
    switch (n.kind) {
        case node_kind::operand: {
            const operand_head& head = key_.operands[n.index].head;
            if (head.kind == operand_kind::raw) return 0;
            h = mixed(h, head.same_as);
            break;
        }
        case node_kind::constant:
            h = mixed(h, std::bit_cast<std::uint64_t>(n.value));
            break;
        case node_kind::user:
            h = mixed(h, n.index);
            break;
        case node_kind::map:
        case node_kind::cast:
        case node_kind::reduce:
        case node_kind::scan:
            break;
        default:
            return 0;
    }
    for (int a = 0; a < n.arity; ++a) {
        if (forms_[n.arguments[a]] == 0) return 0;
        h = mixed(h, forms_[n.arguments[a]]);
    }
    return h | 1u;
}

bool equal_values::match_operands(std::uint16_t a, std::uint16_t b, loop_map& there, loop_map& back) const {
    const operand_class &own = key_.operands[a], &other = key_.operands[b];
    if (own.head.same_as != other.head.same_as || own.head.kind != other.head.kind || own.head.type != other.head.type)
        return false;
    const auto loop = [&](std::size_t axis) { return int{graph_.loop_axis[axis]}; };
    for (std::size_t from = 0; from < own.strides.size(); ++from) {
        const stride_class moves = own.strides[from];
        if (moves == stride_class::broadcast) continue;
        // An axis along which both move in the same way maps to itself. Any other axis maps to the only candidate of
        // the other operand, or to the only one of the same extent and stride class.
        if (other.strides[from] == moves) {
            if (!match(loop(from), loop(from), there, back)) return false;
            continue;
        }
        std::vector<std::size_t> found, of_extent;
        for (std::size_t to = 0; to < other.strides.size(); ++to) {
            if (other.strides[to] != moves || own.strides[to] == moves) continue;
            found.push_back(to);
            if (extent_of_[to] == extent_of_[from]) of_extent.push_back(to);
        }
        if (found.size() != 1) found = std::move(of_extent);
        if (found.size() != 1 || !match(loop(from), loop(found[0]), there, back)) return false;
    }
    return true;
}

std::vector<std::vector<node_id>> equal_values::grouped(const std::vector<bool>& selected) const {
    std::vector<std::vector<node_id>> found;
    std::unordered_map<std::uint64_t, std::vector<node_id>> of_form;
    for (node_id n = 0; n < graph_.nodes.size(); ++n)
        if (selected[n] && forms_[n] != 0) of_form[forms_[n]].push_back(n);
    std::vector<bool> known(graph_.nodes.size());
    for (node_id n = static_cast<node_id>(graph_.nodes.size()); n-- > 0;) {
        if (!selected[n] || forms_[n] == 0 || known[n]) continue;
        std::vector<node_id>& same = found.emplace_back();
        for (const node_id m : of_form[forms_[n]])
            if (!known[m] && along(n, m)) same.push_back(m), known[m] = true;
    }
    return found;
}

std::vector<std::vector<node_id>> equal_values::repeated() const {
    std::vector<std::vector<node_id>> found = grouped(folds_);
    std::erase_if(found, [](const std::vector<node_id>& same) { return same.size() < 2; });
    return found;
}

std::vector<std::vector<node_id>> equal_values::arrays() const {
    std::vector<bool> selected;
    for (const node& n : graph_.nodes)
        selected.push_back(n.kind == node_kind::operand && key_.operands[n.index].head.kind == operand_kind::array);
    return grouped(selected);
}

std::optional<loop_map> equal_values::along(node_id a, node_id b) const {
    loop_map there, back;
    there.fill(unknown), back.fill(unknown);
    std::vector<node_id> met(graph_.nodes.size(), no_node);
    std::vector<std::pair<node_id, node_id>> open{{a, b}}, folds;
    while (!open.empty()) {
        const auto [one, two] = open.back();
        open.pop_back();
        if (met[one] == two) continue;
        const node &own = graph_.nodes[one], &other = graph_.nodes[two];
        const bool alike = forms_[one] != 0 && forms_[one] == forms_[two] && own.kind == other.kind &&
                           own.type == other.type && own.code == other.code && own.pick == other.pick &&
                           own.arity == other.arity && own.flushed == other.flushed && own.value == other.value &&
                           (own.kind != node_kind::user || own.index == other.index);
        if (met[one] != no_node || !alike) return {};
        met[one] = two;
        if (own.kind == node_kind::operand && !match_operands(own.index, other.index, there, back)) return {};
        if (is_fold(own)) folds.emplace_back(one, two);
        for (int i = 0; i < own.arity; ++i) open.emplace_back(own.arguments[i], other.arguments[i]);
    }
    // The loops of a fold are matched in order: the fold may depend on the order of places.
    for (const auto& [one, two] : folds) {
        const std::vector<int> own = loops_of_binder(key_, graph_, graph_.nodes[one].index);
        const std::vector<int> other = loops_of_binder(key_, graph_, graph_.nodes[two].index);
        if (own.size() != other.size()) return {};
        for (std::size_t i = 0; i < own.size(); ++i)
            if (there[static_cast<std::size_t>(own[i])] != other[i]) return {};
    }
    std::uint64_t moved = 0;
    for (std::size_t loop = 0; loop < there.size(); ++loop)
        if ((graph_.nodes[a].axes >> loop & 1u) != 0) {
            if (there[loop] == unknown) return {};
            moved |= std::uint64_t{1} << there[loop];
        }
    if (moved != graph_.nodes[b].axes) return {};
    return there;
}

}  // namespace ingot::codegen
