// SPDX-License-Identifier: Apache-2.0
#include "simcuda/memory.h"

#include "simcuda/devices.h"
#include "simcuda/immortal.h"

#include <c10/core/CPUAllocator.h>

#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace soma::simcuda {
namespace {

constexpr c10::DeviceIndex pinned = -2;
constexpr c10::DeviceIndex nowhere = -1;

/// Which device each range of addresses belongs to, since libtorch asks by address.
class Ranges {
public:
    void add(const void* begin, std::size_t bytes, c10::DeviceIndex device) {
        const std::lock_guard lock(mutex_);
        ranges_.insert_or_assign(static_cast<const std::byte*>(begin), Range{bytes, device});
    }

    void remove(const void* begin) {
        const std::lock_guard lock(mutex_);
        ranges_.erase(static_cast<const std::byte*>(begin));
    }

    c10::DeviceIndex at(const void* address) {
        const auto* byte = static_cast<const std::byte*>(address);
        const std::lock_guard lock(mutex_);
        auto after = ranges_.upper_bound(byte);
        if (after == ranges_.begin()) {
            return nowhere;
        }
        const auto& [begin, range] = *--after;
        return byte < begin + range.bytes ? range.device : nowhere;
    }

private:
    struct Range {
        std::size_t bytes;
        c10::DeviceIndex device;
    };
    std::mutex mutex_;
    std::map<const std::byte*, Range> ranges_;
};

Ranges& ranges() {
    static Immortal<Ranges> all;
    return *all;
}

/// A piece of host memory that a device, or the set of pinned pieces, has taken in.
class Block {
public:
    Block(c10::DataPtr memory, std::size_t bytes, c10::DeviceIndex device)
        : memory_(std::move(memory)), address_(memory_.get()), bytes_(bytes), device_(device) {
        take_in();
    }
    Block(const c10::Storage& storage, std::size_t bytes, c10::DeviceIndex device)
        : storage_(storage), address_(storage.data_ptr().get()), bytes_(bytes), device_(device) {
        take_in();
    }
    ~Block() {
        ranges().remove(address_);
        if (device_ != pinned) {
            count_release(device_, bytes_);
        }
    }
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;

private:
    void take_in() {
        ranges().add(address_, bytes_, device_);
        if (device_ != pinned) {
            count_allocation(device_, bytes_);
        }
    }

    c10::DataPtr memory_;
    std::optional<c10::Storage> storage_;
    const void* address_;
    std::size_t bytes_;
    c10::DeviceIndex device_;
};

void release_block(void* block) { const std::unique_ptr<Block> owned(static_cast<Block*>(block)); }

template <class Owner>
c10::DataPtr block(void* address, Owner&& owner, std::size_t bytes, c10::DeviceIndex index) {
    const auto device = index == pinned ? c10::Device(c10::DeviceType::CPU) : c10::Device(c10::DeviceType::CUDA, index);
    if (address == nullptr || bytes == 0) {
        return {nullptr, device};
    }
    auto owned = std::make_unique<Block>(std::forward<Owner>(owner), bytes, index);
    return {address, owned.release(), &release_block, device};
}

c10::DataPtr allocate(std::size_t bytes, c10::DeviceIndex index) {
    auto memory = c10::GetCPUAllocator()->allocate(bytes);
    void* const address = memory.get();
    return block(address, std::move(memory), bytes, index);
}

/// Some of these functions are const, or absent, in some of libtorch's versions; where its base class has one, it is
/// overridden by what is here, so none says `override`.
class HostBackedAllocator final : public c10::Allocator {
public:
    explicit HostBackedAllocator(bool pins) noexcept : pins_(pins) {}

    c10::DataPtr allocate(std::size_t bytes) const {
        return simcuda::allocate(bytes, pins_ ? pinned : current_device());
    }
    c10::DataPtr allocate(std::size_t bytes) { return std::as_const(*this).allocate(bytes); }
    void copy_data(void* to, const void* from, std::size_t bytes) const { std::memcpy(to, from, bytes); }

private:
    bool pins_;
};

} // namespace

c10::Allocator& device_allocator() {
    static Immortal<HostBackedAllocator> allocator(false);
    return *allocator;
}

c10::Allocator& pinned_allocator() {
    static Immortal<HostBackedAllocator> allocator(true);
    return *allocator;
}

bool is_pinned(const void* address) { return ranges().at(address) == pinned; }

c10::DeviceIndex device_of_address(const void* address) {
    const auto index = ranges().at(address);
    return index == pinned ? nowhere : index;
}

c10::DataPtr adopt(c10::DataPtr host, std::size_t bytes, c10::DeviceIndex device) {
    void* const address = host.get();
    return block(address, std::move(host), bytes, device);
}

c10::Storage adopt(const c10::Storage& host, c10::DeviceIndex device) {
    auto* const impl = host.unsafeGetStorageImpl();
    const auto bytes = impl->nbytes();
    void* const address = impl->data_ptr().get();
    return c10::Storage(c10::Storage::use_byte_size_t(), bytes, block(address, host, bytes, device),
                        &device_allocator(), true);
}

} // namespace soma::simcuda
