// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "soma/detail/value_rep.h"
#include "soma/value.h"

namespace soma::exec {

/// The values between the steps of one run: a slot a node. A value goes with its last reader.
///
/// Slots are written once a run, by the thread that runs the node, and read by threads that start after it. What one reader
/// takes, it takes out; what several read stays until it is dropped, once none of them is left running.
class Store {
public:
    /// `readers[s]`: how many read slot `s`.
    explicit Store(const std::vector<std::uint32_t>& readers) : readers_(readers), values_(readers.size(), nullptr) {}
    Store(const Store&) = delete;
    Store& operator=(const Store&) = delete;
    ~Store() { clear(); }

    /// Takes over a reference.
    void put(std::uint32_t slot, soma_value* value) noexcept { values_[slot] = value; }
    /// Borrowed from the slot.
    [[nodiscard]] soma_value* peek(std::uint32_t slot) const noexcept { return values_[slot]; }
    /// The slot's own reference, for the only reader.
    [[nodiscard]] soma_value* take_out(std::uint32_t slot) noexcept { return std::exchange(values_[slot], nullptr); }
    /// A reference of the caller's own.
    [[nodiscard]] soma_value* take(std::uint32_t slot) noexcept {
        if (readers_[slot] <= 1) return take_out(slot);
        detail::retain(values_[slot]);
        return values_[slot];
    }
    /// None of the slot's readers is left.
    void drop(std::uint32_t slot) noexcept { detail::release(take_out(slot)); }
    /// After the last step, or a run that ended early.
    void clear() noexcept {
        for (soma_value*& value : values_) {
            if (value != nullptr) detail::release(value);
            value = nullptr;
        }
    }

private:
    const std::vector<std::uint32_t>& readers_;
    std::vector<soma_value*> values_;
};

} // namespace soma::exec
