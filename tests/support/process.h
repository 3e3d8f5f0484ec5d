/* What this process holds of its machine: memory, mappings, descriptors; for tests that nothing is left behind. */
#ifndef HS_TESTS_SUPPORT_PROCESS_H
#define HS_TESTS_SUPPORT_PROCESS_H

#include <stdint.h>

/* Entries of a directory whose names speak of `word`. */
int process_entries(const char *path, const char *word);

/* Mappings of segments of the library. */
int process_segments(void);

/* Descriptors of such segments. */
int process_segment_files(void);

/* Bytes of address space, and those of it that are in memory. */
int64_t process_mapped(void);
int64_t process_resident(void);

#endif
