/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "server/queue.h"

static const struct sb_queue_caps caps = {
    .running = 4, .peer_running = 3, .peer_queued = 5, .peer_bytes = 1000};

static void add(struct sb_queue *queue, const char *peer, const char *item, size_t bytes)
{
    struct sb_err err = {0};

    if (sb_queue_add(queue, peer, (void *)(uintptr_t)item, bytes, &err) < 0)
        fail_msg("%s", err.text);
}

static void check_next(struct sb_queue *queue, const char *item)
{
    const char *found = sb_queue_next(queue);

    if (item == NULL)
        assert_null(found);
    else
        assert_string_equal(found != NULL ? found : "(none)", item);
}

static void queue_keeps_the_order_of_a_peer(void **state)
{
    struct sb_queue *queue = sb_queue_new(&caps);

    (void)state;
    add(queue, "ann", "1", 0);
    add(queue, "ann", "2", 0);
    check_next(queue, "1");
    check_next(queue, "2");
    check_next(queue, NULL);
    sb_queue_free(queue);
}

static void queue_lets_peers_take_turns(void **state)
{
    struct sb_queue *queue = sb_queue_new(&caps);

    (void)state;
    add(queue, "ann", "a1", 0);
    add(queue, "ann", "a2", 0);
    add(queue, "ann", "a3", 0);
    add(queue, "bob", "b1", 0);
    add(queue, "bob", "b2", 0);
    check_next(queue, "a1");
    check_next(queue, "b1");
    check_next(queue, "a2");
    check_next(queue, "b2");
    check_next(queue, NULL); /* four run in all */
    sb_queue_done(queue, "bob");
    check_next(queue, "a3");
    sb_queue_free(queue);
}

static void queue_prefers_who_has_fewer_running(void **state)
{
    struct sb_queue *queue = sb_queue_new(&caps);

    (void)state;
    for (int i = 0; i < 5; i++)
        add(queue, "ann", "a", 0);
    for (int i = 0; i < 3; i++)
        check_next(queue, "a");
    add(queue, "bob", "b1", 0);
    add(queue, "bob", "b2", 0);
    sb_queue_done(queue, "ann");
    check_next(queue, "b1");
    check_next(queue, "b2");
    check_next(queue, NULL);
    sb_queue_free(queue);
}

static void queue_holds_a_peer_to_its_share(void **state)
{
    struct sb_queue *queue = sb_queue_new(&caps);

    (void)state;
    for (int i = 0; i < 5; i++)
        add(queue, "ann", "a", 0);
    for (int i = 0; i < 3; i++)
        check_next(queue, "a");
    check_next(queue, NULL); /* a fourth place is there, but not hers */
    add(queue, "bob", "b", 0);
    check_next(queue, "b");
    sb_queue_done(queue, "ann");
    check_next(queue, "a");
    sb_queue_free(queue);
}

static void queue_is_busy_when_too_many_wait(void **state)
{
    struct sb_queue *queue = sb_queue_new(&caps);
    struct sb_err err = {0};

    (void)state;
    for (unsigned i = 0; i < caps.peer_queued; i++)
        add(queue, "ann", "a", 0);
    assert_int_equal(sb_queue_add(queue, "ann", queue, 0, &err), -1);
    assert_int_equal(err.code, SB_BUSY);
    assert_string_equal(err.text, "busy, retry in 5 s: 0 calls run and 5 wait already");
    add(queue, "bob", "b", 0); /* nobody else's trouble */
    check_next(queue, "a");
    add(queue, "ann", "a", 0);
    sb_queue_free(queue);
}

static void queue_is_busy_when_too_much_waits(void **state)
{
    struct sb_queue *queue = sb_queue_new(&caps);
    struct sb_err err = {0};

    (void)state;
    add(queue, "ann", "huge", 5000); /* alone it may */
    assert_int_equal(sb_queue_add(queue, "ann", queue, 1, &err), -1);
    assert_int_equal(err.code, SB_BUSY);
    check_next(queue, "huge");
    add(queue, "ann", "a", 600);
    add(queue, "ann", "b", 400);
    assert_int_equal(sb_queue_add(queue, "ann", queue, 1, &err), -1);
    sb_queue_free(queue);
}

static void queue_gives_back_what_is_withdrawn(void **state)
{
    struct sb_queue *queue = sb_queue_new(&caps);
    const char *first = "first", *second = "second";

    (void)state;
    add(queue, "ann", first, 1000);
    assert_true(sb_queue_remove(queue, "ann", first));
    assert_false(sb_queue_remove(queue, "ann", first));
    add(queue, "ann", first, 0);
    add(queue, "ann", second, 1000); /* its bytes are free again */
    assert_true(sb_queue_remove(queue, "ann", first));
    check_next(queue, "second");
    assert_false(sb_queue_remove(queue, "ann", second));
    sb_queue_free(queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queue_keeps_the_order_of_a_peer),
        cmocka_unit_test(queue_lets_peers_take_turns),
        cmocka_unit_test(queue_prefers_who_has_fewer_running),
        cmocka_unit_test(queue_holds_a_peer_to_its_share),
        cmocka_unit_test(queue_is_busy_when_too_many_wait),
        cmocka_unit_test(queue_is_busy_when_too_much_waits),
        cmocka_unit_test(queue_gives_back_what_is_withdrawn),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
