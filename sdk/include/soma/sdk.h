// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file sdk.h
/// Everything a node author needs: C++17 over the C interface, without libtorch.

#include <soma/sdk/collection.h>
#include <soma/sdk/node.h>
#include <soma/sdk/opaque.h>
#include <soma/sdk/ops.h>
#include <soma/sdk/plugin.h>
