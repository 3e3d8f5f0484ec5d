/* The text of a tuned file: its first line with the version, and lines split into fields. */
#include "coll/select/select.h"

#include <string.h>

const char hs_tuned_gemm[] = "gemm", hs_tuned_network[] = "network";

void hs_tuned_split(const char *line, struct hs_tuned_fields *fields)
{
    static const char blank[] = " \t\r";
    const char *at = line + strspn(line, blank);
    *fields = (struct hs_tuned_fields){.end = at};
    while (*at && *at != '#' && *at != '\n') {
        size_t size = strcspn(at, " \t\r#\n");
        if (fields->count < HS_TUNED_FIELDS) {
            fields->text[fields->count] = at;
            fields->size[fields->count] = size;
        }
        fields->count++;
        fields->end = at + size;
        at = fields->end + strspn(fields->end, blank);
    }
    at += strcspn(at, "\n");
    fields->next = at + (*at == '\n');
}

int hs_tuned_is(const struct hs_tuned_fields *fields, int i, const char *text, size_t size)
{
    return i < fields->count && fields->size[i] == size && memcmp(fields->text[i], text, size) == 0;
}

int hs_tuned_is_rule(const struct hs_tuned_fields *fields)
{
    return fields->count > 0 && !hs_tuned_is(fields, 0, hs_tuned_gemm, strlen(hs_tuned_gemm)) &&
           !hs_tuned_is(fields, 0, hs_tuned_network, strlen(hs_tuned_network));
}

hsumma_status hs_tuned_check_head(const char *text, struct hs_message *message)
{
    static const char head[] = "hsumma tuned ";
    size_t line = strcspn(text, "\n"), length = line && text[line - 1] == '\r' ? line - 1 : line;
    int64_t number = 0;
    if (length <= strlen(head) || memcmp(text, head, strlen(head)) != 0 ||
        hs_bytes_text(text + strlen(head), length - strlen(head), &number))
        return hs_fail(message, HSUMMA_ERR_OPTION, "tuned: the first line is \"%.*s\"; expected \"%s%d\"",
                       (int)(length < 80 ? length : 80), text, head, HS_TUNED_VERSION);
    if (number != HS_TUNED_VERSION)
        return hs_fail(message, HSUMMA_ERR_OPTION,
                       "tuned: the file has version %.*s; this library reads version %d; remove it",
                       (int)(length - strlen(head)), text + strlen(head), HS_TUNED_VERSION);
    return HSUMMA_OK;
}
