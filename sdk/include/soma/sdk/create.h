// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file create.h
/// What a node is told when it is made, and its initial weights.

#include <soma/sdk/config.h>
#include <soma/sdk/create_tensor.h>

#include <cmath>

namespace soma::sdk {

/// What a node's constructor gets. Valid during the call.
class Create {
public:
    /// Over the host's own; borrowed for the call.
    explicit Create(const soma_create_info* info) : info_{info}, config_{Value::retain(info->config)} {}

    /// The node's id in its graph.
    std::string_view node_id() const noexcept { return detail::view(info_->node_id); }
    /// Its configuration, checked and complete.
    const Config& config() const noexcept { return config_; }
    /// Where the node is placed now; nothing when it is not. It may move later: obey the context of each forward.
    std::optional<std::string_view> device() const noexcept {
        if (!SOMA_HAS(info_, soma_create_info, device) || info_->device == nullptr) return std::nullopt;
        return std::string_view{info_->device};
    }
    /// The same in numbers.
    soma_place place() const noexcept {
        return SOMA_HAS(info_, soma_create_info, place) ? info_->place : soma_place{SOMA_DEVICE_NONE, 0};
    }
    /// For initial weights: the same for the same node id and pipeline seed.
    std::uint64_t seed() const noexcept { return SOMA_HAS(info_, soma_create_info, seed) ? info_->seed : 0; }
    /// The host's own struct.
    const soma_create_info* get() const noexcept { return info_; }

private:
    const soma_create_info* info_;
    Config config_;
};

/// A small source of random numbers that gives the same ones on every machine and with every libtorch (SplitMix64).
class Random {
public:
    /// The same seed gives the same numbers.
    explicit constexpr Random(std::uint64_t seed) noexcept : state_{seed} {}
    /// 64 random bits.
    constexpr std::uint64_t bits() noexcept {
        state_ += 0x9e3779b97f4a7c15U;
        std::uint64_t mixed = state_;
        mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9U;
        mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebU;
        return mixed ^ (mixed >> 31U);
    }
    /// Even in [0, 1).
    constexpr double uniform() noexcept { return static_cast<double>(bits() >> 11U) * 0x1.0p-53; }
    /// Normal, of mean 0 and variance 1.
    double normal() noexcept {
        constexpr double turn = 6.283185307179586;
        const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
        return radius * std::cos(turn * uniform());
    }

private:
    std::uint64_t state_;
};

/// Initial weights of one node, float32, where the node is placed. On meta there is nothing to fill.
class Init {
public:
    /// Weights that follow from the node's seed.
    explicit Init(const Create& create) : Init{create, create.seed()} {}
    /// Weights that follow from a seed of the author's.
    Init(const Create& create, std::uint64_t seed) : random_{seed}, meta_{create.place().kind == SOMA_DEVICE_META} {}

    /// Even between -bound and bound.
    Tensor uniform(const Dims& sizes, double bound) {
        return fill(sizes, [&] { return static_cast<float>((2 * random_.uniform() - 1) * bound); });
    }
    /// Normal, of mean 0.
    Tensor normal(const Dims& sizes, double deviation = 1) {
        return fill(sizes, [&] { return static_cast<float>(random_.normal() * deviation); });
    }
    /// Filled by what a function gives, in row-major order.
    template <class Next>
    Tensor fill(const Dims& sizes, Next&& next) {
        if (meta_) return empty(sizes, "meta");
        constexpr std::int64_t most = std::int64_t{1} << 36; // 256 GiB
        std::int64_t total = 1;
        for (const std::int64_t size : sizes) {
            if (size < 0 || (size > 0 && total > most / size)) {
                throw Error{Code::out_of_range, "weights of sizes " + Sizes{sizes.data(), sizes.size()}.str() +
                                                    " are more than a node can hold"};
            }
            total *= size;
        }
        std::vector<float> data(static_cast<std::size_t>(total));
        for (float& element : data) element = next();
        return from_vector(std::move(data), sizes);
    }

private:
    Random random_;
    bool meta_;
};

} // namespace soma::sdk
