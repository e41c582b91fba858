/* SPDX-License-Identifier: MIT
 * What the parts of the wire suite share: a fixture with one box per test, and the few steps
 * every test makes. All of them fail the test themselves. */
#ifndef TESTS_WIRE_SUITE_H
#define TESTS_WIRE_SUITE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "wire/box.h"
#include "wire/client.h"

struct fixture {
    struct box box;
    struct client client;
    char token[48]; /* in the command line of every program that outlives its parent */
};

extern struct box_suite suite; /* of this run */
extern const int soon_ms;      /* what is due at once: longer under Wine */

bool under_wine(void);
bool as_pid1(void);
/* Says why, and ends the test as skipped. */
void skip_because(const char *why);

/* Opens the box's process and nothing more. */
struct fixture *open_box(void **state);
/* And speaks START, waits for HELLO. */
struct fixture *ready_box(void **state);
uint32_t start_flags(void); /* what START says in this mode */

/* The workspace as the host of the test sees it: dir/NAME. */
const char *in_workspace(const struct fixture *f, const char *name);

/* A run of testprog with these arguments (the last one is NULL) and limits or flags. */
struct run_want {
    uint32_t flags;
    struct sb_wire_limits limits;
    const char *cwd;
    const char *const *env;
};
struct client_op *start_run(struct fixture *f, const struct run_want *want, const char *const *args);
/* The same without wants; up to its EXIT. */
struct client_op *do_run(struct fixture *f, const char *const *args);
#define RUN(f, ...)         do_run(f, (const char *const[]){__VA_ARGS__, NULL})
#define START(f, want, ...) start_run(f, want, (const char *const[]){__VA_ARGS__, NULL})

void must(struct fixture *f, int rc); /* rc of a client call: 0, or fail with its text */
void finish(struct fixture *f, const struct client_op *op);
void assert_exited(const struct client_op *op, uint32_t code);
void assert_stopped_by(const struct client_op *op, enum sb_limit limit);
void assert_out(const struct client_op *op, const char *text);
void assert_error(const struct client_op *op); /* ended by ERROR with a sentence */
void assert_still_serves(struct fixture *f);   /* a new run works */
void assert_gives_up(struct fixture *f);       /* ERROR 0 with a sentence, then the box ends */
/* Puts a whole file. */
void put_file(struct fixture *f, const char *path, const void *bytes, size_t len, uint32_t flags);

/* The tests of each part; the counts are of the same name. */
extern const struct CMUnitTest files_tests[], runs_tests[], output_tests[], ends_tests[], protocol_tests[],
    forge_tests[];
extern const size_t files_count, runs_count, output_count, ends_count, protocol_count, forge_count;
int setup_fixture(void **state);
int teardown_fixture(void **state);
#define WIRE_TEST(name) cmocka_unit_test_setup_teardown(name, setup_fixture, teardown_fixture)

#endif
