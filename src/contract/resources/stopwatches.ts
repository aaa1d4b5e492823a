import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { callerAs, issuesAs } from '../row-fields.ts';
import { inRepository, instant, int, list, pages, resource, text } from '../shape.ts';

/** A running stopwatch of an account for an issue or pull request. */
export const Stopwatch = resource(
  { issue_index: int },
  {
    created: instant,
    /** Seconds since the start. */
    seconds: int,
    /** The same time in words, for example `1 hour 2 minutes`. */
    duration: text,
    issue_title: text,
    repo_owner_name: text,
    repo_name: text,
  },
);
export type Stopwatch = z.output<typeof Stopwatch>;

const path = '/repos/{owner}/{repo}/issues/{index}/stopwatch';
const atIndex = z.object({ ...inRepository, index: int });
const inFile = 'routers/api/v1/repo/issue_stopwatch.go';

/** Stopwatches. No webhook is sent. Only writers can use them; other callers get a bare 403. */
export const stopwatchOperations = {
  startStopwatch: defineOperation({
    id: 'stopwatch.start',
    meaning:
      "Starts the caller's stopwatch for an issue, and ends one that runs for another issue; 409 if it runs for this one.",
    method: 'POST',
    path: `${path}/start`,
    ...issuesAs('signed-in'),
    params: atIndex,
    success: 201,
    errors: [403, 404, 409],
    source: `${inFile} StartIssueStopwatch`,
  }),
  stopStopwatch: defineOperation({
    id: 'stopwatch.stop',
    meaning: "Ends the caller's stopwatch, and adds its time to the tracked times; 409 if none runs.",
    method: 'POST',
    path: `${path}/stop`,
    ...issuesAs('signed-in'),
    params: atIndex,
    success: 201,
    errors: [403, 404, 409],
    source: `${inFile} StopIssueStopwatch`,
  }),
  deleteStopwatch: defineOperation({
    id: 'stopwatch.delete',
    meaning: "Removes the caller's stopwatch without its time; 409 if none runs.",
    method: 'DELETE',
    path: `${path}/delete`,
    ...issuesAs('signed-in'),
    params: atIndex,
    success: 204,
    errors: [403, 404, 409],
    source: `${inFile} DeleteIssueStopwatch`,
  }),
  listStopwatches: defineOperation({
    id: 'user.list-stopwatches',
    meaning: "Lists the caller's stopwatches.",
    method: 'GET',
    path: '/user/stopwatches',
    ...callerAs('self'),
    query: z.object(pages),
    success: 200,
    response: list(Stopwatch),
    errors: [403],
    publicOnly: 'closed',
    paging: 'count',
    source: `${inFile} GetStopwatches`,
  }),
} as const;
