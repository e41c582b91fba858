/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "platform/lock.h"
#include "sandbox/instance.h"
#include "unit/sandbox/tempdir.h"

static int setup(void **state)
{
    *state = tempdir_new();
    return 0;
}

static int teardown(void **state)
{
    tempdir_free(*state);
    return 0;
}

static struct sb_instance *open_in(const char *runtime)
{
    struct sb_instance *instance = NULL;
    struct sb_err err = {0};

    if (sb_instance_open_in(runtime, &instance, &err) < 0)
        fail_msg("%s", err.text);
    return instance;
}

/* What a host that was killed leaves: its directory with a lock nobody holds. */
static char *dead_instance(const char *runtime, const char *id, const char *journal)
{
    char *dir = sb_asprintf("%s/instances/%s", runtime, id), *path = sb_asprintf("%s/lock", dir);

    tempdir_mkdir(dir);
    tempdir_write(path, "", 0600);
    sb_free(path);
    path = sb_asprintf("%s/journal", dir);
    if (journal)
        tempdir_write(path, journal, 0600);
    sb_free(path);
    return dir;
}

static char *journal_text(const struct sb_instance *instance)
{
    static char text[4096];
    char *path = sb_asprintf("%s/journal", sb_instance_dir(instance));
    FILE *file = fopen(path, "rb");
    size_t len = file ? fread(text, 1, sizeof text - 1, file) : 0;

    text[len] = '\0';
    if (file)
        fclose(file);
    sb_free(path);
    return text;
}

static void an_instance_is_locked_for_life_and_leaves_nothing(void **state)
{
    struct sb_instance *instance = open_in(*state);
    char *dir = sb_strdup(sb_instance_dir(instance)), *lock = sb_asprintf("%s/lock", dir);
    struct sb_lock *mine = NULL;
    struct sb_err err = {0};

    assert_true(tempdir_has(dir));
    assert_int_equal(sb_lock_take(lock, &mine, &err), -1);
    assert_int_equal(err.code, SB_BUSY);
    assert_string_equal(sb_instance_runtime_dir(instance), *state);
    assert_non_null(strstr(dir, sb_instance_id(instance)));
    sb_instance_close(instance);
    assert_false(tempdir_has(dir));
    sb_free(lock);
    sb_free(dir);
}

static void two_instances_live_side_by_side(void **state)
{
    struct sb_instance *a = open_in(*state), *b = open_in(*state);

    assert_string_not_equal(sb_instance_id(a), sb_instance_id(b));
    assert_int_equal(sb_instance_sweep(a, 100), 0);
    assert_int_equal(sb_instance_sweep(b, 100), 0);
    assert_true(tempdir_has(sb_instance_dir(a)));
    assert_true(tempdir_has(sb_instance_dir(b)));
    sb_instance_close(a);
    assert_true(tempdir_has(sb_instance_dir(b)));
    sb_instance_close(b);
}

struct crowd {
    const char *runtime;
    struct sb_instance *sweeper; /* NULL: is born and closed again and again */
    struct sb_err err;
};

static void live(void *arg)
{
    struct crowd *crowd = arg;
    struct sb_instance *instance;

    for (int i = 0; i < 300 && crowd->err.code == SB_OK; i++)
        if (crowd->sweeper)
            sb_instance_sweep(crowd->sweeper, 1000);
        else if (sb_instance_open_in(crowd->runtime, &instance, &crowd->err) == 0)
            sb_instance_close(instance);
}

/* A newborn's directory has no lock for a moment, and looks dead. */
static void hosts_are_born_while_others_sweep(void **state)
{
    struct sb_instance *self = open_in(*state);
    struct crowd crowd[8];
    uv_thread_t threads[SB_COUNT(crowd)];

    memset(crowd, 0, sizeof crowd);
    for (size_t i = 0; i < SB_COUNT(crowd); i++) {
        crowd[i].runtime = *state;
        crowd[i].sweeper = i % 2 ? self : NULL;
        assert_int_equal(uv_thread_create(&threads[i], live, &crowd[i]), 0);
    }
    for (size_t i = 0; i < SB_COUNT(crowd); i++)
        uv_thread_join(&threads[i]);
    for (size_t i = 0; i < SB_COUNT(crowd); i++)
        if (crowd[i].err.code != SB_OK)
            fail_msg("%s", crowd[i].err.text);
    sb_instance_close(self);
}

