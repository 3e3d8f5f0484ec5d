/*
 * Which algorithm serves a collective call, in order of precedence: the call's own spec, the option "coll", a tuned
 * file, the model, a safe default. The choice is a function of global arguments, so all ranks choose alike without
 * communication.
 *
 *   WORD   the text of a spec: NAME or NAME(l=4,k=2,b=8k,level=socket,outer=NAME,inner=NAME,segment=64k); auto: choose
 *   rules  COLLECTIVE:RANGE:WORD,RANGE:WORD;COLLECTIVE:WORD
 *   RANGE  0-2k, 2k-inf: bytes of the whole vector, both ends included, k, M, G for powers of 1024; none: all sizes
 *   tuned  a first line "hsumma tuned 2", then lines "COLLECTIVE RANKS NODES RANGE WORD" with * for any number or all
 *          sizes. # begins a comment; lines that begin with "gemm" or "network" are for hsumma/tuned/tuned.h.
 *
 * The first rule that fits wins.
 */
#ifndef HS_COLL_SELECT_SELECT_H
#define HS_COLL_SELECT_SELECT_H

#include "base/status.h"
#include "coll/model/clock.h"

enum { HS_ALG_SPEC_TEXT = 160 };

struct hs_alg_spec {
    const struct hs_alg *alg; /* NULL: auto */
    struct hs_parameters with;
    int64_t segment; /* bytes; 0: not given */
};

/* Parses a spec of `length` characters. HSUMMA_ERR_OPTION with a message that begins with `sayer`. */
hsumma_status hs_alg_spec_read(const struct hs_registry *own, enum hs_collective collective, const char *text,
                               size_t length, const char *sayer, struct hs_alg_spec *spec, struct hs_message *message);
/* As hs_alg_spec_read, without looking up names: checks the syntax only. */
hsumma_status hs_alg_spec_check(const char *text, size_t length, const char *sayer, struct hs_message *message);
/* Writes the text that hs_alg_spec_read reads back as this spec. */
void hs_alg_spec_write(const struct hs_alg_spec *spec, char *text, size_t size);
/* Names of the parameters of a row: "l, k, level". */
const char *hs_alg_parameters(const struct hs_alg *alg, char *text, size_t size);

struct hs_rule {
    enum hs_collective collective;
    int ranks, nodes; /* 0: any */
    int64_t from, to; /* bytes */
    char spec[HS_ALG_SPEC_TEXT];
};
struct hs_rules {
    struct hs_rule *rule;
    int count;
    size_t capacity;
};

/*
 * Both append rules; HSUMMA_ERR_OPTION or _MEMORY. Algorithm names are not looked up, since they may be registered
 * later.
 */
hsumma_status hs_rules_read(struct hs_rules *rules, const char *text, const struct hs_allocator *memory,
                            struct hs_message *message);
hsumma_status hs_rules_read_tuned(struct hs_rules *rules, const char *text, const struct hs_allocator *memory,
                                  struct hs_message *message);
/* Parses a number of bytes such as 64k, or "inf". Returns 0, or -1 if the text is neither. */
int hs_bytes_text(const char *text, size_t length, int64_t *bytes);

/* Shared by all readers of tuned files. HSUMMA_ERR_OPTION: the first line does not name this version. */
enum { HS_TUNED_VERSION = 2, HS_TUNED_FIELDS = 5 };
extern const char hs_tuned_gemm[], hs_tuned_network[]; /* first fields of lines that are not rules of collectives */
hsumma_status hs_tuned_check_head(const char *text, struct hs_message *message);
/* A line split into fields; comments and empty lines have none. Beyond HS_TUNED_FIELDS only their number is kept. */
struct hs_tuned_fields {
    const char *text[HS_TUNED_FIELDS];
    size_t size[HS_TUNED_FIELDS];
    int count;
    const char *end;  /* end of the last field */
    const char *next; /* the next line, or the end of the text */
};
void hs_tuned_split(const char *line, struct hs_tuned_fields *fields);
/* Whether a line is a rule of a collective rather than a line for other readers. */
int hs_tuned_is_rule(const struct hs_tuned_fields *fields);
/* Whether field i of a line equals the text. */
int hs_tuned_is(const struct hs_tuned_fields *fields, int i, const char *text, size_t size);

void hs_rules_free(struct hs_rules *rules, const struct hs_allocator *memory);
/* The spec for a call; NULL: no rule fits. */
const char *hs_rules_find(const struct hs_rules *rules, enum hs_collective collective, int ranks, int nodes,
                          int64_t bytes);

enum hs_chosen_by {
    HS_CHOSEN_BY_CALL,
    HS_CHOSEN_BY_OPTION,
    HS_CHOSEN_BY_TUNED,
    HS_CHOSEN_BY_MODEL,
    HS_CHOSEN_BY_DEFAULT
};

struct hs_question {
    enum hs_collective collective;
    const struct hs_shape *shape; /* rank is ignored, root is the true one */
    int ordered;                  /* the operator does not commute */
    int on_device;                /* its buffers are in device memory, and the device does the work */
    const char *no_mpi;           /* why MPI cannot serve it; NULL: it can */
    const char *spec;             /* the call's own; NULL: none */
};

struct hs_answer {
    struct hs_alg_spec spec;
    enum hs_chosen_by by;
    struct hs_alg_spec asked; /* if rerouted: the spec requested, and in why_not why it cannot serve; else alg NULL */
    const char *why_not;
    struct hs_alg_spec next; /* the model's second best, of another row; alg NULL: none */
    double seconds, next_seconds;
};

/* A memoised answer of the model; sizes are rounded up to powers of two. */
struct hs_price {
    enum hs_collective collective;
    int ordered, on_device;
    int64_t bytes, unit;
    struct hs_alg_spec best, next;
    double seconds, next_seconds;
};

struct hs_selector {
    const struct hs_allocator *memory;
    const struct hs_registry *own;
    const struct hs_machine *machine, *device_machine; /* device_machine: for work in device memory; NULL: as machine */
    struct hs_rules coll, tuned;
    struct hs_price *price;
    int prices;
    size_t price_capacity;
    int64_t lists; /* number of lists that the model has examined so far */
};

void hs_selector_free(struct hs_selector *selector);
/* HSUMMA_ERR_OPTION: no such algorithm; HSUMMA_ERR_MEMORY. */
hsumma_status hs_select(struct hs_selector *selector, const struct hs_question *question, struct hs_answer *answer,
                        struct hs_message *message);
/* "allreduce of 64 KiB on 8 processes (2 nodes): dpml(l=2), by the model: 34 us; recursive_doubling 51 us" */
void hs_answer_write(const struct hs_question *question, const struct hs_answer *answer, char *text, size_t size);

/* Why a spec cannot serve the question; NULL: it can. */
const char *hs_alg_spec_unfit(const struct hs_alg_spec *spec, const struct hs_question *question);
/* The model's answer; *price is NULL without a machine, or if no row fits. */
hsumma_status hs_select_price(struct hs_selector *selector, const struct hs_question *question,
                              const struct hs_price **price);

#endif
