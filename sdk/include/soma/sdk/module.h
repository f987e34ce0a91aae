// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file module.h
/// Named tensors that a node keeps, and moving them.

#include <soma/sdk/create.h>
#include <soma/sdk/nearest.h>

#include <deque>

namespace soma::sdk {

/// A node's parameters and buffers by name. Every Node is one; parts of a node may be modules of their own, named within
/// it: `struct Block : Module { Block(Module& parent, …) : Module{parent, "block"} … };` gives "block.weight". [one at a
/// time per instance]
class Module {
public:
    /// One named tensor.
    struct Entry {
        std::string name;   ///< full, with dots
        Tensor tensor;      ///< the tensor
        std::uint32_t role; ///< SOMA_STATE_PARAMETER or SOMA_STATE_BUFFER
        bool persistent;    ///< whether it is saved with the node
    };

    /// The outermost module of a node; its tensors are made where the node is placed, on cpu when it is not.
    explicit Module(const Create& create)
        : owned_{std::make_unique<State>()}, state_{owned_.get()}, device_{create.device().value_or("cpu")} {}
    /// A module within another, which must outlive it; an empty name puts its tensors among the other's own.
    Module(Module& parent, std::string_view name)
        : state_{parent.state_}, device_{parent.device_}, prefix_{parent.prefix_ + std::string{name} +
                                                                  (name.empty() ? "" : ".")} {}
    Module(const Module&) = delete;
    Module& operator=(const Module&) = delete;

    /// Adds a trained tensor, moved to the node's device and, if it is of floats, recorded by autograd from now on. The
    /// reference stays good as long as the node and always shows the current tensor.
    const Tensor& parameter(std::string_view name, const Tensor& initial) {
        return add(name, leaf(detach(initial).to(device_)), SOMA_STATE_PARAMETER, true);
    }
    /// Adds a tensor that moves with the node and is not trained.
    const Tensor& buffer(std::string_view name, const Tensor& initial, bool persistent = true) {
        return add(name, detach(initial).to(device_), SOMA_STATE_BUFFER, persistent);
    }

    /// Moves its tensors, and those of modules within it, in place: who holds one (an optimiser) keeps holding it. Costs a
    /// comparison when they are there already. To and from meta the host refuses.
    void to(std::string_view device) {
        if (seen_ == state_->moves && device_ == device) return;
        bool moved = false;
        for (Entry& entry : state_->entries) {
            if (entry.name.compare(0, prefix_.size(), prefix_) != 0 || entry.tensor.device() == device) continue;
            check(api().state_to(host(), entry.tensor.get(), detail::c_string(device)));
            moved = true;
        }
        if (moved) ++state_->moves;
        seen_ = state_->moves;
        device_ = device;
    }
    /// Where it is, as torch writes it.
    std::string_view device() const noexcept { return device_; }
    /// Called when the node is placed elsewhere, before the next forward; nothing means it is unplaced now and stays where
    /// it is. A node that keeps something else on a device replaces it.
    void moved(std::optional<std::string_view> device) {
        if (device) to(*device);
    }

    /// All tensors of the node, in the order they were added.
    const std::deque<Entry>& entries() const noexcept { return state_->entries; }
    /// Replaces a tensor by full name; another size or dtype, or an unknown name, throws Error. Its device becomes the
    /// module's.
    void set(std::string_view name, const Value& value) {
        Entry& entry = find(name);
        Tensor fresh{value, "`" + entry.name + "`"};
        if (fresh.sizes() != entry.tensor.sizes() || fresh.dtype() != entry.tensor.dtype()) {
            throw Error{Code::invalid_argument,
                        "`" + entry.name + "` is " + facts(entry.tensor) + ", and cannot be set to " + facts(fresh)};
        }
        if (fresh.device() != device_) fresh = detach(fresh).to(device_);
        entry.tensor = entry.role == SOMA_STATE_PARAMETER ? leaf(std::move(fresh)) : std::move(fresh);
        ++state_->moves;
    }

private:
    struct State {
        std::deque<Entry> entries;
        std::uint64_t moves = 0;
    };

    static std::string facts(const Tensor& tensor) { return std::string{tensor.dtype()} + " " + tensor.sizes().str(); }

    static Tensor leaf(Tensor tensor) {
        if (tensor.requires_grad() || !tensor.is_floating_point()) return tensor;
        static const Operator op{"aten::requires_grad_"};
        const Tensor plain = detach(tensor);
        op({plain, true});
        return plain;
    }

    const Tensor& add(std::string_view name, Tensor tensor, std::uint32_t role, bool persistent) {
        std::string full = prefix_ + std::string{name};
        for (const Entry& entry : state_->entries) {
            if (entry.name == full) throw Error{Code::already_exists, "the node has two tensors named `" + full + "`"};
        }
        state_->entries.push_back({std::move(full), std::move(tensor), role, persistent});
        return state_->entries.back().tensor;
    }

    Entry& find(std::string_view name) {
        std::vector<std::string_view> names;
        for (Entry& entry : state_->entries) {
            if (entry.name == name) return entry;
            names.push_back(entry.name);
        }
        throw Error{Code::not_found,
                    "the node has no tensor named `" + std::string{name} + "`" + did_you_mean(name, names)};
    }

    std::unique_ptr<State> owned_;
    State* state_;
    std::string device_;
    std::string prefix_;
    std::uint64_t seen_ = 0;
};

} // namespace soma::sdk
