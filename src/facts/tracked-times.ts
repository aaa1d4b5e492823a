import { operations } from '../contract/operations.ts';
import { TrackedTime } from '../contract/resources/times.ts';
import { list } from '../contract/shape.ts';
import { defineFact } from './fact.ts';
import { indexParams } from './where.ts';

/** The tracked times of the issue or pull request. */
export const trackedTimes = defineFact({
  name: 'tracked_times',
  meaning:
    'The tracked times of the issue or pull request, in seconds. An account without write access to issues sees only its own. Not available if the repository does not track time.',
  shows: 'repository',
  visibleTo: 'administrators',
  shape: list(TrackedTime),
  of: ['issue', 'pull_request'],
  needs: { access: 'reader', scopes: ['issue'] },
  requests: 1,
  example: 'tracked_times.exists(t, t.time > 8 * 3600)',
  async ask({ client, subject }) {
    const found: TrackedTime[] = [];
    for await (const time of client.items(operations.listTimes, { params: indexParams(subject) }))
      found.push(time);
    return found;
  },
});
