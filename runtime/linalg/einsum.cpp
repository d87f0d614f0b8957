// Parses the text of an einsum, and chooses the order in which its operands are contracted. A letter's label is its
// code; the axes of ellipses have labels from 1000 on, counted from the last one.
#include <ingot/linalg/einsum.hpp>

#include <algorithm>
#include <map>
#include <string>

#include <ingot/core/error.hpp>
#include <ingot/core/views.hpp>

#include "runtime/functions/every_dtype.hpp"

namespace ingot::detail {

namespace {

/// The meaning of an einsum's text for operands of these shapes.
struct einsum_indices {
    struct diagonal {
        int first, second;  // axes with the same label; their diagonal becomes the last axis
    };
    struct operand {
        std::vector<diagonal> diagonals;  // taken in this order
        std::vector<index_t> dropped;     // axes removed next; their extent is 1 where another operand's is longer
        axis_labels labels;               // of the remaining axes
    };
    std::vector<operand> operands;
    axis_labels result;
};

/// The pair of operands to contract next, and the labels of its result.
struct contraction_step {
    std::size_t first, second;
    axis_labels result;
};

constexpr int first_of_ellipsis = 1000;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool has(const axis_labels& labels, int label) {
    return std::find(labels.begin(), labels.end(), label) != labels.end();
}

class parser {
public:
    parser(std::string_view text, std::span<const shape_like> shapes) : given_(text), shapes_(shapes) {
        for (const char c : text)
            if (c != ' ') text_ += c;
    }

    einsum_indices parse() {
        const std::size_t arrow = text_.find("->");
        const std::vector<std::string> terms = split(text_.substr(0, arrow));
        if (terms.size() != shapes_.size())
            fail("there are " + std::to_string(terms.size()) + " lists of indices and " +
                 std::to_string(shapes_.size()) + " operands");
        std::vector<axis_labels> labels;
        for (std::size_t i = 0; i < terms.size(); ++i) labels.push_back(labels_of_operand(terms[i], i));
        find_extents(labels);
        made_.result = arrow == std::string::npos ? implied(labels) : labels_of_result(text_.substr(arrow + 2));
        for (std::size_t i = 0; i < labels.size(); ++i) made_.operands.push_back(prepared(labels[i], shapes_[i]));
        return std::move(made_);
    }

private:
    [[noreturn]] void fail(const std::string& why) const {
        std::string shapes;
        for (const shape_like& s : shapes_) shapes += (shapes.empty() ? "" : ", ") + to_text(s.values());
        throw shape_error("[einsum] \"" + std::string(given_) + "\" of shapes " + shapes + ": " + why);
    }

    static std::vector<std::string> split(const std::string& terms) {
        std::vector<std::string> made(1);
        for (const char c : terms)
            if (c == ',')
                made.emplace_back();
            else
                made.back() += c;
        return made;
    }

    /// Letters as labels; an ellipsis as `ellipsis_axes` labels of its own.
    axis_labels labels_of(const std::string& term, index_t ellipsis_axes) const {
        axis_labels labels;
        bool ellipsis = false;
        for (std::size_t i = 0; i < term.size(); ++i) {
            if (term.compare(i, 3, "...") == 0 && !ellipsis) {
                ellipsis = true;
                i += 2;
                for (index_t j = ellipsis_axes; j-- > 0;) labels.push_back(first_of_ellipsis + static_cast<int>(j));
            } else if (is_letter(term[i])) {
                labels.push_back(term[i]);
            } else {
                fail(std::string("'") + term[i] + "' is no letter, and no part of one \"...\"");
            }
        }
        return labels;
    }

    axis_labels labels_of_operand(const std::string& term, std::size_t operand) {
        const auto letters = static_cast<index_t>(std::count_if(term.begin(), term.end(), is_letter));
        const index_t left = shapes_[operand].count() - letters;
        const bool ellipsis = term.find("...") != std::string::npos;
        if (left < 0 || (left > 0 && !ellipsis))
            fail("operand " + std::to_string(operand) + " has " + std::to_string(shapes_[operand].count()) +
                 " axes, and \"" + term + "\" names " + std::to_string(letters));
        ellipsis_axes_ = std::max(ellipsis_axes_, left);
        return labels_of(term, left);
    }

