// Evaluates in destructors of static and thread_local objects, on the main thread and on others, and in those of
// thread-specific data. The test requires every line and exit status 0.
#include <pthread.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <thread>

#include <ingot/ingot.hpp>

using namespace ingot;

namespace {

void want(bool right, const char* what) {
    if (right) return;
    std::printf("wrong: %s\n", what);
    std::fflush(stdout);
    std::_Exit(3);
}

/// Evaluates all kinds of statements, twice.
void evaluate(const char* when) {
    for (int turn = 0; turn < 2; ++turn) {
        const array<float> x{1, 6, 3}, y{2, 3, 4};
        want(eval(where(x - 2 > y, x * y, x + y)).to_host() == std::vector<float>{3, 18, 7}, "a map");
        want(sum(x * y).item() == 32, "a reduction");
        want(var(x).item() > 4.2f && var(x).item() < 4.3f, "a shifted reduction");
        want(eval(cumsum(x)).to_host() == std::vector<float>{1, 7, 10}, "a scan");
        lazy<float> l = x;
        for (int i = 0; i < 100; ++i) l = l + y * l(slice(none, none, -1)) * 0;
        want(eval(l + x).to_host() == std::vector<float>{2, 12, 6}, "a lazy");
        array<float> written = zeros<float>({5});
        written(slice(1, 4)) = x;
        want(written.to_host() == std::vector<float>{0, 1, 6, 3, 0}, "an assignment");
        std::ostringstream text;
        text << x + y;
        want(text.str() == "[3. 9. 7.]", text.str().c_str());
        want(explain(x + y).kernels.size() == 1, "an explanation");
    }
    std::printf("%s\n", when);
}

struct at_end {
    const char* when;
    ~at_end() { evaluate(when); }
};

const at_end before_all{"a static object made before all evaluations"};

void live(const char* early, const char* late) {
    thread_local const at_end before{early};
    want(before.when == early, "a thread_local object");
    evaluate("a thread");
    thread_local const at_end after{late};
    want(after.when == late, "a thread_local object");
}

}  // namespace

int main() {
    live("a thread_local object of main", "a thread_local object of main, made late");
    static const at_end late{"a static object made late"};
    pthread_key_t key;
    pthread_key_create(&key, [](void*) { evaluate("thread-specific data"); });
    for (int i = 0; i < 2; ++i)
        std::thread([key] {
            pthread_setspecific(key, "");
            live("a thread_local object", "a thread_local object, made late");
        }).join();
    const counter_values c = counters();
    want(c.bytes_in_use == 0, "the bytes in use");
}
