/*
 * Chooses the algorithm of a collective call. Sources in order of precedence: the call's own spec, the option "coll", a
 * tuned file, the model, a safe default. The choice depends on global arguments, and on prices that all ranks share, so
 * all ranks make the same choice without communication.
 *
 *   ALGORITHM  a spec: NAME or NAME(l=4,k=2,b=8k,level=socket,outer=NAME,inner=NAME,segment=64k); auto: the next
 *              source chooses
 *   RANGE      0-2k, 2k-inf: bytes of the whole vector, both ends included, k, M, G for powers of 1024; without a
 *              range: all sizes
 *   rules      COLLECTIVE:RANGE:ALGORITHM,RANGE:ALGORITHM;COLLECTIVE:ALGORITHM
 *   tuned      a first line "hsumma tuned 2", then lines "COLLECTIVE RANKS NODES RANGE ALGORITHM" with * for any number
 *              or all sizes. # begins a comment; lines that begin with "gemm" or "network" belong to
 *              hsumma/tuned/tuned.h.
 *
 * The first rule that fits applies.
 */
#ifndef HS_COLL_SELECT_SELECT_H
#define HS_COLL_SELECT_SELECT_H

#include "base/status.h"
#include "coll/model/clock.h"

enum { HS_ALG_SPEC_TEXT = 160 };

struct hs_alg_spec {
    const struct hs_alg *alg; /* NULL for auto */
    struct hs_parameters with;
    int64_t segment; /* bytes of a segment; 0 if not specified */
};

/* Parses a spec. HSUMMA_ERR_OPTION, with a message that begins with `sayer`, if it is invalid. */
hsumma_status hs_alg_spec_read(const struct hs_registry *own, enum hs_collective collective, const char *text,
                               size_t length, const char *sayer, struct hs_alg_spec *spec, struct hs_message *message);
/* Checks the syntax of a spec as hs_alg_spec_read does, without looking up names. */
hsumma_status hs_alg_spec_check(const char *text, size_t length, const char *sayer, struct hs_message *message);
/* Writes a spec as text that hs_alg_spec_read can parse. */
void hs_alg_spec_write(const struct hs_alg_spec *spec, char *text, size_t size);
/* Writes the names of a row's parameters to text, as "l, k, level", and returns text. */
const char *hs_alg_parameters(const struct hs_alg *alg, char *text, size_t size);

struct hs_rule {
    enum hs_collective collective;
    int ranks, nodes; /* 0 for any number */
    int64_t from, to; /* bytes of the vector, both ends included */
    char spec[HS_ALG_SPEC_TEXT];
};
struct hs_rules {
    struct hs_rule *rule;
    int count;
    size_t capacity;
};

/*
 * Append the rules of an option "coll", or of a tuned file, to *rules. Errors: HSUMMA_ERR_OPTION, HSUMMA_ERR_MEMORY.
 * Algorithm names are not looked up, since they may be registered later.
 */
hsumma_status hs_rules_read(struct hs_rules *rules, const char *text, const struct hs_allocator *memory,
                            struct hs_message *message);
hsumma_status hs_rules_read_tuned(struct hs_rules *rules, const char *text, const struct hs_allocator *memory,
                                  struct hs_message *message);
/* Parses a number of bytes such as 64k, or "inf" (INT64_MAX). Returns 0, or -1 if the text is neither. */
int hs_bytes_text(const char *text, size_t length, int64_t *bytes);

/* For all readers of tuned files. hs_tuned_check_head fails if the first line does not name this version. */
enum { HS_TUNED_VERSION = 2, HS_TUNED_FIELDS = 5 };
extern const char hs_tuned_gemm[], hs_tuned_network[]; /* first fields of the lines that are not rules of collectives */
hsumma_status hs_tuned_check_head(const char *text, struct hs_message *message);
/* A line split into `count` fields, of which the first are stored; comments and empty lines have none. */
struct hs_tuned_fields {
    const char *text[HS_TUNED_FIELDS];
    size_t size[HS_TUNED_FIELDS];
    int count;
    const char *end;  /* end of the last field */
    const char *next; /* the next line, or the end of the text */
};
void hs_tuned_split(const char *line, struct hs_tuned_fields *fields);
/* True if a line is a rule of a collective: neither empty nor for another reader. */
int hs_tuned_is_rule(const struct hs_tuned_fields *fields);
/* True if field i of a line equals the text. */
int hs_tuned_is(const struct hs_tuned_fields *fields, int i, const char *text, size_t size);

void hs_rules_free(struct hs_rules *rules, const struct hs_allocator *memory);
/* The spec of the first rule that fits a call; NULL if there is none. */
const char *hs_rules_find(const struct hs_rules *rules, enum hs_collective collective, int ranks, int nodes,
                          int64_t bytes);

