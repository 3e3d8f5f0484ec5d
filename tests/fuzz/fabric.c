/* The file of a fabric: what is read has a position for each host, and an order of all of them. */
#include "dist/fabric.h"
#include "dist/fabric_file.h"
#include "fuzz/input.h"

enum { MOST = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = input_text(data, size);
    struct hs_fabric fabric = {0};
    struct hs_message message = {""};
    int where = -1;
    hsumma_status status = hs_fabric_parse(text, "node7", &fabric, &where, &message);
    REQUIRE(status == HSUMMA_OK || (status == HSUMMA_ERR_OPTION && message.text[0]));
    if (!status) {
        int position[MOST], order[MOST], scratch[MOST], count = fabric.positions < MOST ? fabric.positions : MOST;
        REQUIRE(fabric.dims >= 1 && fabric.dims <= HS_FABRIC_DIMS && fabric.positions >= 1);
        REQUIRE(where >= -1 && where < fabric.positions);
        for (int i = 0; i < count; i++)
            position[i] = fabric.positions - 1 - i;
        hs_fabric_order(&fabric, position, count, (struct hs_fabric_line){(int)(size % 100), 7, (int)(size % 7)}, order,
                        scratch);
        unsigned char seen[MOST] = {0};
        for (int i = 0; i < count; i++)
            REQUIRE(order[i] >= 0 && order[i] < count && !seen[order[i]]++);
    }
    free(text);
    return 0;
}
