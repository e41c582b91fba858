/* SPDX-License-Identifier: MIT
 * Every setting from every place, every refusal's sentence, and the manual. After a change:
 *     SB_REGENERATE=1 BUILD/tests/unit_server_config_test
 * writes the tables of docs/CONFIG.md anew. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "server/config.h"
#include "unit/server/repository.h"

#define DOCS  "../docs/CONFIG.md"
#define BEGIN "<!-- generated: settings -->\n"
#define END   "<!-- end of generated -->\n"

static struct sb_config config;
static struct sb_err err;

static int forget(void **state)
{
    (void)state;
    sb_config_done(&config);
    memset(&err, 0, sizeof err);
    return 0;
}

/* `file` is JSON or NULL, `env` NAME=value separated by "|" or NULL. */
static int reads(const char *file, const char *env, const struct sb_config_want *want)
{
    const struct sb_config_want nothing = {0};
    struct sb_argv variables = {0};
    int rc;

    while (env != NULL && *env != '\0') {
        size_t len = strcspn(env, "|");

        sb_argv_pushf(&variables, "%.*s", (int)len, env);
        env += len + (env[len] == '|');
    }
    forget(NULL);
    rc = sb_config_read(want != NULL ? want : &nothing, file != NULL ? "c.json" : NULL, file,
                        file != NULL ? strlen(file) : 0, &variables, &config, &err);
    sb_argv_done(&variables);
    return rc;
}

static void takes(const char *env)
{
    if (reads(NULL, env, NULL) < 0)
        fail_msg("%s: %s", env, err.text);
}

static void refuses(const char *file, const char *env, const char *sentence)
{
    assert_int_equal(reads(file, env, NULL), -1);
    if (strstr(err.text, sentence) == NULL)
        fail_msg("%s: '%s' does not say '%s'", env != NULL ? env : file, err.text, sentence);
    assert_null(config.backend); /* nothing is owned */
}

static void nothing_given_is_the_defaults(void **state)
{
    (void)state;
    assert_int_equal(reads(NULL, NULL, NULL), 0);
    assert_string_equal(config.backend, "auto");
    assert_string_equal(config.result_format, "text");
    assert_false(config.allow_weak || config.strict);
    assert_true(config.timeout == 30 && config.timeout_most == 3600);
    assert_int_equal(config.memory_mb, 0);
    assert_null(config.file);
    for (int key = 0; key < SB_KEY_COUNT; key++) {
        assert_int_equal(config.source[key], SB_FROM_DEFAULT);
        assert_null(sb_config_idle(&config, (enum sb_config_key)key));
    }
}

static void every_variable_reaches_its_key(void **state)
{
    static const struct {
        const char *name, *value;
        enum sb_config_key key;
    } cases[] = {
        {"BACKEND", "bubblewrap", SB_KEY_BACKEND},
        {"SANDBOX_ALLOW_WEAK", "1", SB_KEY_ALLOW_WEAK},
        {"SANDBOX_MEMORY", "64m", SB_KEY_MEMORY},
        {"SANDBOX_MEM_LIMIT", "64m", SB_KEY_MEMORY},
        {"SANDBOX_CPUS", "1.5", SB_KEY_CPUS},
        {"SANDBOX_CPU_COUNT", "2", SB_KEY_CPUS},
        {"SANDBOX_RESULT_FORMAT", "json", SB_KEY_RESULT_FORMAT},
        {"SANDBOX_NETWORK_MODE", "none", SB_KEY_NETWORK_MODE},
        {"SANDBOX_READ_ONLY", "true", SB_KEY_READ_ONLY},
        {"SANDBOX_PRIVILEGED", "false", SB_KEY_PRIVILEGED},
        {"SANDBOX_CAP_DROP", "ALL", SB_KEY_CAP_DROP},
        {"SANDBOX_SECURITY_OPT", "x", SB_KEY_SECURITY_OPT},
        {"DOCKER_HOST", "unix:///x", SB_KEY_DOCKER_HOST},
        {"KUBECONFIG", "/x", SB_KEY_KUBECONFIG},
        {"NAMESPACE", "x", SB_KEY_NAMESPACE},
        {"COMMIT_CONTAINER", "no", SB_KEY_COMMIT_CONTAINER},
        {"KEEP_TEMPLATE", "yes", SB_KEY_KEEP_TEMPLATE},
        {"R_REPO", "https://x/", SB_KEY_R_REPO},
    };
    size_t known = 0;

    (void)state;
    while (sb_config_variables[known].name != NULL)
        known++;
    assert_int_equal(known, SB_COUNT(cases));
    for (size_t i = 0; i < SB_COUNT(cases); i++) {
        char *env = sb_asprintf("%s= %s\t", cases[i].name, cases[i].value);

        takes(env);
        assert_int_equal(config.source[cases[i].key], SB_FROM_ENVIRONMENT);
        assert_string_equal(config.variable[cases[i].key], cases[i].name);
        assert_true(config.given[cases[i].key]);
        sb_free(env);
        env = sb_asprintf("%s=  ", cases[i].name);
        takes(env); /* blank is unset */
        assert_int_equal(config.source[cases[i].key], SB_FROM_DEFAULT);
        sb_free(env);
    }
    takes("SANDBOX_FOO=bar|UNRELATED=1");
}

