/* Numbers in files have a decimal point in any locale: hs_plain_numbers_begin and _end bracket reading and writing, and
 * affect the calling thread only. */
#ifndef HS_BASE_PLAIN_NUMBERS_H
#define HS_BASE_PLAIN_NUMBERS_H

#include <locale.h>

struct hs_plain_numbers {
    locale_t plain, before; /* plain is (locale_t)0 if newlocale failed; the locale is then unchanged */
};

static inline struct hs_plain_numbers hs_plain_numbers_begin(void)
{
    struct hs_plain_numbers numbers = {.plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0)};
    if (numbers.plain)
        numbers.before = uselocale(numbers.plain);
    return numbers;
}

static inline void hs_plain_numbers_end(struct hs_plain_numbers numbers)
{
    if (!numbers.plain)
        return;
    uselocale(numbers.before);
    freelocale(numbers.plain);
}

#endif