enum hs_chosen_by {
    HS_CHOSEN_BY_CALL,
    HS_CHOSEN_BY_OPTION,
    HS_CHOSEN_BY_TUNED,
    HS_CHOSEN_BY_BITS, /* the option bits=anywhere leaves no other */
    HS_CHOSEN_BY_MODEL,
    HS_CHOSEN_BY_DEFAULT
};

struct hs_question {
    enum hs_collective collective;
    const struct hs_shape *shape;     /* shape of the call; its rank is ignored, its root is the true root */
    int ordered;                      /* true if the operator does not commute */
    int on_device;                    /* true if the buffers are in device memory and the device does the work */
    int own_operator;                 /* true if the operator is the caller's */
    int rounds;                       /* true if the call reduces and the order of the operands may change bits */
    const char *no_mpi;               /* reason why MPI cannot serve the call; NULL if it can */
    const char *spec;                 /* spec given with the call; NULL if none */
    const struct hs_machine *machine; /* the machine that prices the call; NULL: hs_select_machine finds it */
};

struct hs_answer {
    struct hs_alg_spec spec;
    enum hs_chosen_by by;
    struct hs_alg_spec asked; /* the requested spec if it cannot serve the call (why_not); else alg is NULL */
    const char *why_not;
    struct hs_alg_spec next; /* the fastest spec of another row, by the model; alg is NULL if none is near */
    double seconds, next_seconds;
};

/* A spec and its modelled seconds; spec.alg is NULL if there is none. */
struct hs_entrant {
    struct hs_alg_spec spec;
    double seconds;
};

/* A memoised answer of the model, for a number of bytes rounded up to a power of two and limited (by_model.c). */
struct hs_price {
    enum hs_collective collective;
    int ordered, on_device;
    int64_t bytes, unit;
    struct hs_entrant best, next; /* of different rows */
};

/* Classes of long broadcasts in host memory, which may have prices of their own (coll/team/measure.c): above 16 KiB,
 * and above 1 MiB, where vectors do not fit into the caches of most processors. */
enum { HS_LONG_BROADCASTS = 2 };
struct hs_prices_of_broadcasts {
    int known; /* 1 if the machine counts; its prices may be the selector's, if they could not be measured */
    struct hs_machine machine;
};
/* The class of a broadcast; -1 if it is short. */
int hs_class_of_broadcast(int ranks, int64_t bytes);

struct hs_selector {
    const struct hs_allocator *memory;
    const struct hs_registry *own;
    const struct hs_machine *machine, *device_machine; /* device_machine: for devices; NULL: `machine` */
    struct hs_prices_of_broadcasts broadcast[HS_LONG_BROADCASTS];
    struct hs_rules coll, tuned;
    int anywhere; /* true with the option bits=anywhere: calls that round are served by the row "exact" alone */
    struct hs_price *price;
    int prices;
    size_t price_capacity;
    int64_t lists; /* number of lists that the model has built so far */
};

void hs_selector_free(struct hs_selector *selector);
/* Forgets the prices of a collective. */
void hs_select_forget(struct hs_selector *selector, enum hs_collective collective);
/*
 * Answers a question. Errors: HSUMMA_ERR_OPTION if the spec to use is invalid or names no algorithm;
 * HSUMMA_ERR_UNSUPPORTED if MPI or a function of the caller cannot perform the stage for which the spec names it, or if
 * row "exact" is named or demanded and cannot serve the call;
 * HSUMMA_ERR_MEMORY.
 */
hsumma_status hs_select(struct hs_selector *selector, const struct hs_question *question, struct hs_answer *answer,
                        struct hs_message *message);
/* Writes "allreduce of 64 KiB on 8 processes (2 nodes): dpml(l=2), by the model: 34 us; recursive_doubling 51 us". */
void hs_answer_write(const struct hs_question *question, const struct hs_answer *answer, char *text, size_t size);

/*
 * Sets the parameters that the spec leaves open and its row chooses by prices (hs_alg.complete). The prices are those
 * of the machine's links between nodes, or inside the node or socket that contains all ranks. Does nothing if machine
 * is NULL.
 */
void hs_alg_spec_complete(struct hs_alg_spec *spec, const struct hs_shape *shape, const struct hs_machine *machine);
/* True if MPI or a function of the caller performs the spec's row or one of its stages. */
int hs_alg_spec_by_mpi(const struct hs_alg_spec *spec);
/* True if a function of the caller performs the spec's row or one of its stages. */
int hs_alg_spec_by_function(const struct hs_alg_spec *spec);
/* The reason why a spec cannot serve the question's call; NULL if it can. */
const char *hs_alg_spec_unfit(const struct hs_alg_spec *spec, const struct hs_question *question);
/* The machine that prices the question's call; NULL if the selector has none. */
const struct hs_machine *hs_select_machine(const struct hs_selector *selector, const struct hs_question *question);
/* Sets *price to the model's answer, or to NULL if the selector has no machine or no row fits. */
hsumma_status hs_select_price(struct hs_selector *selector, const struct hs_question *question,
                              const struct hs_price **price);

#endif
