/* Plans with tune=measure in tests: contexts with a tuned file in the test's own directory, and checked executions. */
#ifndef HS_TESTS_SUPPORT_PRODUCT_TUNED_PLAN_H
#define HS_TESTS_SUPPORT_PRODUCT_TUNED_PLAN_H

#include "support/product/gemm_case.h"
#include <unistd.h>

enum { TUNED_PATH = 128, TUNED_WORDS = 400, TUNED_MOST = 64 };

/* A path in the test's directory; valid for a few calls. */
const char *tuned_path(const char *name);

/* Process 0 writes a file, the others wait. */
void tuned_put(const char *name, const char *text, size_t length);

/* Continues a hash with these bytes. */
int64_t hash_of(int64_t hash, const void *bytes, size_t count);
int plan_tuned_is(const hsumma_plan *plan, const char *word);

/* Whether the plan's info, rivals included, is the same on all processes. */
int plan_is_alike(const hsumma_plan *plan);

/* Executes until the plan has decided; returns the number of executions, -1 if one was wrong or the plan never
 * decides. */
int plan_decide(hsumma_plan *plan, const struct gemm_case *c);

/* A context with its tuned file in the test's directory (NULL: none), and a grid. */
int tuned_open(const char *name, const char *more, hsumma_context **ctx, hsumma_grid **grid);

/* A plan with these options; NULL and a failed test on error. */
hsumma_plan *plan_with(hsumma_context *ctx, struct gemm_case *c, const char *options);

/* Makes a directory that all processes use; 0 on failure. */
int tuned_directory_make(void);
void tuned_directory_drop(void);

#endif
