/* Files that are replaced at once: planted links, permissions, names; and the environment in programs with more rights
 * than their caller. Without MPI. */
#include "hsumma/context/new_file.h"
#include "base/options.h"
#include "gpu/devices.h"
#include "hsumma/tuned/tuned.h"
#include "support/process.h"
#include "support/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OTHER = 65533, ANOTHER = 65534, CANNOT = 2 }; /* two users; the exit status if a check cannot be made */

static char place[] = "/tmp/hsumma-unit-file-XXXXXX";

static const char *in(const char *name, char path[400])
{
    snprintf(path, 400, "%s/%s", place, name);
    return path;
}

/* Whether the file, not a link, has this text. */
static int holds(const char *path, const char *text)
{
    char found[64] = "";
    int file = open(path, O_RDONLY | O_NOFOLLOW);
    ssize_t length = file < 0 ? -1 : read(file, found, sizeof found - 1);
    if (file >= 0)
        close(file);
    return length == (ssize_t)strlen(text) && strcmp(found, text) == 0;
}

static int put(const char *path, const char *text)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    int bad = file < 0 || write(file, text, strlen(text)) != (ssize_t)strlen(text);
    return (file >= 0 && close(file)) || bad;
}

static mode_t mode_of(const char *path)
{
    struct stat found;
    return lstat(path, &found) ? 0 : found.st_mode & 07777;
}

/* Writes "new"; before the end makes `planted`, unless NULL, a link to the victim. */
static hsumma_status replace(const char *path, int keeps, const char *victim, const char *planted,
                             struct hs_message *message)
{
    struct hs_new_file file;
    message->text[0] = 0;
    hsumma_status status = hs_new_file_find(&file, "test: ", path, message);
    file.keeps = keeps;
    if (!status)
        status = hs_new_file_open(&file, message);
    if (!status)
        status = hs_new_file_write(&file, "new", 3, message);
    if (!status && planted && symlink(victim, planted))
        status = HSUMMA_ERR_INTERNAL;
    return hs_new_file_end(&file, status, message);
}

static void test_planted(void)
{
    char victim[400], path[400], name[450];
    struct hs_message message;
    int good = put(in("victim", victim), "mine") == 0;
    in("target", path);
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s/.target.part-%ld%s", place, (long)getpid(), i == 0 ? "" : i == 1 ? "-1" : "-2");
        good &= symlink(i == 1 ? "nowhere" : victim, name) == 0;
    }
    good &= replace(path, 0, victim, NULL, &message) == HSUMMA_OK && holds(path, "new") && holds(victim, "mine");
    tap_ok(good && process_entries(place, "nowhere") == 0,
           "links planted at three temporary names are not followed: %s", message.text);
    good = unlink(path) == 0 && replace(path, 0, victim, path, &message) == HSUMMA_OK && holds(path, "new");
    tap_ok(good && holds(victim, "mine"), "a link planted at the name while the file is written is replaced: %s",
           message.text);
    good = unlink(path) == 0 && replace(path, 1, victim, path, &message) == HSUMMA_ERR_OPTION && holds(victim, "mine");
    tap_ok(good && strstr(message.text, "meantime") && process_entries(place, ".part-") == 3,
           "or refused, if nothing is to be replaced: %s", message.text);
    good = unlink(path) == 0 && symlink(victim, path) == 0 && replace(path, 0, victim, NULL, &message) == HSUMMA_OK &&
           holds(victim, "new");
    tap_ok(good && !holds(path, "new"), "an own link is followed: %s", message.text);
    if (geteuid()) {
        tap_skip(3, "needs root, to make links and files of another user");
    } else {
        good = put(victim, "mine") == 0 && lchown(path, OTHER, OTHER) == 0 &&
               replace(path, 0, victim, NULL, &message) == HSUMMA_OK && holds(victim, "new");
        tap_ok(good, "a link of another user in an own folder is followed: %s", message.text);
        good = put(victim, "mine") == 0 && chmod(place, 01777) == 0 &&
               replace(path, 0, victim, NULL, &message) == HSUMMA_ERR_OPTION && holds(victim, "mine");
        tap_ok(good && strstr(message.text, "another user"), "in a folder open to all it is not: %s", message.text);
        good = chmod(place, 0700) == 0;
        good &= unlink(path) == 0 && put(path, "his") == 0 && chown(path, OTHER, OTHER) == 0 && chmod(path, 0666) == 0;
        mode_t mask = umask(077);
        good &= replace(path, 0, victim, NULL, &message) == HSUMMA_OK && holds(path, "new") && mode_of(path) == 0600;
        umask(mask);
        tap_ok(good, "what replaces another user's file is as private as the umask says: %o %s",
               (unsigned)mode_of(path), message.text);
    }
    char lock[450];
    snprintf(lock, sizeof lock, "%s.lock", in("merged", path));
    const char *line = "gemm a 1 block=2";
    in("made", victim);
    good = symlink(victim, lock) == 0 && hs_tuned_merge(path, &line, 1, &hs_heap, &message) == HSUMMA_ERR_OPTION;
    tap_ok(good && mode_of(victim) == 0 && mode_of(path) == 0, "a link planted as the tuned file's lock: %s",
           message.text);
}

