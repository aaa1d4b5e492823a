import type { Client } from '../../client/client.ts';
import type { RepositoryRef } from '../../contract/events/subject.ts';
import { createTtlCache } from '../../platform/cache/ttl-cache.ts';
import type { Clock } from '../../platform/clock.ts';
import { messageOf } from '../../platform/errors.ts';
import type { Log } from '../../platform/log.ts';
import type { PackReader } from '../packs/gather-packs.ts';
import { notOffered, type PackTree } from '../packs/pack.ts';
import type { createGrants } from './grants.ts';
import {
  type OrganizationReading,
  type OrganizationSource,
  type Pins,
  readOrganizationRules,
} from './organization.ts';
import { createSharedChanges } from './shared-changes.ts';

/** The rule files and packs of organizations, cached by name, and the packs that the operator offers. */
interface OrganizationFiles {
  /** Returns what an organization has; undefined if it has no rules repository. Rejects if it cannot be read now. */
  read(owner: string): Promise<OrganizationReading | undefined>;
  /** Removes what other processes have seen change. */
  look(owner: string): Promise<void>;
  /** Removes the files of organizations that come from this repository. */
  note(repository: RepositoryRef): void;
  /** Removes all that is cached. */
  forgetAll(): void;
  /** Returns the reader of the packs that the repositories of an owner may include. */
  packsFor(owner: string): PackReader;
  /** Packs that the operator offers. */
  offered(): PackTree;
  replaceOffers(offered: PackTree): void;
}

/** Creates the cache. `onChange` is called with the organizations, in lower case, whose packs may have changed. */
export function createOrganizationFiles(options: {
  readonly client: Client;
  readonly organizations: readonly OrganizationSource[];
  readonly grants: Pick<ReturnType<typeof createGrants>, 'ofOrganization'>;
  readonly pins: Pins;
  readonly offered: PackTree;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly log: Log;
  readonly maxAgeMs: number;
  readonly maxEntries: number;
  readonly onReading: (source: OrganizationSource, reading: OrganizationReading) => void;
  readonly onChange: (owners: ReadonlySet<string>) => void;
}): OrganizationFiles {
  const { client, grants, pins, log, onReading } = options;
  const sources = new Map(options.organizations.map((source) => [source.name.toLowerCase(), source]));
  const cache = createTtlCache<string, OrganizationReading & { readonly owner: string }>(options);
  let ofOperator = options.offered;

  const drop = (owners: ReadonlySet<string>): void => {
    for (const key of owners) cache.delete(key);
    options.onChange(owners);
  };
  const { clock } = options;
  const changes = createSharedChanges({ pins, clock, has: (key) => sources.has(key), onChange: drop });
  const read = async (owner: string): Promise<OrganizationReading | undefined> => {
    const key = owner.toLowerCase();
    const source = sources.get(key);
    if (source === undefined) return undefined;
    const found = await cache.get(key, async () => {
      const granted = grants.ofOrganization(source.name);
      const reading = await readOrganizationRules(client, source, { pins, grants: granted, ofOperator });
      onReading(source, reading);
      return { ...reading, owner: key };
    });
    // A missing or replaced rules repository may return at any time without a push.
    if (found.head === undefined) cache.delete(key);
    return found;
  };

  return {
    read,
    look: changes.look,
    note({ id, owner, name }) {
      const fullName = `${owner}/${name}`.toLowerCase();
      const named = [...sources].filter(([, { rules }]) => rules.toLowerCase() === fullName);
      const owners = new Set(named.map(([key]) => key));
      // A renamed rules repository is known by its id.
      cache.deleteWhere((reading) => {
        if (reading.head?.at.id === id) owners.add(reading.owner);
        return reading.head === undefined;
      });
      if (owners.size > 0) drop(owners);
      for (const key of owners) {
        changes.tell(key).catch((error: unknown) => {
          log.warn({ organization: key, error: messageOf(error) }, 'other processes keep its old rules');
        });
      }
    },
    forgetAll() {
      cache.deleteWhere(() => true);
      options.onChange(new Set(['*']));
    },
    packsFor: (owner) => ({
      async read(request) {
        const name = 'pack' in request ? request.pack : request.file;
        const offered = (await read(owner))?.offered ?? new Map();
        const known = [...new Set([...offered.keys(), ...ofOperator.keys()])];
        return offered.get(name) ?? ofOperator.get(name) ?? notOffered(name, known);
      },
    }),
    offered: () => ofOperator,
    replaceOffers(offered) {
      const isUsed = ofOperator.size + offered.size > 0;
      ofOperator = offered;
      if (!isUsed) return;
      cache.deleteWhere(() => true);
      options.onChange(new Set(['*']));
    },
  };
}
