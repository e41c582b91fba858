/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "platform/dirs.h"
#include "platform/hostpath.h"
#include "server/kept.h"
#include "unit/sandbox/tempdir.h"

#define MINUTE 60000

struct rig {
    char *home;
    struct sb_buf dir;
    struct sb_kept_store *store;
};
static char dropped[100]; /* owners the store gave up, in order */

static void on_drop(void *owner)
{
    strncat(dropped, owner, sizeof dropped - strlen(dropped) - 1);
}

static int make_folder(void *ctx, struct sb_buf *out, struct sb_err *err)
{
    struct rig *rig = ctx;

    sb_buf_adds(out, rig->dir.data);
    return sb_dir_make(out->data, 0, err);
}

static void rig_open(struct rig *rig)
{
    struct sb_kept_want want = {.make_folder = make_folder,
                                .ctx = rig,
                                .peer_bytes = 20000,
                                .peer_runs = 3,
                                .ms = 30 * MINUTE,
                                .on_drop = on_drop};

    dropped[0] = '\0';
    rig->home = tempdir_new();
    sb_buf_init(&rig->dir, SB_PATH_MAX_BYTES);
    sb_path_join(&rig->dir, rig->home, "kept", sb_host_rules());
    rig->store = sb_kept_store_new(&want);
}

static void rig_close(struct rig *rig)
{
    sb_kept_store_free(rig->store);
    sb_buf_done(&rig->dir);
    tempdir_free(rig->home);
}

static struct sb_kept *new_run(struct rig *rig, const char *peer, const char *owner)
{
    return sb_kept_new(rig->store, peer, owner, (void *)(uintptr_t)owner);
}

static int add(struct sb_kept *kept, const char *name, size_t len, struct sb_err *err)
{
    char *bytes = sb_alloc(len + 1);
    int rc;

    for (size_t i = 0; i < len; i++)
        bytes[i] = (char)('a' + i % 26);
    rc = sb_kept_add(kept, name, bytes, len, err);
    sb_free(bytes);
    return rc;
}

static void must_add(struct sb_kept *kept, const char *name, size_t len)
{
    struct sb_err err = {0};

    if (add(kept, name, len, &err) < 0 || sb_kept_end(kept, name, &err) < 0)
        fail_msg("%s", err.text);
}

static void check_read(struct sb_kept *kept, const char *name, uint64_t offset, size_t most, size_t count,
                       uint64_t size)
{
    struct sb_err err = {0};
    struct sb_buf out;
    uint64_t total = 0;

    sb_buf_init(&out, 100000);
    if (sb_kept_read(kept, name, offset, most, &out, &total, &err) < 0)
        fail_msg("%s", err.text);
    assert_int_equal(out.len, count);
    assert_int_equal(total, size);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(out.data[i], 'a' + (offset + i) % 26);
    sb_buf_done(&out);
}

static bool on_disk(const struct rig *rig, const char *rest)
{
    struct sb_buf path;
    bool found;

    sb_buf_init(&path, SB_PATH_MAX_BYTES);
    sb_path_join(&path, rig->dir.data, rest, sb_host_rules());
    found = tempdir_has(path.data);
    sb_buf_done(&path);
    return found;
}

static void kept_reads_by_name_and_offset(void **state)
{
    struct rig rig;
    struct sb_kept *run;

    (void)state;
    rig_open(&rig);
    run = new_run(&rig, "ann", "r_1");
    must_add(run, "@stdout", 10000);
    must_add(run, "@stderr", 100);
    must_add(run, "./a/../b\n", 5000); /* a name is never a path of the host's */
    must_add(run, "./empty", 0);
    check_read(run, "@stdout", 0, 100000, 10000, 10000);
    check_read(run, "@stdout", 9990, 100, 10, 10000);
    check_read(run, "@stdout", 10000, 100, 0, 10000);
    check_read(run, "@stdout", UINT64_MAX, 100, 0, 10000);
    check_read(run, "@stderr", 90, 5, 5, 100);
    check_read(run, "./a/../b\n", 4999, 5, 1, 5000);
    check_read(run, "./empty", 0, 5, 0, 0);
    sb_kept_free(run);
    assert_false(on_disk(&rig, "r_1"));
    rig_close(&rig);
}

