import { actions } from '../actions/actions.ts';
import { payloadShapes } from '../contract/events/payloads.ts';
import { RunnerItem } from '../contract/events/runner-item.ts';
import { User } from '../contract/resources/users.ts';
import { facts } from '../facts/facts.ts';
import type { RuleRegistry } from './rule.ts';

/** The facts, actions and event payloads available to rule files. */
export const registry: RuleRegistry = {
  facts,
  actions,
  payloads: payloadShapes,
  variables: { sender: User, runner: RunnerItem },
};
