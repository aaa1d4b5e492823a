import type { Client } from '../../../client/client.ts';
import type { Repository } from '../../../contract/resources/repositories.ts';
import { systemClock } from '../../../platform/clock.ts';
import { ReeveError } from '../../../platform/errors.ts';
import { silentLog } from '../../../platform/log.ts';
import type { LoadedRule } from '../../../rules/rule.ts';
import { readOffers } from '../../../rules/sources/folder.ts';
import { createRuleSource } from '../../../rules/sources/rule-source.ts';
import type { Settings } from '../../../server/settings/config.ts';
import { maxExamined } from '../../../work/served.ts';
import { toRepositoryRef } from '../../../work/sweeps/targets/repositories.ts';

/** The rules that served repositories and their organizations have on the forge. */
export type ServedRules = {
  readonly rules: readonly LoadedRule[];
  /** Number of repositories whose file was read. */
  readonly read: number;
  /** Repositories whose file the forge refuses to the account. */
  readonly unread: readonly string[];
  /** Whether all served repositories were examined: each costs a few requests. */
  readonly isWhole: boolean;
};

/** A served repository, as a list of the forge names it. */
type ServedRepository = Parameters<typeof toRepositoryRef>[0] & Pick<Repository, 'full_name'>;

/** Reads the rule files of served repositories with the account, as the server does. */
export async function readServedRules(
  client: Client,
  settings: Pick<Settings, 'rules' | 'organizations' | 'grants'>,
  served: { readonly repositories: readonly ServedRepository[]; readonly isWhole: boolean },
): Promise<ServedRules> {
  const source = createRuleSource({
    client,
    operatorRules: [],
    offered: settings.rules === undefined ? new Map() : await readOffers(settings.rules),
    organizations: settings.organizations,
    grants: settings.grants,
    clock: systemClock,
    log: silentLog,
  });
  const rules = [...(await source.everyRule())];
  const unread: string[] = [];
  const examined = served.repositories.slice(0, maxExamined);
  for (const repository of examined) {
    try {
      rules.push(...(await source.read(toRepositoryRef(repository))).rules);
    } catch (error) {
      if (!(error instanceof ReeveError) || error.isHostFailure) throw error;
      unread.push(repository.full_name);
    }
  }
  return {
    rules,
    read: examined.length - unread.length,
    unread,
    isWhole: served.isWhole && examined.length === served.repositories.length,
  };
}
