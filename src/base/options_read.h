/* Between options.c, which knows names, texts and who has said them, and options_read.c, which knows the values. */
#ifndef HS_BASE_OPTIONS_READ_H
#define HS_BASE_OPTIONS_READ_H

#include "base/options.h"

/* Reads a value into its place in the settings.  Returns 0, or -1: it is none, and its place may have changed. */
int hs_option_read(enum hs_option option, const char *text, struct hs_settings *settings);

#endif
