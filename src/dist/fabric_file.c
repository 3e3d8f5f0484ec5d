#include "dist/fabric_file.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A host that is looked for among the names of lists. */
struct host_search {
    const char *host;
    int count; /* number of names so far */
    int found; /* index of the host's name; -1 if it has not been found */
    int twice; /* 1 if the host has been found again */
};

static const char separators[] = ", \t\r\n";

/* Whether a name is that of the host, with or without a domain. */
static int is_host(const char *host, const char *name)
{
    size_t length = strlen(name);
    if (strncmp(host, name, length) == 0 && (host[length] == 0 || host[length] == '.'))
        return 1;
    size_t brief = strcspn(host, ".");
    return strcspn(name, ".") == brief && strncmp(host, name, brief) == 0 && host[brief] == 0;
}

/* Counts a name; remembers its index if it is the host's. */
static void meet(struct host_search *search, const char *name)
{
    if (is_host(search->host, name)) {
        search->twice |= search->found >= 0;
        search->found = search->found < 0 ? search->count : search->found;
    }
    search->count++;
}

/* Whether the text, up to `length`, has nothing that names of hosts lack. */
static int is_name(const char *text, int length)
{
    for (int i = 0; i < length; i++)
        if (!isalnum((unsigned char)text[i]) && !strchr("-._", text[i]))
            return 0;
    return 1;
}

/* Reads a number of at most nine digits, and moves *text past it; -1 if there is none. */
static int read_number(const char **text)
{
    int width = (int)strspn(*text, "0123456789"), number = width > 0 && width <= 9 ? atoi(*text) : -1;
    *text += width;
    return number;
}

/* Meets prefix + number + suffix for ranges such as "0-3,07,10-12]"; returns the text behind the name; NULL: wrong. */
static const char *meet_ranges(struct host_search *search, const char *prefix, int length, const char *ranges)
{
    const char *suffix = strchr(ranges, ']');
    if (!suffix)
        return NULL;
    int behind = (int)strcspn(suffix + 1, separators);
    if (!is_name(suffix + 1, behind))
        return NULL;
    do {
        char name[256];
        int width = (int)strspn(ranges, "0123456789"), first = read_number(&ranges), last = first;
        if (*ranges == '-') {
            ranges++;
            last = read_number(&ranges);
        }
        if (first < 0 || last < first || last > first + HS_FABRIC_POSITIONS || (*ranges != ',' && *ranges != ']'))
            return NULL;
        for (int i = first; i <= last && search->count <= HS_FABRIC_POSITIONS; i++) {
            snprintf(name, sizeof name, "%.*s%0*d%.*s", length, prefix, width, i, behind, suffix + 1);
            meet(search, name);
        }
        ranges += *ranges == ',';
    } while (*ranges != ']');
    return suffix + 1 + behind;
}

/* Meets the names of a list of hosts, up to its end or the first blank; NULL if it is wrong. */
static const char *meet_list(struct host_search *search, const char *list)
{
    while (*list && !strchr(separators + 1, *list)) {
        char name[256];
        int length = (int)strcspn(list, ", \t\r\n[#");
        if (length >= (int)sizeof name || !is_name(list, length))
            return NULL;
        if (list[length] == '[') {
            list = meet_ranges(search, list, length, list + length + 1);
        } else if (length > 0) {
            snprintf(name, sizeof name, "%.*s", length, list);
            meet(search, name);
            list += length;
        } else {
            return NULL;
        }
        if (!list || (*list && !strchr(separators, *list)))
            return NULL;
        list += *list == ',';
    }
    return list;
}

static hsumma_status wrong(const char *text, const char *at, const char *expected, struct hs_message *message)
{
    int line = 1;
    for (; text < at; text++)
        line += *text == '\n';
    return hs_fail(message, HSUMMA_ERR_OPTION, "line %d, \"%.*s\": expected %s", line, (int)strcspn(at, "\r\n"), at,
                   expected);
}

