/* The option grammar, "name=value name=\"value\"", from an origin that the length chooses; a value is written as text
 * that gives it again.
 */
#include "base/options.h"
#include "fuzz/input.h"

static const enum hs_option written[] = {
    HS_OPT_STATIONARY, HS_OPT_BLOCK,  HS_OPT_SEGMENT, HS_OPT_EXCHANGE, HS_OPT_NODE,          HS_OPT_CHUNK,
    HS_OPT_SCALAPACK,  HS_OPT_SLICE,  HS_OPT_THREADS, HS_OPT_DEVICE,   HS_OPT_DEVICE_MEMORY, HS_OPT_WORKSPACE_LIMIT,
    HS_OPT_GROUPS,     HS_OPT_LEVELS, HS_OPT_OUTER,   HS_OPT_BCAST,    HS_OPT_REDUCE};

static void check_written(const struct hs_options *options)
{
    for (size_t i = 0; i < sizeof written / sizeof *written; i++) {
        hsumma_option_info info;
        struct hs_options again;
        char value[HS_OPTION_TEXT], line[HS_OPTION_TEXT + 32], twice[HS_OPTION_TEXT];
        hs_option_write(written[i], &options->settings, value, sizeof value);
        if (strpbrk(value, " \t\r\n\v\f\"")) /* a name that no algorithm has */
            continue;
        REQUIRE(hsumma_option((int)written[i], &info));
        snprintf(line, sizeof line, "%s=%s", info.name, value);
        hs_options_default(&again, NULL);
        REQUIRE(hs_options_apply(&again, line, HS_BY_CONTEXT, NULL) == HSUMMA_OK);
        hs_option_write(written[i], &again.settings, twice, sizeof twice);
        REQUIRE(strcmp(value, twice) == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = input_text(data, size);
    enum hs_said_by by = (enum hs_said_by)(HS_BY_TUNED + size % (HS_BY_PLAN - HS_BY_TUNED + 1));
    struct hs_options options;
    struct hs_texts texts;
    struct hs_message message = {""};
    hs_options_default(&options, &texts);
    hsumma_status status = hs_options_apply(&options, text, by, &message);
    REQUIRE(status == HSUMMA_OK || (status == HSUMMA_ERR_OPTION && message.text[0]));
    if (!status)
        check_written(&options);
    free(text);
    return 0;
}
