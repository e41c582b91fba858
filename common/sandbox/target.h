/* SPDX-License-Identifier: MIT
 * Where a box's programs run. Host OS is not box OS: everything about paths, languages and
 * environments of a box is asked of its target. */
#ifndef SB_SANDBOX_TARGET_H
#define SB_SANDBOX_TARGET_H

#include "base/path.h"
#include "wire/wire.h"

struct sb_target {
    enum sb_wire_os os;
    enum sb_wire_arch arch;
    /* The workspace as programs of the box see it: "/sandbox", or a host path chosen per box
     * ("" here until the box is open). */
    const char *workspace;
};

enum sb_wire_arch sb_target_own_arch(void); /* of this program */
enum sb_path_rules sb_target_rules(const struct sb_target *target);
const char *sb_target_os_name(const struct sb_target *target); /* "linux", "windows" */

#endif
