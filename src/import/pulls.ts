import {
  and,
  Condition,
  call,
  equals,
  isOneOf,
  literal,
  mergeSituations,
  or,
  type Situation,
  samplePath,
  situationOf,
  type TextTest,
} from './condition.ts';
import type { Entry } from './conversion.ts';
import type { Names } from './names.ts';

/** Conditions about pull requests, and names, that the formats of merging and approving bots share. */

/** A list of the language whose items are compared by one text. */
export type ListFact = {
  /** The list in an expression, such as `labels` or `pull_request.assignees`. */
  readonly list: string;
  /** Name of an item in a loop, and the member with its text. */
  readonly variable: string;
  readonly member: string;
  /** The item with this text, in a rule test. */
  readonly item: (text: string) => unknown;
};

/** Returns the condition that an item of the list passes the test. */
export function existsIn({ list, variable, member, item }: ListFact, test: TextTest): Condition {
  const inner = test.on(`${variable}.${member}`).text;
  return new Condition(`${list}.exists(${variable}, ${inner})`, 'unary', {
    yes: test.sample === undefined ? {} : situationOf(list, [item(test.sample)]),
    no: situationOf(list, []),
  });
}

/** The test that a text is equal to one of these. */
export function isText(...texts: readonly string[]): TextTest {
  return { on: (value) => isOneOf(value, texts), sample: texts[0] };
}

/** The sign of a comparison of numbers. */
export type Sign = '==' | '!=' | '<' | '<=' | '>' | '>=';

/** `value sign number`. `values` gives the situation in which the value is a number. */
export function compares(
  value: string,
  sign: Sign,
  { number, values }: { readonly number: number; readonly values: (number: number) => Situation },
): Condition {
  const holds = { '==': 0, '!=': 1, '<': -1, '<=': 0, '>': 1, '>=': 0 }[sign];
  const fails = { '==': 1, '!=': 0, '<': 0, '<=': 1, '>': 0, '>=': -1 }[sign];
  const situation = (more: number): Situation => (number + more < 0 ? {} : values(number + more));
  return new Condition(`${value} ${sign} ${number}`, 'relation', {
    yes: situation(holds),
    no: situation(fails),
  });
}

/** Compares the length of a list; in a rule test, its items are made by `item`. */
export function countsIn(
  list: string,
  sign: Sign,
  number: number,
  item: (text: string) => unknown,
): Condition {
  const many = (count: number): Situation =>
    situationOf(
      list,
      Array.from({ length: Math.min(count, 50) }, (_, place) => item(`item-${place + 1}`)),
    );
  return compares(`${list}.size()`, sign, { number, values: many });
}

/** Approvals that count, with the login of their author. */
export const approvals: ListFact = {
  list: 'approvals',
  variable: 'a',
  member: 'user.login',
  item: (login) => ({ user: { login } }),
};

/** `passed([…])` for globs of contexts; several of them for many, because an expression has at most 2,000 characters. */
export function passedChecks(globs: readonly string[]): Condition {
  if (globs.length > 1 && globs.reduce((sum, glob) => sum + glob.length + 4, 0) > 1_000) {
    const middle = Math.ceil(globs.length / 2);
    return and(passedChecks(globs.slice(0, middle)), passedChecks(globs.slice(middle)));
  }
  return call('passed', globs, {
    yes: { statuses: globs.map((glob) => ({ context: samplePath(glob) ?? glob, status: 'success' })) },
    no: { statuses: [] },
  });
}

/** Every check that the base branch requires has passed, and it requires at least one. */
export const requiredChecksPassed = new Condition(
  'required_checks.size() > 0 && required_checks.all(c, c.state == "success")',
  'and',
  {
    yes: { required_checks: [{ context: 'ci/test', state: 'success' }] },
    no: { required_checks: [] },
  },
);

/** The base branch is protected. */
export const isBaseProtected = new Condition('base_branch.protected', 'unary', {
  yes: { base_branch: { protected: true, required_approvals: 0 } },
});

