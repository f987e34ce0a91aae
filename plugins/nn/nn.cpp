// SPDX-License-Identifier: Apache-2.0
#include "bag.h"
#include "layers.h"

SOMA_PLUGIN(soma::sdk::Plugin("nn", "0.1.0").doc("Small trained layers.").license("Apache-2.0"), nn::Bag, nn::Embedding,
            nn::Encoder, nn::Linear, nn::Relu, nn::Similarity)
