// CUDA's device math in texts on the host: every function of the table, values where they are known exactly or to the
// last places, and the page that lists them. The same texts are compiled for CUDA where the suite has a compiler for
// it.
#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "codegen/text/device_math.hpp"
#include "tests/arrays/expect.hpp"

using namespace ingot;

namespace {

/// Calls f(name, signature, single) for every name of the table but the atomic ones, which take no local variable.
template <class F>
void for_each_function(const F& f) {
    for (const codegen::device_function& row : codegen::device_functions()) {
        const std::string name(row.name);
        if (name.starts_with("atomic")) continue;
        if (name.ends_with('@')) {
            for (const char* way : {"rn", "rd", "ru", "rz"})
                f(name.substr(0, name.size() - 1) + way, row.signature, false);
            continue;
        }
        f(name, row.signature, false);
        if (!row.has_both_precisions()) continue;
        f(name, row.signature, true);
        if (name != "abs") f(name + 'f', row.signature, true);
    }
}

/// A call with variables of its parameters' types.
std::string call_of(const std::string& name, std::string_view signature, bool single) {
    std::string call = name + '(' + (signature.empty() ? "vi, vi" : "");
    for (std::size_t k = 1; k < signature.size(); ++k) {
        char letter = signature[k];
        if (letter == 'x') letter = single ? 'f' : 'd';
        call += k > 1 ? ", " : "";
        switch (letter) {
            case 'X':
                call += single ? "&to_f" : "&to_d";
                break;
            case 'F':
                call += "&to_f";
                break;
            case 'I':
                call += "&to_i";
                break;
            case 's':
                call += "\"\"";
                break;
            default:
                call += std::string("v") + letter;
        }
    }
    return call + ')';
}

struct known_value {
    const char* expression;
    double wanted;
    double relative = 0;  // exact
};

std::vector<double> values_of(const std::vector<known_value>& known) {
    std::string text = "int out_i = 0; float out_f = 0; double out_d = 0;\nz = x;\nswitch (i) {\n";
    for (std::size_t k = 0; k < known.size(); ++k)
        text += "case " + std::to_string(k) + ": { z = double(" + known[k].expression + "); break; }\n";
    const elementwise_kernel<"double x", "double z"> all(text + "}", "device_math");
    return array<double>(all(zeros<double>(static_cast<index_t>(known.size())))).to_host();
}

}  // namespace

TEST_CASE("every function of CUDA's device math can be called in a text") {
    std::string text =
        "float vf = 0.3f, to_f = 0; double vd = 0.7, to_d = 0; int vi = 3, to_i = 0; unsigned int vu = 5;\n"
        "unsigned short vt = 3; long vl = 3; long long vL = -9; unsigned long long vU = 77;\n"
        "const float vp[] = {1, 2, 3}; const double vP[] = {1, 2, 3};\nz = x;\n";
    int functions = 0, finite = 0;
    for_each_function([&](const std::string& name, std::string_view signature, bool single) {
        const std::string call = call_of(name, signature, single);
        text += signature.starts_with('v') ? call + ";\n" : "z += isfinite(double(" + call + "));\n";
        ++functions;
        const bool of_nan = name.starts_with("nan") || name.starts_with("acosh") || name == "__longlong_as_double";
        finite += !signature.starts_with('v') && !of_nan;
    });
    CHECK(functions > 400);
    const elementwise_kernel<"double x", "double z"> whole(text + "if (!isfinite(to_f + to_d + to_i)) z = x;",
                                                           "all_device_math");
    CHECK(array<double>(whole(array<double>{0})).item() == finite);
}

