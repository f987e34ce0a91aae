// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace soma::exec {

/// How often a thread that waits looks before it sleeps. Some tens of microseconds: longer than the pause between two waves
/// of a busy graph and about what waking a thread takes, short enough not to matter.
inline constexpr int spins = 2000;

/// Tells the processor that this thread is only waiting.
inline void pause() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

} // namespace soma::exec
