/* hsumma doctor: measures messages between nodes and compares with the profile or the tuned file. */
#include "hsumma/network/network.h"
#include "doctor/doctor.h"

enum { TRIALS = 3 };

/* Seconds per trial; factors by which latency and time per byte may exceed the expected values. */
static const double budget = 0.08, slack_alpha = 2, slack_beta = 1.5;

static int is_slow(const job_network *network)
{
    return network->measured && network->expects &&
           (network->found.alpha > slack_alpha * network->expected.alpha ||
            network->found.beta > slack_beta * network->expected.beta);
}

/* Measures the network. If the result is slow, measures again and keeps the lowest figures, so that temporary load is
 * not reported. */
static void look(doctor_job *j)
{
    job_network *network = &j->network;
    struct hs_network now;
    double seconds;

    if (!j->ctx || j->ctx->comm.topology.size == 0 || j->ctx->comm.topology.division[HS_NODE].parts == 1)
        return;
    network->expects = !j->ctx->measures; /* else the context has just measured the network itself */
    network->expected = j->ctx->profile.machine.network;
    for (int trial = 0; trial < TRIALS && (trial == 0 || is_slow(network)); trial++) {
        if (hs_network_measure(&j->ctx->comm, budget, NULL, 0, &hs_heap, &now, &seconds))
            return;
        if (trial == 0 || now.between.alpha < network->found.alpha)
            network->found.alpha = now.between.alpha;
        if (trial == 0 || now.between.beta < network->found.beta)
            network->found.beta = now.between.beta;
        network->measured = 1;
    }
}

/* Writes "2.1 us, 10 GB/s". */
static const char *link_text(const struct hs_link *link, char *text, size_t size)
{
    int used = snprintf(text, size, "%.3g us", 1e6 * link->alpha);

    if (link->beta > 0)
        snprintf(text + used, size - (size_t)used, ", %.3g GB/s", 1e-9 / link->beta);
    return text;
}

static void tell_network(const doctor_job *j, char *text, size_t size)
{
    const job_network *network = &j->network;
    char link[64];

    if (!network->measured)
        return;
    int used = snprintf(text, size, "%s between nodes", link_text(&network->found, link, sizeof link));
    if (network->expects)
        snprintf(text + used, size - (size_t)used, "; %s according to %.150s",
                 link_text(&network->expected, link, sizeof link), j->ctx->profile.source);
}

static int slow(const doctor_job *j, finding *f)
{
    const job_network *network = &j->network;
    char found[64], expected[64];

    return is_slow(network) && doctor_finds(f, "messages between nodes: %s measured; %.150s says %s",
                                            link_text(&network->found, found, sizeof found), j->ctx->profile.source,
                                            link_text(&network->expected, expected, sizeof expected));
}

const doctor_subject doctor_network = {
    .look = look,
    .facts = {{"network", tell_network}},
    .checks = {{.name = "slow-network",
                .found = slow,
                .what = "messages between nodes are slower than the profile says (over twice the latency, or under 2/3 "
                        "of the rate)",
                .why = "products wait for them, and plans are chosen for a faster network",
                .cure = "check that the job uses the right fabric (UCX_TLS, UCX_NET_DEVICES, FI_PROVIDER) and that no "
                        "other job loads it; if so, run hsumma calibrate",
                .costly = 1}}};
