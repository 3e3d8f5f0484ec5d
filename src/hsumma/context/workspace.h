/*
 * Panel buffers.  One plan of a context runs at a time, so all share one piece of memory, as large as the most
 * demanding of them has needed; it goes with the last plan.  A plan that runs keeps the piece that it has begun with.
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

enum { HS_WORKSPACE_FLOOR = 8 << 20 }; /* may be used however small the matrices are */

/* What the option workspace_limit allows a process: of views of matrices, by the process that has most of each. */
int64_t hs_workspace_limit(const struct hs_part *limit, const struct hs_view *const *view, int views, size_t size);

/* Makes sure that there are so many bytes, for one plan more; HSUMMA_ERR_MEMORY: nothing has changed. */
hsumma_status hs_workspace_want(hsumma_context *ctx, size_t bytes);
/* One plan less. */
void hs_workspace_leave(hsumma_context *ctx);

struct hs_workspace *hs_workspace_hold(struct hs_workspace *workspace);
void hs_workspace_release(hsumma_context *ctx, struct hs_workspace *workspace);

#endif
