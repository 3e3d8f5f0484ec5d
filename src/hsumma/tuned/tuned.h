/*
 * The tuned file ("wisdom"): measured choices that outlive the program.
 *
 *   hsumma tuned 2
 *   bcast 8 2 0-64k chain(segment=16k)                      collectives, as coll/select/select.h reads them
 *   gemm KEY SECONDS OPTION OPTION ...                      products: the options of a plan's line
 *   network KEY NAME=VALUE ...                              the network between the nodes of a set of hosts
 *
 * A line is identified by its first two fields, or its first four if it concerns a collective.  # begins a comment. KEY
 * has no blanks, and SECONDS is not negative.  Of several lines for a product the last one counts; of the rules for a
 * collective the first one that fits.
 */
#ifndef HS_HSUMMA_TUNED_TUNED_H
#define HS_HSUMMA_TUNED_TUNED_H

#include "base/memory.h"
#include "base/options.h"
#include "base/status.h"

enum { HS_TUNED_NETWORKS = 64 };
enum { HS_TUNED_KEY = 224, HS_TUNED_LINE = HS_LINE_TEXT };

struct hs_tuned_entry {
    char key[HS_TUNED_KEY];
    double seconds;
    char line[HS_TUNED_LINE]; /* the options of the plan */
};
/* The products of the tuned file, and products measured since it was read. */
struct hs_tuned {
    struct hs_tuned_entry *entry; /* sorted by key */
    int count;
    size_t capacity;
};

/* Adds the products of a text, or none if it has an error.  Skips lines of collectives, which hs_rules_read_tuned
 * reads. HSUMMA_ERR_OPTION, with a message that names the line; HSUMMA_ERR_MEMORY. */
hsumma_status hs_tuned_read(struct hs_tuned *tuned, const char *text, const struct hs_allocator *memory,
                            struct hs_message *message);
void hs_tuned_free(struct hs_tuned *tuned, const struct hs_allocator *memory);
/* The entry of a key; NULL if there is none. */
const struct hs_tuned_entry *hs_tuned_find(const struct hs_tuned *tuned, const char *key);
/* Makes room for `more` entries, so that hs_tuned_put needs no memory.  HSUMMA_ERR_MEMORY. */
hsumma_status hs_tuned_reserve(struct hs_tuned *tuned, int more, const struct hs_allocator *memory);
/* Adds or replaces an entry.  HSUMMA_ERR_OPTION if a file with this entry would be refused; HSUMMA_ERR_MEMORY. */
hsumma_status hs_tuned_put(struct hs_tuned *tuned, const char *key, double seconds, const char *line,
                           const struct hs_allocator *memory);

/* Writes a product's line for the file; returns the length, like snprintf. */
int hs_tuned_write(const struct hs_tuned_entry *entry, char *text, size_t size);

/*
 * Implemented in tuned_file.c: merges lines (each without newline) into a file; creates the file and its directory if
 * necessary.  Lines with the same identification are replaced; other lines and comments are kept.  The line of a
 * product or network replaces the old line, or is appended.  A collective's line is inserted before all older lines of
 * that collective, because the first line that fits wins, and the latest measurement must win.  Of the network lines
 * only the last HS_TUNED_NETWORKS are kept.
 *
 * The file is locked meanwhile (by PATH.lock, which is kept) and replaced atomically, so that jobs that write at the
 * same time lose nothing.  A job that is killed may leave a .NAME.part-... beside PATH, which is never read.  If the
 * path is a symbolic link, the file that it leads to is replaced.  HSUMMA_ERR_OPTION, with a message, if the file
 * cannot be locked or written or is not of a known version, or if a line is invalid; HSUMMA_ERR_MEMORY.  After an error
 * the file is unchanged.
 */
hsumma_status hs_tuned_merge(const char *path, const char *const *line, int lines, const struct hs_allocator *memory,
                             struct hs_message *message);

/* The path $XDG_CONFIG_HOME/hsumma/NAME (if that variable is absolute, as its specification requires), else
 * $HOME/.config/hsumma/NAME.  Returns the length, like snprintf; -1 if neither is set. */
int hs_config_path(const char *name, char *path, size_t size);

#endif
