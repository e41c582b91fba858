/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "sandbox/bait.h"
#include "unit/sandbox/tempdir.h"

struct scene {
    uv_loop_t loop;
    char *dir;
    struct sb_bait *bait;
    bool closed;
};

static int setup(void **state)
{
    struct scene *scene = sb_alloc(sizeof *scene);
    struct sb_err err = {0};

    uv_loop_init(&scene->loop);
    scene->dir = tempdir_new();
    if (sb_bait_open(&scene->loop, scene->dir, &scene->bait, &err) < 0)
        fail_msg("%s", err.text);
    *state = scene;
    return 0;
}

static void on_closed(void *ctx)
{
    struct scene *scene = ctx;

    scene->closed = true;
}

static int teardown(void **state)
{
    struct scene *scene = *state;

    if (scene->bait)
        sb_bait_close(scene->bait, on_closed, scene);
    uv_run(&scene->loop, UV_RUN_DEFAULT);
    assert_true(scene->closed);
    assert_int_equal(uv_loop_close(&scene->loop), 0);
    tempdir_free(scene->dir);
    sb_free(scene);
    return 0;
}

static void nobody_was_seen_before_anybody_came(void **state)
{
    struct scene *scene = *state;

    uv_run(&scene->loop, UV_RUN_NOWAIT);
    assert_false(scene->bait->network_seen);
    assert_false(scene->bait->endpoint_seen);
    assert_true(tempdir_has(scene->bait->readable));
    assert_true(tempdir_has(scene->bait->writable));
}

static void on_connected(uv_connect_t *request, int status)
{
    assert_int_equal(status, 0);
    uv_close((uv_handle_t *)request->handle, NULL);
}

static void who_reaches_the_listener_is_seen(void **state)
{
    struct scene *scene = *state;
    struct sockaddr_in address;
    uv_tcp_t client;
    uv_connect_t request;

    uv_tcp_init(&scene->loop, &client);
    assert_int_equal(uv_ip4_addr("127.0.0.1", scene->bait->port, &address), 0);
    assert_int_equal(uv_tcp_connect(&request, &client, (const struct sockaddr *)&address, on_connected), 0);
    while (!scene->bait->network_seen || !uv_is_closing((uv_handle_t *)&client))
        uv_run(&scene->loop, UV_RUN_ONCE);
    assert_false(scene->bait->endpoint_seen);
    uv_run(&scene->loop, UV_RUN_NOWAIT);
}

static void who_reaches_the_endpoint_is_seen(void **state)
{
    struct scene *scene = *state;
    uv_pipe_t client;
    uv_connect_t request;

    uv_pipe_init(&scene->loop, &client, 0);
    uv_pipe_connect(&request, &client, scene->bait->endpoint, on_connected);
    while (!scene->bait->endpoint_seen || !uv_is_closing((uv_handle_t *)&client))
        uv_run(&scene->loop, UV_RUN_ONCE);
    assert_false(scene->bait->network_seen);
    uv_run(&scene->loop, UV_RUN_NOWAIT);
}

static void two_baits_live_in_one_directory_and_leave_nothing(void **state)
{
    struct scene *scene = *state;
    struct sb_bait *other = NULL;
    char *readable = sb_strdup(scene->bait->readable), *endpoint = sb_strdup(scene->bait->endpoint);

    assert_int_equal(sb_bait_open(&scene->loop, scene->dir, &other, NULL), 0);
    assert_string_not_equal(other->endpoint, endpoint);
    sb_bait_close(other, NULL, NULL);
    assert_true(tempdir_has(readable));
    sb_bait_close(scene->bait, on_closed, scene);
    scene->bait = NULL;
    uv_run(&scene->loop, UV_RUN_DEFAULT);
    assert_false(tempdir_has(readable));
    assert_false(tempdir_has(endpoint));
    sb_free(readable);
    sb_free(endpoint);
}

static void no_directory_is_an_error_and_leaves_nothing(void **state)
{
    struct scene *scene = *state;
    struct sb_bait *other = NULL;
    struct sb_err err = {0};
    char *missing = sb_asprintf("%s/missing", scene->dir);

    assert_int_equal(sb_bait_open(&scene->loop, missing, &other, &err), -1);
    assert_null(other);
    assert_non_null(strstr(err.text, "missing"));
    sb_free(missing);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nobody_was_seen_before_anybody_came, setup, teardown),
        cmocka_unit_test_setup_teardown(who_reaches_the_listener_is_seen, setup, teardown),
        cmocka_unit_test_setup_teardown(who_reaches_the_endpoint_is_seen, setup, teardown),
        cmocka_unit_test_setup_teardown(two_baits_live_in_one_directory_and_leave_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(no_directory_is_an_error_and_leaves_nothing, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
