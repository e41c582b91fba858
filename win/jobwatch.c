/* SPDX-License-Identifier: MIT */
#include "jobwatch.h"

#include "base/alloc.h"
#include "platform/oserr.h"

struct watch {
    ULONG_PTR key; /* never used twice: a late message finds nobody */
    uv_async_t *bell;
    struct watch *next;
};

static SRWLOCK lock = SRWLOCK_INIT; /* guards all below */
static HANDLE port;
static ULONG_PTR last_key;
static struct watch *watches;

static void ring(ULONG_PTR key)
{
    AcquireSRWLockExclusive(&lock);
    for (struct watch *watch = watches; watch; watch = watch->next)
        if (watch->key == key)
            uv_async_send(watch->bell);
    ReleaseSRWLockExclusive(&lock);
}

static DWORD WINAPI listen_to_jobs(void *own_port)
{
    DWORD message;
    ULONG_PTR key;
    OVERLAPPED *detail; /* a process id, for some messages */

    while (GetQueuedCompletionStatus(own_port, &message, &key, &detail, INFINITE))
        if (message == JOB_OBJECT_MSG_ACTIVE_PROCESS_ZERO)
            ring(key);
    return 0;
}

/* With the lock held. The thread lives as long as the process. */
static int open_port(struct sb_err *err)
{
    if (port)
        return 0;
    HANDLE made = CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 1);
    HANDLE thread = made ? CreateThread(NULL, 0, listen_to_jobs, made, 0, NULL) : NULL;
    if (!thread) {
        sb_fail_os(err, "cannot listen to Job Objects");
        if (made)
            CloseHandle(made);
        return -1;
    }
    CloseHandle(thread);
    port = made;
    return 0;
}

int sb_job_watch(HANDLE job, uv_async_t *bell, ULONG_PTR *out_key, struct sb_err *err)
{
    int rc = -1;
    struct watch *watch = sb_alloc(sizeof *watch);

    AcquireSRWLockExclusive(&lock);
    if (open_port(err) < 0)
        goto done;
    JOBOBJECT_ASSOCIATE_COMPLETION_PORT where = {(void *)(last_key + 1), port};
    if (!SetInformationJobObject(job, JobObjectAssociateCompletionPortInformation, &where, sizeof where)) {
        sb_fail_os(err, "cannot listen to a Job Object");
        goto done;
    }
    *watch = (struct watch){++last_key, bell, watches};
    watches = watch;
    *out_key = last_key;
    watch = NULL;
    rc = 0;
done:
    ReleaseSRWLockExclusive(&lock);
    sb_free(watch);
    return rc;
}

void sb_job_unwatch(ULONG_PTR key)
{
    struct watch *gone = NULL;

    AcquireSRWLockExclusive(&lock);
    for (struct watch **at = &watches; *at; at = &(*at)->next)
        if ((*at)->key == key) {
            gone = *at;
            *at = gone->next;
            break;
        }
    ReleaseSRWLockExclusive(&lock);
    sb_free(gone);
}
