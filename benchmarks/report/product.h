/* Parts that reports on products share. */
#ifndef HS_BENCHMARKS_REPORT_PRODUCT_H
#define HS_BENCHMARKS_REPORT_PRODUCT_H

#include <jansson.h>
#include <stdio.h>

#include "product/problem.h"

/* Prints the product, the grid and the machine above a table; report_head_json returns them as a JSON object. */
void report_head(const problem *p, const char *command, FILE *file);
json_t *report_head_json(const problem *p, const char *command);
/* The command and the product as a JSON object, without grid and machine. */
json_t *report_arguments_json(const arguments *args, const char *command);

/* "^T" of 'T', "^H" of 'C', "" of 'N'. */
const char *report_op_mark(char trans);

/* Prints "A broadcast, B exchanged and broadcast (2.1 MiB, 0.4 ms), C stays; modelled ms with stationary A, B, C: ..."
 * after `label`; report_moves_json adds these data to a JSON object. */
void report_moves(const hsumma_plan_info *info, const char *label, FILE *file);
void report_moves_json(const hsumma_plan_info *info, json_t *object);

#endif
