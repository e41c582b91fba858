/* SPDX-License-Identifier: MIT
 * Which uids a root host may give to boxes. Pure: text of the system's files in, numbers out. */
#ifndef SB_POSIX_UIDS_H
#define SB_POSIX_UIDS_H

#include <stddef.h>
#include <stdint.h>

#define SB_UIDS_FIRST 1900000000u
#define SB_UIDS_COUNT 4096

/* Contents of the files, NUL-terminated; NULL or "": the system has none. A box's gid is the
 * same number as its uid, so groups count as well. */
struct sb_uid_files {
    const char *passwd, *group;
    const char *subuid, *subgid;
    const char *uid_map, *gid_map; /* of /proc/self; without one every number is mapped */
};

/* Fills `pool` with the usable numbers of SB_UIDS_FIRST + 4096; where none of these is mapped
 * and free, with the highest free ones below. Returns how many, 0: none. */
size_t sb_uid_pool(const struct sb_uid_files *files, uint32_t pool[SB_UIDS_COUNT]);

#endif
