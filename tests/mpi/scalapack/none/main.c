/* Replaces the tests of this folder in a build without ScaLAPACK. */
#include "support/tap.h"

int main(void)
{
    tap_skip(1, "built without ScaLAPACK");
    return tap_done();
}
