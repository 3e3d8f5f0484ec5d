#include "hsumma/tuned/tuned.h"

#include "base/wait.h"
#include "coll/select/select.h"
#include "hsumma/context/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LOCK_SLEEP_NS = 3000000 };
static const double patience = 10; /* seconds to wait for a lock */

/* The text of the new file. */
struct file_text {
    char *at;
    size_t length, capacity;
    const struct hs_allocator *memory;
    int failed;
};

static void add(struct file_text *text, const char *more, size_t length)
{
    void *array = text->at;
    if (text->failed || hs_grow(text->memory, &array, 1, &text->capacity, text->length + length + 2)) {
        text->failed = 1;
        return;
    }
    text->at = array;
    memcpy(text->at + text->length, more, length);
    text->length += length;
    text->at[text->length++] = '\n';
    text->at[text->length] = 0;
}

static void add_head(struct file_text *text)
{
    char head[32];
    add(text, head, (size_t)snprintf(head, sizeof head, "hsumma tuned %d", HS_TUNED_VERSION));
}

static int is_network(const struct hs_tuned_fields *line)
{
    return hs_tuned_is(line, 0, hs_tuned_network, strlen(hs_tuned_network));
}

static int same_words(const struct hs_tuned_fields *a, const struct hs_tuned_fields *b, int words)
{
    for (int i = 0; i < words; i++)
        if (i >= b->count || !hs_tuned_is(a, i, b->text[i], b->size[i]))
            return 0;
    return 1;
}

/* Whether two lines have the same identification. */
static int alike(const struct hs_tuned_fields *a, const struct hs_tuned_fields *b)
{
    return same_words(a, b, hs_tuned_is_rule(a) ? 4 : 2);
}

/* Whether a new line that is not yet in the text must be inserted before line `old`. */
static int belongs(const struct hs_tuned_fields *new, const struct hs_tuned_fields *old)
{
    return same_words(new, old, hs_tuned_is_rule(new) ? 1 : 2);
}

/* A line to add. */
struct addition {
    struct hs_tuned_fields words;
    int done;
};

static int is_replaced(const struct hs_tuned_fields *old, const struct addition *addition, int lines)
{
    for (int i = 0; i < lines; i++)
        if (alike(&addition[i].words, old))
            return 1;
    return 0;
}

/* Number of network lines by which the merged text would exceed HS_TUNED_NETWORKS. */
static int surplus_networks(const char *text, const struct addition *addition, int lines)
{
    int count = -HS_TUNED_NETWORKS;
    struct hs_tuned_fields words;
    for (; text && *text; text = words.next) {
        hs_tuned_split(text, &words);
        count += is_network(&words) && !is_replaced(&words, addition, lines);
    }
    for (int i = 0; i < lines; i++)
        count += !addition[i].done && is_network(&addition[i].words);
    return count;
}

/* Writes the old text (NULL if there is no file), with the additions merged into it, to `text`. */
static void merge(struct file_text *text, const char *old, const char *const *line, struct addition *addition,
                  int lines)
{
    struct hs_tuned_fields words = {.next = ""};
    int surplus = surplus_networks(old, addition, lines);
    add_head(text);
    if (old)
        hs_tuned_split(old, &words);
    for (const char *at = words.next; *at; at = words.next) {
        hs_tuned_split(at, &words);
        int replaced = words.count && is_replaced(&words, addition, lines);
        for (int i = 0; words.count && i < lines; i++) {
            if (!addition[i].done && belongs(&addition[i].words, &words)) {
                add(text, line[i], strlen(line[i]));
                addition[i].done = 1;
            }
        }
        if (!replaced && is_network(&words) && surplus-- > 0) /* the oldest network lines come first */
            continue;
        if (!replaced)
            add(text, at, strcspn(at, "\n"));
    }
    for (int i = 0; i < lines; i++)
        if (!addition[i].done)
            add(text, line[i], strlen(line[i]));
}

/* Checks that the readers of collectives and of products accept the text. */
static hsumma_status check(const char *text, const struct hs_allocator *memory, struct hs_message *message)
{
    struct hs_tuned tuned = {0};
    struct hs_rules rules = {0};
    hsumma_status status = hs_rules_read_tuned(&rules, text, memory, message);
    if (!status)
        status = hs_tuned_read(&tuned, text, memory, message);
    hs_rules_free(&rules, memory);
    hs_tuned_free(&tuned, memory);
    return status;
}

/* Reads and checks the lines to add.  Of several lines with the same identification only the last is added. */
static hsumma_status prepare(const char *const *line, struct addition *addition, int lines,
                             const struct hs_allocator *memory, struct hs_message *message)
{
    struct file_text text = {.memory = memory};
    hsumma_status status = HSUMMA_OK;
    add_head(&text);
    for (int i = 0; !status && i < lines; i++) {
        hs_tuned_split(line[i], &addition[i].words);
        if (!addition[i].words.count || strchr(line[i], '\n'))
            status = hs_fail(message, HSUMMA_ERR_OPTION,
                             "tuned: cannot add \"%.80s\"; expected one line, not a comment", line[i]);
        add(&text, line[i], strlen(line[i]));
    }
    struct hs_message why = {""};
    if (!status)
        status = text.failed ? HSUMMA_ERR_MEMORY : check(text.at, memory, &why);
    if (status == HSUMMA_ERR_OPTION && why.text[0])
        hs_fail(message, status, "tuned: cannot add a line: %s", why.text);
    hs_put(memory, text.at);
    for (int i = 0; !status && i < lines; i++)
        for (int later = i + 1; !addition[i].done && later < lines; later++)
            addition[i].done = alike(&addition[i].words, &addition[later].words);
    return status;
}

