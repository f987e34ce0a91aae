// SPDX-License-Identifier: Apache-2.0
#include "soma/device.h"

#include <array>
#include <set>
#include <string>
#include <string_view>

#include "soma/error.h"
#include "support/catch.h"

using soma::Device;
using soma::DeviceKind;

namespace {

std::string error_of(std::string_view text) {
    try {
        static_cast<void>(Device::parse(text));
    } catch (const soma::DeviceError& error) {
        return error.what();
    }
    return "no error";
}

} // namespace

TEST_CASE("cpu and cuda with an index and meta parse and the round trip gives the same") {
    for (const auto* text :
         {"cpu", "cuda:0", "cuda:1", "cuda:9", "cuda:10", "cuda:127", "meta", "xpu:3", "mps", "hpu:0"}) {
        CHECK(Device::parse(text).str() == text);
        CHECK(Device::parse(Device::parse(text).str()) == Device::parse(text));
    }
    CHECK(Device::parse("cuda:7").kind() == DeviceKind::cuda);
    CHECK(Device::parse("cuda:7").index() == 7);
    CHECK(Device::parse("meta").index() == 0);
}

TEST_CASE("every kind of device round trips through its name") {
    CHECK(soma::device_kinds().size() == 6);
    for (const DeviceKind kind : soma::device_kinds()) {
        const Device device = soma::has_index(kind) ? Device(kind, 3) : Device(kind);
        CHECK(Device::parse(device.str()) == device);
        CHECK(Device::from_place(device.place()) == device);
    }
}

TEST_CASE("an unknown kind of device is an error that offers the nearest") {
    CHECK(error_of("cude:0") == "unknown device kind `cude` in `cude:0` (did you mean `cuda`?); there are `cpu`, "
                                "`cuda:N`, `meta`, `xpu:N`, `mps`, "
                                "`hpu:N`");
    CHECK(error_of("gpu:1").find("(did you mean `cuda`?)") != std::string::npos);
    CHECK(error_of("vulkan") ==
          "unknown device kind `vulkan`; there are `cpu`, `cuda:N`, `meta`, `xpu:N`, `mps`, `hpu:N`");
}

TEST_CASE("a kind that is numbered asks for its index") {
    CHECK(error_of("cuda") == "`cuda` needs an index: write `cuda:0` for the first one");
    CHECK(error_of("xpu") == "`xpu` needs an index: write `xpu:0` for the first one");
}

TEST_CASE("a text that is not shaped like a device says why and what to write") {
    CHECK(error_of("cuda:") == "`cuda:` is not shaped like a device: no index follows the colon; write `cuda:0`");
    CHECK(error_of("cuda:x") == "`cuda:x` is not shaped like a device: the index `x` is not a number; write `cuda:0`");
    CHECK(error_of("cuda:-1") == "`cuda:-1` is not shaped like a device: an index has no sign; write `cuda:0`");
    CHECK(error_of("cuda:+1") == "`cuda:+1` is not shaped like a device: an index has no sign; write `cuda:1`");
    CHECK(error_of("cuda:01") == "`cuda:01` is not shaped like a device: an index has no leading zero; write `cuda:1`");
    CHECK(error_of("cuda:1:2") == "`cuda:1:2` is not shaped like a device: it has more than one colon; write `cuda:1`");
    CHECK(error_of("cpu:0") == "`cpu:0` is not shaped like a device: `cpu` has no index; write `cpu`");
    CHECK(error_of("CUDA:0") ==
          "`CUDA:0` is not shaped like a device: kinds are written in lower case; write `cuda:0`");
    CHECK(error_of("") == "the empty text is not shaped like a device: write one such as `cpu` or `cuda:0`");
    CHECK(error_of(" cuda:0") == "` cuda:0` is not shaped like a device: a device has no spaces; write `cuda:0`");
    CHECK(error_of("cuda:0\n") == "`cuda:0\\x0a` is not shaped like a device: a device has no spaces; write `cuda:0`");
    CHECK(error_of(":0") ==
          "`:0` is not shaped like a device: no kind stands before the colon; write one such as `cpu` or `cuda:0`");
    CHECK(error_of("mps:0") == "`mps:0` is not shaped like a device: `mps` has no index; write `mps`");
    CHECK(error_of(std::string_view("cuda:0\0", 7)).find("`0\\x00` is not a number") != std::string::npos);
}

TEST_CASE("an index beyond 127 is out of range") {
    CHECK(error_of("cuda:128") == "`cuda:128` is out of range: indices are 0 to 127");
    CHECK(error_of("cuda:256") == "`cuda:256` is out of range: indices are 0 to 127");
    CHECK(error_of("cuda:99999999999") == "`cuda:99999999999` is out of range: indices are 0 to 127");
}

TEST_CASE("every malformed device has its own error") {
    constexpr std::array<std::string_view, 14> texts{"cude:0",  "cuda",    "cuda:",    "cuda:x",  "cuda:-1",
                                                     "cuda:+1", "cuda:01", "cuda:1:2", "cpu:0",   "CUDA:0",
                                                     "",        " cuda:0", "cuda:128", "cuda:256"};
    std::set<std::string> errors;
    for (const auto text : texts) errors.insert(error_of(text));
    CHECK(errors.size() == texts.size());
    CHECK(errors.count("no error") == 0);
}

TEST_CASE("a hostile device text is shown cut and escaped") {
    const std::string error = error_of(std::string(100'000, '\xff'));
    CHECK(error.size() < 1000);
    CHECK(error.find("\\xff") != std::string::npos);
}

TEST_CASE("a device made of numbers is checked like one that is read") {
    CHECK(Device(DeviceKind::cuda, 3).str() == "cuda:3");
    CHECK_THROWS_WITH(Device(DeviceKind::cuda), "`cuda` needs an index: write `cuda:0` for the first one");
    CHECK_THROWS_WITH(Device(DeviceKind::cpu, 0), "`cpu` has no index: leave it out");
    CHECK_THROWS_WITH(Device(DeviceKind::cuda, 128), "`cuda:128` is out of range: indices are 0 to 127");
    CHECK_THROWS_WITH(Device(DeviceKind::cuda, -1), "`cuda:-1` is out of range: indices are 0 to 127");
    CHECK_THROWS_WITH(Device(static_cast<DeviceKind>(77)), "there is no device kind of number 77");
}

TEST_CASE("mps and mps with an index are one place") {
    CHECK(Device::from_place({SOMA_DEVICE_MPS, 0}) == Device(DeviceKind::mps));
    CHECK(Device::from_place({SOMA_DEVICE_MPS, -1}) == Device(DeviceKind::mps));
    CHECK(Device::from_place({SOMA_DEVICE_CPU, -1}) == Device(DeviceKind::cpu));
}

TEST_CASE("a place that cannot be declared is no device") {
    CHECK_FALSE(Device::from_place({SOMA_DEVICE_NONE, 0}));
    CHECK_FALSE(Device::from_place({SOMA_DEVICE_OTHER, 0}));
    CHECK_FALSE(Device::from_place({SOMA_DEVICE_CUDA, -1}));
    CHECK_FALSE(Device::from_place({SOMA_DEVICE_CUDA, 128}));
}

TEST_CASE("devices compare by kind and index") {
    CHECK(Device::parse("cuda:0") != Device::parse("cuda:1"));
    CHECK(Device::parse("cuda:0") < Device::parse("cuda:1"));
    CHECK(Device::parse("cpu") < Device::parse("cuda:0"));
}
