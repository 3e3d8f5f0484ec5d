/* The tuned file: the result of merging, concurrent writers, killed writers, unwritable files; without MPI. */
#include "coll/select/select.h"
#include "hsumma/tuned/tuned.h"
#include "support/failing_memory.h"
#include "support/process.h"
#include "support/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define HEAD "hsumma tuned 2\n"
enum { TEXT = 1 << 17, NOBODY = 65534 };

static char place[] = "/tmp/hsumma-unit-tuned-XXXXXX";

static const char *in(const char *name, char path[400])
{
    snprintf(path, 400, "%s/%s", place, name);
    return path;
}

static int save(const char *path, const char *text, size_t length)
{
    FILE *file = fopen(path, "w");
    return !file || fwrite(text, 1, length, file) != length || fclose(file) ? -1 : 0;
}

/* Reads the whole file by one call, so that writers cannot change it in between; returns its length, or -1. */
static ssize_t load(const char *path, char text[TEXT])
{
    int file = open(path, O_RDONLY);
    ssize_t length = file < 0 ? -1 : read(file, text, TEXT - 1);
    if (file >= 0)
        close(file);
    text[length > 0 ? length : 0] = 0;
    return length;
}

static int holds(const char *path, const char *text)
{
    static char found[TEXT];
    ssize_t length = load(path, found);
    return length == (ssize_t)strlen(text) && memcmp(found, text, (size_t)length) == 0;
}

static hsumma_status merge(const char *path, const char *line, struct hs_message *message)
{
    if (message)
        message->text[0] = 0;
    return hs_tuned_merge(path, &line, 1, &hs_heap, message);
}

/* The number of products in a text that both of the library's readers accept; -1 if one refuses it. */
static int products(const char *text)
{
    struct hs_tuned tuned = {0};
    struct hs_rules rules = {0};
    int bad = hs_tuned_read(&tuned, text, &hs_heap, NULL) || hs_rules_read_tuned(&rules, text, &hs_heap, NULL);
    int count = bad ? -1 : tuned.count;
    hs_tuned_free(&tuned, &hs_heap);
    hs_rules_free(&rules, &hs_heap);
    return count;
}

static void test_merge(void)
{
    static const struct {
        const char *what, *old, *line[5], *new;
    } cases[] = {
        {"a new file", NULL, {"gemm a 1 block=2", "bcast 4 1 * chain"}, HEAD "gemm a 1 block=2\nbcast 4 1 * chain\n"},
        {"comments stay, products keep their place",
         HEAD "# mine\n\ngemm a 1 block=2 # old\n  # more\ngemm b 1 block=2\r\ngemm c 1 block=2",
         {"gemm d 4 block=4", "gemm  b 3 block=4"},
         HEAD "# mine\n\ngemm a 1 block=2 # old\n  # more\ngemm  b 3 block=4\ngemm c 1 block=2\ngemm d 4 block=4\n"},
        {"new rules stand before the old ones of their collective",
         HEAD "reduce 4 1 * binomial\n# b\nbcast 4 1 * chain\ngemm a 1 block=2\nbcast 4 1 0-1k flat\n",
         {"bcast 4 1 0-1k binomial", "bcast * * * flat", "allreduce * * * ring"},
         HEAD "reduce 4 1 * binomial\n# b\nbcast 4 1 0-1k binomial\nbcast * * * flat\nbcast 4 1 * chain\n"
              "gemm a 1 block=2\nallreduce * * * ring\n"},
        {"the same rules again change nothing",
         HEAD "bcast 4 1 0-1k binomial\nbcast 4 1 2k-inf chain\n",
         {"bcast 4 1 0-1k binomial", "bcast 4 1 2k-inf chain"},
         HEAD "bcast 4 1 0-1k binomial\nbcast 4 1 2k-inf chain\n"},
        {"of lines that are alike one is left",
         HEAD "gemm a 1 block=2\ngemm b 1 block=2\ngemm a 2 block=4\n",
         {"gemm a 3 block=8", "gemm c 1 block=1", "gemm a 4 block=16", "gemm c 2 block=1"},
         HEAD "gemm a 4 block=16\ngemm b 1 block=2\ngemm c 2 block=1\n"},
    };
    char path[400];
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hs_message message = {""};
        int lines = 0, good = 1;
        while (lines < 5 && cases[i].line[lines])
            lines++;
        unlink(in("merged", path));
        if (cases[i].old)
            good = save(path, cases[i].old, strlen(cases[i].old)) == 0;
        good &= hs_tuned_merge(path, cases[i].line, lines, &hs_heap, &message) == HSUMMA_OK;
        tap_ok(good && holds(path, cases[i].new) && products(cases[i].new) >= 0, "%s %s", cases[i].what, message.text);
    }
    struct hs_rules rules = {0};
    const char *word = NULL;
    if (hs_rules_read_tuned(&rules, cases[2].new, &hs_heap, NULL) == HSUMMA_OK)
        word = hs_rules_find(&rules, HS_BCAST, 4, 1, 1000);
    tap_ok(word && strcmp(word, "binomial") == 0, "and the new rule wins: %s", word ? word : "none");
    hs_rules_free(&rules, &hs_heap);
}

