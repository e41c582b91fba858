/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "server/mcp_inner.h"

#define EVENTS 4

static void every_cell(void **state)
{
    static const enum sb_request_effect first[EVENTS] = {
        [SB_REQUEST_ANSWER] = SB_REQUEST_SEND,
        [SB_REQUEST_CANCEL] = SB_REQUEST_STOP,
        [SB_REQUEST_CLIENT_GONE] = SB_REQUEST_STOP,
        [SB_REQUEST_HOST_STOPPING] = SB_REQUEST_STOP,
    };

    (void)state;
    for (int event = 0; event < EVENTS; event++) {
        struct sb_request request = {.state = SB_REQUEST_WAITING};

        assert_int_equal(sb_request_step(&request, (enum sb_request_event)event), first[event]);
        assert_int_equal(request.state, SB_REQUEST_REPLIED);
        request.state = SB_REQUEST_REPLIED;
        assert_int_equal(sb_request_step(&request, (enum sb_request_event)event), SB_REQUEST_NOTHING);
        assert_int_equal(request.state, SB_REQUEST_REPLIED);
    }
}

/* Whatever comes in whatever order, only the first has an effect. */
static void every_order_has_one_effect(void **state)
{
    (void)state;
    for (int order = 0; order < EVENTS * EVENTS * EVENTS * EVENTS; order++) {
        struct sb_request request = {.state = SB_REQUEST_WAITING};
        int rest = order, effects = 0;

        for (int i = 0; i < EVENTS; i++, rest /= EVENTS)
            effects +=
                sb_request_step(&request, (enum sb_request_event)(rest % EVENTS)) != SB_REQUEST_NOTHING;
        assert_int_equal(effects, 1);
    }
}

static void progress_is_rare_and_only_grows(void **state)
{
    struct sb_progress progress = {.token = "7"};

    (void)state;
    assert_true(sb_progress_due(&progress, 1000, 400));
    assert_int_equal(progress.value, 0);
    assert_false(sb_progress_due(&progress, 2999, 2300));
    assert_true(sb_progress_due(&progress, 3000, 2400));
    assert_int_equal(progress.value, 2);
    assert_true(sb_progress_due(&progress, 5000, 2500)); /* elapsed of a run that queued */
    assert_int_equal(progress.value, 3);
    assert_true(sb_progress_due(&progress, 7000, 0));
    assert_int_equal(progress.value, 4);
}

static void progress_needs_a_token(void **state)
{
    struct sb_progress progress = {.token = ""};

    (void)state;
    assert_false(sb_progress_due(&progress, 100000, 100000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cell),
        cmocka_unit_test(every_order_has_one_effect),
        cmocka_unit_test(progress_is_rare_and_only_grows),
        cmocka_unit_test(progress_needs_a_token),
    };

    return cmocka_run_group_tests_name("request", tests, NULL, NULL);
}
