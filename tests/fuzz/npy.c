/* Headers of .npy files: what is read lies inside the bytes, and is written and read again. */
#include "multiply/npy.h"
#include "fuzz/input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned char *bytes = malloc(size ? size : 1), written[NPY_WRITTEN];
    npy_header header, again;
    npy_error error = {""};

    REQUIRE(bytes != NULL);
    if (size)
        memcpy(bytes, data, size);
    int64_t length = npy_header_size(bytes, size, &error);
    REQUIRE(length >= 0 || error.text[0]);
    int bad = npy_parse(bytes, size, &header, &error);
    REQUIRE(!bad || error.text[0]);
    if (!bad) {
        REQUIRE(header.data == length && (size_t)length <= size && header.rows >= 0 && header.cols >= 0);
        int64_t all = npy_data_size(&header);
        REQUIRE(all >= 0 && all <= INT64_MAX - header.data);
        REQUIRE(npy_check_size(&header, header.data + all, &error) == 0);
        REQUIRE(npy_check_size(&header, header.data + all - 1, &error) != 0);
        again = header;
        size_t made = npy_format(&again, written);
        npy_header third;
        REQUIRE(made <= sizeof written && npy_parse(written, made, &third, &error) == 0);
        REQUIRE(third.rows == header.rows && third.cols == header.cols && third.type == header.type &&
                third.fortran == header.fortran);
    }
    free(bytes);
    return 0;
}
