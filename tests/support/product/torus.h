/* A torus by its extents, such as "4x4". */
#ifndef TESTS_SUPPORT_PRODUCT_TORUS_H
#define TESTS_SUPPORT_PRODUCT_TORUS_H

#include "dist/fabric.h"
#include "support/tap.h"

static inline struct hs_fabric torus_of(const char *text)
{
    struct hs_fabric fabric;
    if (hs_fabric_read("torus", &text, &fabric) || *text)
        tap_ok(0, "a torus is read");
    return fabric;
}

#endif
