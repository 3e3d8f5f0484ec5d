/* explain --model: the machine of the papers, given by its parameters; declared in command.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/command.h"
#include "explain/command.h"

/* Reads "alpha=1e-4,beta=1e-9"; every parameter at most once, and one of the two betas. */
int explain_read_model(const argument_given *given, void *at)
{
    explain_model *model = at;
    double *const value[] = {&model->alpha, &model->beta, &model->element_beta, &model->gamma};
    const char *text = given->text;
    unsigned said = 0;

    *model = (explain_model){.text = given->text};
    for (;;) {
        size_t name = strcspn(text, "=,"), length = strcspn(text, ",");
        int i = parse_word("alpha|beta|element_beta|gamma", text, name);
        char number[40];

        if (i < 0 || text[name] != '=' || said >> i & 1 || length - name > sizeof number)
            return 0;
        said |= 1U << i;
        snprintf(number, sizeof number, "%.*s", (int)(length - name - 1), text + name + 1);
        if (!parse_double(number, value[i]) || *value[i] < 0)
            return 0;
        if (!text[length])
            break;
        text += length + 1;
    }
    return said & 1 && !(said >> 1 & 1) != !(said >> 2 & 1);
}

struct hs_profile explain_model_profile(const explain_model *model, size_t element, int collective)
{
    struct hs_profile profile = {
        .machine = {.alpha = model->alpha, .beta = model->beta + model->element_beta / (double)element},
        .threads = 1,
        .knee = hs_profile_builtin.knee,
        .slice = INT64_MAX};

    if (collective)
        profile.machine.gamma = model->gamma;
    for (int i = 0; i < 2 && !collective; i++)
        profile.gemm[i].flop = model->gamma / 2;
    profile.device_machine = profile.machine;
    snprintf(profile.source, sizeof profile.source, "--model %.200s", model->text);
    return profile;
}

static int is_squarish(int64_t a, int64_t b)
{
    return a > 0 && b > 0 && a <= 2 * b && b <= 2 * a;
}

condition explain_condition(const explanation *e)
{
    const arguments *args = &e->args->common;
    const struct hs_machine *model = &e->ctx->profile.machine;
    const struct hs_link *link = &model->network;

    if (e->node->parts == 1 && model->node.beta > 0)
        link = &model->node;
    condition c = {.n = llround(cbrt((double)args->m * (double)args->n * (double)args->k)),
                   .b = e->info.level[e->info.nlevels - 1].block,
                   .p = e->processes};
    c.applies = c.p >= 4 && link->beta > 0 && is_squarish(e->nprow, e->npcol) && is_squarish(args->m, args->n) &&
                is_squarish(args->n, args->k) && is_squarish(args->m, args->k);
    if (!c.applies)
        return c;
    c.per_byte = link->alpha / link->beta;
    c.per_element = c.per_byte / (double)type_size(args->type);
    c.against = 2 * (double)c.n * (double)c.b / (double)c.p;
    c.minimum_per_element = c.per_element > c.against;
    c.minimum_per_byte = c.per_byte > c.against;
    return c;
}

void explain_print_condition(const condition *c, FILE *file)
{
    static const char *const extremum[2] = {"maximum", "minimum"};

    if (!c->applies)
        return;
    fprintf(
        file,
        "condition   alpha/beta = %.0f with beta per element, %.0f per byte; 2nb/p = %.0f compares with the former:\n"
        "            communication at G = sqrt(p) is a %s (van de Geijn, B = b; HSUMMA, Section IV-C)%s%s\n",
        c->per_element, c->per_byte, c->against, extremum[c->minimum_per_element],
        c->minimum_per_element == c->minimum_per_byte ? "" : "; the latter\n            would give a ",
        c->minimum_per_element == c->minimum_per_byte ? "" : extremum[c->minimum_per_byte]);
}
