/* Bytes moved and lower bounds, as lines of text, and as columns of a row that contains a product_bounds. */
#ifndef HS_BENCHMARKS_REPORT_BOUNDS_H
#define HS_BENCHMARKS_REPORT_BOUNDS_H

#include "product/bounds.h"
#include "report/columns.h"

/* Prints lines whose labels are `width` wide; nothing if a process's bounds are unknown or 0. */
void report_bounds(const product_bounds *bounds, int width, FILE *file);

#define REPORT_BOUND_SIDE(row, side, name)                             \
    {name "_received_bytes", REPORT_VALUE(row, side.bytes)},           \
        {name "_received_messages", REPORT_VALUE(row, side.messages)}, \
        {name "_layout_bytes", REPORT_VALUE(row, side.layout)},        \
        {name "_theory_bytes", REPORT_VALUE(row, side.theory)},        \
        {name "_to_layout", REPORT_VALUE(row, side.to_layout)},        \
    {                                                                  \
        name "_to_theory", REPORT_VALUE(row, side.to_theory)           \
    }
#define REPORT_BOUNDS(row, member)                                                                              \
    REPORT_BOUND_SIDE(row, member.process, "process"), REPORT_BOUND_SIDE(row, member.node, "node"),             \
        {"must_enter_bytes", REPORT_VALUE(row, member.must_enter)},                                             \
        {"memory_elements", REPORT_VALUE(row, member.memory)}, {"limited_by", REPORT_VALUE(row, member.limit)}, \
        {"limit_bytes_s", REPORT_VALUE(row, member.bytes_s)},                                                   \
        {"limit_messages_s", REPORT_VALUE(row, member.messages_s)},                                             \
    {                                                                                                           \
        "limit_cores_s", REPORT_VALUE(row, member.cores_s)                                                      \
    }

#endif