static void kept_pieces_join_over_the_border_of_memory(void **state)
{
    struct rig rig;
    struct sb_kept *run;
    struct sb_err err = {0};
    size_t len = 0;

    (void)state;
    rig_open(&rig);
    run = new_run(&rig, "ann", "r_1");
    for (; len + 26 <= SB_KEPT_SMALL; len += 26)
        assert_int_equal(add(run, "x", 26, &err), 0);
    assert_false(on_disk(&rig, "r_1"));
    assert_int_equal(add(run, "x", 2600, &err), 0);
    assert_true(on_disk(&rig, "r_1"));
    assert_int_equal(sb_kept_end(run, "x", &err), 0);
    check_read(run, "x", 0, 100000, len + 2600, len + 2600);
    sb_kept_free(run);
    rig_close(&rig);
}

static void kept_names_what_there_is(void **state)
{
    struct rig rig;
    struct sb_kept *run;
    struct sb_err err = {0};
    struct sb_buf out;
    uint64_t total;

    (void)state;
    rig_open(&rig);
    run = new_run(&rig, "ann", "r_1");
    sb_buf_init(&out, 10);
    assert_int_equal(sb_kept_read(run, "x", 0, 1, &out, &total, &err), -1);
    assert_string_equal(err.text, "run r_1 has no 'x': nothing is kept of it");
    must_add(run, "@stdout", 1);
    must_add(run, "./plot.png", 1);
    assert_int_equal(sb_kept_read(run, "x", 0, 1, &out, &total, &err), -1);
    assert_int_equal(err.code, SB_NOT_FOUND);
    assert_string_equal(err.text, "run r_1 has no 'x': there is @stdout, ./plot.png");
    sb_kept_free(run);
    rig_close(&rig);
}

static void kept_expires(void **state)
{
    struct rig rig;
    struct sb_kept *open;

    (void)state;
    rig_open(&rig);
    open = new_run(&rig, "ann", "open");
    for (int i = 0; i < 2; i++) {
        struct sb_kept *run = new_run(&rig, "ann", i == 0 ? "1" : "2");

        must_add(run, "x", 5000);
        sb_kept_seal(run, i * MINUTE, 0);
    }
    assert_int_equal(sb_kept_expire(rig.store, 30 * MINUTE - 1), 30 * MINUTE);
    assert_string_equal(dropped, "");
    assert_int_equal(sb_kept_expire(rig.store, 30 * MINUTE), 31 * MINUTE);
    assert_string_equal(dropped, "1");
    assert_false(on_disk(&rig, "1"));
    assert_true(on_disk(&rig, "2"));
    assert_int_equal(sb_kept_expire(rig.store, 99 * MINUTE), -1); /* what is not sealed has no age */
    assert_string_equal(dropped, "12");
    sb_kept_free(open);
    rig_close(&rig);
}

static void kept_gives_the_oldest_of_a_peer_for_bytes(void **state)
{
    struct rig rig;
    struct sb_kept *runs[4];
    static const char *const names[] = {"1", "2", "3", "4"};

    (void)state;
    rig_open(&rig);
    for (size_t i = 0; i < 3; i++) {
        runs[i] = new_run(&rig, i == 0 ? "bob" : "ann", names[i]);
        must_add(runs[i], "x", 8000);
        sb_kept_seal(runs[i], (int64_t)i, 0);
    }
    runs[3] = new_run(&rig, "ann", names[3]);
    must_add(runs[3], "x", 4000);
    assert_string_equal(dropped, "");
    must_add(runs[3], "y", 1);
    assert_string_equal(dropped, "2"); /* bob's is older, but his */
    check_read(runs[0], "x", 0, 10, 10, 8000);
    check_read(runs[3], "x", 0, 10, 10, 4000);
    sb_kept_free(runs[0]);
    sb_kept_free(runs[2]);
    sb_kept_free(runs[3]);
    rig_close(&rig);
}

