// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "soma/plan.h"

namespace soma::exec {

/// A plan flattened for running: indices only, nothing left to look up.
///
/// Slots 0 … n-1 are the nodes', slot n is the graph's input.
struct Program {
    /// Waves nested deeper than this run as a sequence: the stack is finite, the result is the same.
    static constexpr std::uint32_t max_depth = 200;

    /// What of a node's input others read as well.
    struct Loan {
        enum Part : std::uint8_t { nothing, everything, some };
        Part part = nothing;
        std::uint32_t sharer = 0; ///< a node that reads it too
    };

    /// All that running a node needs to know of the plan, in one place.
    struct Op {
        static constexpr std::uint32_t no_wave = 0xffffffff;
        static constexpr std::uint32_t several = 0xffffffff;
        std::uint32_t node;             ///< call
        std::uint32_t read;             ///< call: the slot it reads, or `several`
        std::uint32_t wave;             ///< index into `waves`, or no_wave for a call
        std::uint32_t next;             ///< op that follows in the same sequence
        std::uint32_t checks_begin = 0; ///< shared slots to look at once this is done
        std::uint32_t checks_end = 0;
        std::uint32_t makes_shared = 0; ///< call: index into `shared` + 1 of the value that it makes, or 0
        bool unread = false;            ///< call: nobody reads what it makes
        Loan loan{};                    ///< call
    };
    struct Branch {
        std::uint32_t begin;
        std::uint32_t end;
    };
    struct Wave {
        std::uint32_t first; ///< into `branches`
        std::uint32_t count;
    };
    /// A value that several nodes read: none of them may modify it.
    struct Shared {
        std::uint32_t slot;
        std::span<std::uint32_t> readers; ///< nodes, in the order written; within `shared_readers`
        bool is_result = false;           ///< of the run: kept beyond its last reader
    };

    explicit Program(const Plan& plan);
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    std::vector<Op> ops;
    std::vector<Branch> branches;
    std::vector<Wave> waves;
    std::vector<std::uint32_t> reads;       ///< slots
    std::vector<std::uint32_t> reads_begin; ///< by node; the last entry closes the last range
    std::vector<std::uint32_t> readers;     ///< by slot: how often it is read, as a result included
    std::vector<Shared> shared;
    std::vector<std::uint32_t> shared_readers;
    std::vector<std::uint32_t> shared_of; ///< by slot: index into `shared` + 1, or 0
    std::vector<std::uint32_t> checks;    ///< indices into `shared`
    std::vector<std::uint32_t> results;   ///< slots

    [[nodiscard]] std::span<const std::uint32_t> reads_of(std::uint32_t node) const noexcept {
        return std::span(reads).subspan(reads_begin[node], reads_begin[node + 1] - reads_begin[node]);
    }
};

} // namespace soma::exec
