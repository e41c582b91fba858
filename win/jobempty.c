/* SPDX-License-Identifier: MIT */
#include "jobempty.h"

#include <stddef.h>

#include "base/alloc.h"

static bool account(HANDLE job, JOBOBJECT_BASIC_ACCOUNTING_INFORMATION *out)
{
    return QueryInformationJobObject(job, JobObjectBasicAccountingInformation, out, sizeof *out, NULL);
}

/* Only a process that there is no more, or that says so itself, has ended. */
static bool has_ended(ULONG_PTR pid)
{
    HANDLE process = OpenProcess(SYNCHRONIZE, FALSE, (DWORD)pid);
    bool ended;

    if (!process)
        return GetLastError() == ERROR_INVALID_PARAMETER;
    ended = WaitForSingleObject(process, 0) == WAIT_OBJECT_0;
    CloseHandle(process);
    return ended;
}

/* `most`: how many the job counted; more are more than there were. */
static bool all_have_ended(HANDLE job, DWORD most)
{
    DWORD size = (DWORD)(offsetof(JOBOBJECT_BASIC_PROCESS_ID_LIST, ProcessIdList) + most * sizeof(ULONG_PTR));
    JOBOBJECT_BASIC_PROCESS_ID_LIST *list = sb_alloc(size);
    bool all = QueryInformationJobObject(job, JobObjectBasicProcessIdList, list, size, NULL);

    for (DWORD i = 0; all && i < list->NumberOfProcessIdsInList; i++)
        all = has_ended(list->ProcessIdList[i]);
    sb_free(list);
    return all;
}

/* The count alone would do on Windows. Wine 8 (measured) counts a process from before it has a
 * thread, and takes it back only when the last of its threads ends: whoever is killed while he
 * makes one (a new program makes its conhost.exe) leaves a process in the job that never ran and
 * never ends. So those that are counted are looked at. The total must be the same afterwards: else
 * one that we saw ended may have left another behind. */
bool sb_job_is_empty(HANDLE job)
{
    JOBOBJECT_BASIC_ACCOUNTING_INFORMATION before, after;

    if (!account(job, &before))
        return false;
    return before.ActiveProcesses == 0 ||
           (all_have_ended(job, before.ActiveProcesses) && account(job, &after) &&
            after.TotalProcesses == before.TotalProcesses);
}
