/* Replaces the tests of this folder in a build without ScaLAPACK. */
#include "support/tap.h"
#include "support/world.h"

int main(int argc, char **argv)
{
    world_begin(&argc, &argv);
    tap_skip(1, "built without ScaLAPACK");
    return world_end();
}
