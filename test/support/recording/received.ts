import type { Received } from '../hook-receiver.ts';
import { type Fixture, type HookName, jsonOf, kindOf } from './fixture.ts';
import type { Step } from './step.ts';

const transport = new Set(['host', 'content-length', 'connection', 'accept-encoding', 'transfer-encoding']);
const usual: readonly HookName[] = ['repository', 'organization', 'system'];

/** Reads a request as the delivery it is; the address of a hook ends in its name. */
export function readDelivery(
  { rawHeaders, url, body }: Received,
  about: { server: string; version: string; step: string },
): Fixture {
  const headers: Record<string, string> = {};
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2);
    if (!transport.has(name.toLowerCase())) headers[name] = value;
  }
  const { action = '' } = JSON.parse(jsonOf({ headers, body }));
  // The recording creates hooks with these names only.
  const hook = url.slice(1) as HookName;
  const eventType = headers['X-Gitea-Event-Type'] ?? '';
  const [server, version, step] = [about.server, about.version, about.step];
  return { server, version, eventType, activity: action, step, hook, heardBy: [hook], headers, body };
}

/** Returns the kinds that a step is known to bring and that some hook has not got yet. */
export function missingKinds({ expects, hooks = usual }: Step, came: readonly Fixture[]): readonly string[] {
  const lacking = new Set<string>();
  for (const hook of hooks) {
    const kinds = came.filter((one) => one.hook === hook).map(kindOf);
    for (const kind of expects) {
      const at = kinds.indexOf(kind);
      if (at === -1) lacking.add(kind);
      else kinds.splice(at, 1);
    }
  }
  return [...lacking];
}

/** Returns the deliveries of a step that are kept: of those with the same bytes the first hook's, unless the step keeps all. */
export function withoutDuplicates({ keepsAll = false }: Step, came: readonly Fixture[]): readonly Fixture[] {
  const kept: Fixture[] = [];
  for (const hook of [...usual, 'user', 'form', 'unsigned'] as const) {
    const taken = new Set<Fixture>();
    for (const one of came.filter((other) => other.hook === hook)) {
      const same = kept.findIndex(
        (other) => !taken.has(other) && other.eventType === one.eventType && jsonOf(other) === jsonOf(one),
      );
      const known = kept[same];
      if (keepsAll || known === undefined) {
        kept.push(one);
        taken.add(one);
        continue;
      }
      const both = { ...known, heardBy: [...known.heardBy, hook] };
      kept[same] = both;
      // A hook that gets the same bytes twice counts twice.
      taken.add(both);
    }
  }
  return kept;
}
