// Generated sources, kept as files: a change of an emitter shows as a change of text. INGOT_UPDATE_GOLDEN=1 writes them
// anew. Each is also what the two compilers accept, without a warning from the host's.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "codegen/plan/schedule.hpp"
#include "runtime/kernels/compile_cuda.hpp"
#include "runtime/kernels/compile_host.hpp"
#include "runtime/kernels/nvrtc.hpp"
#include "tests/codegen/trees.hpp"
#include "tests/untested.hpp"

using namespace ingot;
using namespace ingot::codegen;

namespace {

std::filesystem::path golden_file(const std::string& name, detail::target where) {
    const char* const ending = where == detail::target::cuda ? ".cu" : ".cpp";
    return std::filesystem::path(INGOT_TEST_SOURCES) / "codegen" / "golden" / (name + ending);
}

std::string content(const std::filesystem::path& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
}

}  // namespace

TEST_CASE("the sources of the matrix of trees are those kept as files") {
    const bool update = std::getenv("INGOT_UPDATE_GOLDEN") != nullptr;
    for (const named_tree& tree : golden_trees())
        for (const detail::target where : {detail::target::cuda, detail::target::host}) {
            const plan p = make_plan(tree.on(where));
            CHECK(p.missing == "");
            const std::filesystem::path file = golden_file(tree.name, where);
            if (update) std::ofstream(file) << p.source;
            INFO(file.string());
            CHECK(p.source == content(file));
        }
}

TEST_CASE("every golden file belongs to a tree") {
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(golden_file("", detail::target::cuda).parent_path()))
        files += entry.is_regular_file() ? 1 : 0;
    CHECK(files == 2 * golden_trees().size());
}

TEST_CASE("the same key gives the same plan, text and all") {
    for (const named_tree& tree : golden_trees()) {
        const key k = tree.on(detail::target::cuda);
        CHECK(make_plan(k).source == make_plan(decode(encode(k))).source);
    }
}

TEST_CASE("NVRTC accepts every golden CUDA source") {
    if (!runtime::nvrtc_path()) return ingot::test::untested("NVRTC is not here");
    for (const named_tree& tree : golden_trees()) {
        INFO(tree.name);
        const plan p = make_plan(tree.on(detail::target::cuda));
        const runtime::compilation c = runtime::compile_cuda(
            {runtime::target::cuda, "sm_90", p.source, {}, {std::get<launch>(p.steps[0]).kernel}});
        INFO(c.log);
        CHECK(c.accepted);
    }
}

TEST_CASE("the host's compiler accepts every golden C++ source") {
    if (runtime::host_compiler().empty()) return ingot::test::untested("there is no compiler here");
    for (const named_tree& tree : golden_trees()) {
        INFO(tree.name);
        const plan p = make_plan(tree.on(detail::target::host));
        const runtime::compilation c = runtime::compile_host(
            {runtime::target::host, runtime::host_architecture(), p.source, {}, {std::get<launch>(p.steps[0]).kernel}});
        INFO(c.log);
        CHECK(c.accepted);
    }
}