/* Files that must stay unchanged because they or the new line are invalid. */
static void test_untouched(void)
{
    static const struct {
        const char *old, *line, *says;
        size_t length; /* length of `old`; 0: up to its end */
    } cases[] = {
        {"", "gemm a 1 block=2", "not changed", 0},
        {"hsumma tuned 3\ngemm a 1 blocks=2\n", "gemm a 1 block=2", "version 3", 0},
        {"hsumma tuned 1\nbcast 4 1 * chain\n", "gemm a 1 block=2", "version 1", 0},
        {HEAD "gemm a 1 block=2\ngemm b\n", "gemm a 1 block=2", "line 3", 0},
        {HEAD "bcast 4 1 *\n", "gemm a 1 block=2", "line 2", 0},
        {HEAD "what is this\n", "gemm a 1 block=2", "line 2, \"what is this\"", 0},
        {HEAD "gemm a 1 block=2\n\0gemm b", "gemm a 1 block=2", "zero byte", sizeof HEAD + 24},
        {HEAD, "gemm a 1", "cannot add", 0},
        {HEAD, "", "cannot add", 0},
        {HEAD, "# remark", "cannot add", 0},
        {HEAD, "gemm a 1 block=2\ngemm b 1 block=2", "one line", 0},
        {HEAD, "bcast 4 1 * chain(", "cannot add", 0},
    };
    char path[400];
    int wrong = 0;
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        static char found[TEXT];
        struct hs_message message = {""};
        size_t length = cases[i].length ? cases[i].length : strlen(cases[i].old);
        wrong += save(in("untouched", path), cases[i].old, length);
        int right = merge(path, cases[i].line, &message) == HSUMMA_ERR_OPTION && strstr(message.text, cases[i].says) &&
                    load(path, found) == (ssize_t)length && memcmp(found, cases[i].old, length) == 0;
        if (!right)
            tap_diag("%u: %s", i, message.text);
        wrong += !right;
    }
    tap_ok(wrong == 0 && process_entries(place, ".part-") == 0, "%zu merges that touch nothing: %d wrong",
           sizeof cases / sizeof *cases, wrong);
}

static void test_memory(void)
{
    static const char old[] = HEAD "bcast 4 1 * chain\ngemm b 1 block=2\ngemm a 1 block=2\n";
    const char *const lines[] = {"bcast 4 1 * flat", "gemm c 1 block=2"};
    char path[400];
    int wrong = save(in("scarce", path), old, strlen(old)), failed = 0;
    hsumma_status status;
    do {
        struct failing_memory scarce = {.fail_at = failed};
        struct hs_allocator memory = {failing_memory_get, failing_memory_put, &scarce};
        status = hs_tuned_merge(path, lines, 2, &memory, NULL);
        wrong += scarce.out != 0 || (status && (status != HSUMMA_ERR_MEMORY || !holds(path, old)));
        failed += status != HSUMMA_OK;
    } while (status && failed < 100);
    tap_ok(wrong == 0 && failed > 5 && failed < 100 && process_entries(place, ".part-") == 0,
           "memory that fails, %d times: the file stays, nothing is kept; %d wrong", failed, wrong);
}

static mode_t mode_of(const char *path)
{
    struct stat found;
    return stat(path, &found) ? 0 : found.st_mode & 07777;
}

