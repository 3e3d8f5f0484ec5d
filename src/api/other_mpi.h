/*
 * Preloaded into a program of another MPI than the one that this library was built with. Handles differ, and this
 * library brings its own MPI into the process, so nothing can be served.
 */
#ifndef HS_API_OTHER_MPI_H
#define HS_API_OTHER_MPI_H

/*
 * Returns at once if the program uses the MPI of this build, or none. Otherwise prints one line, which begins with
 * `consequence` and names the file of the other build, libraries' name `library`; then, if this library was preloaded,
 * starts the program again without it. For constructors: MPI is not initialised yet.
 */
void hs_leave_other_mpi(const char *consequence, const char *library, char **argv);

#endif
