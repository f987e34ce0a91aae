/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SOMA_DETAIL_SIMCUDA_H
#define SOMA_DETAIL_SIMCUDA_H

/**
 * \file
 * The door to libsomatize-simcuda, which gives a CPU-only libtorch the devices `cuda:0` to `cuda:N-1`, their memory in
 * the host's. The core opens that library when it is asked for simulated devices, looks `soma_simcuda` up and calls it.
 *
 * Loading the library changes nothing in libtorch; `start` does, once and for the rest of the process, so the library
 * is never unloaded. Everything here may be called from any thread, save that `start` must return before another thread
 * uses libtorch. No exception comes out.
 */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What libsomatize-simcuda does. Grows at the end only; read a member only if it ends within `struct_size`. */
typedef struct soma_simcuda_api {
    uint32_t struct_size; /**< Of this struct, in bytes. */
    uint32_t reserved;    /**< 0. */

    /**
   * Makes `devices` simulated devices, 1 to 64. NULL when they are there, also when they already were; else why not, a
   * text that lives as long as the process, and libtorch is as it was. It is refused beside real CUDA, with another
   * number of devices than at first, and after libtorch was asked about CUDA or ran a backward.
   */
    const char* (*start)(uint32_t devices);

    /** How many devices were started; 0 before. */
    uint32_t (*devices)(void);

    /** Bytes that tensors hold on a device now; 0 for a device that is not there. */
    uint64_t (*allocated_bytes)(uint32_t device);

    /** Allocations of at least one byte made on a device since the start, or since `reset_counters`. */
    uint64_t (*allocations)(uint32_t device);

    /** The most bytes a device held at once since the start, or since `reset_counters`. */
    uint64_t (*peak_bytes)(uint32_t device);

    /** Sets every device's allocations to 0 and its peak to what it holds now. */
    void (*reset_counters)(void);
} soma_simcuda_api;

/** The library's one export. The table lives as long as the library is loaded. */
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const soma_simcuda_api*
soma_simcuda(void);

/** The type of `soma_simcuda`, for looking it up. */
typedef const soma_simcuda_api* (*soma_simcuda_fn)(void);

#ifdef __cplusplus
}
#endif

#endif
