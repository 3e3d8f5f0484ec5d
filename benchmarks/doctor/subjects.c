/* The subjects of hsumma doctor, in the order of examination and report, and functions that they share. */
#include <stdarg.h>
#include <string.h>

#include "doctor/doctor.h"

const doctor_subject *const doctor_subjects[] = {
    &doctor_mpi,         &doctor_cores,   &doctor_blas,   &doctor_memory,  &doctor_files,
    &doctor_environment, &doctor_network, &doctor_device, &doctor_startup, NULL};

int doctor_finds(finding *f, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(f->what, sizeof f->what, format, args);
    va_end(args);
    return 1;
}

void doctor_advises(finding *f, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(f->cure, sizeof f->cure, format, args);
    va_end(args);
}

FILE *doctor_open(const doctor_job *j, const char *path)
{
    char name[PATH_MAX];

    return (size_t)snprintf(name, sizeof name, "%s%s", j->root, path) < sizeof name ? fopen(name, "r") : NULL;
}

int doctor_read(const doctor_job *j, const char *path, char *text, size_t size)
{
    FILE *file = doctor_open(j, path);
    size_t length = 0;

    if (file) {
        length = fread(text, 1, size - 1, file);
        fclose(file);
    }
    text[length] = 0;
    text[strcspn(text, "\n")] = 0;
    return text[0] != 0;
}

void doctor_list(const unsigned char *is, int count, char *text, size_t size)
{
    size_t used = 0;

    *text = 0;
    for (int i = 0; i < count; i++) {
        int last = i;

        if (!is[i])
            continue;
        while (last + 1 < count && is[last + 1])
            last++;
        if (used + 24 > size) {
            snprintf(text + used, size - used, ",...");
            return;
        }
        used += (size_t)snprintf(text + used, size - used, last > i ? "%s%d-%d" : "%s%d", used ? "," : "", i, last);
        i = last;
    }
}