static void booleans_are_spelled_in_eight_ways(void **state)
{
    static const char *const yes[] = {"true", "1", "yes", "ON"}, *const no[] = {"False", "0", "no", "off"};

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        char *env = sb_asprintf("SANDBOX_ALLOW_WEAK=%s|SANDBOX_READ_ONLY=%s", yes[i], no[i]);

        takes(env);
        assert_true(config.allow_weak && !config.read_only);
        sb_free(env);
    }
    for (const struct sb_variable *v = sb_config_variables; v->name != NULL; v++)
        if (v->kind == SB_VARIABLE_BOOL) {
            char *env = sb_asprintf("%s=perhaps", v->name);
            char *text =
                sb_asprintf("%s is 'perhaps': use true or false (%s must be one of: true, false, 1, 0, yes, "
                            "no, on, off)",
                            v->name, v->name);

            refuses(NULL, env, text);
            sb_free(env);
            sb_free(text);
        }
}

static void wrong_values_are_named(void **state)
{
    static const struct {
        const char *env, *sentence;
    } cases[] = {
        {"SANDBOX_CPU_COUNT=many", "SANDBOX_CPU_COUNT must be a positive number"},
        {"SANDBOX_CPU_COUNT=nan", "SANDBOX_CPU_COUNT must be a positive number"},
        {"SANDBOX_CPU_COUNT=0", "SANDBOX_CPU_COUNT must be greater than 0"},
        {"SANDBOX_CPU_COUNT=-1", "SANDBOX_CPU_COUNT must be greater than 0"},
        {"SANDBOX_CPU_COUNT=1.5",
         "SANDBOX_CPU_COUNT must be a whole number when mapped to cpu_period/cpu_quota"},
        {"SANDBOX_CPUS=x", "SANDBOX_CPUS must be a positive number"},
        {"SANDBOX_CPUS=inf", "SANDBOX_CPUS must be a positive number"},
        {"SANDBOX_CPUS=0x2", "SANDBOX_CPUS must be a positive number"},
        {"SANDBOX_CPUS=0", "SANDBOX_CPUS must be greater than 0"},
        {"SANDBOX_CPUS=0.000001", "SANDBOX_CPUS is too small to translate into cpu_quota"},
        {"SANDBOX_CPUS=5000", "SANDBOX_CPUS must be a number from 1e-05 to 4096"},
        {"SANDBOX_MEMORY=lots", "SANDBOX_MEMORY is 'lots': use a number of bytes, or one with k, m or g"},
        {"SANDBOX_MEMORY=-5m", "SANDBOX_MEMORY is '-5m'"},
        {"SANDBOX_MEMORY=0x10m", "SANDBOX_MEMORY is '0x10m'"},
        {"SANDBOX_MEMORY=m", "SANDBOX_MEMORY is 'm'"},
        {"SANDBOX_MEM_LIMIT=512", "SANDBOX_MEM_LIMIT is '512': from 16m to 1024g are allowed"},
        {"SANDBOX_MEM_LIMIT=2000g", "SANDBOX_MEM_LIMIT is '2000g': from 16m to 1024g"},
        {"SANDBOX_NETWORK_MODE=host", "SANDBOX_NETWORK_MODE is 'host': a box never shares"},
        {"SANDBOX_NETWORK_MODE=HOST", "SANDBOX_NETWORK_MODE is 'HOST'"},
        {"SANDBOX_NETWORK_MODE=container:db", "SANDBOX_NETWORK_MODE is 'container:db'"},
        {"SANDBOX_PRIVILEGED=true", "SANDBOX_PRIVILEGED is true: backend auto never runs privileged"},
        {"SANDBOX_RESULT_FORMAT=xml", "SANDBOX_RESULT_FORMAT must be 'text' or 'json', not 'xml'"},
        {"BACKEND=kubernetes|SANDBOX_CAP_DROP=",
         "SANDBOX_CAP_DROP can't be used with the backend kubernetes"},
    };

    (void)state;
    for (size_t i = 0; i < SB_COUNT(cases); i++)
        refuses(NULL, cases[i].env, cases[i].sentence);
    takes("BACKEND=docker|SANDBOX_PRIVILEGED=true"); /* a container may be */
    takes("BACKEND=Kubernetes|NAMESPACE=x");
    assert_string_equal(config.backend, "kubernetes");
}

