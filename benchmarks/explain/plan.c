/* The plan and its figures, as text; declared in command.h. */
#include <math.h>
#include <string.h>

#include "explain/command.h"
#include "report/bounds.h"
#include "report/product.h"

/* Whether a plan's line contains the option. */
static int has_word(const char *line, const char *word, size_t length)
{
    for (const char *at = line; *(at += strspn(at, " ")); at += strcspn(at, " "))
        if (strcspn(at, " ") == length && !strncmp(at, word, length))
            return 1;
    return 0;
}

/* Prints the options of a rival's line that differ from the chosen plan's; the whole line if none does. */
static void print_difference(const char *line, const char *chosen, FILE *file)
{
    int printed = 0;

    for (const char *at = line; *(at += strspn(at, " ")); at += strcspn(at, " ")) {
        size_t length = strcspn(at, " ");

        if (!has_word(chosen, at, length))
            fprintf(file, "%s%.*s", printed++ ? " " : "", (int)length, at);
    }
    if (!printed)
        fputs(line, file);
}

static void print_rivals(const hsumma_plan_info *info, FILE *file)
{
    for (int i = 0; i < info->nrivals; i++) {
        const hsumma_rival *rival = &info->rival[i];
        double more = rival->seconds / info->predicted_seconds - 1;

        if (!rival->line)
            continue;
        fputs(i ? "            " : "not chosen  ", file);
        print_difference(rival->line, info->line, file);
        report_seconds(file, ": ", rival->seconds, 4);
        if (info->predicted_seconds > 0)
            fprintf(file, ", %.1f %% %s", 100 * fabs(more), more < 0 ? "faster" : "slower");
        if (rival->measured > 0)
            report_seconds(file, "; measured ", rival->measured, 4);
        fputc('\n', file);
    }
}

static void print_model(const struct hs_profile *profile, FILE *file)
{
    const struct hs_machine *m = &profile->machine;

    fprintf(file, "model       profile %s: between nodes alpha %g s, beta %g s/byte", profile->source, m->alpha,
            m->beta);
    if (m->node.beta > 0)
        fprintf(file, ", in a node %g s, %g s/byte", m->node.alpha, m->node.beta);
    fprintf(file, "; gamma %g s/byte, copies %g s/byte; GEMM ", m->gamma, m->copy);
    if (profile->gemm[0].flop > 0)
        fprintf(file, "%g flop/s by %d thread%s\n", 1 / profile->gemm[0].flop, profile->threads,
                report_plural(profile->threads));
    else
        fputs("takes no time\n", file);
}

void explain_timing(const explanation *e, FILE *file)
{
    fprintf(file,
            "planning    cold %.4g ms (%.4g to %.4g), warm %.4g ms (%.4g to %.4g): median, range of %lld plans each, "
            "schedules\n            not included\n\n",
            e->cold.median * 1e3, e->cold.min * 1e3, e->cold.max * 1e3, e->warm.median * 1e3, e->warm.min * 1e3,
            e->warm.max * 1e3, (long long)e->args->timing);
}

static void print_sent(const explanation *e, FILE *file)
{
    char most[32], all[32];

    if (e->messages >= 0)
        fprintf(file, "sent        at most %lld messages, %s by a process; %lld messages, %s in total\n",
                (long long)e->messages_max, report_bytes(most, sizeof most, e->bytes_max), (long long)e->messages,
                report_bytes(all, sizeof all, e->bytes));
    else if (e->counted)
        fputs("sent        not counted: the plan uses collectives of MPI\n", file);
    else
        fprintf(file, "sent        not counted: the grid has more than %d processes\n", EXPLAIN_COUNTED);
    report_bounds(&e->bounds, 12, file);
    explain_print_entering(e, file);
}

/* What a larger limit would save, if that is a hundredth or more. */
static void print_more_memory(const explanation *e, FILE *file)
{
    char bytes[32];

    if (e->more.seconds <= 0 || e->more.seconds > 0.99 * e->info.predicted_seconds)
        return;
    fprintf(file, "            with workspace_limit=100%%: about %s, lookahead=%d",
            report_bytes(bytes, sizeof bytes, e->more.workspace_bytes), e->more.lookahead);
    report_seconds(file, "; ", e->more.seconds, 4);
    fprintf(file, ", %.2f of the time\n", e->more.seconds / e->info.predicted_seconds);
}

void explain_plan(const explanation *e, FILE *file)
{
    const hsumma_plan_info *info = &e->info;
    char most[32], all[32];
    int pairs = e->pairs;

    fprintf(file, "plan        %s\ndecided by  %s%s%s\n", info->line, info->why,
            info->tuned && *info->tuned ? "; " : "", info->tuned ? info->tuned : "");
    report_moves(info, "moves       ", file);
    report_seconds(file, "predicted   ", info->predicted_seconds, 4);
    report_seconds(file, " total: communication ", info->predicted_comm_seconds, 4);
    report_seconds(file, ", GEMM ", info->predicted_gemm_seconds, 4);
    if (info->predicted_copy_seconds > 0)
        report_seconds(file, ", copies ", info->predicted_copy_seconds, 4);
    fprintf(file, ", lookahead %d\n", info->lookahead);
    print_rivals(info, file);
    explain_print_layers(e, file);
    print_model(&e->ctx->profile, file);
    explain_print_condition(&e->groups, file);
    print_sent(e, file);
    fprintf(file, "workspace   %s%s (maximum over processes); limit %s\n", e->counted ? "" : "about ",
            report_bytes(most, sizeof most, e->workspace_max),
            report_bytes(all, sizeof all, (int64_t)e->info.workspace_limit_bytes));
    print_more_memory(e, file);
    fprintf(file, "panels      %lld, each at most %lld indices %c, in %d pair%s of owners\n\n", (long long)e->panels,
            (long long)e->info.level[e->info.nlevels - 1].block, "mnk"[e->variant.looped], pairs, report_plural(pairs));
}
