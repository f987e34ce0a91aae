// SPDX-License-Identifier: Apache-2.0
#include "place.h"
#include "tensors.h"
#include "timing.h"

SOMA_PLUGIN(soma::sdk::Plugin("probe", "1.0.0").doc("Nodes that show what the host does to them."), probe::Where,
            probe::Told, probe::Claims, probe::Nested, probe::Constant, probe::Pass, probe::Add, probe::Barrier,
            probe::Sleep, probe::Fail, probe::Unborn, probe::Solo, probe::Trace, probe::Count, probe::Obey,
            probe::Scale, probe::Sum, probe::Matmul, probe::InPlace, probe::Stubborn, probe::WrongIndex, probe::Random,
            probe::Tied)
