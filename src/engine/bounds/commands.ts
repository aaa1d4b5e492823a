import type { ActionMemory } from '../../actions/memory.ts';
import { withAnswer } from '../../facts/ask.ts';
import { command, notFound } from '../../facts/command.ts';
import { type FactRequest, type Facts, requestOf } from '../../facts/fact.ts';
import { requestsOfRule } from '../../rules/needs.ts';
import type { LoadedRule } from '../../rules/rule.ts';
import type { RunInput } from '../run-input.ts';

/** Which delivery a rule has executed the commands of a comment for, as the memory keeps it. */
type Execution = { readonly delivery: string; readonly at: string };

/** The beginning of the keys under which the memory keeps executions. They have an instant `at`. */
export const executionPrefix = 'command ';

/** What a rule does with commands in one run. */
export type CommandUse = {
  /** The facts of the run; without the commands where this rule has executed them for another delivery. */
  readonly facts: Facts;
  /** Notes that the rule has executed the commands of the comment, if it found one. Called before the first write. */
  readonly claim: () => Promise<void>;
};

/**
 * Returns what a rule does with the commands of the comment that caused the run. They are executed once per comment and
 * rule: a delivery that is attempted again, or whose rule waits, goes on; another one with the same comment, redelivered or
 * recorded, does not.
 */
export async function useCommands(
  rule: LoadedRule,
  { facts, event, announcedBy, trigger, id, now }: RunInput,
  memory: ActionMemory,
): Promise<CommandUse> {
  const { repository, comment } = facts.subject;
  const requests =
    event === undefined ? [] : requestsOfRule(rule).filter(({ name }) => name === command.name);
  if (requests.length === 0 || repository === undefined || comment === undefined) {
    return { facts, claim: async () => {} };
  }
  const key = `${executionPrefix}${repository.id}/${comment} ${rule.id}`;
  const delivery = announcedBy ?? trigger.delivery ?? id;
  const known = (await memory.get(key)) as Execution | undefined;
  if (known !== undefined && known.delivery !== delivery) {
    const reason = `this rule executed the commands of the comment at ${known.at}`;
    return { facts: withAnswer(facts, command.name, notFound(reason)), claim: async () => {} };
  }
  return {
    facts,
    async claim() {
      if (!(await isAnyFound(requests, facts))) return;
      const execution: Execution = { delivery, at: now.toISOString() };
      await memory.set(key, execution);
    },
  };
}

async function isAnyFound(requests: readonly FactRequest[], facts: Facts): Promise<boolean> {
  for (const { argument } of requests) {
    const answer = await facts.ask(requestOf(command, argument)).catch(() => undefined);
    if (answer?.found) return true;
  }
  return false;
}