static const char option[] = "tuned: ";

static hsumma_status cannot(const char *what, const char *path, struct hs_message *message)
{
    return hs_file_fail(option, what, path, message);
}

/* A file to be replaced, and its lock. */
struct target {
    struct hs_new_file new;
    int lock;
};

static void nap(int times)
{
    nanosleep(&(struct timespec){.tv_nsec = times * LOCK_SLEEP_NS}, NULL);
}

static hsumma_status lock(struct target *target, struct hs_message *message)
{
    char name[PATH_MAX + 8];
    snprintf(name, sizeof name, "%s.lock", target->new.path);
    const int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC; /* some file systems only lock writable files */
    target->lock = open(name, flags, 0666);
    if (target->lock < 0 && errno == ENOENT) {
        hsumma_status status = hs_make_directories(option, target->new.path, message);
        if (status)
            return status;
        target->lock = open(name, flags, 0666);
    }
    if (target->lock < 0)
        return cannot("open", name, message);
    double end = hs_now() + patience;
    while (flock(target->lock, LOCK_EX | LOCK_NB)) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return cannot("lock", name, message);
        if (hs_now() > end)
            return hs_fail(message, HSUMMA_ERR_OPTION,
                           "tuned: %s has been locked by another process for %g s; try again later", name, patience);
        nap(1);
    }
    return HSUMMA_OK;
}

/* Unlocks, and sleeps so that waiting processes can lock the file: a process that writes line after line would
 * otherwise starve them. */
static void unlock(const struct target *target)
{
    if (target->lock < 0)
        return;
    flock(target->lock, LOCK_UN); /* close alone would not unlock if a forked child has the descriptor too */
    close(target->lock);
    nap(2);
}

/* Reads the whole file into *text, which stays NULL if there is no file. */
static hsumma_status read_old(const char *path, const struct hs_allocator *memory, char **text,
                              struct hs_message *message)
{
    struct stat found;
    int file = open(path, O_RDWR | O_CLOEXEC); /* a user who may not write the file must not replace it */
    if (file < 0)
        return errno == ENOENT ? HSUMMA_OK : cannot("write", path, message);
    hsumma_status status = fstat(file, &found) ? cannot("stat", path, message) : HSUMMA_OK;
    size_t size = status ? 0 : (size_t)found.st_size, length = 0;
    if (!status && !(*text = hs_get(memory, size + 1, 1)))
        status = HSUMMA_ERR_MEMORY;
    while (!status && length < size) {
        ssize_t some = read(file, *text + length, size - length);
        if (some < 0 && errno != EINTR)
            status = cannot("read", path, message);
        if (some == 0) /* the file has become shorter */
            break;
        length += some > 0 ? (size_t)some : 0;
    }
    close(file);
    if (status)
        return status;
    (*text)[length] = 0;
    if (strlen(*text) != length)
        return hs_fail(message, HSUMMA_ERR_OPTION,
                       "tuned: %s is damaged (it contains a zero byte) and was not changed; remove it", path);
    struct hs_message why;
    status = check(*text, memory, &why);
    return status == HSUMMA_ERR_OPTION
               ? hs_fail(message, status, "tuned: %s was not changed, because it is invalid: %s; correct or remove it",
                         path, why.text)
               : status;
}

static hsumma_status replace(struct hs_new_file *file, const struct file_text *text, struct hs_message *message)
{
    hsumma_status status = hs_new_file_open(file, message);
    if (!status)
        status = hs_new_file_write(file, text->at, text->length, message);
    return hs_new_file_end(file, status, message);
}

hsumma_status hs_tuned_merge(const char *path, const char *const *line, int lines, const struct hs_allocator *memory,
                             struct hs_message *message)
{
    struct target target = {.lock = -1};
    struct file_text text = {.memory = memory};
    char *old = NULL;
    if (lines <= 0)
        return HSUMMA_OK;
    struct addition *addition = hs_get_zero(memory, (size_t)lines, sizeof *addition);
    hsumma_status status = addition ? prepare(line, addition, lines, memory, message) : HSUMMA_ERR_MEMORY;
    if (!status)
        status = hs_new_file_find(&target.new, option, path, message);
    if (!status)
        status = lock(&target, message);
    if (!status)
        status = read_old(target.new.path, memory, &old, message);
    if (!status)
        merge(&text, old, line, addition, lines);
    if (!status)
        status = text.failed ? HSUMMA_ERR_MEMORY : replace(&target.new, &text, message);
    unlock(&target);
    hs_put(memory, text.at);
    hs_put(memory, old);
    hs_put(memory, addition);
    return status == HSUMMA_ERR_MEMORY ? hs_fail(message, status, "tuned: no memory to write %s", path) : status;
}

int hs_config_path(const char *name, char *path, size_t size)
{
    const char *xdg = hs_environment("XDG_CONFIG_HOME"), *home = hs_environment("HOME");
    if (xdg && xdg[0] == '/')
        return snprintf(path, size, "%s/hsumma/%s", xdg, name);
    return home && *home ? snprintf(path, size, "%s/.config/hsumma/%s", home, name) : -1;
}