static void test_places(void)
{
    char path[400], other[400], directory[400];
    struct hs_message message = {""};
    const char *line = "gemm a 1 block=2", text[] = HEAD "gemm a 1 block=2\n";
    mode_t mask = umask(027);
    int good = merge(in("d1/d2//d3/tuned", path), line, &message) == HSUMMA_OK && holds(path, text);
    tap_ok(good && mode_of(path) == 0640 && mode_of(in("d1/d2", other)) == 0750, "missing directories are made: %s",
           message.text);
    good = chmod(path, 0604) == 0 && merge(path, "gemm b 1 block=2", NULL) == HSUMMA_OK;
    tap_ok(good && mode_of(path) == 0604, "a file keeps its mode: %o", (unsigned)mode_of(path));
    umask(mask);

    good = merge(in("d1", path), line, &message) == HSUMMA_ERR_OPTION;
    tap_ok(good && strstr(message.text, "is not a regular file"), "%s", message.text);
    good = merge(in("d1/", path), line, &message) == HSUMMA_ERR_OPTION;
    tap_ok(good && strstr(message.text, "expected the name of a file"), "%s", message.text);
    good = merge("", line, &message) == HSUMMA_ERR_OPTION;
    tap_ok(good && strstr(message.text, "expected the name of a file"), "%s", message.text);
    good = merge(in("d1/d2/d3/tuned/x/tuned", path), line, &message) == HSUMMA_ERR_OPTION;
    tap_ok(good && strstr(message.text, "Not a directory"), "%s", message.text);
    good = merge("/dev/null", line, &message) == HSUMMA_ERR_OPTION;
    tap_ok(good && strstr(message.text, "is not a regular file"), "%s", message.text);
    good = chdir(place) == 0 && merge("here", line, &message) == HSUMMA_OK && holds(in("here", path), text);
    tap_ok(good, "a name without a directory: %s", message.text);

    struct stat found;
    in("links", directory);
    good = mkdir(directory, 0777) == 0 && symlink("../real/tuned", in("links/a", path)) == 0 &&
           symlink(in("links/a", other), in("links/b", path)) == 0;
    good = good && merge(path, line, &message) == HSUMMA_OK && merge(path, "gemm b 1 block=2", &message) == HSUMMA_OK;
    good = good && lstat(path, &found) == 0 && S_ISLNK(found.st_mode) && lstat(other, &found) == 0 &&
           S_ISLNK(found.st_mode) && holds(in("real/tuned", path), HEAD "gemm a 1 block=2\ngemm b 1 block=2\n");
    tap_ok(good && process_entries(directory, "") == 4, "links stay, what they lead to is made and replaced: %s",
           message.text);
    good = symlink("loop", in("loop", path)) == 0 && merge(path, line, &message) == HSUMMA_ERR_OPTION;
    tap_ok(good && strstr(message.text, "symbolic links"), "%s", message.text);
}

