// Hooks that run when a thread has ended. They run after the destructors of all the thread's thread_local objects, so
// that these may still evaluate and print expressions. On a thread that ends with the process no hook runs.
#pragma once

namespace ingot::runtime {

struct thread_exit_hook {
    void (*run)(thread_exit_hook&) noexcept;
    thread_exit_hook* next = nullptr;
};

/// Runs the hook once, on the calling thread when it has ended. A hook that has run may be set again, also by other
/// hooks.
void at_thread_exit(thread_exit_hook&) noexcept;

}  // namespace ingot::runtime