    axis_labels labels_of_result(const std::string& term) const {
        const bool ellipsis = term.find("...") != std::string::npos;
        if (!ellipsis && ellipsis_axes_ > 0) fail("the result has no \"...\" for the axes that operands' stand for");
        const axis_labels labels = labels_of(term, ellipsis_axes_);
        for (std::size_t i = 0; i < labels.size(); ++i) {
            const std::string letter(1, static_cast<char>(labels[i] < first_of_ellipsis ? labels[i] : '.'));
            if (!extents_.contains(labels[i])) fail("no operand has the result's '" + letter + "'");
            if (std::count(labels.begin(), labels.end(), labels[i]) > 1) fail("the result has '" + letter + "' twice");
        }
        return labels;
    }

    /// The axes of ellipses, then the letters that occur once.
    axis_labels implied(const std::vector<axis_labels>& operands) const {
        axis_labels result;
        for (index_t j = ellipsis_axes_; j-- > 0;) result.push_back(first_of_ellipsis + static_cast<int>(j));
        for (const auto& [label, extent] : extents_) {
            std::ptrdiff_t times = 0;
            for (const axis_labels& labels : operands) times += std::count(labels.begin(), labels.end(), label);
            if (label < first_of_ellipsis && times == 1) result.push_back(label);
        }
        return result;
    }

    void find_extents(const std::vector<axis_labels>& operands) {
        for (std::size_t i = 0; i < operands.size(); ++i) {
            std::map<int, index_t> own;
            for (std::size_t j = 0; j < operands[i].size(); ++j) {
                const int label = operands[i][j];
                const index_t extent = shapes_[i][static_cast<int>(j)];
                const std::string what = label < first_of_ellipsis ? std::string("'") + static_cast<char>(label) + "'"
                                                                   : "an axis of \"...\"";
                if (const auto [known, fresh] = own.emplace(label, extent); !fresh && known->second != extent)
                    fail(what + " is an axis of " + std::to_string(known->second) + " and one of " +
                         std::to_string(extent) + " of operand " + std::to_string(i));
                const auto [known, fresh] = extents_.emplace(label, extent);
                if (!fresh && known->second == 1) known->second = extent;
                if (extent != 1 && extent != known->second)
                    fail(what + " is of extent " + std::to_string(known->second) + " and of " + std::to_string(extent));
            }
        }
    }

    einsum_indices::operand prepared(axis_labels labels, const shape_like& shape) const {
        einsum_indices::operand made;
        std::vector<index_t> extents(shape.begin(), shape.end());
        for (std::size_t i = 0; i < labels.size(); ++i)
            for (std::size_t j = i + 1; j < labels.size(); ++j)
                if (labels[i] == labels[j]) {
                    made.diagonals.push_back({static_cast<int>(i), static_cast<int>(j)});
                    const int label = labels[i];
                    const index_t extent = extents[i];
                    for (const std::size_t at : {j, i}) {
                        labels.erase(labels.begin() + static_cast<std::ptrdiff_t>(at));
                        extents.erase(extents.begin() + static_cast<std::ptrdiff_t>(at));
                    }
                    labels.push_back(label), extents.push_back(extent);
                    i = static_cast<std::size_t>(-1);  // start again: positions have changed
                    break;
                }
        for (std::size_t i = 0; i < labels.size(); ++i)
            if (extents[i] == 1 && extents_.at(labels[i]) != 1)
                made.dropped.push_back(static_cast<index_t>(i));
            else
                made.labels.push_back(labels[i]);
        return made;
    }