/* Writes in a child process without write permission. Returns 0 if that fails as expected, 2 if it cannot be tested. */
static int as_nobody(const char *path, const char *says)
{
    pid_t child = fork();
    int status = 0;
    if (child == 0) {
        struct hs_message message = {""};
        if (geteuid() == 0 && (setgid(NOBODY) || setuid(NOBODY)))
            _exit(2);
        int right = merge(path, "gemm z 1 block=2", &message) == HSUMMA_ERR_OPTION && strstr(message.text, says);
        if (!right)
            fprintf(stderr, "# %s\n", message.text);
        _exit(!right);
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static void test_may_not(void)
{
    static const char text[] = HEAD "gemm a 1 block=2\n";
    char path[400], directory[400];
    int ready = chmod(place, 0755) == 0 && mkdir(in("closed", directory), 0777) == 0 &&
                save(in("closed/tuned", path), text, strlen(text)) == 0 && chmod(directory, 0555) == 0;
    int result = as_nobody(path, "Permission denied");
    if (result == 2)
        tap_skip(2, "cannot become a user who may not write");
    else {
        tap_ok(ready && result == 0 && holds(path, text), "a directory that may not be written");
        ready = chmod(directory, 0777) == 0 && chmod(path, 0444) == 0;
        tap_ok(ready && as_nobody(path, "cannot write") == 0 && holds(path, text) &&
                   process_entries(directory, ".part-") == 0,
               "nor is a file replaced that may not be written");
    }
    chmod(directory, 0777);

    pid_t child = fork();
    int status = 1;
    if (child == 0) { /* the limit imitates a file system that becomes full in the middle of the text */
        struct hs_message message = {""};
        struct rlimit limit = {20, 20};
        signal(SIGXFSZ, SIG_IGN);
        _exit(setrlimit(RLIMIT_FSIZE, &limit) || merge(path, "gemm b 1 block=2", &message) != HSUMMA_ERR_OPTION ||
              !strstr(message.text, "cannot write"));
    }
    int good = child > 0 && chmod(path, 0644) == 0 && waitpid(child, &status, 0) == child && status == 0;
    tap_ok(good && holds(path, text) && process_entries(directory, ".part-") == 0,
           "a text that cannot be written to its end: nothing is lost, nothing is left behind");
}

enum { WRITERS = 8, LINES = 50 };

/* Memory shared by the processes of a test. */
struct board {
    volatile int over, reads, done;
};

static int write_lines(const char *path, int writer)
{
    int bad = 0;
    for (int i = 0; i < LINES; i++) {
        char line[80];
        snprintf(line, sizeof line, "gemm w%d,%d %d block=%d", writer, i, i, i + 1);
        bad += merge(path, line, NULL) != HSUMMA_OK;
    }
    return bad;
}

/* Reads the file until `over` is set: it must always be complete, and never lose a product. */
static int read_always(const char *path, struct board *board)
{
    static char text[TEXT];
    int before = 0, bad = 0;
    while (!board->over) {
        if (load(path, text) < 0) {
            bad += before > 0 || errno != ENOENT;
            continue;
        }
        int now = products(text);
        bad += now < before;
        before = now;
        board->reads++;
    }
    return bad;
}

static void test_many(struct board *board)
{
    static char text[TEXT];
    char path[400], key[32];
    pid_t child[WRITERS + 1];
    int status, wrong = 0, missing = 0;
    in("many", path);
    for (int w = 0; w <= WRITERS; w++) {
        child[w] = fork();
        if (child[w] == 0)
            _exit((w < WRITERS ? write_lines(path, w) : read_always(path, board)) != 0);
        wrong += child[w] < 0;
    }
    for (int w = 0; w <= WRITERS; w++) {
        board->over = w == WRITERS;
        wrong += child[w] > 0 && (waitpid(child[w], &status, 0) != child[w] || status != 0);
    }
    struct hs_tuned tuned = {0};
    wrong += load(path, text) < 0 || hs_tuned_read(&tuned, text, &hs_heap, NULL) != HSUMMA_OK;
    for (int i = 0; i < WRITERS * LINES; i++) {
        snprintf(key, sizeof key, "w%d,%d", i / LINES, i % LINES);
        missing += hs_tuned_find(&tuned, key) == NULL;
    }
    hs_tuned_free(&tuned, &hs_heap);
    tap_ok(wrong == 0 && missing == 0 && process_entries(place, ".many.part-") == 0,
           "%d processes wrote %d lines each: %d are missing; the file was whole whenever it was read: %d wrong",
           WRITERS, LINES, missing, wrong);
    tap_ok(board->reads > 0, "read %d times meanwhile", board->reads);
}

_Noreturn static void write_for_ever(const char *path, int writer, struct board *board)
{
    for (int i = 0;; i++) {
        char line[80];
        snprintf(line, sizeof line, "gemm %d,%d 1 block=2", writer, i);
        if (merge(path, line, NULL) == HSUMMA_OK)
            board->done++;
    }
}

static void test_killed(struct board *board)
{
    enum { KILLS = 60 };
    static char text[TEXT];
    char path[400];
    int wrong = 0, strays;
    in("killed", path);
    board->done = 0;
    for (int i = 0; i < KILLS; i++) {
        pid_t child = fork();
        if (child == 0)
            write_for_ever(path, i, board);
        nanosleep(&(struct timespec){.tv_nsec = 1000000 + (long)i * 7919 % 41 * 500000}, NULL);
        wrong += child < 0 || kill(child, SIGKILL) || waitpid(child, NULL, 0) != child;
        int done = board->done, found = load(path, text) < 0 && errno == ENOENT ? 0 : products(text);
        wrong += found < done || found > done + 1; /* the child may have been killed before it could report */
        board->done = found;
    }
    strays = process_entries(place, ".killed.part-");
    struct hs_message message = {""};
    int good = merge(path, "gemm last 1 block=2", &message) == HSUMMA_OK && load(path, text) > 0;
    tap_ok(wrong == 0 && good && products(text) == board->done + 1 && strays <= KILLS && board->done > KILLS / 4,
           "%d writers killed: %d lines, none is lost, %d stray temporaries, the next writes: %d wrong %s", KILLS,
           board->done, strays, wrong, message.text);
}

/* Starts a child that finds the file locked for too long; other tests run meanwhile. */
static pid_t begin_locked(void)
{
    char path[400], lock[420];
    in("locked", path);
    snprintf(lock, sizeof lock, "%s.lock", path);
    pid_t child = fork();
    if (child == 0) {
        struct hs_message message = {""};
        int file = open(lock, O_RDWR | O_CREAT, 0666);
        int bad = flock(file, LOCK_EX) || merge(path, "gemm a 1 block=2", &message) != HSUMMA_ERR_OPTION ||
                  !strstr(message.text, "has been locked by another process") || access(path, F_OK) == 0;
        bad |= flock(file, LOCK_UN) || merge(path, "gemm a 1 block=2", &message) != HSUMMA_OK;
        _exit(bad);
    }
    return child;
}

int main(void)
{
    struct board *board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    char command[64];
    int status = 1;
    if (!mkdtemp(place) || board == MAP_FAILED) {
        tap_ok(0, "a directory in /tmp: %s", strerror(errno));
        return tap_done();
    }
    pid_t locked = begin_locked();
    test_merge();
    test_untouched();
    test_memory();
    test_places();
    test_may_not();
    test_many(board);
    test_killed(board);
    tap_ok(locked > 0 && waitpid(locked, &status, 0) == locked && status == 0,
           "a lock that another keeps is waited for, not for ever");
    snprintf(command, sizeof command, "rm -rf %s", place);
    return system(command) ? 1 : tap_done();
}
