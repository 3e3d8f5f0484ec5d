/* Numbers in files have a point, whatever the user's language is: between begin and end, in this thread alone. */
#ifndef HS_BASE_PLAIN_NUMBERS_H
#define HS_BASE_PLAIN_NUMBERS_H

#include <locale.h>

struct hs_plain_numbers {
    locale_t plain, before; /* plain (locale_t)0: nothing has been changed */
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
