// SPDX-License-Identifier: Apache-2.0
#include "program.h"

#include <algorithm>

namespace soma::exec {
namespace {

/// Flattens the plan's tree and remembers, for every op, its chain of enclosing ops.
class Flattener {
public:
    Flattener(const Plan& plan, Program& program) : plan_(plan), program_(program) {}

    void run() {
        if (!plan_.steps.empty()) parts(0, plan_.steps[0].extent, 0);
    }

private:
    /// Lays down the parts of the sequence (or of a wave too deep to be one) that spans steps [at, end).
    void parts(std::uint32_t at, std::uint32_t end, std::uint32_t depth) {
        const Plan::Step& step = plan_.steps[at];
        if (step.kind == Plan::Kind::call) {
            call(step);
            return;
        }
        if (step.kind == Plan::Kind::wave && depth < Program::max_depth) {
            wave(at, end, depth);
            return;
        }
        // Iterative where depth is exhausted: the inner structure no longer matters, only the order of calls does.
        if (depth >= Program::max_depth) {
            for (std::uint32_t i = at; i < end; ++i) {
                if (plan_.steps[i].kind == Plan::Kind::call) call(plan_.steps[i]);
            }
            return;
        }
        for (std::uint32_t part = at + 1; part < end; part += plan_.steps[part].extent) {
            parts(part, part + plan_.steps[part].extent, depth);
        }
    }

    void call(const Plan::Step& step) {
        const auto at = static_cast<std::uint32_t>(program_.ops.size());
        const auto reads = program_.reads_of(step.node);
        program_.ops.push_back(
            {step.node, reads.size() == 1 ? reads.front() : Program::Op::several, Program::Op::no_wave, at + 1});
    }

    void wave(std::uint32_t at, std::uint32_t end, std::uint32_t depth) {
        const auto op = static_cast<std::uint32_t>(program_.ops.size());
        const auto index = static_cast<std::uint32_t>(program_.waves.size());
        program_.ops.push_back({0, 0, index, 0});
        program_.waves.push_back({});
        std::vector<Program::Branch> branches;
        for (std::uint32_t part = at + 1; part < end; part += plan_.steps[part].extent) {
            const auto begin = static_cast<std::uint32_t>(program_.ops.size());
            parts(part, part + plan_.steps[part].extent, depth + 1);
            branches.push_back({begin, static_cast<std::uint32_t>(program_.ops.size())});
        }
        program_.waves[index] = {static_cast<std::uint32_t>(program_.branches.size()),
                                 static_cast<std::uint32_t>(branches.size())};
        program_.branches.insert(program_.branches.end(), branches.begin(), branches.end());
        program_.ops[op].next = static_cast<std::uint32_t>(program_.ops.size());
    }

    const Plan& plan_;
    Program& program_;
};

/// For every value that several nodes read: the op after which none of its readers is left running.
class Sharing {
public:
    explicit Sharing(Program& program) : program_(program) {}

    void run(std::size_t nodes) {
        nest();
        // Room for all, so that it stays where it is.
        program_.shared_readers.resize(program_.reads.size() + program_.results.size());
        std::vector<std::uint32_t> op_of(nodes);
        for (std::uint32_t i = 0; i < program_.ops.size(); ++i) {
            const Program::Op& op = program_.ops[i];
            if (op.wave != Program::Op::no_wave) continue;
            op_of[op.node] = i;
            for (const std::uint32_t slot : program_.reads_of(op.node)) {
                if (program_.readers[slot] > 1) read(slot, op.node);
            }
        }
        // Which shared values to look at after which op: counted, then put in their places.
        std::vector<std::uint32_t> op_after(program_.shared.size());
        for (std::uint32_t i = 0; i < program_.shared.size(); ++i) {
            Program::Shared& shared = program_.shared[i];
            shared.is_result = program_.readers[shared.slot] > shared.readers.size();
            op_after[i] = enclosing(op_of[shared.readers.front()], op_of[shared.readers.back()]);
            ++program_.ops[op_after[i]].checks_end;
        }
        std::uint32_t next = 0;
        for (Program::Op& op : program_.ops) {
            op.checks_begin = next;
            next += std::exchange(op.checks_end, next);
        }
        program_.checks.resize(program_.shared.size());
        for (std::uint32_t i = 0; i < program_.shared.size(); ++i) {
            program_.checks[program_.ops[op_after[i]].checks_end++] = i;
        }
        for (Program::Op& op : program_.ops) {
            if (op.wave == Program::Op::no_wave) tell(op);
        }
    }

private:
    static constexpr std::uint32_t none = 0xffffffff;