static void no_runtime_directory_is_an_error_that_names_it(void **state)
{
    char *missing = sb_asprintf("%s/missing", (char *)*state);
    struct sb_instance *instance = NULL;
    struct sb_err err = {0};

    assert_int_equal(sb_instance_open_in(missing, &instance, &err), -1);
    assert_null(instance);
    assert_non_null(strstr(err.text, "missing"));
    sb_free(missing);
}

static void the_dead_are_swept_and_what_they_wrote_down_is_undone(void **state)
{
    struct sb_instance *self = open_in(*state);
    char *victim = sb_asprintf("%s/victim", (char *)*state), *kept = sb_asprintf("%s/kept", (char *)*state);
    char *journal = sb_asprintf("+ 1 tree %s\n+ 2 tree %s\n- 1\n", kept, victim);
    char *dead = dead_instance(*state, "aaaaaaaaaaaaaaaa", journal);

    tempdir_mkdir(victim);
    tempdir_mkdir(kept);
    assert_int_equal(sb_instance_sweep(self, 100), 1);
    assert_false(tempdir_has(dead));
    assert_false(tempdir_has(victim));
    assert_true(tempdir_has(kept)); /* its entry was struck out */
    assert_int_equal(sb_instance_sweep(self, 100), 0);
    sb_instance_close(self);
    sb_free(dead);
    sb_free(journal);
    sb_free(victim);
    sb_free(kept);
}

static void a_sweep_mends_no_more_than_it_was_told(void **state)
{
    struct sb_instance *self = open_in(*state);

    for (char c = 'a'; c <= 'e'; c++) {
        char id[17];

        memset(id, c, 16);
        id[16] = '\0';
        sb_free(dead_instance(*state, id, NULL));
    }
    assert_int_equal(sb_instance_sweep(self, 2), 2);
    assert_int_equal(sb_instance_sweep(self, 2), 2);
    assert_int_equal(sb_instance_sweep(self, 2), 1);
    sb_instance_close(self);
}

static void only_instances_are_swept(void **state)
{
    struct sb_instance *self = open_in(*state);
    char *other = dead_instance(*state, "not-an-instance!", NULL);

    assert_int_equal(sb_instance_sweep(self, 100), 0);
    assert_true(tempdir_has(other));
    sb_instance_close(self);
    sb_free(other);
}

static void a_torn_last_line_is_harmless(void **state)
{
    struct sb_instance *self = open_in(*state);
    char *victim = sb_asprintf("%s/victim", (char *)*state), *kept = sb_asprintf("%s/kept", (char *)*state);
    char *journal = sb_asprintf("+ 1 tree %s\n+ 2 tree %s", victim, kept);
    char *dead = dead_instance(*state, "aaaaaaaaaaaaaaaa", journal);

    tempdir_mkdir(victim);
    tempdir_mkdir(kept);
    assert_int_equal(sb_instance_sweep(self, 100), 1);
    assert_false(tempdir_has(victim));
    assert_true(tempdir_has(kept)); /* never begun: the line comes before the change */
    sb_instance_close(self);
    sb_free(dead);
    sb_free(journal);
    sb_free(victim);
    sb_free(kept);
}

static void nonsense_in_a_journal_undoes_nothing(void **state)
{
    struct sb_instance *self = open_in(*state);
    char *dead = dead_instance(*state, "aaaaaaaaaaaaaaaa",
                               "+ 1 tree relative\n+ 2 nuke /x\n\n+ x tree /x\n- 9\n+ 3 tree \n\x01\x02\n");

    assert_int_equal(sb_instance_sweep(self, 100), 1);
    assert_false(tempdir_has(dead));
    sb_instance_close(self);
    sb_free(dead);
}

