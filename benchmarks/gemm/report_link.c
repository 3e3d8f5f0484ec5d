/* Reports the link's time and the local GEMM's; declared in command.h. */
#include "gemm/command.h"

void report_link(const contest *run, const report_table *times, FILE *file)
{
    const gemm_link *link = &run->link;
    spread least = spread_of(run->least, run->args->common.reps);
    double seconds = gemm_link_seconds(link);
    char text[32];

    if (link->rate == 0)
        return;
    fprintf(file, "link       %s must enter the busiest node: %.3f %s at %g Mbit/s; local GEMM alone: %.3f %s\n",
            report_bytes(text, sizeof text, link->most), seconds * times->factor, times->unit, link->rate * 1e-6,
            (least.median - seconds) * times->factor, times->unit);
}

void report_link_json(const contest *run, json_t *object)
{
    const gemm_link *link = &run->link;
    json_t *bytes;

    if (link->rate == 0)
        return;
    bytes = json_array();
    for (int i = 0; i < run->p.ctx->comm.topology.division[HS_NODE].parts; i++)
        json_array_append_new(bytes, report_integer(link->bytes[i]));
    json_object_set_new(object, "link",
                        json_pack("{s:o,s:o,s:o,s:o}", "bits_per_s", report_real(link->rate), "must_enter_bytes", bytes,
                                  "link_s", report_real(gemm_link_seconds(link)), "link_and_gemm_s",
                                  report_reals(run->least, run->args->common.reps)));
}