static void kubernetes_refuses_each_of_the_nine(void **state)
{
    size_t count = 0;

    (void)state;
    for (const struct sb_variable *v = sb_config_variables; v->name != NULL; v++)
        if (v->not_on_kubernetes) {
            char *env = sb_asprintf("BACKEND=kubernetes|%s=", v->name);

            refuses(NULL, env, "pod_manifest");
            assert_non_null(strstr(err.text, v->name));
            sb_free(env);
            count++;
        }
    assert_int_equal(count, 9);
}

static void a_later_place_wins(void **state)
{
    const struct sb_config_want want = {.backend = "job", .allow_weak = true};

    (void)state;
    assert_int_equal(reads("{\"backend\":\"one\",\"strict\":true}", NULL, NULL), 0);
    assert_string_equal(config.backend, "one");
    assert_int_equal(config.source[SB_KEY_BACKEND], SB_FROM_FILE);
    assert_string_equal(config.file, "c.json");
    assert_int_equal(reads("{\"backend\":\"one\",\"strict\":true}", "BACKEND=two", NULL), 0);
    assert_string_equal(config.backend, "two");
    assert_true(config.strict);
    assert_string_equal(sb_config_origin(&config, SB_KEY_BACKEND), "BACKEND");
    assert_int_equal(reads("{\"backend\":\"one\"}", "BACKEND=two|SANDBOX_ALLOW_WEAK=perhaps", &want), 0);
    assert_string_equal(config.backend, "job"); /* and the wrong variable is mended by the option */
    assert_true(config.allow_weak);
    assert_string_equal(sb_config_origin(&config, SB_KEY_BACKEND), "--backend");
    assert_int_equal(reads("{\"allow_weak\":true}", "SANDBOX_ALLOW_WEAK=no", NULL), 0);
    assert_false(config.allow_weak);
}

static void of_two_variables_the_reference_prefers_one(void **state)
{
    (void)state;
    takes("SANDBOX_MEM_LIMIT=1g|SANDBOX_MEMORY=64m|SANDBOX_CPU_COUNT=2|SANDBOX_CPUS=not looked at");
    assert_int_equal(config.memory_mb, 1024);
    assert_true(config.cpus == 2);
    assert_int_equal(config.shadowed.n, 2);
    assert_string_equal(config.shadowed.v[0], "SANDBOX_MEMORY");
    assert_string_equal(config.shadowed.v[1], "SANDBOX_CPUS");
    takes("SANDBOX_MEM_LIMIT= |SANDBOX_MEMORY=64MB");
    assert_int_equal(config.memory_mb, 64);
    takes("SANDBOX_MEMORY=104857600");
    assert_int_equal(config.memory_mb, 100);
    takes("SANDBOX_CAP_DROP= NET_RAW, ,ALL,");
    assert_int_equal(config.cap_drop.n, 2);
}

static void a_wrong_file_is_named_with_its_mistake(void **state)
{
    (void)state;
    refuses("{\"bakend\":\"auto\"}", NULL,
            "configuration 'c.json': unknown name 'bakend': did you mean 'backend'?");
    refuses("{\"backend\":1}", NULL, "configuration 'c.json': backend must be a string");
    refuses("{\"allow_weak\":\"yes\"}", NULL, "allow_weak must be true or false, not a string");
    refuses("{\"timeout\":0}", NULL, "timeout must be a number from 0.1 to 3600, not 0");
    refuses("{\"backend\":\"a\",\"backend\":\"b\"}", NULL, "configuration 'c.json': ");
    refuses("", NULL, "configuration 'c.json': ");
    refuses("[]", NULL, "expected an object");
    refuses("{\"memory\":\"x\"}", NULL, "memory is 'x'");
    refuses("{\"network_mode\":\"host\"}", NULL, "network_mode is 'host'");
    refuses("{\"timeout\":60,\"timeout_most\":10}", NULL, "timeout 60 is above timeout_most 10");
}