    std::string_view given_;
    std::string text_;
    std::span<const shape_like> shapes_;
    std::map<int, index_t> extents_;
    index_t ellipsis_axes_ = 0;
    einsum_indices made_;
};

/// Throws shape_error where the text is wrong or does not fit the operands' axes.
einsum_indices parse_einsum(std::string_view text, std::span<const shape_like> shapes) {
    return parser(text, shapes).parse();
}

/// The pair with the fewest multiplications, and among equals the one with the smallest result. There must be at least
/// two operands.
contraction_step cheapest_contraction(std::span<const axis_labels> labels, std::span<const shape_like> shapes,
                                      const axis_labels& result) {
    std::map<int, double> extents;
    for (std::size_t i = 0; i < labels.size(); ++i)
        for (std::size_t j = 0; j < labels[i].size(); ++j)
            extents[labels[i][j]] = static_cast<double>(shapes[i][static_cast<int>(j)]);
    const auto points = [&](const axis_labels& of) {
        double n = 1;
        for (const int label : of) n *= extents[label];
        return n;
    };
    contraction_step best{};
    double best_work = -1, best_size = 0;
    for (std::size_t i = 0; i < labels.size(); ++i)
        for (std::size_t j = i + 1; j < labels.size(); ++j) {
            axis_labels both = labels[i], kept;
            for (const int label : labels[j])
                if (!has(both, label)) both.push_back(label);
            for (const int label : both) {
                bool wanted = has(result, label);
                for (std::size_t k = 0; k < labels.size() && !wanted; ++k)
                    wanted = k != i && k != j && has(labels[k], label);
                if (wanted) kept.push_back(label);
            }
            const double work = points(both), size = points(kept);
            if (best_work >= 0 && (work > best_work || (work == best_work && size >= best_size))) continue;
            best_work = work, best_size = size;
            best = {i, j, labels.size() == 2 ? result : kept};
        }
    return best;
}

/// The axes whose labels are not in the result, and the order of the other axes.
void arrange_result(const axis_labels& labels, const axis_labels& result, std::vector<index_t>& summed,
                    std::vector<index_t>& order) {
    axis_labels left;
    for (std::size_t i = 0; i < labels.size(); ++i)
        if (has(result, labels[i]))
            left.push_back(labels[i]);
        else
            summed.push_back(static_cast<index_t>(i));
    for (const int label : result) order.push_back(std::find(left.begin(), left.end(), label) - left.begin());
}

}  // namespace

template <class T>
lazy<T> einsum_of(std::string_view text, std::vector<lazy<T>> operands) {
    std::vector<shape_like> shapes;
    for (const lazy<T>& e : operands) shapes.push_back(e.shape());
    const einsum_indices indices = parse_einsum(text, shapes);
    std::vector<axis_labels> labels;
    for (std::size_t i = 0; i < operands.size(); ++i) {
        const auto& how = indices.operands[i];
        for (const auto& d : how.diagonals) operands[i] = diagonal(operands[i], 0, d.first, d.second);
        if (!how.dropped.empty()) operands[i] = squeeze(operands[i], axes(how.dropped));
        labels.push_back(how.labels);
    }
    while (operands.size() > 1) {
        shapes.clear();
        for (const lazy<T>& e : operands) shapes.push_back(e.shape());
        const contraction_step step = cheapest_contraction(labels, shapes, indices.result);
        const auto first = static_cast<std::ptrdiff_t>(step.first), second = static_cast<std::ptrdiff_t>(step.second);
        operands.push_back(contract("einsum", operands[step.first], labels[step.first], operands[step.second],
                                    labels[step.second], step.result));
        labels.push_back(step.result);
        // Erase the later one first, so that the other keeps its position.
        operands.erase(operands.begin() + second), operands.erase(operands.begin() + first);
        labels.erase(labels.begin() + second), labels.erase(labels.begin() + first);
    }
    std::vector<index_t> summed, order;
    arrange_result(labels[0], indices.result, summed, order);
    lazy<T> left = summed.empty() ? operands[0] : sum_in_type<T>("einsum", operands[0], axes(summed));
    return permute_dims(left, axes(order));
}

#define INGOT_EINSUM(T) template lazy<T> einsum_of(std::string_view, std::vector<lazy<T>>);
INGOT_FOR_EVERY_DTYPE(INGOT_EINSUM)
#undef INGOT_EINSUM

}  // namespace ingot::detail
