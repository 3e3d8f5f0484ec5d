/* Resources that this process uses (memory, mappings, descriptors), for tests of leaks. */
#ifndef HS_TESTS_SUPPORT_PROCESS_H
#define HS_TESTS_SUPPORT_PROCESS_H

#include <stdint.h>

/* The number of entries of directory `path` whose names contain `word`. */
int process_entries(const char *path, const char *word);

/* The number of mappings of the library's shared memory segments. */
int process_segments(void);

/* The number of open file descriptors of the library's segments. */
int process_segment_files(void);

/* Bytes of mapped address space; bytes of resident memory. */
int64_t process_mapped(void);
int64_t process_resident(void);

#endif
