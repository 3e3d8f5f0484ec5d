/* hsumma doctor: how long contexts and grids take to make. */
#include "common/command.h"
#include "doctor/doctor.h"
#include "measure/timing.h"

enum { START_UPS = 9 };

/* Makes a context and a grid; the times are those of the slowest rank. */
static int trial(const doctor_job *j, double seconds[2])
{
    hsumma_context *ctx = NULL;
    hsumma_grid *grid = NULL;

    quiet_barrier(j->comm);
    double begin = hs_now();
    int good = hsumma_create(j->comm, j->options, &ctx, NULL, 0) == HSUMMA_OK;
    seconds[0] = hs_now() - begin;
    if (good) {
        quiet_barrier(j->comm);
        begin = hs_now();
        good = hsumma_grid_create(ctx, 1, j->ranks, 'R', NULL, &grid) == HSUMMA_OK;
        seconds[1] = hs_now() - begin;
        hsumma_grid_free(&grid);
    }
    hsumma_free(&ctx);
    quiet_allreduce(MPI_IN_PLACE, seconds, 2, MPI_DOUBLE, MPI_MAX, j->comm);
    return good;
}

static void look(doctor_job *j)
{
    double seconds[2][START_UPS];

    for (int i = 0; i < START_UPS && j->ctx; i++) {
        double made[2] = {0, 0};

        if (!trial(j, made))
            return;
        seconds[0][i] = made[0];
        seconds[1][i] = made[1];
    }
    for (int i = 0; i < 2 && j->ctx; i++)
        j->startup.seconds[i] = spread_of(seconds[i], START_UPS).median;
}

static void tell_startup(const doctor_job *j, char *text, size_t size)
{
    const double *seconds = j->startup.seconds;

    if (seconds[0] > 0)
        snprintf(text, size, "context in %.2g ms (the first %.2g ms), grid in %.2g ms", 1e3 * seconds[0],
                 1e3 * j->startup.first, 1e3 * seconds[1]);
}

const doctor_subject doctor_startup = {.look = look, .facts = {{"start-up", tell_startup}}};
