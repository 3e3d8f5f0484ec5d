/* Maps MPI's datatypes and operators to hsumma's. */
#include "pmpi/pmpi.h"

enum kind { REAL, COMPLEX, SIGNED, BYTES, UNKNOWN };

/* MPI's own types by kind; 0, which is no type, ends a row. */
static const MPI_Datatype types[UNKNOWN][12] = {
    [REAL] = {MPI_DOUBLE, MPI_FLOAT, MPI_DOUBLE_PRECISION, MPI_REAL, MPI_REAL4, MPI_REAL8},
    [COMPLEX] = {MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_COMPLEX, MPI_DOUBLE_COMPLEX, MPI_COMPLEX8,
                 MPI_COMPLEX16, MPI_CXX_FLOAT_COMPLEX, MPI_CXX_DOUBLE_COMPLEX},
    [SIGNED] = {MPI_INT, MPI_LONG, MPI_LONG_LONG, MPI_INT32_T, MPI_INT64_T, MPI_AINT, MPI_OFFSET, MPI_COUNT,
                MPI_INTEGER, MPI_INTEGER4, MPI_INTEGER8},
    [BYTES] = {MPI_BYTE, MPI_CHAR}};

static enum kind kind_of(MPI_Datatype type)
{
    for (int kind = REAL; kind < UNKNOWN; kind++)
        for (int i = 0; types[kind][i]; i++)
            if (types[kind][i] == type)
                return (enum kind)kind;
    return UNKNOWN;
}

int pmpi_is_valid(MPI_Datatype type)
{
    char none = 0;
    int place = 0;

    return kind_of(type) != UNKNOWN || PMPI_Pack(&none, 0, type, &none, 0, &place, pmpi_self()) == MPI_SUCCESS;
}

int pmpi_is_basic(MPI_Datatype type, MPI_Count *size)
{
    int integers, addresses, derived, combiner;
    MPI_Count lower, extent;

    if (PMPI_Type_size_x(type, size))
        return 0;
    if (kind_of(type) != UNKNOWN)
        return 1;
    if (PMPI_Type_get_envelope(type, &integers, &addresses, &derived, &combiner) ||
        PMPI_Type_get_extent_x(type, &lower, &extent))
        return 0;
    return combiner == MPI_COMBINER_NAMED && lower == 0 && extent == *size;
}

/* The hsumma_element of a kind and size; -1 if there is none. */
static int element_of(enum kind kind, MPI_Count size)
{
    if (kind == REAL)
        return size == sizeof(float) ? (int)HSUMMA_FLOAT : size == sizeof(double) ? (int)HSUMMA_DOUBLE : -1;
    if (kind == COMPLEX)
        return size == 2 * sizeof(float)    ? (int)HSUMMA_FLOAT_COMPLEX
               : size == 2 * sizeof(double) ? (int)HSUMMA_DOUBLE_COMPLEX
                                            : -1;
    return kind != SIGNED ? -1 : size == 4 ? (int)HSUMMA_INT32 : size == 8 ? (int)HSUMMA_INT64 : -1;
}

int pmpi_operator(MPI_Op op, MPI_Datatype type, hsumma_operator *operator, MPI_Count * size)
{
    hsumma_op known = op == MPI_SUM ? HSUMMA_SUM : op == MPI_MAX ? HSUMMA_MAX : HSUMMA_MIN;
    enum kind kind = kind_of(type);
    int element;

    if (kind == UNKNOWN || (op != MPI_SUM && op != MPI_MAX && op != MPI_MIN) || PMPI_Type_size_x(type, size))
        return 0;
    element = element_of(kind, *size);
    *operator=(hsumma_operator){.op = known, .element = (hsumma_element)element};
    return element >= 0 && (known == HSUMMA_SUM || kind != COMPLEX);
}
