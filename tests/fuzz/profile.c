/* The profile of a machine: what is read is written and read again, and gives times that are numbers. */
#include "hsumma/cost/profile.h"
#include "fuzz/input.h"

enum { TEXT = 1 << 14, RANKS = 4, KIB = 1024 };

static void check_prices(const struct hs_profile *profile)
{
    static const char *const names[] = {"binomial", "van_de_geijn"};
    for (int complex_type = 0; complex_type < 2; complex_type++) {
        double seconds = hs_gemm_seconds(profile, complex_type ? 16 : 8, complex_type, 2, 64, 32, 16);
        REQUIRE(seconds >= 0);
    }
    for (int i = 0; i < 2; i++) {
        const struct hs_alg *alg = hs_alg_find(HS_BCAST, names[i]);
        struct hs_shape shape = {.size = RANKS, .bytes = KIB, .unit = 8};
        double seconds = 0;
        REQUIRE(alg && !hs_clock_seconds(alg, &shape, &profile->machine, &hs_heap, &seconds, NULL) && seconds >= 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char host[] = "a host";
    char *text = input_text(data, size), written[TEXT], twice[TEXT];
    struct hs_profile profile = hs_profile_builtin, again = hs_profile_builtin;
    struct hs_message message = {""};
    hsumma_status status = hs_profile_read(text, size % 2 ? host : NULL, &profile, &message);
    REQUIRE(status == HSUMMA_OK || (status == HSUMMA_ERR_OPTION && message.text[0]));
    if (status) {
        REQUIRE(memcmp(&profile, &hs_profile_builtin, sizeof profile) == 0);
    } else {
        int length = hs_profile_write(&profile, host, written, sizeof written);
        REQUIRE(length > 0 && length < TEXT);
        REQUIRE(hs_profile_read(written, host, &again, &message) == HSUMMA_OK);
        REQUIRE(hs_profile_write(&again, host, twice, sizeof twice) == length && strcmp(written, twice) == 0);
        check_prices(&profile);
    }
    free(text);
    return 0;
}