TEST_CASE("functions of CUDA's device math have their values on the host too") {
    const double e = 2.718281828459045;
    const std::vector<known_value> known{
        {"fmaf(2.0f, 3.0f, 4.0f)", 10},
        {"fma(2.0, 3.0, 4.0)", 10},
        {"ldexpf(0.75f, 4)", 12},
        {"ldexp(0.75, -1074)", 0x1p-1074},
        {"rsqrt(4.0)", 0.5},
        {"rsqrtf(4.0f)", 0.5},
        {"exp10f(2.0f)", 100},
        {"exp10(-3.0)", 1e-3},
        {"logbf(10.0f)", 3},
        {"ilogbf(0.25f)", -2},
        {"scalbnf(1.0f, -3)", 0.125},
        {"remainderf(5.0f, 3.0f)", -1},
        {"nextafterf(1.0f, 2.0f)", 1 + 0x1p-23},
        {"nextafter(1.0, 0.0)", 1 - 0x1p-53},
        {"fdimf(5.0f, 3.0f) + fdim(3.0, 5.0)", 2},
        {"lrintf(2.5f)", 2},
        {"lroundf(2.5f)", 3},
        {"signbit(-0.0f)", 1},
        {"__expf(1.0f)", e, 1e-6},
        {"__powf(2.0f, 3.0f)", 8, 1e-6},
        {"__saturatef(1.5f) + __saturatef(-1.0f)", 1},
        {"(sincos(0.0, &out_d, &out_d), out_d)", 1},
        {"(modf(2.75, &out_d), out_d)", 2},
        {"frexpf(12.0f, &out_i) * 100 + out_i", 79},
        {"(remquo(7.0, 2.0, &out_i), out_i)", 4},
        {"sinpi(0.5) + sinpi(1.5) + cospi(1.0)", -1},
        {"sinpi(1e15) + cospi(0.5)", 0},
        {"sinpif(0.25f)", std::sqrt(0.5), 1e-7},
        {"cospi(1.0 / 3)", 0.5, 1e-15},
        {"rcbrt(8.0)", 0.5, 1e-15},
        {"rhypotf(3.0f, 4.0f)", 0.2, 1e-7},
        {"norm3d(1.0, 2.0, 2.0)", 3, 1e-15},
        {"rnorm4df(2.0f, 2.0f, 2.0f, 2.0f)", 0.25, 1e-7},
        {"normcdf(0.0)", 0.5, 1e-15},
        {"normcdfinv(normcdf(0.3))", 0.3, 1e-14},
        {"erfcinv(1.0)", 0},
        {"erfinvf(0.0f)", 0},
        {"cyl_bessel_i0(0.0) + cyl_bessel_i1f(0.0f)", 1},
        {"jn(0, 0.5) - j0(0.5)", 0},
        {"max(-1, 2) + min(3u, 5u) + max(2.0f, 3.0)", 8},
        {"fmaxf(NAN, 2.0f) + min(NAN, 1.0f)", 3},
        {"abs(-3) + llabs(-4ll) + abs(-2.5f)", 9.5},
        {"__popc(255u) + __popcll(~0ull)", 72},
        {"__clz(1) + __clzll(0ll)", 95},
        {"__ffs(8) + __ffsll(0ll)", 4},
        {"__brev(1u)", 2147483648.0},
        {"__brevll(1ull) >> 63", 1},
        {"__byte_perm(0x33221100u, 0x77665544u, 0x7531u)", 0x77553311},
        {"__umulhi(0x80000000u, 4u)", 2},
        {"__mulhi(-2147483647 - 1, 4)", -2},
        {"__umul64hi(1ull << 63, 4ull)", 2},
        {"__mul64hi(-1ll, 2ll)", -1},
        {"__mul24(-3, 5) + __umul24(3u, 5u)", 0},
        {"__hadd(-1, 2) + __rhadd(1, 2)", 2},
        {"__uhadd(~0u, ~0u) == ~0u", 1},
        {"__sad(-5, 5, 1u) + __usad(2u, 5u, 1u)", 15},
        {"__funnelshift_l(0x80000000u, 1u, 1u)", 3},
        {"__funnelshift_r(2u, 1u, 1u)", 2147483649.0},
        {"__funnelshift_lc(5u, 9u, 40u)", 5},
        {"__dp4a(0x01020304, 0x01010101, 10)", 20},
        {"__fns(0xf0u, 0u, 2)", 5},
        {"__fadd_rd(1.0f, 1e-10f)", 1},
        {"__fadd_ru(1.0f, 1e-10f)", 1 + 0x1p-23},
        {"__fsub_rz(1.0f, 1e-10f)", 1 - 0x1p-24},
        {"__fdiv_rd(1.0f, 3.0f) < __fdiv_ru(1.0f, 3.0f)", 1},
        {"__fdiv_rn(1.0f, 3.0f)", 1.0f / 3.0f},
        {"__dmul_ru(1.0 + 0x1p-52, 1.0 + 0x1p-52) - (1.0 + 0x1p-51)", 0x1p-52},
        {"__fma_rd(1.0, 1.0, -0x1p-80)", 1 - 0x1p-53},
        {"__fsqrt_ru(2.0f) > __fsqrt_rd(2.0f)", 1},
        {"__fmul_rn(3.0f, 3.0f) + __dadd_rn(1.0, 2.0)", 12},
        {"__float2int_rn(2.5f) + __float2int_rd(-2.5f) + __float2int_ru(2.5f) + __float2int_rz(-2.5f)", 0},
        {"__float2int_rz(3e9f)", 2147483647},
        {"__float2uint_rz(-5.0f) + __double2uint_ru(4.2)", 5},
        {"__float2int_rn(NAN)", 0},
        {"__double2ll_rn(NAN) == 1ll << 63", 1},
        {"__double2ull_rz(1e30) == ~0ull", 1},
        {"__double2float_ru(1.0 + 0x1p-40)", 1 + 0x1p-23},
        {"__int2float_rd(16777217)", 16777216},
        {"__int2float_ru(16777217)", 16777218},
        {"__ll2double_rz((1ll << 53) + 1)", 0x1p53},
        {"__int_as_float(__float_as_int(2.5f))", 2.5},
        {"__longlong_as_double(__double_as_longlong(-0.1))", -0.1},
        {"__hiloint2double(__double2hiint(0.7), __double2loint(0.7))", 0.7},
    };
    const std::vector<double> got = values_of(known);
    for (std::size_t k = 0; k < known.size(); ++k)
        CHECK_MESSAGE(std::abs(got[k] - known[k].wanted) <= known[k].relative * std::abs(known[k].wanted),
                      known[k].expression, " is ", got[k], ", wanted ", known[k].wanted);
}

