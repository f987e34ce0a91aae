// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "soma/detail/value_rep.h"
#include "soma/value.h"

namespace soma::exec {

/// The values between the steps of one run: a slot a node. A value goes with its last reader.
///
/// Slots are written once a run, by the thread that runs the node, and read by threads that start after it.
class Store {
public:
    /// `readers[s]`: how often slot `s` is taken.
    explicit Store(const std::vector<std::uint32_t>& readers)
        : readers_(readers), values_(readers.size(), nullptr),
          left_(std::make_unique<std::atomic<std::uint32_t>[]>(readers.size())) {}
    Store(const Store&) = delete;
    Store& operator=(const Store&) = delete;
    ~Store() { clear(); }

    /// Takes over a reference.
    void put(std::uint32_t slot, soma_value* value) noexcept {
        const std::uint32_t readers = readers_[slot];
        if (readers == 0) {
            detail::release(value);
            return;
        }
        if (readers > 1) left_[slot].store(readers, std::memory_order_relaxed);
        values_[slot] = value;
    }
    [[nodiscard]] soma_value* peek(std::uint32_t slot) const noexcept { return values_[slot]; }
    /// A reference of the caller's own; the slot's goes with the last one taken.
    [[nodiscard]] soma_value* take(std::uint32_t slot) noexcept {
        soma_value* value = values_[slot];
        if (readers_[slot] > 1) {
            // Keep one for the caller before the count falls: the last reader takes the slot's own.
            detail::retain(value);
            drop(slot);
        } else {
            values_[slot] = nullptr;
        }
        return value;
    }
    /// One reader of several less, without taking the value.
    void drop(std::uint32_t slot) noexcept {
        if (left_[slot].fetch_sub(1, std::memory_order_acq_rel) == 1) {
            soma_value* value = values_[slot];
            values_[slot] = nullptr;
            detail::release(value);
        }
    }
    /// After a run that ended early.
    void clear() noexcept {
        for (soma_value*& value : values_) {
            if (value != nullptr) detail::release(value);
            value = nullptr;
        }
    }

private:
    const std::vector<std::uint32_t>& readers_;
    std::vector<soma_value*> values_;
    std::unique_ptr<std::atomic<std::uint32_t>[]> left_;
};

} // namespace soma::exec
