// Generated sources, kept as files (golden_files.hpp says how): a change of an emitter shows as a change of text.
// INGOT_UPDATE_GOLDEN=1 writes them anew. The two compilers accept each source, the host's without a warning.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "codegen/plan/schedule.hpp"
#include "runtime/kernels/compile_cuda.hpp"
#include "runtime/kernels/compile_host.hpp"
#include "runtime/kernels/nvrtc.hpp"
#include "tests/codegen/golden_files.hpp"
#include "tests/codegen/trees.hpp"
#include "tests/untested.hpp"

using namespace ingot;
using namespace ingot::codegen;

namespace {

std::string ending_on(detail::target where) { return where == detail::target::cuda ? ".cu" : ".cpp"; }

std::filesystem::path golden_folder() { return std::filesystem::path(INGOT_TEST_SOURCES) / "codegen" / "golden"; }

std::vector<test::named_source> sources_on(detail::target where) {
    std::vector<test::named_source> sources;
    for (const named_tree& tree : golden_trees()) {
        const plan p = make_plan(tree.on(where));
        INFO(tree.name);
        CHECK(p.missing == "");
        sources.push_back({tree.name, p.source});
    }
    return sources;
}

test::file_contents kept_files(detail::target where) {
    test::file_contents files;
    for (const auto& entry : std::filesystem::directory_iterator(golden_folder())) {
        if (entry.path().extension() != ending_on(where)) continue;
        std::ostringstream text;
        text << std::ifstream(entry.path()).rdbuf();
        files[entry.path().stem().string()] = text.str();
    }
    return files;
}

}  // namespace

TEST_CASE("the sources of the matrix of trees are those kept as files") {
    for (const detail::target where : {detail::target::cuda, detail::target::host}) {
        const std::vector<test::named_source> sources = sources_on(where);
        const test::file_contents files = test::files_of(sources);
        if (std::getenv("INGOT_UPDATE_GOLDEN") != nullptr)
            for (const auto& [name, content] : files)
                std::ofstream(golden_folder() / (name + ending_on(where))) << content;
        const test::file_contents kept = kept_files(where);
        bool equal = true;
        for (const test::named_source& s : sources) {
            const std::string difference = test::first_difference(test::source_in(kept, s.name), s.source);
            equal = equal && difference.empty();
            INFO(s.name << ending_on(where));
            CHECK(difference == "");
        }
        if (!equal) continue;
        for (const auto& file : files) {
            INFO(file.first << ending_on(where) << " makes the source, but is not as INGOT_UPDATE_GOLDEN=1 writes it");
            CHECK(test::first_difference(test::content_of(kept, file.first), file.second) == "");
        }
        for (const auto& file : kept) {
            INFO(file.first << ending_on(where) << " belongs to no tree");
            CHECK(files.contains(file.first));
        }
    }
}

TEST_CASE("the same key gives the same plan, text and all") {
    for (const named_tree& tree : golden_trees()) {
        const key k = tree.on(detail::target::cuda);
        CHECK(make_plan(k).source == make_plan(decode(encode(k))).source);
    }
}

TEST_CASE("NVRTC accepts every golden CUDA source") {
    if (!runtime::nvrtc_path()) return ingot::test::untested("NVRTC is not here");
    const char* const architecture =
        std::getenv("INGOT_TEST_ALL") != nullptr ? "sm_90" : "compute_90";  // PTX is enough
    for (const named_tree& tree : golden_trees()) {
        INFO(tree.name);
        const plan p = make_plan(tree.on(detail::target::cuda));
        const runtime::compilation c = runtime::compile_cuda(
            {runtime::target::cuda, architecture, p.source, {}, {std::get<launch>(p.steps[0]).kernel}});
        INFO(c.log);
        CHECK(c.accepted);
    }
}

TEST_CASE("the host's compiler accepts every golden C++ source") {
    if (runtime::host_compiler().empty()) return ingot::test::untested("there is no compiler here");
    std::vector<std::string> options;
    if (std::getenv("INGOT_TEST_ALL") == nullptr) options.emplace_back("-Og");  // in half of the time
    for (const named_tree& tree : golden_trees()) {
        INFO(tree.name);
        const plan p = make_plan(tree.on(detail::target::host));
        const runtime::compilation c = runtime::compile_host({runtime::target::host,
                                                              runtime::host_architecture(),
                                                              p.source,
                                                              options,
                                                              {std::get<launch>(p.steps[0]).kernel}});
        INFO(c.log);
        CHECK(c.accepted);
    }
}