static void what_changes_nothing_is_said(void **state)
{
    static const struct {
        const char *env;
        enum sb_config_key key;
        const char *why;
    } cases[] = {
        {"SANDBOX_NETWORK_MODE=none", SB_KEY_NETWORK_MODE, "already so: "},
        {"SANDBOX_NETWORK_MODE=bridge", SB_KEY_NETWORK_MODE, "no effect: "},
        {"SANDBOX_READ_ONLY=1", SB_KEY_READ_ONLY, "already so: "},
        {"SANDBOX_READ_ONLY=0", SB_KEY_READ_ONLY, "no effect: "},
        {"SANDBOX_PRIVILEGED=0", SB_KEY_PRIVILEGED, "already so: "},
        {"SANDBOX_CPUS=1", SB_KEY_CPUS, "no effect: "},
        {"DOCKER_HOST=x", SB_KEY_DOCKER_HOST, "no effect: "},
        {"R_REPO=x", SB_KEY_R_REPO, "no effect: "},
    };

    (void)state;
    for (size_t i = 0; i < SB_COUNT(cases); i++) {
        takes(cases[i].env);
        assert_non_null(sb_config_idle(&config, cases[i].key));
        assert_memory_equal(sb_config_idle(&config, cases[i].key), cases[i].why, strlen(cases[i].why));
    }
    takes("BACKEND=bubblewrap|SANDBOX_MEMORY=64m|SANDBOX_RESULT_FORMAT=json|SANDBOX_ALLOW_WEAK=1");
    for (int key = 0; key < SB_KEY_COUNT; key++)
        assert_null(sb_config_idle(&config, (enum sb_config_key)key));
}

static void limits_are_defaults_and_ceilings(void **state)
{
    struct sb_ask ask = {.allow_weak = false};

    (void)state;
    assert_int_equal(reads("{\"timeout_most\":10,\"strict\":true}", "SANDBOX_MEMORY=64m", NULL), 0);
    assert_int_equal(sb_config_limit(&config, &ask, &err), 0);
    assert_true(ask.strict);
    assert_int_equal(ask.value[SB_ROW_TIMEOUT_MS], 10000); /* the default gives way to the ceiling */
    assert_int_equal(ask.value[SB_ROW_MEMORY_MB], 64);
    ask.value[SB_ROW_TIMEOUT_MS] = 10001;
    assert_int_equal(sb_config_limit(&config, &ask, &err), -1);
    assert_non_null(strstr(err.text, "timeout 10.001 s is above the 10 s that the configuration allows"));
    ask.value[SB_ROW_TIMEOUT_MS] = 100;
    ask.value[SB_ROW_MEMORY_MB] = 65;
    assert_int_equal(sb_config_limit(&config, &ask, &err), -1);
    assert_non_null(strstr(err.text, "memory_mb 65 is above the 64 that SANDBOX_MEMORY allows"));
    ask.value[SB_ROW_MEMORY_MB] = 32;
    assert_int_equal(sb_config_limit(&config, &ask, &err), 0);
    assert_int_equal(ask.value[SB_ROW_MEMORY_MB], 32);
}

static void a_named_file_must_be_there(void **state)
{
    const struct sb_config_want want = {.file = "/nowhere/llm-sandbox.json"};

    (void)state;
    assert_int_equal(sb_config_load(&want, &config, &err), -1);
    assert_non_null(strstr(err.text, "cannot read the configuration '/nowhere/llm-sandbox.json'"));
}

static void put_docs(struct sb_buf *out)
{
    sb_config_markdown(out);
    sb_buf_addc(out, '\n');
}

static void the_manual_has_all_settings(void **state)
{
    (void)state;
    repository_compare_section(DOCS, BEGIN, END, put_docs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(nothing_given_is_the_defaults, forget),
        cmocka_unit_test_teardown(every_variable_reaches_its_key, forget),
        cmocka_unit_test_teardown(booleans_are_spelled_in_eight_ways, forget),
        cmocka_unit_test_teardown(wrong_values_are_named, forget),
        cmocka_unit_test_teardown(kubernetes_refuses_each_of_the_nine, forget),
        cmocka_unit_test_teardown(a_later_place_wins, forget),
        cmocka_unit_test_teardown(of_two_variables_the_reference_prefers_one, forget),
        cmocka_unit_test_teardown(a_wrong_file_is_named_with_its_mistake, forget),
        cmocka_unit_test_teardown(what_changes_nothing_is_said, forget),
        cmocka_unit_test_teardown(limits_are_defaults_and_ceilings, forget),
        cmocka_unit_test_teardown(a_named_file_must_be_there, forget),
        cmocka_unit_test_teardown(the_manual_has_all_settings, forget),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
