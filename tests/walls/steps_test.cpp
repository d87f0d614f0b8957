// The steps of a plan beside its kernels, run by plans made by hand: library calls with a workspace, and fills.
#include <algorithm>
#include <memory>
#include <sstream>
#include <string>

#include <ingot/core/error.hpp>

#include "codegen/text/error_report.hpp"
#include "count.hpp"
#include "runtime/front/evaluate.hpp"
#include "runtime/front/launch.hpp"
#include "runtime/front/library_functions.hpp"
#include "runtime/kernels/error_record.hpp"
#include "runtime/kernels/executable.hpp"
#include "tests/arrays/expect.hpp"

using namespace ingot;

namespace {

using codegen::argument_kind;

std::size_t workspace_given = 0;

/// Copies the first operand to the first result, both contiguous, through the workspace where there is one.
void copy(const runtime::library_arguments& given) {
    const runtime::library_array &from = given.operands[0], &to = given.results[0];
    std::size_t bytes = detail::size_of(from.type);
    for (const index_t n : from.extents) bytes *= static_cast<std::size_t>(n);
    workspace_given = given.workspace_bytes;
    const void* source = from.data;
    const auto move = [&](void* target) {
        given.stream.backend->copy(target, source, bytes, runtime::copy_direction::within, given.stream.native);
    };
    if (given.workspace != nullptr) move(given.workspace), source = given.workspace;
    move(to.data);
}
std::size_t bytes_of_operand(const runtime::library_arguments& given) {
    return static_cast<std::size_t>(given.operands[0].extents[0]) * detail::size_of(given.operands[0].type);
}

codegen::library_array vector(argument_kind memory) {
    codegen::library_array a{memory, 0, dtype::i4, {{0, codegen::no_number, 0, true}}};
    return a;
}

/// The output of a plan of these steps over n elements.
array<int> run(codegen::plan plan, index_t n) {
    static auto& all = *new std::vector<std::unique_ptr<runtime::executable>>;  // never freed, as reports name them
    runtime::executable& e = *all.emplace_back(std::make_unique<runtime::executable>());
    e.plan = std::move(plan);
    runtime::load_steps(e);
    ingot::detail::buffer_ref memory = ingot::detail::allocate_buffer(static_cast<std::size_t>(n) * sizeof(int));
    detail::layout where = detail::contiguous_layout(std::array{n});
    const ingot::detail::output out{dtype::i4, &memory, &where};
    runtime::classified c;
    c.extents = {n};
    c.strides = {1};
    const runtime::statement s{{}, {}, {}, {&out, 1}};
    runtime::order(s, *runtime::context_of(s).stream);
    runtime::run(e, c, s, *runtime::context_of(s).stream);
    return array<int>(detail::adopted{}, detail::leaf<int>(std::move(memory), where));
}

}  // namespace

TEST_CASE("a fill sets the bytes of a temporary, which a library call reads") {
    runtime::register_library_function("steps_test.copy", {copy});
    codegen::plan p;
    p.temporaries = {{dtype::i4, codegen::points_of(1)}};
    codegen::library_call call;
    call.function = "steps_test.copy";
    call.operands = {vector(argument_kind::temporary_pointer)};
    call.results = {vector(argument_kind::output_pointer)};
    p.steps = {codegen::fill{argument_kind::temporary_pointer, 0, 0xff}, call};
    const std::uint64_t before = counters().library_calls;
    CHECK(run(p, 5).to_host() == std::vector<int>(5, -1));
    CHECK(counters().library_calls == before + 1);
    CHECK(workspace_given == 0);
}

TEST_CASE("a fill sets the bytes of an output") {
    codegen::plan p;
    p.steps = {codegen::fill{argument_kind::output_pointer, 0, 1}};
    CHECK(run(p, 3).to_host() == std::vector<int>(3, 0x01010101));
}

TEST_CASE("a library call has the workspace that it asks for, beside what its plan gives") {
    runtime::register_library_function("steps_test.copy_twice", {copy, bytes_of_operand});
    codegen::plan p;
    p.temporaries = {{dtype::i4, codegen::points_of(1)}, {dtype::b1, {}, 64, true}};
    codegen::library_call call;
    call.function = "steps_test.copy_twice";
    call.operands = {vector(argument_kind::temporary_pointer)};
    call.results = {vector(argument_kind::output_pointer)};
    call.workspace = 1;
    p.steps = {codegen::fill{argument_kind::temporary_pointer, 0, 0}, call};
    CHECK(run(p, 1000).to_host() == std::vector<int>(1000, 0));
    CHECK(workspace_given == 64 + 4000);
}

TEST_CASE("a function that no library has is a library_error") {
    codegen::plan p;
    codegen::library_call call;
    call.function = "steps_test.unknown";
    p.steps = {call};
    CHECK_THROWS_AS(run(p, 1), library_error);
}

// ---- errors that are found while work runs ---------------------------------------------------------------------