TEST_CASE("atomic operations return the value before, and write the new one") {
    const elementwise_kernel<"", "raw int32 x, raw int32 old"> each(R"(
        old[0] = atomicAdd(&x[0], 5);      old[1] = atomicSub(&x[1], 5);      old[2] = atomicMax(&x[2], 12);
        old[3] = atomicMax(&x[3], 5);      old[4] = atomicMin(&x[4], 5);      old[5] = atomicMin(&x[5], 12);
        old[6] = atomicAnd(&x[6], 6);      old[7] = atomicOr(&x[7], 5);       old[8] = atomicXor(&x[8], 3);
        old[9] = atomicExch(&x[9], 7);     old[10] = atomicCAS(&x[10], 10, 3);  old[11] = atomicCAS(&x[11], 4, 3);
    )",
                                                                    "each");
    array<int> x = full<int>({12}, 10), old = zeros<int>(12);
    each(out(x), out(old), of_size(1));
    CHECK(holds(x, {12}, {15, 5, 12, 10, 5, 10, 2, 15, 9, 7, 3, 10}));
    CHECK(all(old == 10).item());
}

TEST_CASE("the page of kernel texts lists every function of the table") {
    std::ifstream file(INGOT_TEST_SOURCES "/../docs/kernel-texts.md");
    const std::string page((std::istreambuf_iterator<char>(file)), {});
    for (const codegen::device_function& row : codegen::device_functions()) {
        std::string name(row.name);
        if (name.ends_with('@')) name.replace(name.size() - 1, 1, "r?");
        CHECK_MESSAGE(page.find('`' + name + '`') != std::string::npos, name);
    }
}
