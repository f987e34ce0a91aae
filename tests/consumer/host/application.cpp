// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include <soma/version.h>

int main() { std::cout << soma::version() << '\n'; }
