// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file ctx.h
/// What a node is told at each forward: above all, where to run.

#include <soma/sdk/value.h>

namespace soma::sdk {

/// The context of one forward. Valid during the call; cheap to pass by reference.
class Ctx {
public:
    /// Over the host's own; borrowed for the call.
    explicit Ctx(const soma_ctx* ctx) noexcept : ctx_{ctx} {}

    /// Where to run, as torch writes it, e.g. "cuda:0". Nothing when the node is unplaced: it then runs where its input is.
    std::optional<std::string_view> device() const noexcept {
        if (!SOMA_HAS(ctx_, soma_ctx, device) || ctx_->device == nullptr) return std::nullopt;
        return std::string_view{ctx_->device};
    }
    /// The same in numbers; kind SOMA_DEVICE_NONE when unplaced.
    soma_place place() const noexcept {
        return SOMA_HAS(ctx_, soma_ctx, place) ? ctx_->place : soma_place{SOMA_DEVICE_NONE, 0};
    }
    /// Whether the node is placed.
    bool placed() const noexcept { return place().kind != SOMA_DEVICE_NONE; }
    /// The node's id in its graph.
    std::string_view node_id() const noexcept {
        return SOMA_HAS(ctx_, soma_ctx, node_id) ? detail::view(ctx_->node_id) : std::string_view{};
    }
    /// Whether gradients are being recorded.
    bool grad_mode() const noexcept { return SOMA_HAS(ctx_, soma_ctx, grad_mode) && ctx_->grad_mode != 0; }
    /// Whether the pipeline is in training mode.
    bool training() const noexcept { return SOMA_HAS(ctx_, soma_ctx, training) && ctx_->training != 0; }
    /// Differs between nodes; the same for a node in every run that was given the same seed.
    std::uint64_t seed() const noexcept { return SOMA_HAS(ctx_, soma_ctx, seed) ? ctx_->seed : 0; }
    /// Differs between the runs of a process.
    std::uint64_t run_id() const noexcept { return SOMA_HAS(ctx_, soma_ctx, run_id) ? ctx_->run_id : 0; }
    /// The device's native stream (a cudaStream_t on cuda), borrowed; nullptr on cpu.
    void* stream() const noexcept { return SOMA_HAS(ctx_, soma_ctx, stream) ? ctx_->stream : nullptr; }
    /// A new generator on the node's device, seeded with seed().
    Value generator() const {
        soma_value* generator = nullptr;
        check(api().make_generator(host(), ctx_, &generator));
        return Value::adopt(generator);
    }
    /// Whether the run was cancelled or its time is up; a long loop asks now and then.
    bool cancelled() const { return api().cancelled(host(), ctx_) != 0; }
    /// Throws when cancelled(); what it says does not matter, the host knows why.
    void stop_if_cancelled() const {
        if (cancelled()) throw Error{Code::cancelled, "the run was cancelled"};
    }
    /// "Ctx(node=encoder, device=cuda:0)"; an unplaced node's device is "none".
    std::string str() const {
        return "Ctx(node=" + std::string{node_id()} + ", device=" + std::string{device().value_or("none")} + ")";
    }
    /// The host's own struct.
    const soma_ctx* get() const noexcept { return ctx_; }

private:
    const soma_ctx* ctx_;
};

} // namespace soma::sdk
