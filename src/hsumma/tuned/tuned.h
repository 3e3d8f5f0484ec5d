/*
 * The tuned file ("wisdom"): measured choices that outlive the program.
 *
 *   hsumma tuned 2
 *   bcast 8 2 0-64k chain(segment=16k)                      collectives, as coll/select/select.h reads them
 *   gemm KEY SECONDS WORD WORD ...                          products: the words of a plan's line
 *   network KEY NAME=VALUE ...                              what lies between the nodes of a set of hosts
 *
 * What identifies a line: of a collective's its first four words, of others the first two.  # begins a comment.
 * KEY has no blanks and SECONDS is not negative.  Of several
 * lines of a product the last counts, of the rules of a collective the first that fits.
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
    char line[HS_TUNED_LINE]; /* options */
};
/* The products of a file, and what has been measured since. */
struct hs_tuned {
    struct hs_tuned_entry *entry; /* in the order of the keys */
    int count;
    size_t capacity;
};

/* Adds the products of a text, or after an error none; lines of collectives are left to hs_rules_read_tuned.
 * HSUMMA_ERR_OPTION and a message that names the line; HSUMMA_ERR_MEMORY. */
hsumma_status hs_tuned_read(struct hs_tuned *tuned, const char *text, const struct hs_allocator *memory,
                            struct hs_message *message);
void hs_tuned_free(struct hs_tuned *tuned, const struct hs_allocator *memory);
/* NULL: nothing is known. */
const struct hs_tuned_entry *hs_tuned_find(const struct hs_tuned *tuned, const char *key);
/* Room for so many more: then hs_tuned_put needs no memory.  HSUMMA_ERR_MEMORY. */
hsumma_status hs_tuned_reserve(struct hs_tuned *tuned, int more, const struct hs_allocator *memory);
/* Adds or replaces.  HSUMMA_ERR_OPTION: a file that said this would be refused; HSUMMA_ERR_MEMORY. */
hsumma_status hs_tuned_put(struct hs_tuned *tuned, const char *key, double seconds, const char *line,
                           const struct hs_allocator *memory);

/* A line of a product for the file; the length, as snprintf. */
int hs_tuned_write(const struct hs_tuned_entry *entry, char *text, size_t size);

/*
 * tuned_file.c: merges lines (each without newline) into a file, which is made, with its directory, if it is not there.
 * Lines that are identified alike are replaced, others and comments stay.  A product's line takes the old one's place,
 * or the end of the file; a collective's stands before all older ones of that collective, for the first that fits wins
 * and what has been measured last shall; of networks the newest HS_TUNED_NETWORKS stay.  The file is locked meanwhile
 * (by PATH.lock, which stays) and appears whole or not at all, so jobs that write at once lose nothing; one that is
 * killed may leave a PATH.tmp-..., which nobody reads. A symbolic link stays one: the file that it leads to is
 * replaced.  HSUMMA_ERR_OPTION and a message: the file cannot be written, or is no file of a version that is known, or
 * a line is none; HSUMMA_ERR_MEMORY.  It has not been touched then.
 */
hsumma_status hs_tuned_merge(const char *path, const char *const *line, int lines, const struct hs_allocator *memory,
                             struct hs_message *message);

/* $XDG_CONFIG_HOME/hsumma/NAME (if that is absolute, as its specification wants it), else $HOME/.config/hsumma/NAME;
 * the length as snprintf, -1 if neither is set. */
int hs_config_path(const char *name, char *path, size_t size);

#endif
