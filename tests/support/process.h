/* Resources that this process holds: memory, mappings, descriptors; for tests that nothing leaks. */
#ifndef HS_TESTS_SUPPORT_PROCESS_H
#define HS_TESTS_SUPPORT_PROCESS_H

#include <stdint.h>

/* The number of entries of a directory whose names contain `word`. */
int process_entries(const char *path, const char *word);

/* The number of mapped segments of the library. */
int process_segments(void);

/* The number of open descriptors of such segments. */
int process_segment_files(void);

/* Bytes of mapped address space, and of resident memory. */
int64_t process_mapped(void);
int64_t process_resident(void);

#endif
