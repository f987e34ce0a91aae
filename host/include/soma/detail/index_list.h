// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace soma::detail {

/// A list of node numbers that allocates nothing while it is short, as most are: a graph has two of them for each node.
class IndexList {
public:
    using Index = std::uint32_t;

    IndexList() noexcept = default;
    IndexList(const IndexList& other) : few_(other.few_), size_(other.size_) {
        if (size_ <= few_.size()) return;
        capacity_ = size_;
        many_ = std::make_unique<Index[]>(capacity_);
        std::copy_n(other.many_.get(), size_, many_.get());
    }
    IndexList(IndexList&& other) noexcept { swap(other); }
    IndexList& operator=(IndexList other) noexcept {
        swap(other);
        return *this;
    }
    ~IndexList() = default;

    void push_back(Index value) {
        if (size_ == capacity_) {
            auto grown = std::make_unique<Index[]>(2 * std::size_t{capacity_});
            std::copy_n(span().data(), size_, grown.get());
            many_ = std::move(grown);
            capacity_ *= 2;
        }
        (many_ ? many_.get() : few_.data())[size_++] = value;
    }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] std::span<const Index> span() const noexcept { return {many_ ? many_.get() : few_.data(), size_}; }

    friend bool operator==(const IndexList& a, const IndexList& b) noexcept {
        return std::equal(a.span().begin(), a.span().end(), b.span().begin(), b.span().end());
    }

private:
    void swap(IndexList& other) noexcept {
        many_.swap(other.many_);
        std::swap(few_, other.few_);
        std::swap(size_, other.size_);
        std::swap(capacity_, other.capacity_);
    }

    std::unique_ptr<Index[]> many_;
    std::array<Index, 4> few_{};
    Index size_ = 0;
    Index capacity_ = 4;
};

} // namespace soma::detail
