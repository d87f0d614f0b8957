// What is to be done when a thread has ended. Hooks run after the destructors of all the thread's thread_local objects,
// so that these may still evaluate expressions, and print them. On a thread that ends with the process none runs.
#pragma once

namespace ingot::runtime {

struct thread_exit_hook {
    void (*run)(thread_exit_hook&) noexcept;
    thread_exit_hook* next = nullptr;
};

/// Runs the hook once, on the calling thread when it has ended. A hook that has run may be set again, by other hooks
/// too.
void at_thread_exit(thread_exit_hook&) noexcept;

}  // namespace ingot::runtime
