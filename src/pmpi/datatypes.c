/* Maps MPI's datatypes and operators to hsumma's. */
#include "pmpi/pmpi.h"

enum kind { REAL, COMPLEX, SIGNED, BYTES };

static const struct {
    MPI_Datatype type;
    enum kind kind;
} types[] = {
    {MPI_DOUBLE, REAL},
    {MPI_FLOAT, REAL},
    {MPI_INT, SIGNED},
    {MPI_LONG, SIGNED},
    {MPI_LONG_LONG, SIGNED},
    {MPI_INT32_T, SIGNED},
    {MPI_INT64_T, SIGNED},
    {MPI_AINT, SIGNED},
    {MPI_OFFSET, SIGNED},
    {MPI_COUNT, SIGNED},
    {MPI_C_FLOAT_COMPLEX, COMPLEX},
    {MPI_C_DOUBLE_COMPLEX, COMPLEX},
    {MPI_DOUBLE_PRECISION, REAL},
    {MPI_REAL, REAL},
    {MPI_INTEGER, SIGNED},
    {MPI_COMPLEX, COMPLEX},
    {MPI_DOUBLE_COMPLEX, COMPLEX},
    {MPI_REAL4, REAL},
    {MPI_REAL8, REAL},
    {MPI_INTEGER4, SIGNED},
    {MPI_INTEGER8, SIGNED},
    {MPI_COMPLEX8, COMPLEX},
    {MPI_COMPLEX16, COMPLEX},
    {MPI_CXX_FLOAT_COMPLEX, COMPLEX},
    {MPI_CXX_DOUBLE_COMPLEX, COMPLEX},
    {MPI_BYTE, BYTES},
    {MPI_CHAR, BYTES},
};

enum { TYPES = sizeof types / sizeof *types };

/* The index of a type in `types`; TYPES if it is not there. */
static int find(MPI_Datatype type)
{
    int i = 0;

    while (i < TYPES && types[i].type != type)
        i++;
    return i;
}

int pmpi_is_valid(MPI_Datatype type)
{
    char none = 0;
    int place = 0;

    return find(type) < TYPES || PMPI_Pack(&none, 0, type, &none, 0, &place, pmpi_self()) == MPI_SUCCESS;
}

int pmpi_is_basic(MPI_Datatype type, MPI_Count *size)
{
    int integers, addresses, derived, combiner;
    MPI_Count lower, extent;

    if (PMPI_Type_size_x(type, size))
        return 0;
    if (find(type) < TYPES)
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
    if (kind == BYTES)
        return -1;
    return size == 4 ? (int)HSUMMA_INT32 : size == 8 ? (int)HSUMMA_INT64 : -1;
}

int pmpi_operator(MPI_Op op, MPI_Datatype type, hsumma_operator *operator, MPI_Count * size)
{
    hsumma_op known = op == MPI_SUM ? HSUMMA_SUM : op == MPI_MAX ? HSUMMA_MAX : HSUMMA_MIN;
    int i = find(type), element;

    if (i == TYPES || (op != MPI_SUM && op != MPI_MAX && op != MPI_MIN) || PMPI_Type_size_x(type, size))
        return 0;
    element = element_of(types[i].kind, *size);
    *operator=(hsumma_operator){.op = known, .element = (hsumma_element)element};
    return element >= 0 && (known == HSUMMA_SUM || types[i].kind != COMPLEX);
}
