// Random trees, three evaluators: the compiled kernel (on the host, and on a GPU where there is one), the interpreter
// over the same key, and the plain reading of the program must agree in strict arithmetic: bit for bit in trees of
// exact operations, else within a propagated bound. A failing tree is shrunk, and its seed printed: INGOT_TEST_SEED
// replays a run, INGOT_TEST_TREES sets how many trees it has.
#include <doctest/doctest.h>

#include <cstdlib>

#include "evaluators.hpp"
#include "smooth.hpp"
#include "tests/drawn.hpp"

namespace ingot::tests {

namespace {

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
    const char* text = std::getenv(variable);
    return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

using contents = std::vector<std::vector<std::byte>>;
struct named_evaluator {
    const char* name;
    contents (*evaluate)(const std::vector<random_tree>&);
};

std::uint64_t number_of_trees() {
    return number_from("INGOT_TEST_TREES", static_cast<std::uint64_t>(ingot::test::number_of_draws(600)));
}

/// The evaluators that this machine has.
std::vector<named_evaluator> evaluators() {
    std::vector<named_evaluator> all{
        {"interpreter", interpret_together},
        {"host", [](const std::vector<random_tree>& trees) { return evaluate_together(trees, device::host()); }}};
    if (device::cuda_count() != 0)
        all.push_back({"cuda", [](const std::vector<random_tree>& t) { return evaluate_together(t, device::cuda()); }});
    return all;
}

/// Empty where every evaluator agrees with the plain reading.
std::string disagreement(const random_tree& tree) {
    const std::vector<std::byte> wanted = plain_value(tree);
    for (const named_evaluator& e : evaluators()) try {
            const std::string what = difference(tree.type, e.evaluate({tree})[0], wanted);
            if (!what.empty()) return std::string(e.name) + ": " + what;
        } catch (const std::exception& error) {
            return std::string(e.name) + " threw: " + error.what();
        }
    return "";
}

/// The smallest tree of the same seed and shape that still fails.
std::string shrunk(const random_tree& failing, tree_options options) {
    const int most = options.nodes;
    for (options.nodes = 0; options.nodes <= most; ++options.nodes) {
        const random_tree t = grow(failing.seed, failing.shape, options);
        const std::string what = disagreement(t);
        if (!what.empty()) return what + "\n  " + describe(t);
    }
    return "only together with other outputs: " + describe(failing);
}

constexpr std::uint64_t together = 6;  // outputs of one kernel: fewer keys to compile

/// Grows groups of trees of one shape, computes the right values, and compares them with every evaluator's results for
/// the group.
template <class Grow, class Reference, class Compare>
void check_groups(std::uint64_t trees, Grow grow_one, Reference reference, Compare compare) {
    const std::uint64_t seed = ingot::test::drawing_seed();
    MESSAGE("seed " << seed << ", " << trees << " trees");
    for (std::uint64_t first = 0; first < trees; first += together) {
        random_engine random(seed + first);
        const extents shape = random_shape(random);
        std::vector<random_tree> group;
        std::vector<decltype(reference(group[0]))> wanted;
        for (std::uint64_t i = 0; i < together; ++i) {
            group.push_back(grow_one(random(), shape));
            wanted.push_back(reference(group.back()));
        }
        for (const named_evaluator& e : evaluators()) try {
                const contents got = e.evaluate(group);
                for (std::size_t i = 0; i < together; ++i) compare(std::string(e.name), group[i], got[i], wanted[i]);
            } catch (const std::exception& error) {
                std::string text = e.name + std::string(" threw ") + error.what();
                for (const random_tree& t : group) text += "\n  " + describe(t);
                FAIL_CHECK(text);
            }
    }
}

}  // namespace

TEST_CASE("compiled kernels, the interpreter and the plain reading agree on random trees") {
    const tree_options options;
    check_groups(
        number_of_trees(), [&](std::uint64_t seed, const extents& shape) { return grow(seed, shape, options); },
        plain_value,
        [&](const std::string& who, const random_tree& tree, const auto& got, const auto& wanted) {
            const std::string what = difference(tree.type, got, wanted);
            if (!what.empty()) FAIL_CHECK(who << ": " << what << "\n  shrunk: " << shrunk(tree, options));
        });
}

TEST_CASE("a statement that comes again with other operands means what it means for the first time") {
    const tree_options any{.nodes = 3, .sums = 10, .targets = 0},
        contiguous{.nodes = 3, .sums = 0, .targets = 0, .scalars = 50, .contiguous = true};
    const std::uint64_t seed = ingot::test::drawing_seed();
    const ingot::detail::device_id where = device::cuda_count() != 0 ? device::cuda() : device::host();
    static std::vector<ingot::detail::slot*>& kept =
        *new std::vector<ingot::detail::slot*>;  // slots' entries are never freed
    std::size_t wrong = 0;
    for (std::uint64_t k = 0; k < number_of_trees() / 25; ++k) {
        random_engine random(seed + k);
        random_tree tree = grow(random(), random_shape(random), k % 2 == 0 ? any : contiguous);
        kept.push_back(new ingot::detail::slot);
        for (int again = 0; again < 8 && wrong < 5; ++again) {
            const random_tree other = again % 3 == 0 ? tree : varied(random, tree);
            const std::string what =
                difference(other.type, evaluate_in(*kept.back(), other, where), plain_value(other));
            if (what.empty()) continue;
            ++wrong;
            FAIL_CHECK(what << ", when it came for the " << again << "th time\n  " << describe(other));
        }
    }
}

TEST_CASE("trees of functions that are not exact stay within the bound that their errors add up to") {
    std::size_t judged = 0, elements = 0;
    check_groups(
        number_of_trees() / 10, [](std::uint64_t seed, const extents& shape) { return grow_smooth(seed, shape, 8); },
        bounded_value,
        [&](const std::string& who, const random_tree& tree, const auto& got, const auto& wanted) {
            elements += wanted.size();
            const std::string what = beyond_bound(tree, got, wanted, judged);
            if (!what.empty()) FAIL_CHECK(who << ": " << what << "\n  " << describe(tree));
        });
    CHECK(judged * 2 > elements);
}

}  // namespace ingot::tests
