/* SPDX-License-Identifier: MIT
 * A program of the guest's own user attacks it to forge frames. First shown to work against
 * an ordinary process: an attack that never works proves nothing. */
#include "wire/suite.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

static size_t count_of(const char *text, const char *what)
{
    size_t count = 0;

    for (; (text = strstr(text, what)) != NULL; text++)
        count++;
    return count;
}

static void the_attacks_work_on_an_ordinary_process(void **state)
{
    struct fixture *f = ready_box(state);
    struct client_op *op;

    if (under_wine())
        skip_because("the process DACL is not enforced by Wine");
    op = RUN(f, "forge-control", "1");
    assert_exited(op, 0);
    assert_int_equal(count_of(op->bytes[SB_CHAN_OUT].data, " OPEN\n"), 8);
    assert_int_equal(count_of(op->bytes[SB_CHAN_OUT].data, " denied "), 0);
    assert_non_null(strstr(op->bytes[SB_CHAN_OUT].data, "forged frame arrived\n"));
}

static void no_frame_can_be_forged(void **state)
{
    struct fixture *f = ready_box(state);
    struct client_op *op;
    char guest[16], id[16];
    const char *out;

    if (under_wine())
        skip_because("the process DACL is not enforced by Wine");
    snprintf(guest, sizeof(guest), "%u", f->client.hello.pid);
    snprintf(id, sizeof(id), "%zu", f->client.op_count + 1);
    op = RUN(f, "forge", id, guest, "0"); /* 0: its parent, the run parent */
    assert_exited(op, 7);                 /* with a forged END before it, client.c had broken */
    /* Only its own stdout took frame bytes, and there they are data. */
    out = op->bytes[SB_CHAN_OUT].data;
    assert_memory_equal(out, "\0\0\0\0\x81\x01\0\0", 8);
    assert_int_equal(count_of(out + 12, "OPEN"), 0);
    assert_int_equal(count_of(out + 12, " denied "), 16);
    assert_int_equal(op->got[SB_CHAN_ERR], 0);
    assert_still_serves(f);
}

const struct CMUnitTest forge_tests[] = {
    WIRE_TEST(the_attacks_work_on_an_ordinary_process),
    WIRE_TEST(no_frame_can_be_forged),
};
const size_t forge_count = SB_COUNT(forge_tests);