    void read(std::uint32_t slot, std::uint32_t node) {
        std::uint32_t& index = program_.shared_of[slot];
        if (index == 0) {
            program_.shared.push_back({slot, {program_.shared_readers.data() + readers_, 0}, false});
            readers_ += program_.readers[slot];
            index = static_cast<std::uint32_t>(program_.shared.size());
        }
        std::span<std::uint32_t>& readers = program_.shared[index - 1].readers;
        readers = {readers.data(), readers.size() + 1};
        readers.back() = node;
    }

    /// Whether what a node reads is shared, and with whom; and what becomes of that which it makes.
    void tell(Program::Op& op) {
        const auto reads = program_.reads_of(op.node);
        std::size_t lent = 0;
        for (const std::uint32_t slot : reads) {
            if (program_.shared_of[slot] == 0) continue;
            const auto& readers = program_.shared[program_.shared_of[slot] - 1].readers;
            if (lent++ == 0) op.loan.sharer = readers.front() == op.node ? readers.back() : readers.front();
        }
        if (lent != 0) op.loan.part = lent == reads.size() ? Program::Loan::everything : Program::Loan::some;
        op.makes_shared = program_.shared_of[op.node];
        op.unread = program_.readers[op.node] == 0;
    }

    /// For every op the wave it lies in.
    void nest() {
        parent_.assign(program_.ops.size(), none);
        std::vector<std::uint32_t> open;
        for (std::uint32_t i = 0; i < program_.ops.size(); ++i) {
            while (!open.empty() && program_.ops[open.back()].next <= i) open.pop_back();
            if (!open.empty()) parent_[i] = open.back();
            if (program_.ops[i].wave != Program::Op::no_wave) open.push_back(i);
        }
    }

    /// The op that ends no earlier than both calls: the outermost op around `last` that begins after `first`, or the
    /// innermost wave with both in different branches.
    [[nodiscard]] std::uint32_t enclosing(std::uint32_t first, std::uint32_t last) const {
        std::uint32_t op = last;
        while (parent_[op] != none && op > first) {
            const std::uint32_t wave = parent_[op];
            if (wave <= first && branch(wave, first) == branch(wave, last)) return op;
            op = wave;
        }
        return op;
    }
    [[nodiscard]] std::uint32_t branch(std::uint32_t wave, std::uint32_t op) const {
        const Program::Wave& w = program_.waves[program_.ops[wave].wave];
        const auto begin = program_.branches.begin() + w.first;
        const auto end = begin + w.count;
        return static_cast<std::uint32_t>(
            std::upper_bound(begin, end, op, [](std::uint32_t at, const Program::Branch& b) { return at < b.begin; }) -
            begin);
    }

    Program& program_;
    std::vector<std::uint32_t> parent_;
    std::size_t readers_ = 0; ///< of `shared_readers`, given out
};

} // namespace

Program::Program(const Plan& plan) {
    const auto nodes = static_cast<std::uint32_t>(plan.nodes.size());
    const auto slot = [nodes](std::uint32_t read) { return read == Plan::graph_input ? nodes : read; };

    readers.assign(nodes + 1, 0);
    shared_of.assign(nodes + 1, 0);
    std::vector<const Plan::Step*> step_of(nodes, nullptr);
    for (const Plan::Step& step : plan.steps) {
        if (step.kind == Plan::Kind::call) step_of[step.node] = &step;
    }
    reads_begin.reserve(nodes + 1);
    for (std::uint32_t node = 0; node < nodes; ++node) {
        reads_begin.push_back(static_cast<std::uint32_t>(reads.size()));
        if (step_of[node] == nullptr) continue;
        for (std::uint32_t i = step_of[node]->reads_begin; i < step_of[node]->reads_end; ++i) {
            reads.push_back(slot(plan.reads[i]));
            ++readers[reads.back()];
        }
    }
    reads_begin.push_back(static_cast<std::uint32_t>(reads.size()));
    for (const std::uint32_t result : plan.results) {
        results.push_back(slot(result));
        ++readers[results.back()];
    }
    ops.reserve(plan.steps.size());
    Flattener(plan, *this).run();
    Sharing(*this).run(nodes);
}

} // namespace soma::exec
