/* SPDX-License-Identifier: MIT
 * "Did you mean": the known name nearest to a wrong one. Pure; case of ASCII letters is ignored. */
#ifndef SB_BASE_NEAREST_H
#define SB_BASE_NEAREST_H

#include <stddef.h>

#define SB_NEAREST_MAX 40 /* bytes of a name; longer ones are not a slip of the finger */

struct sb_nearest {
    const char *wrong; /* borrowed */
    size_t len, off;
    const char *found; /* the nearest candidate so far; NULL: none is near */
};

void sb_nearest_begin(struct sb_nearest *nearest, const char *wrong, size_t len);
/* Near is one slip in three letters ("pyhton", but not "c" for "sh"); else, of three letters
 * and more, one that begins like the other ("lang" for "language"). */
void sb_nearest_try(struct sb_nearest *nearest, const char *candidate);

#endif