/* The text behind blanks, newlines and comments. */
static const char *next_word(const char *text)
{
    for (;;) {
        text += strspn(text, separators + 1);
        if (*text != '#')
            return text;
        text += strcspn(text, "\n");
    }
}

/* Whether a line names a fabric, which follows a blank. */
static int is_header(const char *text)
{
    enum hs_fabric_kind kind;
    size_t length = hs_fabric_name(text, &kind);
    return length > 0 && text[length] && strchr(separators + 1, text[length]);
}

static hsumma_status parse_positions(const char *text, const char *header, struct host_search *search,
                                     struct hs_fabric *fabric, struct hs_message *message)
{
    enum hs_fabric_kind kind;
    const char *at = next_word(header + hs_fabric_name(header, &kind));
    if (hs_fabric_read(header, &at, fabric) || !*at || !strchr(separators + 1, *at))
        return wrong(text, header, HS_FABRIC_EXPECTED " (in a file with a blank for the colon)", message);
    for (at = next_word(at); *at; at = next_word(at)) {
        const char *list = at;
        at = is_header(list) ? NULL : meet_list(search, list);
        if (!at)
            return wrong(text, list, "names of hosts such as node[00-15],login1", message);
        at = next_word(at);
        at += *at == ',';
    }
    if (search->count > fabric->positions)
        return hs_fail(message, HSUMMA_ERR_OPTION, "it has %d hosts; expected at most %d, the positions of the fabric",
                       search->count, fabric->positions);
    return HSUMMA_OK;
}

/* The value of NAME= in a line of scontrol; NULL if the line has none. */
static const char *value_of(const char *line, const char *name)
{
    size_t length = strlen(name), end = strcspn(line, "\n");
    for (const char *at = line; at < line + end; at += strcspn(at, " \t\n"), at += strspn(at, " \t"))
        if (strncmp(at, name, length) == 0)
            return at + length;
    return NULL;
}

/* Meets the hosts of the leaf switches, which have no switches below them. */
static hsumma_status parse_switches(const char *text, struct host_search *search, struct hs_fabric *fabric,
                                    struct hs_message *message)
{
    for (const char *line = next_word(text); *line; line += strcspn(line, "\n"), line = next_word(line)) {
        const char *hosts = value_of(line, "Nodes="), *below = value_of(line, "Switches=");
        if (strncmp(line, "SwitchName=", 11) != 0)
            return wrong(text, line, "SwitchName=... Nodes=...", message);
        if (below && *below && !strchr(separators, *below))
            continue;
        if (!hosts || strchr(separators, *hosts) || !meet_list(search, hosts))
            return wrong(text, line, "Nodes=HOSTS on a switch without Switches=", message);
    }
    *fabric = (struct hs_fabric){.kind = HS_HOST_ROW, .dims = 1, .extent = {search->count}, .positions = search->count};
    return search->count <= HS_FABRIC_POSITIONS
               ? HSUMMA_OK
               : hs_fail(message, HSUMMA_ERR_OPTION, "it has more than %d hosts", HS_FABRIC_POSITIONS);
}

hsumma_status hs_fabric_parse(const char *text, const char *host, struct hs_fabric *fabric, int *position,
                              struct hs_message *message)
{
    struct host_search search = {.host = host, .found = -1};
    const char *first = next_word(text);
    hsumma_status status;
    if (is_header(first))
        status = parse_positions(text, first, &search, fabric, message);
    else if (strncmp(first, "SwitchName=", 11) == 0)
        status = parse_switches(text, &search, fabric, message);
    else
        return wrong(text, first,
                     "\"torus 8x8x8\", \"tree 16x8/1x4\" or \"dragonfly 3x4x4x2\" and names of hosts, or the output of "
                     "scontrol show topology",
                     message);
    *position = search.found;
    if (!status && search.twice)
        return hs_fail(message, HSUMMA_ERR_OPTION, "it has host %.100s twice", host);
    if (!status && search.count == 0)
        return hs_fail(message, HSUMMA_ERR_OPTION, "it has no hosts");
    return status;
}