static void a_change_is_written_down_before_it_is_made_and_struck_out_after(void **state)
{
    struct sb_instance *self = open_in(*state);
    char *victim = sb_asprintf("%s/victim", (char *)*state), *line = sb_asprintf("+ 1 tree %s\n", victim);
    unsigned entry = 0;
    struct sb_err err = {0};

    assert_int_equal(sb_journal_add(self, SB_UNDO_TREE, victim, &entry, &err), 0);
    assert_int_equal(entry, 1);
    assert_string_equal(journal_text(self), line);
    tempdir_mkdir(victim);
    assert_int_equal(sb_journal_undo(self, entry, &err), 0);
    assert_false(tempdir_has(victim));
    assert_non_null(strstr(journal_text(self), "\n- 1\n"));
    assert_int_equal(sb_journal_undo(self, entry, &err), -1);
    assert_int_equal(err.code, SB_BUG);
    sb_instance_close(self);
    sb_free(line);
    sb_free(victim);
}

static void closing_undoes_what_is_left(void **state)
{
    struct sb_instance *self = open_in(*state);
    char *victim = sb_asprintf("%s/victim", (char *)*state);
    unsigned entry = 0;

    assert_int_equal(sb_journal_add(self, SB_UNDO_TREE, victim, &entry, NULL), 0);
    tempdir_mkdir(victim);
    sb_instance_close(self);
    assert_false(tempdir_has(victim));
    sb_free(victim);
}

static void paths_that_cant_be_read_back_are_refused(void **state)
{
    struct sb_instance *self = open_in(*state);
    char *line = sb_asprintf("%s/a\nb", (char *)*state);
    unsigned entry = 0;
    struct sb_err err = {0};

    assert_int_equal(sb_journal_add(self, SB_UNDO_TREE, line, &entry, &err), -1);
    assert_int_equal(err.code, SB_BAD_REQUEST);
    assert_int_equal(sb_journal_add(self, SB_UNDO_TREE, "relative", &entry, &err), -1);
    assert_int_equal(entry, 0);
    assert_string_equal(journal_text(self), "");
    sb_instance_close(self);
    sb_free(line);
}

static void a_journal_has_an_end(void **state)
{
    struct sb_instance *self = open_in(*state);
    char *path = sb_asprintf("%s/x", (char *)*state), *all = sb_alloc(SB_JOURNAL_ENTRIES * 1024);
    unsigned entry = 0, first = 0;
    struct sb_err err = {0};
    size_t len = 0;
    char *dead;

    /* 4096 entries from a dead host's file are read, the one after them is not */
    for (unsigned i = 1; i <= SB_JOURNAL_ENTRIES + 1; i++)
        len += (size_t)sprintf(all + len, "+ %u tree %s%u\n", i, path, i);
    dead = dead_instance(*state, "aaaaaaaaaaaaaaaa", all);
    sb_free(path);
    path = sb_asprintf("%s/x%u", (char *)*state, SB_JOURNAL_ENTRIES + 1);
    tempdir_mkdir(path);
    assert_int_equal(sb_instance_sweep(self, 1), 1);
    assert_true(tempdir_has(path));
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(sb_journal_add(self, SB_UNDO_TREE, path, i ? &entry : &first, &err), 0);
    assert_int_equal(entry, first + 2);
    sb_instance_close(self);
    sb_free(all);
    sb_free(dead);
    sb_free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_instance_is_locked_for_life_and_leaves_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(two_instances_live_side_by_side, setup, teardown),
        cmocka_unit_test_setup_teardown(hosts_are_born_while_others_sweep, setup, teardown),
        cmocka_unit_test_setup_teardown(no_runtime_directory_is_an_error_that_names_it, setup, teardown),
        cmocka_unit_test_setup_teardown(the_dead_are_swept_and_what_they_wrote_down_is_undone, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_sweep_mends_no_more_than_it_was_told, setup, teardown),
        cmocka_unit_test_setup_teardown(only_instances_are_swept, setup, teardown),
        cmocka_unit_test_setup_teardown(a_torn_last_line_is_harmless, setup, teardown),
        cmocka_unit_test_setup_teardown(nonsense_in_a_journal_undoes_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(a_change_is_written_down_before_it_is_made_and_struck_out_after,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(closing_undoes_what_is_left, setup, teardown),
        cmocka_unit_test_setup_teardown(paths_that_cant_be_read_back_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(a_journal_has_an_end, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
