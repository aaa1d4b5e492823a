import { actions } from '../actions/actions.ts';
import { payloadShapes } from '../contract/payloads.ts';
import { RunnerItem } from '../contract/runner-item.ts';
import { User } from '../contract/users.ts';
import { facts } from '../facts/facts.ts';
import type { RuleRegistry } from './rule.ts';

/** What rule files of this program may speak of: its facts, its actions, the payloads of its event kinds. */
export const registry: RuleRegistry = {
  facts,
  actions,
  payloads: payloadShapes,
  variables: { sender: User, runner: RunnerItem },
};
