import { beforeAll, expect, it } from 'vitest';
import { type Client, createClient } from '../../src/client/client.ts';
import { operations } from '../../src/contract/operations.ts';
import { asWritten, isTitle, writtenTexts } from '../../src/contract/written-texts.ts';
import { type Account, describeContract, freshName } from '../support/contract-forge.ts';

/** Returns whether Gitea and Forgejo trim the text according to their sources, independent of the table. */
const isTrimmed = (name: string, member: string): boolean =>
  [
    /^createStatus (context|description|target_url)$/,
    /^create(Issue|Pull) title$/,
    /^createTagProtection name_pattern$/,
    /^(create|edit)(User|Organization|)Hook name$/,
  ].some((one) => one.test(`${name} ${member}`));

type Body = Readonly<Record<string, unknown>>;

/** Surrounds a text with white space that forges trim, and with similar characters that they keep. */
const padded = (text: string): string => ` \t\u00a0\u0085\u3000\n\ufeff${text}\u200b\n\u2028\u0085\u00a0\t `;

/** Writes a text as one field of a body and returns the stored value. */
type Write = (member: string, text: string) => Promise<unknown>;
type Row = readonly [operation: keyof typeof operations, members: readonly string[], write: Write];

describeContract('stored texts', (forge) => {
  let ada: Account;
  let client: Client;
  let organization: string;
  let at: { owner: string; repo: string };
  let sha = '';
  beforeAll(async () => {
    ada = await forge.makeUser();
    client = createClient({ timeoutMs: 60_000, url: forge.url, credentials: { token: ada.token } });
    organization = await forge.makeOrganization(ada);
    const full = await forge.makeRepository(ada, { in: organization, auto_init: true });
    at = { owner: organization, repo: full.split('/')[1] ?? '' };
    sha = (await client.call(operations.getBranch, { params: { ...at, branch: 'main' } })).commit?.id ?? '';
  });

  const send = async (operation: (typeof operations)[keyof typeof operations], params: Body, body: Body) =>
    (await client.send(operation, { params, body })) as Body;
  const newIssue = () => send(operations.createIssue, at, { title: 'old' });
  const hookBody = { type: 'gitea', events: ['push'], active: false };
  const url = 'https://ci.example.org/hook';
  const hookRows = (
    names: readonly [create: keyof typeof operations, edit: keyof typeof operations],
    params: () => Body,
  ): readonly Row[] => {
    const [create, edit] = names;
    const make = (more: Body = {}) =>
      send(operations[create], params(), { ...hookBody, config: { url, content_type: 'json' }, ...more });
    const members = ['name', 'branch_filter'];
    return [
      [create, members, async (member, text) => (await make({ [member]: text }))[member]],
      [
        edit,
        members,
        async (member, text) => {
          const { id } = await make();
          return (await send(operations[edit], { ...params(), id }, { events: ['push'], [member]: text }))[
            member
          ];
        },
      ],
    ];
  };
  const branch = async (): Promise<string> => {
    const name = freshName('branch');
    const body = { branch: 'main', new_branch: name, content: '', message: 'x' };
    await send(operations.createFile, { ...at, filepath: name }, body);
    return name;
  };

  const rows: readonly Row[] = [
    [
      'createStatus',
      ['context', 'description', 'target_url'],
      async (member, text) =>
        (
          await send(
            operations.createStatus,
            { ...at, sha },
            { state: 'success', context: 'c', [member]: text },
          )
        )[member],
    ],
    [
      'createIssue',
      ['title', 'body'],
      async (member, text) =>
        (await send(operations.createIssue, at, { title: 'x', [member]: text }))[member],
    ],
    [
      'editIssue',
      ['title', 'body'],
      async (member, text) => {
        const index = (await newIssue()).number;
        return (await send(operations.editIssue, { ...at, index }, { [member]: text }))[member];
      },
    ],
    [
      'createPull',
      ['title', 'body'],
      async (member, text) => {
        const body = { title: 'x', head: await branch(), base: 'main', [member]: text };
        return (await send(operations.createPull, at, body))[member];
      },
    ],
    [
      'editPull',
      ['title', 'body'],
      async (member, text) => {
        const made = await send(operations.createPull, at, {
          title: 'x',
          head: await branch(),
          base: 'main',
        });
        return (await send(operations.editPull, { ...at, index: made.number }, { [member]: text }))[member];
      },
    ],
    [
      'createComment',
      ['body'],
      async (member, text) => {
        const index = (await newIssue()).number;
        return (await send(operations.createComment, { ...at, index }, { [member]: text }))[member];
      },
    ],
    [
      'createTagProtection',
      ['name_pattern'],
      async (member, text) =>
        (await send(operations.createTagProtection, at, { whitelist_usernames: [ada.name], [member]: text }))[
          member
        ],
    ],
    ...hookRows(['createHook', 'editHook'], () => at),
    ...hookRows(['createOrganizationHook', 'editOrganizationHook'], () => ({ org: organization })),
    ...hookRows(['createUserHook', 'editUserHook'], () => ({})),
    [
      'createLabel',
      ['name', 'description'],
      async (member, text) =>
        (await send(operations.createLabel, at, { name: freshName('l'), color: '00aabb', [member]: text }))[
          member
        ],
    ],
    [
      'editLabel',
      ['name', 'description'],
      async (member, text) => {
        const { id } = await send(operations.createLabel, at, { name: freshName('l'), color: '00aabb' });
        return (await send(operations.editLabel, { ...at, id }, { [member]: text }))[member];
      },
    ],
    [
      'editRepository',
      ['description', 'website'],
      async (member, text) => (await send(operations.editRepository, at, { [member]: text }))[member],
    ],
    [
      'editOrganization',
      ['full_name', 'description', 'location'],
      async (member, text) =>
        (await send(operations.editOrganization, { org: organization }, { [member]: text }))[member],
    ],
    [
      'createTeam',
      ['description'],
      async (member, text) =>
        (
          await send(
            operations.createTeam,
            { org: organization },
            { name: freshName('t'), units_map: { 'repo.code': 'read' }, [member]: text },
          )
        )[member],
    ],
    [
      'createBranchProtection',
      ['rule_name', 'protected_file_patterns', 'unprotected_file_patterns'],
      async (member, text) =>
        (await send(operations.createBranchProtection, at, { rule_name: freshName('b'), [member]: text }))[
          member
        ],
    ],
    [
      'editBranchProtection',
      ['protected_file_patterns', 'unprotected_file_patterns'],
      async (member, text) => {
        const name = freshName('b');
        await send(operations.createBranchProtection, at, { rule_name: name });
        return (await send(operations.editBranchProtection, { ...at, name }, { [member]: text }))[member];
      },
    ],
  ];
  const cases = rows.flatMap(([name, members, write]) =>
    members.map((member) => [name, member, write] as const),
  );

  it.each(cases)(
    '%s stores %s with surrounding white space as the table says',
    async (name, member, write) => {
      const isAddress = member === 'target_url' || member === 'website';
      const inner = isAddress ? 'https://ci.example.org/1' : 'some  text';
      const text = padded(inner);

      const has = await write(member, text);

      expect(has).toBe(asWritten(operations[name], member, text));
      expect(has).toBe(isTrimmed(name, member) ? `\ufeff${inner}\u200b` : text);
    },
  );

  const titles = cases.filter(([, member]) => member === 'title');
  it.each(titles)('%s shortens a long %s as the table says', async (name, member, write) => {
    for (const text of ['ü'.repeat(250), '統'.repeat(120), '統'.repeat(200), `${'a'.repeat(253)}  end`]) {
      const has = await write(member, text);

      expect(isTitle(String(has), asWritten(operations[name], member, text))).toBe(true);
    }
  });

  it('are tested for every operation of the table', () => {
    const named = Object.entries(writtenTexts).flatMap(([id, members]) =>
      Object.keys(members).map((member) => `${id} ${member}`),
    );
    const probed = new Set(cases.map(([name, member]) => `${operations[name].id} ${member}`));
    expect(named.filter((one) => !probed.has(one))).toEqual([]);
  });
});
