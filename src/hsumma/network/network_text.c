/* Network figures as a line of the tuned file. */
#include "hsumma/network/network.h"

#include "base/plain_numbers.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT(member) offsetof(struct hs_network, member)
static const struct {
    const char *name;
    size_t offset; /* offset of a double in struct hs_network */
} figures[] = {{"alpha", AT(between.alpha)},
               {"beta", AT(between.beta)},
               {"gap", AT(between.gap)},
               {"rendezvous_alpha", AT(between.alpha_long)},
               {"rendezvous_beta", AT(between.beta_long)},
               {"inject", AT(inject)},
               {"inside_alpha", AT(inside.alpha)},
               {"inside_beta", AT(inside.beta)},
               {"gemm", AT(gemm)}};
enum { FIGURES = sizeof figures / sizeof *figures, KEY_DIGITS = 16, FIGURE_TEXT = 48 };
static const char eager[] = "eager";

int hs_network_write(uint64_t key, const struct hs_network *network, char *text, size_t size)
{
    struct hs_plain_numbers numbers = hs_plain_numbers_begin();
    int length = snprintf(text, size, "%s %0*" PRIx64 " %s=%" PRId64, hs_tuned_network, KEY_DIGITS, key, eager,
                          network->between.eager);
    for (int i = 0; i < FIGURES; i++) {
        size_t left = (size_t)length < size ? size - (size_t)length : 0;
        length += snprintf(left ? text + length : NULL, left, " %s=%.6g", figures[i].name,
                           *(const double *)((const char *)network + figures[i].offset));
    }
    hs_plain_numbers_end(numbers);
    return length;
}

/* Reads NAME=VALUE at *at and advances *at past it; returns 0 if the text is something else. */
static int read_figure(const char **at, const char *end, const char *name, double *value)
{
    char word[FIGURE_TEXT], *stop;
    *at += strspn(*at, " \t");
    size_t size = strcspn(*at, " \t\r\n#"), skip = strlen(name) + 1;
    if (*at >= end || size >= sizeof word || size <= skip)
        return 0;
    memcpy(word, *at, size);
    word[size] = 0;
    *at += size;
    if (strncmp(word, name, skip - 1) != 0 || word[skip - 1] != '=' ||
        word[skip + strspn(word + skip, "0123456789.eE+-")])
        return 0;
    *value = strtod(word + skip, &stop);
    return !*stop && *value >= 0 && *value <= 1e18;
}

int hs_network_read(const struct hs_tuned_fields *line, uint64_t *key, struct hs_network *network)
{
    char digits[KEY_DIGITS + 1] = "";
    double number = 0;
    *network = (struct hs_network){.inject = 0};
    const int figures_given = line->count - 3; /* the last one was added later */
    if (figures_given < FIGURES - 1 || figures_given > FIGURES || line->size[1] != KEY_DIGITS ||
        strspn(line->text[1], "0123456789abcdef") != KEY_DIGITS)
        return 0;
    memcpy(digits, line->text[1], KEY_DIGITS);
    *key = strtoull(digits, NULL, 16);
    const char *at = line->text[2];
    int good = read_figure(&at, line->end, eager, &number);
    network->between.eager = good ? (int64_t)number : 0;
    for (int i = 0; i < figures_given; i++)
        good = good && read_figure(&at, line->end, figures[i].name, (double *)((char *)network + figures[i].offset));
    return good && network->between.alpha > 0;
}

int hs_network_recall(const char *text, uint64_t key, struct hs_network *network)
{
    int found = 0;
    struct hs_plain_numbers numbers = hs_plain_numbers_begin();
    for (struct hs_tuned_fields line; *text; text = line.next) {
        struct hs_network one;
        uint64_t its;
        hs_tuned_split(text, &line);
        if (!hs_tuned_is(&line, 0, hs_tuned_network, strlen(hs_tuned_network)) || !hs_network_read(&line, &its, &one) ||
            its != key)
            continue;
        *network = one;
        found = 1;
    }
    hs_plain_numbers_end(numbers);
    return found;
}
