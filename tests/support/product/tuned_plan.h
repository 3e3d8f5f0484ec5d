/* Plans with tune=measure in tests: contexts with a tuned file in a directory of the test's own, and executions that
 * are looked at. */
#ifndef HS_TESTS_SUPPORT_PRODUCT_TUNED_PLAN_H
#define HS_TESTS_SUPPORT_PRODUCT_TUNED_PLAN_H

#include "support/product/gemm_case.h"
#include <unistd.h>

enum { TUNED_PATH = 128, TUNED_WORDS = 400, TUNED_MOST = 64 };

/* A path in the test's directory; good for a few calls. */
const char *tuned_path(const char *name);

/* The first process writes a file, the others wait. */
void tuned_put(const char *name, const char *text, size_t length);

/* A hash that goes on with these bytes. */
int64_t hash_of(int64_t hash, const void *bytes, size_t count);
int plan_tuned_is(const hsumma_plan *plan, const char *word);

/* What a plan says of itself and its rivals is the same on all processes. */
int plan_is_alike(const hsumma_plan *plan);

/* Executions until a plan has decided: how many, -1 if one was wrong or it goes on for ever. */
int plan_decide(hsumma_plan *plan, const struct gemm_case *c);

/* A context with its tuned file in the test's directory (NULL: with none), and a grid. */
int tuned_open(const char *name, const char *more, hsumma_context **ctx, hsumma_grid **grid);

/* A plan with these words, or NULL and a failed test. */
hsumma_plan *plan_with(hsumma_context *ctx, struct gemm_case *c, const char *options);

/* A directory, the same for all processes; 0: none. */
int tuned_directory_make(void);
void tuned_directory_drop(void);

#endif
