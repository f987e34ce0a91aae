// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "soma/detail/engine.h"

namespace soma::exec {

/// A thread's tensor-library state as every node on it is to find it, and the means to put it back.
class ThreadWatch {
public:
    /// Remembers the calling thread's state. In a branch, `around` is the watch of the sequence that its wave is in: what
    /// the whole process has one of (the default dtype) may be changed by a sibling just now.
    void start(const detail::Engine& engine, const ThreadWatch* around = nullptr) noexcept {
        engine.state_words(&words_);
        constexpr std::size_t inherited = detail::StateWords::inherited * sizeof(words_.words[0]);
        if (around != nullptr && std::memcmp(&words_, &around->words_, inherited) != 0) {
            std::memcpy(&words_, &around->words_, inherited);
            engine.state_restore(&words_);
        }
        engine.state_watch(&where_);
        for (std::size_t i = 0; i < 2; ++i) {
            fits_ = fits_ && where_.size[i] <= sizeof(seen_[i]);
            if (fits_) std::memcpy(seen_[i], where_.at[i], where_.size[i]);
        }
    }

    /// Puts back what a node changed; `intraop` is the number of threads that its operators may use. `everything` also
    /// looks at what only code that links the tensor library can reach; for all other code a few bytes tell.
    void restore(const detail::Engine& engine, std::int32_t intraop, bool everything) const noexcept {
        if (fits_ && !everything && same(0) && same(1)) return;
        detail::StateWords before = words_;
        before.words[threads_word] = static_cast<std::uint64_t>(intraop);
        detail::StateWords now;
        engine.state_words(&now);
        if (std::memcmp(&now, &before, sizeof(now)) != 0) engine.state_restore(&before);
    }

private:
    /// The first of the words that are a thread's own.
    static constexpr std::size_t threads_word = detail::StateWords::inherited;

    [[nodiscard]] bool same(std::size_t i) const noexcept {
        const auto* now = static_cast<const unsigned char*>(where_.at[i]);
        // Sizes known when compiling make each comparison a load or two.
        switch (where_.size[i]) {
        case 1: return *now == seen_[i][0];
        case 4: return std::memcmp(now, seen_[i], 4) == 0;
        case 8: return std::memcmp(now, seen_[i], 8) == 0;
        case 16: return std::memcmp(now, seen_[i], 16) == 0;
        default: return std::memcmp(now, seen_[i], where_.size[i]) == 0;
        }
    }

    detail::StateWords words_{};
    detail::StateWatch where_{};
    unsigned char seen_[2][16]{};
    bool fits_ = true;
};

} // namespace soma::exec
