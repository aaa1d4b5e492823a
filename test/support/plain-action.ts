import { z } from 'zod';
import type { Action } from '../../src/actions/action.ts';
import type { Change } from '../../src/actions/change.ts';
import type { AnyInput } from '../../src/contract/operation.ts';
import { operations } from '../../src/contract/operations.ts';

/** Parameters of the repository that the changes are for. */
export const plainParams = { owner: 'acme', repo: 'demo' };

/** Returns the input of a request with a title. */
export const titled = (title: string): AnyInput => ({ params: plainParams, body: { title } });

/** Returns a change whose request has the target as its title. */
export const plainChange = (target: string, more: Partial<Change> = {}): Change => ({
  action: 'act',
  operation: operations.createIssue.id,
  input: titled(target),
  target,
  value: true,
  before: false,
  after: true,
  reason: '',
  ...more,
});

/** Returns an action that proposes no changes, with these members. */
export const plainAction = (more: Partial<Action> = {}): Action => ({
  name: 'act',
  meaning: '',
  example: '',
  arguments: z.unknown(),
  of: ['issue'],
  needs: { access: 'writer', scopes: ['issue'] },
  granted: true,
  visibleTo: 'administrators',
  inverses: {},
  adoption: undefined,
  describesState: true,
  facts: () => [],
  plan: async () => [],
  ...more,
});
