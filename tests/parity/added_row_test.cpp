// docs/adding-an-operator.md: an operator is one row. Here a row is added at run time, in the place of one that there
// is, and its one text serves the interpreter, the host's emitter and CUDA's.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include <ingot/ingot.hpp>

#include "codegen/plan/schedule.hpp"
#include "codegen/text/spelling.hpp"
#include "runtime/kernels/body_functions.hpp"
#include "runtime/kernels/executable.hpp"
#include "runtime/kernels/interpreter.hpp"

namespace {

using namespace ingot;
using detail::op;

/// The row whose name, arity and rule are taken. Other tests must not compute it, because kernels are kept.
constexpr op taken = op::heaviside;

// The row as text, and as C++.
constexpr std::string_view text =
#define INGOT_OPERATOR(name, arity, rule, cost, ulp, boolean, integer, floating) #floating;
#include "tests/parity/added_row.def"
#undef INGOT_OPERATOR
    namespace body {
    using detail::bodies::abs;
#define INGOT_OPERATOR(name, arity, rule, cost, ulp, boolean, integer, floating) \
    template <class T>                                                           \
    T compute(T a, T b) {                                                        \
        floating;                                                                \
    }
#include "tests/parity/added_row.def"
#undef INGOT_OPERATOR
}  // namespace body

template <class T>
void run(const void* a, const void* b, const void*, void* out, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i)
        static_cast<T*>(out)[i] = body::compute(static_cast<const T*>(a)[i], static_cast<const T*>(b)[i]);
}

struct added_row {
    added_row() {
        runtime::replace_bodies([](op o, dtype first, dtype others) -> runtime::bodies::map_block {
            if (o != taken) return runtime::bodies::map_for(o, first, others);
            return first == dtype::f4 ? run<float> : run<double>;
        });
        codegen::replace_texts([](op o, detail::evaluator where, dtype first, dtype second) {
            return o == taken ? text : detail::body_of(o, where, first, second).text;
        });
    }
    ~added_row() {
        runtime::replace_bodies(nullptr);
        codegen::replace_texts(nullptr);
    }
};

std::string cuda_source;
runtime::key_observer before;

/// Keeps the source of each compiled key for a GPU too; the previous observer compiles it.
void keep_cuda_source(std::span<const std::uint32_t> words) {
    codegen::key key = codegen::decode(words);
    key.header.where = detail::target::cuda;
    key.header.architecture = 90;
    cuda_source = codegen::make_plan(key).source;
    if (before != nullptr) before(words);
}

template <class T>
void check(bool compiled) {
    const std::vector<T> xs{-3, -0.5, 0, 0.25, 7}, ys{1, 2, -0.0, 0.25, -8};
    const array<T> x = asarray(xs), y = asarray(ys);
    const with_math math(strict);
    const auto launched = counters().kernel_launches, interpreted = counters().interpreter_runs;
    // The compiled and the interpreted expression differ, because an existing kernel would be run.
    const std::vector<T> got =
        compiled ? array<T>(heaviside(x, y) * T(4)).to_host() : array<T>(heaviside(x, y) * T(4) + T(0)).to_host();
    CHECK(counters().kernel_launches - launched == (compiled ? 1 : 0));
    CHECK(counters().interpreter_runs - interpreted == (compiled ? 0 : 1));
    for (std::size_t i = 0; i < xs.size(); ++i)
        CHECK(got[i] == (xs[i] - ys[i]) / (T(1) + std::abs(xs[i] - ys[i])) * T(4));
}

}  // namespace

TEST_CASE_TEMPLATE("a row added at run time is interpreted, compiled, and printed for CUDA", T, float, double) {
    const added_row in_its_place;
    cuda_source.clear();
    before = runtime::observe_new_keys(keep_cuda_source);
    check<T>(true);
    runtime::observe_new_keys(before);
    if (current_device().is_host()) {
        CHECK(cuda_source.find("distance") != std::string::npos);
        const char* const compiler = std::getenv("INGOT_CXX");
        const std::string given = compiler != nullptr ? compiler : "";
        setenv("INGOT_CXX", "/no/such/compiler", 1);
        check<T>(false);
        compiler != nullptr ? setenv("INGOT_CXX", given.c_str(), 1) : unsetenv("INGOT_CXX");
    }
}