static void test_modes(void)
{
    static const mode_t masks[] = {0, 022, 027, 077, 0177};
    char path[400], long_name[256];
    struct hs_message message;
    int wrong = 0;
    in("modes", path);
    for (size_t i = 0; i < sizeof masks / sizeof *masks; i++) {
        mode_t mask = umask(masks[i]);
        unlink(path);
        wrong += replace(path, 0, NULL, NULL, &message) != HSUMMA_OK || mode_of(path) != (0666 & ~masks[i]);
        umask(mask);
    }
    tap_ok(wrong == 0, "new files have the mode that the umask allows: %d wrong", wrong);
    memset(long_name, 'x', 250);
    long_name[250] = 0;
    int good = replace(in(long_name, path), 0, NULL, NULL, &message) == HSUMMA_OK && holds(path, "new");
    tap_ok(good, "a name as long as a file system allows: %s", message.text);
    in("tried", path);
    good = hs_new_file_try("test: ", path, &message) == HSUMMA_OK && mode_of(path) == 0;
    tap_ok(good && process_entries(place, ".tried") == 0, "a trial leaves nothing: %s", message.text);
    good = hs_new_file_try("test: ", in("no/file", path), &message) == HSUMMA_ERR_OPTION;
    tap_ok(good && strstr(message.text, "test: cannot create"), "%s", message.text);
}

/* --- the environment ---------------------------------------------------------------------------------------------- */

/* In the program that has more rights than its caller, or (secure = 0) in a plain copy. Returns the exit status. */
static int look(int secure)
{
    struct hs_options options;
    struct hs_message message = {""}, why = {""};
    char path[400];
    if (!getauxval(AT_SECURE) != !secure)
        return CANNOT;
    hs_options_default(&options, NULL);
    int read = hs_options_environment(&options, &message) == HSUMMA_OK && options.settings.threads == 7;
    int config = hs_config_path("tuned", path, sizeof path) >= 0;
    int loads = hs_device_kind_find("host", &why) != NULL || !strstr(why.text, "is not set");
    int value = hs_environment("HSUMMA_THREADS") != NULL;
    return read == !secure && config == !secure && loads == !secure && value == !secure ? 0 : 1;
}

/* Runs a copy of this program of the given mode as another user. Returns its exit status. */
static int run_copy(mode_t mode, const char *how)
{
    char path[400], command[900], self[400];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length > 0 ? length : 0] = 0;
    snprintf(command, sizeof command, "cp '%s' '%s'", self, in(how, path));
    if (length <= 0 || chmod(place, 0755) || system(command) || chown(path, OTHER, OTHER) || chmod(path, mode))
        return CANNOT;
    pid_t child = fork();
    int status = 0;
    if (child == 0) {
        char *const words[] = {path, (char *)how, NULL};
        char *const environment[] = {"HSUMMA_THREADS=7", "HSUMMA_HOST_DEVICE_LIBRARY=/no/such/library.so",
                                     "XDG_CONFIG_HOME=/tmp", "HOME=/tmp", NULL};
        if (setgid(ANOTHER) || setuid(ANOTHER))
            _exit(CANNOT);
        execve(path, words, environment);
        _exit(CANNOT);
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static void test_environment(void)
{
    int plain = geteuid() ? CANNOT : run_copy(0755, "plain");
    int secure = plain == CANNOT ? CANNOT : run_copy(04755, "secure");
    if (secure == CANNOT)
        tap_skip(2, geteuid() ? "needs root, to make a setuid program" : "setuid programs have no effect here");
    else {
        tap_ok(plain == 0, "a program obeys the environment");
        tap_ok(secure == 0, "a setuid program ignores it: options, device library, places of files");
    }
}

int main(int argc, char **argv)
{
    char command[64];
    if (argc == 2)
        _exit(look(strcmp(argv[1], "secure") == 0)); /* LeakSanitizer cannot look into a setuid program */
    if (!mkdtemp(place)) {
        tap_ok(0, "a directory in /tmp: %s", strerror(errno));
        return tap_done();
    }
    test_planted();
    test_modes();
    test_environment();
    snprintf(command, sizeof command, "rm -rf %s", place);
    return system(command) ? 1 : tap_done();
}
