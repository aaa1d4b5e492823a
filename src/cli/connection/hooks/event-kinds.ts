import { type Capabilities, capabilityOfEvent } from '../../../client/capabilities.ts';
import { eventFamilies } from '../../../contract/events/event-families.ts';
import { hookEventNames, shownEvents, wantedEvents } from '../../../contract/events/hook-events.ts';
import type { LoadedRule } from '../../../rules/rule.ts';

/** A push drops cached rule files, and is what a forge sends when a hook is tried; `repository` tells new and gone ones. */
const always = ['push', 'repository'];

/**
 * Returns the kinds that hooks shall hear, in order, without those that the forge does not know and would drop in
 * silence: all, or what these rules listen to.
 */
export function hookKinds(
  events: 'all' | 'rules',
  rules: readonly LoadedRule[],
  capabilities: Capabilities,
): readonly string[] {
  const named = events === 'all' ? hookEventNames : eventNamesOf(rules);
  const known = named.filter((name) => {
    const needed = capabilityOfEvent[name];
    return needed === undefined || capabilities.has[needed];
  });
  return wantedEvents([...always, ...known]);
}

/** The names that enable exactly the Event-Types of the families that rules listen to. */
function eventNamesOf(rules: readonly LoadedRule[]): readonly string[] {
  const types = rules.flatMap(({ on }) =>
    on.flatMap(({ family }) => Object.keys(eventFamilies[family].types)),
  );
  return shownEvents(types).map((kind) =>
    kind === 'issues' || kind === 'pull_request' ? `${kind}_only` : kind,
  );
}
