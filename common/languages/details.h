/* SPDX-License-Identifier: MIT
 * What models and people are told of a language beyond its row: constant, whatever is
 * installed. In the order of the reference's list, then bash and what it did not have. */
#ifndef SB_LANGUAGES_DETAILS_H
#define SB_LANGUAGES_DETAILS_H

#include <stdbool.h>
#include <stddef.h>

#define SB_DETAILS_MAX 4 /* use cases, examples */

struct sb_language_details {
    const char *name;            /* as in language.h, also of languages without a row yet */
    const char *package_manager; /* "pip" */
    bool visualization;          /* plots saved to a file come back as images */
    const char *use_cases[SB_DETAILS_MAX];
    struct {
        const char *title, *description, *code;
    } examples[SB_DETAILS_MAX];
};

extern const struct sb_language_details sb_language_details[];
extern const size_t sb_language_details_count;

/* Exact name; NULL: none. */
const struct sb_language_details *sb_language_details_of(const char *name);
/* By any name a client may use, rows and "c++17" too; ASCII case-insensitive. */
const struct sb_language_details *sb_language_details_named(const char *name);

#endif
