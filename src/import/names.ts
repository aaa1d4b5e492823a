import { createGlob } from '../patterns/glob.ts';

/** Names that a forge has, as far as they were asked for; absent lists are unknown. */
export type ForgeNames = {
  /** Labels of the repository and its organization. */
  readonly labels?: readonly string[];
  readonly branches?: readonly string[];
  /** Contexts of the statuses of recent commits. */
  readonly contexts?: readonly string[];
  /** Teams as `organization/team`. */
  readonly teams?: readonly string[];
  /** Paths of the files on the default branch. */
  readonly files?: readonly string[];
  /** Whether patterns in CODEOWNERS may have a look-ahead. */
  readonly hasOwnerLookahead?: boolean;
};

/** A name on the forge. `note`: what a person has to know or do, with the name in it. */
export type MappedName = { readonly name: string; readonly note?: string };

/** A check as a pattern of `passed`. `isCertain`: the forge has it, or the user said so. */
export type MappedCheck = MappedName & { readonly isCertain: boolean };

/** Converts names of GitHub into names of the forge. */
export type Names = {
  readonly user: (login: string) => MappedName;
  /** `team`: `organization/team`, with or without `@`. */
  readonly team: (team: string) => MappedName;
  readonly check: (name: string) => MappedCheck;
  readonly forge: ForgeNames;
  /** Returns what each name became that was asked for and has another name, or may have one: `check test → ci/test`. */
  readonly used: () => readonly UsedName[];
};

/** A name of the source, and what it became. `seen`: similar names that the forge has as well. */
export type UsedName = {
  readonly kind: 'account' | 'team' | 'check';
  readonly from: string;
  readonly to: string;
  readonly seen: readonly string[];
};

/** Mappings of the user: `--user`, `--team` and `--checks`. */
export type NameMappings = {
  readonly users?: ReadonlyMap<string, string>;
  readonly teams?: ReadonlyMap<string, string>;
  /** Globs of names of checks with their replacement, in which `{}` is the name. The first that matches counts. */
  readonly checks?: readonly (readonly [pattern: string, replacement: string])[];
};

/** Accounts that have another name on every forge. */
const botSuffix = '[bot]';

export function createNames(
  { users = new Map(), teams = new Map(), checks = [] }: NameMappings = {},
  forge: ForgeNames = {},
): Names {
  const used = new Map<string, UsedName>();
  const note = (kind: UsedName['kind'], from: string, to: string, seen: readonly string[] = []): void => {
    if (kind === 'check' || from !== to) used.set(`${kind} ${from}`, { kind, from, to, seen });
  };
  const names = createMapping({ users, teams, checks }, forge);
  return {
    forge,
    used: () => [...used.values()],
    user(login) {
      const mapped = names.user(login);
      note('account', login.replace(/^@/, ''), mapped.name);
      return mapped;
    },
    team(team) {
      const mapped = names.team(team);
      note('team', team.replace(/^@/, ''), mapped.name);
      return mapped;
    },
    check(check) {
      const mapped = names.check(check);
      const similar = (forge.contexts ?? []).filter(
        (context) => context !== mapped.name && context.includes(check),
      );
      note('check', check, mapped.name, similar.slice(0, 5));
      return mapped;
    },
  };
}

function createMapping(
  { users, teams, checks }: Required<NameMappings>,
  forge: ForgeNames,
): Pick<Names, 'user' | 'team' | 'check'> {
  return {
    user(login) {
      const name = login.replace(/^@/, '');
      const mapped = users.get(name);
      if (mapped !== undefined) return { name: mapped };
      if (!name.endsWith(botSuffix)) return { name };
      return {
        name,
        note: `the account \`${name}\` has another name on the forge, and the rule matches nothing until --user ${name}=LOGIN is given`,
      };
    },
    team(team) {
      const name = team.replace(/^@/, '');
      const mapped = teams.get(name) ?? name;
      if (forge.teams === undefined || forge.teams.includes(mapped)) return { name: mapped };
      return {
        name: mapped,
        note: `the forge has no team \`${mapped}\`; --team ${name}=ORGANIZATION/TEAM names another`,
      };
    },
    check(name) {
      for (const [pattern, replacement] of checks) {
        if (createGlob(pattern, { separator: '' })(name))
          return { name: replacement.replaceAll('{}', name), isCertain: true };
      }
      const workflow = `* / ${escapeGlob(name)} (pull_request)`;
      const isExternal = name.includes('/') || name.startsWith('policy-bot: ');
      const { contexts } = forge;
      if (contexts?.includes(name)) return { name: escapeGlob(name), isCertain: true };
      if (contexts?.some((context) => createGlob(workflow, { separator: '', strict: false })(context)))
        return { name: workflow, isCertain: true };
      const note = `a job \`${name}\` of a workflow reports as \`WORKFLOW / ${name} (pull_request)\` on the forge, another service as \`${name}\``;
      return { name: isExternal ? escapeGlob(name) : workflow, isCertain: false, note };
    },
  };
}

/** Returns text as a glob that matches only this text. */
export function escapeGlob(text: string): string {
  return text.replace(/[\\*?[\]{}]/g, '\\$&');
}
