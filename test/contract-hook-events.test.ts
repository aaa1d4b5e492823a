import { describe, expect, it } from 'vitest';
import {
  enabledEvents,
  hookEventNames,
  namesToSend,
  shownEvents,
  wantedEvents,
} from '../src/contract/events/hook-events.ts';

describe('events of hooks', () => {
  const same: readonly [string, readonly string[], readonly string[]][] = [
    ['a family and what the forge makes of it', ['issues'], [...enabledEvents(['issues'])].reverse()],
    ['one kind of a family', ['pull_request_only', 'push'], ['push', 'pull_request']],
    [
      'reviews of a hook for all events',
      ['pull_request_review'],
      ['pull_request_review_approved', 'pull_request_review_rejected', 'pull_request_review_comment'],
    ],
    ['kinds of Forgejo', ['push', 'action_run_failure'], ['action_run_failure', 'push']],
  ];

  it.each(same)('are equal: %s', (_title, written, shown) => {
    expect(wantedEvents(written)).toEqual(shownEvents(shown));
  });

  it('differ if a family is wanted and the hook has only one kind of it', () => {
    expect(wantedEvents(['pull_request'])).not.toEqual(shownEvents(['pull_request']));
  });

  it('are wanted again when the forge returns them as it stored them', () => {
    for (const name of hookEventNames.filter((one) => !one.startsWith('action_run'))) {
      const kinds = wantedEvents([name]);
      expect(shownEvents(enabledEvents(namesToSend(kinds)))).toEqual(kinds);
    }
  });
});
