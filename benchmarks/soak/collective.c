/* Collective calls of hsumma soak: several requests in flight, with algorithms of the registry. */
#include "coll/case.h"
#include "soak/soak.h"

enum { REQUESTS = 4 };

typedef struct coll_call {
    coll_arguments args;
    coll_case of;
    hsumma_request *request;
} coll_call;

const char *soak_algorithm(const soak_scene *s, hsumma_collective collective, int i)
{
    hsumma_algorithm_info info;

    for (int row = 0; hsumma_coll_algorithm(s->ctx, row, &info); row++)
        if (info.collective == collective && i-- == 0)
            return info.name;
    return NULL;
}

static int start(soak_scene *s, coll_call *call)
{
    static const int64_t most[] = {64, 2048, 2048, 100000, 100000, 1500000};
    int64_t bytes, unit;
    hsumma_status status;
    int made;

    call->args = (coll_arguments){.collective = (int)scene_draw(s, HSUMMA_REDUCE_SCATTER + 1),
                                  .element = (hsumma_element)scene_draw(s, HSUMMA_INT64 + 1),
                                  .root = (int)scene_draw(s, s->size)};
    unit = (int64_t)coll_element_of(call->args.element).size;
    if (call->args.collective == HSUMMA_ALLGATHER || call->args.collective == HSUMMA_REDUCE_SCATTER)
        unit *= s->size;
    bytes = scene_draw_from(s, 0, most[scene_draw(s, 6)]) / unit * unit;
    made = coll_case_make(&call->of, &call->args, bytes, s->comm);
    if (command_fail(s->comm, !made, "no memory for a collective call"))
        return COMMAND_INTERNAL;
    coll_case_reset(&call->of);
    /* NULL, if there are fewer algorithms, leaves the choice to the library */
    call->of.call.algorithm = soak_algorithm(s, (hsumma_collective)call->args.collective, (int)scene_draw(s, 20));
    status = hsumma_coll_start(s->ctx, &call->of.call, &call->request);
    if (status == HSUMMA_ERR_UNSUPPORTED && call->of.call.algorithm) {
        s->did[DID_REFUSED]++;
        call->of.call.algorithm = NULL;
        status = hsumma_coll_start(s->ctx, &call->of.call, &call->request);
    }
    return command_fail(s->comm, status != HSUMMA_OK, "%s of %lld bytes: %s", coll_case_mpi_name(&call->of),
                        (long long)bytes, hsumma_message(s->ctx));
}

static int complete(soak_scene *s, coll_call *call)
{
    hsumma_status status = HSUMMA_OK;
    int done = 0;

    for (int64_t tests = scene_draw(s, 10); tests > 0 && !done && !status; tests--)
        status = hsumma_coll_test(call->request, &done);
    status = status ? status : hsumma_coll_wait(&call->request);
    s->did[DID_COLLECTIVES]++;
    return command_fail(s->comm, status || !coll_case_right(&call->of),
                        "%s of %lld bytes, element type %d, root %d, algorithm %s: %s", coll_case_mpi_name(&call->of),
                        (long long)call->of.bytes, (int)call->args.element, call->args.root,
                        call->of.call.algorithm ? call->of.call.algorithm : "chosen by the library",
                        status ? hsumma_message(s->ctx) : "the result is wrong");
}

int soak_collectives(soak_scene *s)
{
    coll_call calls[REQUESTS] = {{.request = NULL}};
    int code = COMMAND_OK, count = (int)scene_draw_from(s, 1, REQUESTS), first = (int)scene_draw(s, count);

    for (int i = 0; i < count && !code; i++)
        code = start(s, &calls[i]);
    for (int i = 0; i < count && !code; i++)
        code = complete(s, &calls[(first + i) % count]);
    for (int i = 0; i < count; i++) {
        hsumma_coll_wait(&calls[i].request);
        coll_case_free(&calls[i].of);
    }
    return code;
}
