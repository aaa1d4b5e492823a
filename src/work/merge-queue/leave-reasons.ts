import type { LeaveReason } from './state.ts';

/** Every reason for which a pull request leaves a queue, as people read it. */
export const leaveReasons = {
  merged: 'The queue merged it.',
  'merged-elsewhere': 'It was merged, and not by the queue.',
  checks: 'A required check failed on the head that contains the base.',
  conflict: 'It conflicts with the base.',
  pushed: 'Someone pushed to it.',
  closed: 'It was closed or deleted.',
  retargeted: 'It is to be merged into another branch.',
  unwanted: 'The conditions of its rule no longer hold, or it is a draft.',
  timeout: 'It was not merged within `timeout` of its turn.',
  fork: 'It is behind the base, and its head is in a fork that Reeve may not update.',
  refused: 'The forge refused to update or merge it three times in a row.',
  removed: 'A person removed it.',
  unserved: 'Its repository is archived, deleted, or not served any more. Nothing is written there.',
} as const satisfies Readonly<Record<LeaveReason, string>>;
