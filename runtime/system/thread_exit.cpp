// See thread_exit.hpp.
#include "runtime/system/thread_exit.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <utility>

namespace ingot::runtime {

namespace {

constinit thread_local thread_exit_hook* hooks = nullptr;

void run_hooks(void*) {
    while (thread_exit_hook* const h = hooks) {
        hooks = std::exchange(h->next, nullptr);
        h->run(*h);
    }
}

/// A key's destructors run after those of thread_local objects, and again if they set the key anew. Their code must
/// still be loaded then, so this library is kept in memory.
struct exit_key {
    pthread_key_t key{};
    bool made = pthread_key_create(&key, run_hooks) == 0;

    exit_key() {
        Dl_info own;
        if (dladdr(reinterpret_cast<void*>(run_hooks), &own) != 0 && own.dli_fname != nullptr)
            dlopen(own.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    }
};

}  // namespace

void at_thread_exit(thread_exit_hook& h) noexcept {
    static const exit_key at_exit;
    if (at_exit.made) pthread_setspecific(at_exit.key, &hooks);  // without a key, the thread's memory stays taken
    h.next = std::exchange(hooks, &h);
}

}  // namespace ingot::runtime
