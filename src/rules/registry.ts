import { actions } from '../actions/actions.ts';
import { payloadShapes } from '../contract/events/payloads.ts';
import { RunnerItem } from '../contract/events/runner-item.ts';
import { User } from '../contract/resources/users.ts';
import { facts } from '../facts/facts.ts';
import type { RuleRegistry } from './rule.ts';

/** What rule files of this program may speak of: its facts, its actions, the payloads of its event kinds. */
export const registry: RuleRegistry = {
  facts,
  actions,
  payloads: payloadShapes,
  variables: { sender: User, runner: RunnerItem },
};
