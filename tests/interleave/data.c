/* The data of a job: whole matrices, the part of each process, and the product. */
#include "interleave/job.h"
#include "interleave/pool.h"
#include "support/random.h"

enum { OUTSIDE = 1000 }; /* exceeds every element inside the operands */

/* A whole operand: rows x columns of op(X). */
struct whole {
    int64_t rows, cols;
    double *at;
};

static double draw_element(uint64_t *random)
{
    return draw_of(random, 7) - 3;
}

static int whole_make(struct whole *whole, int64_t rows, int64_t cols, uint64_t *random)
{
    *whole = (struct whole){rows, cols, hs_get(&case_pool, (size_t)(rows * cols) + 1, sizeof *whole->at)};
    for (int64_t i = 0; whole->at && i < rows * cols; i++)
        whole->at[i] = draw_element(random);
    return whole->at != NULL;
}

/* Computes the result alpha op(A) op(B) + beta C. */
static void whole_multiply(const struct job *job, const struct whole in[3], struct whole *out)
{
    for (int64_t i = 0; i < out->rows; i++)
        for (int64_t j = 0; j < out->cols; j++) {
            double sum = 0;
            for (int64_t l = 0; l < in[0].cols; l++)
                sum += in[0].at[i + l * in[0].rows] * in[1].at[l + j * in[1].rows];
            out->at[i + j * out->rows] = job->alpha * sum + job->beta * in[2].at[i + j * in[2].rows];
        }
}

/* Fills a process's local part of operand x from the whole matrix, and outside the operand with distinct numbers. */
static void scatter(const struct hs_problem *problem, int x, const struct whole *whole, const struct local_part *part,
                    double *to)
{
    const struct hs_view *view = &problem->view[x];
    for (size_t i = 0; i < part->elements; i++)
        to[i] = OUTSIDE + (double)i;
    for (int64_t j = 0; j < view->cols; j++)
        for (int64_t i = 0; i < view->rows; i++) {
            int64_t global[2] = {i, j};
            for (int axis = 0; axis < 2; axis++) {
                const struct hs_axis *along = &view->axis[axis];
                int coord = along->nprocs == 1 ? 0 : problem->grid.coord[axis];
                global[axis] = hs_axis_global(along, coord, global[axis]);
            }
            int turned = view->op != 'N';
            to[part->origin + i + j * part->ld] = whole->at[global[turned] + global[!turned] * whole->rows];
        }
}

static int make_part(struct job *job, int process, int x, uint64_t *random)
{
    struct hs_problem problem = job_problem(job, process);
    const struct hs_view *view = &problem.view[x];
    struct local_part *part = &job->part[process][x];
    part->ld = view->origin[0] + view->rows + draw_of(random, 3);
    part->ld = part->ld ? part->ld : 1;
    part->origin = view->origin[0] + view->origin[1] * part->ld;
    part->elements = (size_t)((view->origin[1] + view->cols + 1) * part->ld);
    for (int set = 0; set < DATA_SETS; set++) {
        part->fresh[set] = hs_get(&case_pool, part->elements, sizeof(double));
        part->after[set] = x == HS_C ? hs_get(&case_pool, part->elements, sizeof(double)) : NULL;
        if (!part->fresh[set] || (x == HS_C && !part->after[set]))
            return 0;
    }
    return 1;
}

int job_fill(struct job *job, uint64_t *random)
{
    int processes = job->extent[0] * job->extent[1], good = 1;
    for (int i = 0; i < processes; i++)
        for (int x = 0; x < 3; x++)
            good = good && make_part(job, i, x, random);
    for (int set = 0; good && set < DATA_SETS; set++) {
        struct whole whole[4];
        for (int x = 0; x < 4; x++) {
            const int *dims = hs_operand_dims[x < 3 ? x : HS_C];
            good = good && whole_make(&whole[x], job->size[dims[0]], job->size[dims[1]], random);
        }
        if (!good)
            return 0;
        whole_multiply(job, whole, &whole[3]);
        for (int i = 0; i < processes; i++) {
            struct hs_problem problem = job_problem(job, i);
            struct local_part *part = job->part[i];
            for (int x = 0; x < 3; x++)
                scatter(&problem, x, &whole[x], &part[x], part[x].fresh[set]);
            scatter(&problem, HS_C, &whole[3], &part[HS_C], part[HS_C].after[set]);
        }
        for (int x = 0; x < 4; x++)
            hs_put(&case_pool, whole[x].at);
    }
    return good;
}

int job_wrong(const struct job *job, int process, int set, const double *c)
{
    const struct local_part *part = &job->part[process][HS_C];
    int wrong = 0;
    for (size_t i = 0; i < part->elements; i++)
        wrong += c[i] != part->after[set][i];
    return wrong;
}
