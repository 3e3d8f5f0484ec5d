/* Counts above 2^31 and 2^32 in the lists of every algorithm. Elements of some GiB keep verify's data small. */
#include "support/coll/sweep.h"
#include "support/tap.h"

int main(void)
{
    const struct hs_alg *alg;
    for (int i = 0; (alg = hs_alg_at(i)) != NULL; i++) {
        int bad = 0, runs = 0;
        char text[240] = "";
        for (int p = 2; p <= 9 && !(alg->flags & HS_BY_MPI); p++)
            for (int shared_bytes = 0; shared_bytes < 3; shared_bytes++) {
                struct hs_topology topology = topology_blocks(p, shared_bytes ? 1 : (p + 2) / 3, 1,
                                                              shared_bytes ? (int64_t)40 << 30 : 0, shared_bytes == 2);
                struct hs_verify_report report;
                struct hs_box box = {.dims = 1, .extent = {p}, .ring = {p > 2}, .share = {HS_BOX_SHARES}};
                struct hs_shape shape = {.size = p,
                                         .root = p / 2,
                                         .bytes = (int64_t)11 * 5 << 30,
                                         .unit = (int64_t)5 << 30,
                                         .topology = &topology,
                                         .box = &box,
                                         .with = {.threshold = 1}};
                if (!hs_alg_unfit(alg, &shape)) {
                    runs++;
                    if (hs_verify(alg, &shape, NULL, &hs_heap, &report) && bad++ == 0)
                        snprintf(text, sizeof text, "%d ranks: %.200s", p, report.text);
                }
                hs_topology_free(&topology, &hs_heap);
            }
        if (!(alg->flags & HS_BY_MPI) &&
            !tap_ok(bad == 0 && runs > 0, "%s %s: vectors of 55 GiB", hs_collective_name(alg->collective), alg->name))
            tap_diag("%s", text);
    }
    return tap_done();
}
