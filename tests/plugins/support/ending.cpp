// SPDX-License-Identifier: Apache-2.0
// A plugin with something to do at its end.
#include <soma/sdk.h>

#include <thread>

namespace ending {
namespace {

using namespace soma::sdk;

struct Works : Node {
    static NodeType describe() { return NodeType{"ending.works"}.doc("Starts a thread that ends with the plugin."); }
    explicit Works(const Create& create);
    Value forward(const Ctx&, const Value& input) { return input; }
};

class Worker {
public:
    void start() {
        if (!thread_.joinable()) thread_ = std::thread{[] {}};
    }
    void join() {
        if (!thread_.joinable()) throw std::runtime_error{"there is no thread to join"};
        thread_.join();
    }

private:
    std::thread thread_;
};

Worker worker;

Works::Works(const Create& create) : Node{create} { worker.start(); }

void finish() {
    worker.join();
    log(LogLevel::warning, "its thread is joined");
}

} // namespace
} // namespace ending

SOMA_PLUGIN(soma::sdk::Plugin("ending", "1.0.0").doc("It ends its threads.").shutdown(ending::finish), ending::Works)
