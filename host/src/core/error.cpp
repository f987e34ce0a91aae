// SPDX-License-Identifier: Apache-2.0
#include "soma/error.h"

// Each class has one function of its own here, so that its type information lies in this library alone and a catch in
// another library sees the same type.

namespace soma {

Error::~Error() = default;
ValueError::~ValueError() = default;
DeviceError::~DeviceError() = default;
GraphError::~GraphError() = default;
PlacementError::~PlacementError() = default;
PluginError::~PluginError() = default;
SyntaxError::~SyntaxError() = default;
EngineError::~EngineError() = default;
NodeError::~NodeError() = default;
CancelledError::~CancelledError() = default;

} // namespace soma
