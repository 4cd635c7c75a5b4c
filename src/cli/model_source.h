/* model_source.h: from what -m says to a file on this machine. */
#ifndef MODEL_SOURCE_H
#define MODEL_SOURCE_H

#include "hub.h"

/* Fetches a model from the hub, telling about it on stderr: 0 and the path of
 * its (first) file, or the exit code after a message. */
int model_pull(const struct hub_spec *spec, char path[HUB_PATH_BYTES]);

#endif
