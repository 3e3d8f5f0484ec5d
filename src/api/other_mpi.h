/*
 * For a library that is preloaded into a program of another MPI than its own. Handles differ, and the library brings
 * its own MPI into the process, so it cannot serve any call.
 */
#ifndef HS_API_OTHER_MPI_H
#define HS_API_OTHER_MPI_H

/*
 * Returns at once if the program uses the MPI of this build, or none. Otherwise the first process prints one line that
 * names the file to preload, or to link with: `library` of the build with the program's MPI. Then, if this library was
 * preloaded, starts the program again without it; the line then begins with `consequence`. For constructors: MPI is not
 * initialised yet.
 */
void hs_leave_other_mpi(const char *consequence, const char *library, char **argv);

#endif
