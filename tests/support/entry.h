/* Reads and writes matrix entries of any type. */
#ifndef HS_TESTS_SUPPORT_ENTRY_H
#define HS_TESTS_SUPPORT_ENTRY_H

#include "hsumma.h"

#include <complex.h>
#include <stddef.h>
#include <stdint.h>

size_t gemm_element_size(hsumma_type type);
void gemm_store(hsumma_type type, void *at, int64_t index, double complex v);
double complex gemm_load(hsumma_type type, const void *at, int64_t index);

#endif
