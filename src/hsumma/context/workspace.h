/*
 * Panel buffers.  One plan of a context runs at a time, so all plans share one buffer, as large as the most demanding
 * plan needs; it is freed with the last plan.  A running plan keeps the buffer with which it started.
 */
#ifndef HS_HSUMMA_CONTEXT_WORKSPACE_H
#define HS_HSUMMA_CONTEXT_WORKSPACE_H

#include "dist/view.h"
#include "hsumma/context/context.h"

struct hs_workspace {
    int holders;
    size_t bytes;
    char *base;
};

enum { HS_WORKSPACE_FLOOR = 8 << 20 }; /* bytes that a limit given as a share always allows */

/* The bytes per process that the option workspace_limit allows.  A limit given as a share is that share of the sum of
 * the views' largest local parts, but at least HS_WORKSPACE_FLOOR. */
int64_t hs_workspace_limit(const struct hs_part *limit, const struct hs_view *view, int views, size_t size);

/* Ensures that the buffer has at least `bytes`, for one more plan.  After HSUMMA_ERR_MEMORY nothing has changed. */
hsumma_status hs_workspace_want(hsumma_context *ctx, size_t bytes);
/* Undoes one hs_workspace_want. */
void hs_workspace_leave(hsumma_context *ctx);

struct hs_workspace *hs_workspace_hold(struct hs_workspace *workspace);
void hs_workspace_release(hsumma_context *ctx, struct hs_workspace *workspace);

#endif
