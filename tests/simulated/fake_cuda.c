// SPDX-License-Identifier: Apache-2.0
// Stands for libtorch_cuda.so, which is known by its name.
int soma_fake_cuda(void);
int soma_fake_cuda(void) { return 0; }