namespace {

/// A kernel that reads at 3 i for i below n of as many elements, and reports where that is outside. Never freed, as
/// reports name it.
const runtime::executable& reading_kernel() {
    static const runtime::executable& made = [&]() -> runtime::executable& {
        auto& e = *new runtime::executable;
        const bool cuda = current_device().is_cuda();
        e.key.header.where = cuda ? detail::target::cuda : detail::target::host;
        if (cuda) e.key.header.architecture = runtime::context_on(current_device()).environment.architecture;
        e.plan.expression = "take(x, 3 * i)";
        e.plan.source = codegen::error_report_text(e.key.header.where) +
                        "struct arguments {\n"
                        "    int* z0;\n"
                        "    error_record* errors;\n"
                        "    unsigned long long statement;\n"
                        "    unsigned int n0;\n"
                        "};\n";
        const std::string body =
            "    if (i * 3 < p.n0)\n"
            "        p.z0[i] = i * 3;\n"
            "    else\n"
            "        report_error(p.errors, p.statement, 1, 2, i * 3, p.n0);\n";
        e.plan.source += cuda ? "extern \"C\" __global__ void __launch_bounds__(64)\n"
                                "read(const __grid_constant__ arguments p) {\n"
                                "    const unsigned int i = blockIdx.x * 64 + threadIdx.x;\n"
                                "    if (i >= p.n0) return;\n" +
                                    body + "}\n"
                              : "extern \"C\" void read(const arguments* given, unsigned long long begin, "
                                "unsigned long long end) {\n"
                                "    const arguments& p = *given;\n"
                                "    for (unsigned int i = begin * 64; i < end * 64 && i < p.n0; ++i)\n" +
                                    body + "}\n";
        codegen::launch l;
        l.kernel = "read";
        l.threads = 64;
        l.grid[0] = ceil_divide(codegen::points_of(1), 64);
        l.formulas = {codegen::points_of(1)};
        l.arguments = {{argument_kind::output_pointer, 8, 0, 0, 0},
                       {argument_kind::error_record, 8, 0, 0, 8},
                       {argument_kind::statement, 8, 0, 0, 16},
                       {argument_kind::count, 4, 0, 0, 24}};
        l.argument_bytes = 32;
        e.plan.steps = {l};
        runtime::load_steps(e);
        return e;
    }();
    return made;
}

array<int> read(index_t n) {
    ingot::detail::buffer_ref memory = ingot::detail::allocate_buffer(static_cast<std::size_t>(n) * sizeof(int));
    detail::layout where = detail::contiguous_layout(std::array{n});
    const ingot::detail::output out{dtype::i4, &memory, &where};
    runtime::classified c;
    c.extents = {n};
    c.strides = {1};
    const runtime::statement s{{}, {}, {}, {&out, 1}};
    runtime::order(s, *runtime::context_of(s).stream);
    runtime::run(reading_kernel(), c, s, *runtime::context_of(s).stream);
    return array<int>(detail::adopted{}, detail::leaf<int>(std::move(memory), where));
}

void report_singular(const runtime::library_arguments& given) {
    runtime::report_error(runtime::error_record_of(given.stream), given.statement, codegen::report_kind::singular, 0, 7,
                          0);
}

void synchronize_without_throwing(const stream& s) { s.state().backend->synchronize(s.state().native); }

bool names(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("who waits for a stream throws what its kernels found, once, and the stream goes on") {
    const array<int> x = read(1);
    CHECK(x.to_host() == std::vector<int>{0});
    read(200);
    const std::string text = thrown<index_error>([] { synchronize(); });
    CHECK(names(text, "[take(x, 3 * i)] index "));
    CHECK(names(text, " is outside axis 2, which has 200 elements"));
    synchronize();
    CHECK((x + 1).to_host() == std::vector<int>{1});
}

TEST_CASE("every way to wait throws what kernels found") {
    const auto throws = [](auto wait) {
        read(2);
        CHECK(names(thrown<index_error>(wait), "index 3 is outside"));
        synchronize();
    };
    const array<int> one{1};
    std::vector<int> to(1);
    throws([&] { one.to_host(); });
    throws([&] { one.item(); });
    throws([&] { sum(one).item(); });
    throws([&] { copy_to(one, std::span(to)); });
    throws([&] {
        std::ostringstream out;
        out << one;
    });
    throws([] { current_stream().synchronize(); });
    throws([] { current_device().synchronize(); });
    throws([] {
        event e;
        e.record();
        e.synchronize();
    });
}

TEST_CASE("a host that reads what another stream's kernels wrote throws what they found") {
    if (current_device().is_host()) return;
    array<int> x;
    {
        const stream s;
        const with_stream g(s);
        x = read(2);
        CHECK(names(thrown<index_error>([&] {
                        const with_device d(current_device());
                        x.to_host();
                    }),
                    "index 3"));
        s.synchronize();
    }
}

TEST_CASE("the first of several errors is the one that is thrown, and a stream's are its own") {
    runtime::register_library_function("steps_test.singular", {report_singular});
    codegen::plan p;
    p.expression = "inv(x)";
    codegen::library_call call;
    call.function = "steps_test.singular";
    p.steps = {call};
    const stream other;
    {
        const with_stream g(other);
        run(p, 1);
        other.done();
        read(2);
    }
    synchronize();
    CHECK(thrown<linalg_error>([&] { other.synchronize(); }) == "[inv(x)] matrix 7 is singular");
    other.synchronize();
}

TEST_CASE("a stream that ends with an error unthrown leaves it to no other") {
    {
        const stream s;
        const with_stream g(s);
        read(2);
        synchronize_without_throwing(s);
    }
    const stream next;  // the same entry, where it has retired
    next.synchronize();
}

TEST_CASE("statements that report nothing make no error record") {
    std::vector<stream> streams(1);
    while (streams.back().state().errors.load() != nullptr)
        streams.emplace_back();  // others' streams that have retired
    const with_stream g(streams.back());
    CHECK((array<int>{1} + 1).item() == 2);
    CHECK(streams.back().state().errors.load() == nullptr);
}
