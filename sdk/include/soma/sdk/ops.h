// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file ops.h
/// The operations people use, each a line over the host's tensor library. All of them keep the device, need their
/// operands on one device, and are recorded by autograd. For what is missing there is `call` in tensor.h. On meta libtorch
/// 1.13 lacks abs, where, flip, index_select and layer_norm; there they fail by name.

#include <soma/sdk/create_tensor.h>
#include <soma/sdk/ops_arithmetic.h>
#include <soma/sdk/ops_linear.h>
#include <soma/sdk/ops_math.h>
#include <soma/sdk/ops_reduce.h>
#include <soma/sdk/ops_shape.h>