static void kept_gives_the_oldest_for_the_count_and_for_memory(void **state)
{
    struct rig rig;
    struct sb_kept *run = NULL;
    static const char *const names[] = {"1", "2", "3", "4"};

    (void)state;
    rig_open(&rig);
    for (size_t i = 0; i < 4; i++) {
        run = new_run(&rig, "ann", names[i]);
        must_add(run, "x", 10);
        sb_kept_seal(run, (int64_t)i, 0);
    }
    assert_string_equal(dropped, "1"); /* three may be */
    run = new_run(&rig, "ann", "5");
    sb_kept_seal(run, 5, 19985); /* with one other's 10 bytes it fits */
    assert_string_equal(dropped, "123");
    assert_int_equal(sb_kept_expire(rig.store, 99 * MINUTE), -1);
    rig_close(&rig);
}

static void kept_refuses_a_run_that_is_too_large_alone(void **state)
{
    struct rig rig;
    struct sb_kept *run;
    struct sb_err err = {0};
    const char *path;

    (void)state;
    rig_open(&rig);
    run = new_run(&rig, "ann", "r_1");
    must_add(run, "x", 15000);
    assert_int_equal(add(run, "y", 3000, &err), 0);
    assert_int_equal(add(run, "y", 3000, &err), -1);
    assert_int_equal(err.code, SB_LIMIT);
    assert_false(sb_kept_has(run, "y")); /* a part of it would pass for the whole */
    assert_int_equal(sb_kept_reserve(run, "z", 5001, &path, &err), -1);
    assert_false(sb_kept_has(run, "z"));
    must_add(run, "y", 5000); /* its room is free again */
    check_read(run, "y", 0, 100000, 5000, 5000);
    sb_kept_free(run);
    rig_close(&rig);
}

static void kept_takes_so_many_items(void **state)
{
    struct rig rig;
    struct sb_kept *run;
    struct sb_err err = {0};
    char name[16];

    (void)state;
    rig_open(&rig);
    run = new_run(&rig, "ann", "r_1");
    for (int i = 0; i < SB_KEPT_ITEMS; i++) {
        snprintf(name, sizeof name, "%d", i);
        must_add(run, name, 1);
    }
    assert_int_equal(add(run, "more", 1, &err), -1);
    assert_int_equal(err.code, SB_LIMIT);
    sb_kept_free(run);
    rig_close(&rig);
}

static void kept_says_so_when_no_file_can_be_made(void **state)
{
    struct rig rig;
    struct sb_kept *run;
    struct sb_err err = {0};

    (void)state;
    rig_open(&rig);
    tempdir_write(rig.dir.data, "a file in the way", 0600);
    run = new_run(&rig, "ann", "r_1");
    must_add(run, "small", 100); /* needs none */
    assert_int_equal(add(run, "large", 5000, &err), -1);
    assert_true(strlen(err.text) > 0);
    assert_false(sb_kept_has(run, "large"));
    check_read(run, "small", 0, 100, 100, 100);
    sb_kept_free(run);
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kept_reads_by_name_and_offset),
        cmocka_unit_test(kept_pieces_join_over_the_border_of_memory),
        cmocka_unit_test(kept_names_what_there_is),
        cmocka_unit_test(kept_expires),
        cmocka_unit_test(kept_gives_the_oldest_of_a_peer_for_bytes),
        cmocka_unit_test(kept_gives_the_oldest_for_the_count_and_for_memory),
        cmocka_unit_test(kept_refuses_a_run_that_is_too_large_alone),
        cmocka_unit_test(kept_takes_so_many_items),
        cmocka_unit_test(kept_says_so_when_no_file_can_be_made),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
