/* For tests of tune=measure: contexts with a tuned file in the test's own directory, and checked executions. */
#ifndef HS_TESTS_SUPPORT_PRODUCT_TUNED_PLAN_H
#define HS_TESTS_SUPPORT_PRODUCT_TUNED_PLAN_H

#include "support/product/gemm_case.h"
#include <unistd.h>

enum { TUNED_PATH = 128, TUNED_WORDS = 400, TUNED_MOST = 64 };

/* The path of a file in the test's directory; valid for the next three calls. */
const char *tuned_path(const char *name);

/* Writes a file on process 0; the other processes wait for it. */
void tuned_put(const char *name, const char *text, size_t length);

/* Continues a hash over `count` bytes. */
int64_t hash_of(int64_t hash, const void *bytes, size_t count);
int plan_tuned_is(const hsumma_plan *plan, const char *word);

/* Whether the plan's line, the origin of its choices (`tuned`) and its rivals are equal on all processes. */
int plan_is_alike(const hsumma_plan *plan);

/* Executes a plan until it has decided. Returns the number of executions; -1 on a wrong result, or if TUNED_MOST
 * executions do not suffice. */
int plan_decide(hsumma_plan *plan, const struct gemm_case *c);

/* Creates a context and a grid. The tuned file is `name` in the test's directory; NULL: no tuned file. */
int tuned_open(const char *name, const char *more, hsumma_context **ctx, hsumma_grid **grid);

/* Creates a plan with these options; returns NULL and reports a failed test on error. */
hsumma_plan *plan_with(hsumma_context *ctx, struct gemm_case *c, const char *options);

/* Makes a directory that all processes use; 0 on failure. */
int tuned_directory_make(void);
void tuned_directory_drop(void);

#endif
