/*
 * The file that the option topology names: the positions of hosts in a fabric. Either a fabric (hs_fabric_read),
 *
 *     torus 8x8x8
 *     node[000-511]
 *
 * whose hosts follow in the order of their positions, in a torus the first dimension fastest, as names with ranges,
 * separated by commas, blanks or newlines; or the output of `scontrol show topology`, lines such as
 *
 *     SwitchName=leaf0 Level=0 LinkSpeed=1 Nodes=node[00-15]
 *     SwitchName=top Level=1 LinkSpeed=1 Nodes=node[00-63] Switches=leaf[0-3]
 *
 * of a tree of switches, which becomes a row of hosts: those of one switch are neighbours, and the numbers of links are
 * not known. "#" begins a comment.
 */
#ifndef HS_DIST_FABRIC_FILE_H
#define HS_DIST_FABRIC_FILE_H

#include "base/status.h"
#include "dist/fabric.h"

/*
 * Parses a file's text. Sets *fabric, except for fabric->at, and *position to the position of a host, with or without
 * its domain; -1 if the file does not have it. HSUMMA_ERR_OPTION: the text is wrong, as *message says.
 */
hsumma_status hs_fabric_parse(const char *text, const char *host, struct hs_fabric *fabric, int *position,
                              struct hs_message *message);

#endif