/** No check that the base branch requires is missing, pending or failed. */
export const noRequiredCheckOpen = new Condition('required_checks.all(c, c.state == "success")', 'unary', {
  yes: { required_checks: [] },
  no: { required_checks: [{ context: 'ci/test', state: 'pending' }] },
});

/**
 * The pull request has the approvals that the base branch requires. A queue needs this: what the forge refuses to merge
 * leaves it, and does not come back with the same head.
 */
export const requiredApprovalsGiven = new Condition(
  'base_branch.required_approvals == 0 || approvals.size() >= base_branch.required_approvals && rejections.size() == 0',
  'or',
  {
    yes: { base_branch: { protected: true, required_approvals: 0 } },
    no: { base_branch: { protected: true, required_approvals: 1 }, approvals: [] },
  },
);

/** How `requiredApprovalsGiven` differs from what GitHub counts. */
export const approvalsDiffer = (bot: string): string =>
  `an approval of an older commit that the branch keeps, or of a person who is asked for a review again: ${bot} counts it, Reeve waits for a new one`;

/** The login `value` is one of the users, or that of a member of one of the teams (`organization/team`). */
export function isActor(
  value: string,
  { users, teams }: { readonly users: readonly string[]; readonly teams: readonly string[] },
): Condition {
  const isPath = /^[a-z_]+(\.[a-z_]+)+$/.test(value);
  const ofTeams = teams.map(
    (team) =>
      new Condition(`${value} in team(${literal(team)})`, 'relation', {
        yes: mergeSituations(isPath ? situationOf(value, 'ada') : {}, { team: { [team]: ['ada'] } }),
        no: { team: { [team]: [] } },
      }),
  );
  return or(users.length === 1 ? equals(value, users[0] ?? '') : isOneOf(value, users), ...ofTeams);
}

/** Converts names, and collects differences with the lines that they concern: each becomes one entry. */
export class NameNotes {
  readonly #names: Names;
  readonly #found = new Map<string, { readonly lines: Set<number>; readonly note: string }>();
  /** Line of the part that is converted now. */
  line = 1;

  constructor(names: Names) {
    this.#names = names;
  }

  user(login: string): string {
    const { name, note } = this.#names.user(login);
    if (note !== undefined) this.note(`user ${login.replace(/^@/, '')}`, note);
    return name;
  }

  /** Returns `organization/team`. Without an organization, it is looked up among the teams of the forge. */
  team(team: string): string {
    const short = team.replace(/^@/, '');
    const found = short.includes('/')
      ? []
      : (this.#names.forge.teams ?? []).filter((one) => one.endsWith(`/${short}`));
    const [only] = found;
    const { name, note } = this.#names.team(only !== undefined && found.length === 1 ? only : short);
    if (!name.includes('/')) {
      this.note(
        `team ${short}`,
        `the organization of the team is not named: conditions about it fail, and their rules write nothing, until --team ${short}=ORGANIZATION/TEAM is given`,
      );
      return `organization/${name}`;
    }
    if (note !== undefined) this.note(`team ${team.replace(/^@/, '')}`, note);
    return name;
  }

  /** Returns the glob for a check. */
  check(check: string): string {
    const { name, note, isCertain } = this.#names.check(check);
    if (!isCertain && note !== undefined) this.note(`check ${check}`, note);
    return name.startsWith('!') ? `\\${name}` : name;
  }

  /** Notes a difference that concerns the part that is converted now. */
  note(part: string, note: string): void {
    const found = this.#found.get(part) ?? { lines: new Set(), note };
    found.lines.add(this.line);
    this.#found.set(part, found);
  }

  /** Returns an entry for each noted difference. */
  entries(): readonly Entry[] {
    return [...this.#found].map(([part, { lines, note }]) => ({
      line: Math.min(...lines),
      part,
      outcome: 'differs' as const,
      note,
      apart: true as const,
      concerns: [...lines],
    }));
  }
}
