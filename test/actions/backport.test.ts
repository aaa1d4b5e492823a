import { describe, expect, it } from 'vitest';
import { backport } from '../../src/actions/backport.ts';
import { isSameChange } from '../../src/actions/backport-changes.ts';
import type { Change } from '../../src/actions/change.ts';
import { createActionMemory } from '../../src/actions/memory.ts';
import { backportMarker } from '../../src/facts/backports.ts';
import { ReeveError } from '../../src/platform/errors.ts';
import { makeContext } from '../support/make-context.ts';
import { makeFacts } from '../support/make-facts.ts';

const merge = 'c'.repeat(40);
const head = 'a'.repeat(40);
const base = 'b'.repeat(40);
const repo = { id: 1, name: 'site', full_name: 'acme/site' };
const pull = (more: object = {}) => ({
  id: 1,
  number: 7,
  title: 'Fix the door',
  state: 'closed',
  merged: true,
  merge_commit_sha: merge,
  merge_base: base,
  head: { ref: 'fix', sha: head, repo_id: 1, repo },
  base: { ref: 'main', sha: base, repo_id: 1, repo },
  ...more,
});
const branch = (name: string, id = '1'.repeat(40)) => ({ name, commit: { id } });
const commit = (message: string, more: object = {}) => ({
  sha: head,
  commit: { message, author: { name: 'Grace', email: 'grace@example.org', date: '2026-02-01T10:00:00Z' } },
  parents: [{ sha: base }],
  ...more,
});
const ownPull = (target: string, more: object = {}) => ({
  id: 5,
  number: 30,
  title: 'x',
  state: 'open',
  body: `${backportMarker(7, target)}\nBackport.`,
  user: { id: 9 },
  head: { ref: `backport-7-to-${target}`, sha: head, repo },
  base: { ref: target, sha: base, repo },
  ...more,
});
const diffOf = (to: string) =>
  `diff --git a/a.txt b/a.txt\nindex 1234567..89abcde 100644\n--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+${to}\n`;
const patch = { text: diffOf('2'), size: 10 };

const factsOf = (given: object = {}) =>
  makeFacts({
    pull_request: pull(),
    branches: [branch('main'), branch('fix'), branch('release/1'), branch('release/2')],
    backports: [],
    merged_patch: patch,
    commits: [commit('Fix the door\n\nIt was stuck.')],
    comments: [],
    ...given,
  });
const plan = (given: object = {}, more: object = {}, context = makeContext()) =>
  backport.plan({ to: ['release/1'], ...more }, factsOf(given), context);

/** Summarizes the outcome of each change in a few words. */
const said = (changes: readonly Change[]) =>
  changes.map(({ target, operation, waits, already }) => {
    const what = operation.replace('contents.apply-patch', 'patch').replace('pull.create', 'open');
    return `${what} ${target.replace(/^(?:branch|backport|comment):/, '')}${already ? ' already' : ''}${waits ? ` waits: ${waits.why}` : ''}`;
  });

const labelNamed = (name: string, id: number) => ({ id: id + 1, name, color: 'ff0000' });

const bodyIn = (change: Change | undefined): string =>
  (change?.input.body as { readonly body: string } | undefined)?.body ?? '';

const commitBody = (change: Change | undefined) => change?.input.body as { readonly message: string };

const wanted = (target: string): readonly string[] => [
  `patch backport-7-to-${target}`,
  `open #7 to ${target}`,
];

describe('backport', () => {
  it('applies the patch on a new branch, as one commit by the author, and opens a pull request with its marker', async () => {
    const [patching, opening] = await plan(
      { label_definitions: [{ id: 3, name: 'backport', level: 'repository' }] },
      { labels: ['backport'] },
    );

    expect(patching?.input).toEqual({
      params: { owner: 'acme', repo: 'site' },
      body: {
        branch: 'release/1',
        new_branch: 'backport-7-to-release/1',
        content: patch.text,
        sha: merge,
        message: `Fix the door\n\nIt was stuck.\n\n(cherry picked from commit ${merge})`,
        author: { name: 'Grace', email: 'grace@example.org' },
        dates: { author: '2026-02-01T10:00:00Z' },
      },
    });
    expect(opening?.input).toEqual({
      params: { owner: 'acme', repo: 'site' },
      body: {
        head: 'backport-7-to-release/1',
        base: 'release/1',
        title: '[release/1] Fix the door',
        body: `<!-- reeve:backport of #7 to release%2F1 -->\nBackport of #7 to \`release/1\`.\n\n(cherry picked from commit ${merge})`,
        labels: [3],
      },
    });
    // The grant of `branches` covers the target, and the conditions are checked again until the write.
    for (const change of [patching, opening]) {
      expect(change).toMatchObject({ branch: 'release/1', reconsiders: true });
    }
    expect(opening?.needs).toBe(patching?.target);
  });

  it('opens with the title and the assignees of the step, whose accounts are confirmed before', async () => {
    const [, opening] = await plan({}, { title: 'Fix the door ({branch})', assignees: ['ada'] });

    expect(opening?.input.body).toMatchObject({ title: 'Fix the door (release/1)', assignees: ['ada'] });
    expect(opening?.accounts).toEqual(['ada']);

    const name = 'release/x!5$&';
    const branches = [branch('main'), branch(name)];
    const [, hostile] = await plan({ branches }, { to: ['release/*'], title: 'To {branch}' });
    expect(hostile?.input.body).toMatchObject({ title: 'To release/x!\u200b5$&' });
  });

  it.each([
    [{ label: 'backport', only: ['*'] }, 'write {branch} once'],
    [{ label: '{branch}{branch}', only: ['*'] }, 'write {branch} once'],
    [{ label: 'to {branch}' }, 'only'],
  ])('refuses %j', (to, message) => {
    const { error } = backport.arguments.safeParse({ to });
    expect(JSON.stringify(error?.issues)).toContain(message);
  });

  it("breaks references in a stranger's text, so that it closes or mentions no issue with the permissions of Reeve's account", async () => {
    const [patching, opening] = await plan({
      pull_request: pull({ title: 'Fixes #3, closes other/repo#5 https://x.org/a/b/issues/6' }),
      commits: [commit('Fix the door\n\nResolves: #3, reopen other/repo!5')],
    });

    expect(commitBody(patching).message).toContain('Resolves\u200b: #3, reopen other/repo!\u200b5');
    expect(patching?.after).toMatchObject({ message: commitBody(patching).message });
    expect(opening?.input.body).toMatchObject({
      title: '[release/1] Fixes\u200b #3, closes other/repo#\u200b5 https://x.org/a/b/issues/\u200b6',
    });
  });

  it.each<[string, object, object, readonly string[]]>([
    ['nothing while `when` is false', {}, { when: false }, []],
    ['nothing before the merge', { pull_request: pull({ merged: false, state: 'open' }) }, {}, []],
    ['nothing for a merge without changes', { merged_patch: { text: '', size: 0 } }, {}, []],
    ['every branch of a glob', {}, { to: ['release/*'] }, [...wanted('release/1'), ...wanted('release/2')]],
    ['no branch that is excluded', {}, { to: ['release/*', '!release/1'] }, wanted('release/2')],
    [
      'the branches that labels name, and waits for one that is not there',
      {
        pull_request: pull({
          labels: ['backport release/2', 'backport release/9', 'backport '].map(labelNamed),
        }),
      },
      { to: { label: 'backport {branch}', only: ['release/*'] } },
      ['open #7 to release/9 waits: there is no branch release/9', ...wanted('release/2')],
    ],
    [
      'no branch beyond `only`, whatever a label names',
      { pull_request: pull({ labels: ['to main', 'to fix', 'to release/1'].map(labelNamed) }) },
      { to: { label: 'to {branch}', only: ['release/2', 'fix'] } },
      [],
    ],
    [
      'neither branch of the pull request, nor a backport branch',
      { branches: ['main', 'fix', 'backport-3-to-main', 'old'].map((name) => branch(name)) },
      { to: ['*'] },
      wanted('old'),
    ],
    [
      'to wait for a missing branch',
      {},
      { to: ['release/9'] },
      ['open #7 to release/9 waits: there is no branch release/9'],
    ],
    [
      'nothing more for an open backport',
      { backports: [ownPull('release/1')] },
      {},
      ['open #7 to release/1 already'],
    ],
    [
      'nothing more for a backport that a person closed and whose branch is gone',
      {
        backports: [
          ownPull('release/1', { state: 'closed', head: { ref: 'refs/pull/30/head', sha: head, repo } }),
        ],
      },
      {},
      ['open #7 to release/1 already'],
    ],
    [
      'nothing more for a backport that a person opened manually from its branch',
      { backports: [ownPull('release/1', { user: { id: 4 }, body: 'By hand.' })] },
      {},
      ['open #7 to release/1 already'],
    ],
    [
      'the backport although a stranger wrote its marker elsewhere',
      { backports: [ownPull('release/1', { user: { id: 4 }, head: { ref: 'evil', sha: head, repo } })] },
      {},
      wanted('release/1'),
    ],
  ])('plans %s', async (_, given, more, words) => {
    expect(said(await plan(given, more))).toEqual(words);
  });

  it('records a long patch truncated', async () => {
    const [patching] = await plan({ merged_patch: { text: 'x'.repeat(70_000), size: 70_000 } });

    const recorded = patching && backport.recorded?.(patching.input);

    expect(recorded?.body).toMatchObject({ content: `${'x'.repeat(65_536)}… (70000 characters)` });
    expect(patching?.input.body).toMatchObject({ content: 'x'.repeat(70_000) });
    const [short] = await plan();
    expect(short && backport.recorded?.(short.input)).toBe(short?.input);
  });

  it('refuses a step that matches too many branches', async () => {
    const branches = Array.from({ length: 21 }, (_, at) => branch(`r${at}`));

    await expect(plan({ branches }, { to: ['r*'] })).rejects.toThrow(
      '`to` matches 21 branches, and at most 20',
    );
  });

  it('names the authors of several commits, and keeps trailers together', async () => {
    const by = (name: string) => ({ name, email: `${name}@example.org`, date: '2026-02-02T10:00:00Z' });
    const two = [
      commit('two', { commit: { message: 'two', author: by('Linus') } }),
      commit('one', { commit: { message: 'one', author: by('Grace') } }),
    ];
    const bodyOf = async (commits: readonly object[]) =>
      (await plan({ commits }))[0]?.input.body as { message: string; author: object };

    const both = await bodyOf(two);
    expect(both.author).toMatchObject({ name: 'Grace' });
    expect(both.message).toBe(
      `Fix the door\n\nCo-authored-by: Linus <Linus@example.org>\n(cherry picked from commit ${merge})`,
    );
    expect((await bodyOf([commit('Fix\n\nSigned-off-by: A <a@b.c>')])).message).toBe(
      `Fix\n\nSigned-off-by: A <a@b.c>\n(cherry picked from commit ${merge})`,
    );
  });

  it.each<[string, object, RegExp]>([
    [
      'its commits include a merge',
      { commits: [commit('m', { parents: [{ sha: base }, { sha: head }] })] },
      /git apply --3way/,
    ],
    [
      'its changes are larger than 1 MiB',
      { merged_patch: { text: null, size: 2_000_000 } },
      /git cherry-pick -x b+\.\.a+/,
    ],
    [
      'it changes files that are stored in Git LFS',
      {
        merged_patch: {
          text: diffOf('2').replace(' one', ' version https://git-lfs.github.com/spec/v1'),
          size: 1,
        },
      },
      /git cherry-pick/,
    ],
    [
      'it changes files that are not UTF-8',
      { merged_patch: { text: diffOf('\uFFFD'), size: 1 } },
      /git cherry-pick/,
    ],
  ])('writes one comment if %s', async (why, given, commands) => {
    const changes = await plan(given, { to: ['release/*'] });

    expect(said(changes)).toEqual(['comment.create tidy/backport on #7']);
    const body = bodyIn(changes[0]);
    expect(body).toContain(`- \`release/1\`: ${why}.\n- \`release/2\`: ${why}.`);
    expect(body).toMatch(commands);
    expect(body).toContain('git switch --create backport-7-to-release/1 origin/release/1');
    const ours = { id: 8, body, user: { id: 9 } };
    expect(said(await plan({ ...given, comments: [ours] }, { to: ['release/*'] }))).toEqual([
      'comment.edit tidy/backport on #7 already',
    ]);
  });

  it('names in the comment only branches that its grant covers', async () => {
    const context = makeContext({
      covers: async (action, name) => action === 'backport' && name === 'release/1',
    });
    const changes = await plan({ merged_patch: { text: null, size: 9 } }, { to: ['release/*'] }, context);

    expect(said(changes)).toEqual([...wanted('release/2'), 'comment.create tidy/backport on #7']);
    expect(bodyIn(changes[2])).not.toContain('release/2');
  });

  it('shows no command that contains a name with a special meaning to a shell', async () => {
    const name = 'a;$(rm)`b`';
    const [comment] = await plan(
      { branches: [branch(name)], merged_patch: { text: null, size: 9 } },
      { to: ['a*'] },
    );

    const body = bodyIn(comment);
    const commands = /```sh\n(.*?)```/s.exec(body)?.[1] ?? '';
    expect(commands).toContain('git fetch origin BRANCH pull/7/head');
    expect(commands).not.toMatch(/[;$`]/);
  });

  describe('after an attempt', () => {
    const name = 'backport-7-to-release/1';
    const tip = '9'.repeat(40);
    const there = (diff: string, total_commits = 1) => ({
      branches: [branch('main'), branch('release/1'), branch(name, tip)],
      compare: { [`release/1...${name}`]: { total_commits, commits: [] } },
      commit_diff: { [tip]: diff },
    });
    /** The memory after the forge has applied the patch. */
    async function made() {
      const context = makeContext({ memory: createActionMemory() });
      const [patching] = await plan({}, {}, context);
      if (patching) await backport.remember?.(patching, { commit: { sha: tip } }, context);
      return context;
    }

    it('opens the pull request for an existing branch with the same changes, regardless of the memory', async () => {
      const changes = await plan(there(diffOf('2').replace('@@ -1,2 +1,2 @@', '@@ -41,2 +41,2 @@ void f()')));

      expect(said(changes)).toEqual(['open #7 to release/1']);
      expect(changes[0]?.needs).toBeUndefined();
    });

    it.each([
      ['differs', diffOf('2 '), 'only in part, or only with different white space'],
      ['is empty', '', 'the branch already contains its changes'],
    ])('deletes its own branch if the commit %s, and writes the comment', async (_, diff, words) => {
      const context = await made();

      const changes = await plan(there(diff), {}, context);

      expect(said(changes)).toEqual(['comment.create tidy/backport on #7', `branch.delete ${name}`]);
      const body = bodyIn(changes[0]);
      expect(body).toContain(words);
      // The comment exists, but the branch is not deleted yet.
      const ours = { id: 8, body, user: { id: 9 } };
      expect(said(await plan({ ...there(diff), comments: [ours] }, {}, context))).toEqual([
        'comment.edit tidy/backport on #7 already',
        `branch.delete ${name}`,
      ]);
    });

    /** The memory after a request whose response was lost, and what the forge did with the request. */
    async function lost(more: object = {}) {
      const context = makeContext({ memory: createActionMemory() });
      const [patching] = await plan({}, {}, context);
      const withdraw = patching && (await backport.intend?.(patching, context));
      const { message } = commitBody(patching);
      const sent = { message: `${message}\n`, committer: { date: '2026-03-01T12:04:00Z' }, ...more };
      const made = commit('', { sha: tip, commit: sent });
      const compared = { [`release/1...${name}`]: { total_commits: 1, commits: [made] } };
      return { context, withdraw, live: { ...there(diffOf('2 ')), compare: compared } };
    }

    it('deletes its own branch after a lost response, and writes the comment', async () => {
      const { context, live } = await lost();

      const changes = await plan(live, {}, context);

      expect(said(changes)).toEqual(['comment.create tidy/backport on #7', `branch.delete ${name}`]);
      const ours = { id: 8, body: bodyIn(changes[0]), user: { id: 9 } };
      expect(said(await plan({ ...live, comments: [ours] }, {}, context))).toEqual([
        'comment.edit tidy/backport on #7 already',
        `branch.delete ${name}`,
      ]);
      expect(said(await plan({}, {}, context))).toEqual(wanted('release/1'));
    });

    it.each([
      ['was created long after a lost response', { committer: { date: '2026-03-01T12:06:00Z' } }],
      ['was created long before a lost response', { committer: { date: '2026-03-01T11:54:00Z' } }],
      ['was created at an unknown time', { committer: {} }],
      ['has another message after a lost response', { message: 'Mine' }],
    ])('leaves a branch alone that %s', async (_, more) => {
      const { context, live } = await lost(more);

      expect(said(await plan(live, {}, context))).toEqual([
        `open #7 to release/1 waits: there is a branch ${name} with other changes`,
      ]);
    });

    it('leaves a branch alone that was created after its own request was refused', async () => {
      const { context, withdraw, live } = await lost();
      await withdraw?.();

      expect(said(await plan(live, {}, context))).toEqual([
        `open #7 to release/1 waits: there is a branch ${name} with other changes`,
      ]);
    });

    it.each([
      ['another account created', diffOf('3'), 1],
      ['another account continued', diffOf('2'), 2],
    ])('leaves a branch alone that %s', async (_, diff, commits) => {
      expect(said(await plan(there(diff, commits)))).toEqual([
        `open #7 to release/1 waits: there is a branch ${name} with other changes`,
      ]);
    });

    it('leaves a branch alone that the forge cannot compare, and continues with the other targets', async () => {
      const unreadable = new ReeveError('forge-not-found', 'no common history');

      expect(
        said(
          await plan(
            {
              ...there(diffOf('2')),
              branches: [...there('').branches, branch('release/2')],
              compare: unreadable,
            },
            { to: ['release/1', 'release/2'] },
          ),
        ),
      ).toEqual([
        `open #7 to release/1 waits: there is a branch ${name} with other changes`,
        'patch backport-7-to-release/2',
        'open #7 to release/2',
      ]);
    });

    it('reports a change that the forge refused in a comment, and retries the change only once the comment is gone', async () => {
      const context = makeContext({ memory: createActionMemory() });
      const [patching] = await plan({}, {}, context);
      const why = patching && (await backport.refused?.(patching, context));
      expect(why).toBe('not backported to release/1: its changes do not apply to this branch');

      const [comment, ...others] = await plan({}, {}, context);
      expect(others).toEqual([]);
      const body = bodyIn(comment);
      expect(body).toContain('`release/1`: its changes do not apply to this branch.');
      if (comment) await backport.remember?.(comment, {}, context);
      const ours = { id: 8, body, user: { id: 9 } };

      expect(said(await plan({ comments: [ours] }, {}, context))).toEqual([
        'comment.edit tidy/backport on #7 already',
      ]);
      // A comment by another account does not count.
      expect(said(await plan({ comments: [{ ...ours, user: { id: 4 } }] }, {}, context))).toEqual(
        wanted('release/1'),
      );
      expect(said(await plan({}, {}, context))).toEqual(wanted('release/1'));
    });

    it('keeps the notes about other branches in the comment', async () => {
      const [first] = await plan({ merged_patch: { text: null, size: 9 } });
      const body = bodyIn(first);

      const [comment] = await plan(
        { merged_patch: { text: null, size: 9 }, comments: [{ id: 8, body, user: { id: 9 } }] },
        { to: ['release/2'] },
      );

      expect(comment?.operation).toBe('comment.edit');
      expect(bodyIn(comment)).toMatch(/`release\/1`.*`release\/2`/s);
    });
  });
});

describe('two diffs', () => {
  const whole = diffOf('2');
  const renamed = (similarity: number) =>
    `diff --git a/a b/b\nsimilarity index ${similarity}%\nrename from a\nrename to b\nindex 1234567..89abcde 100644\n--- a/a\n+++ b/b\n@@ -1 +1 @@\n-x\n+y\n`;
  const binary = (id: string) =>
    `diff --git a/b.bin b/b.bin\nnew file mode 100644\nindex ${'0'.repeat(40)}..${id}\nGIT binary patch\nliteral 4\nLcmZQzU|?imU|<9Q\n\nliteral 0\nHcmV?d00001\n\n`;
  const short = (id: string) =>
    `diff --git a/b.bin b/b.bin\nnew file mode 100644\nindex 0000000..${id}\nBinary files /dev/null and b/b.bin differ\n`;

  it.each<[string, string, string]>([
    ['at another position', whole, whole.replace('@@ -1,2 +1,2 @@', '@@ -9,2 +9,2 @@ f()')],
    ['with other context lines', whole, whole.replace(' one', ' eins')],
    [
      'with another end of a file that is only context',
      `${whole.replace('@@ -1,2 +1,2 @@', '@@ -1,3 +1,3 @@')} last\n`,
      `${whole.replace('@@ -1,2 +1,2 @@', '@@ -1,3 +1,3 @@')} last\n\\ No newline at end of file\n`,
    ],
    ['with another similarity of a renamed file', renamed(80), renamed(60)],
    ['with abbreviated ids of binary files', binary(`00ff0102${'3'.repeat(32)}`), short('00ff010')],
  ])('are the same change %s', (_, one, other) => {
    expect(isSameChange(one, other)).toBe(true);
    expect(isSameChange(other, one)).toBe(true);
  });

  it.each<[string, string, string]>([
    ['of whitespace', whole, diffOf('2 ')],
    ['of the end of a line', whole, diffOf('2\r')],
    ['of the end of the file', whole, `${whole}\\ No newline at end of file\n`],
    ['of an additional file', whole, whole + diffOf('2').replaceAll('a.txt', 'c.txt')],
    ['of a missing file', whole, ''],
    ['of the mode', binary('1234567890'), binary('1234567890').replace('100644', '100755')],
    ['of the content of binary files', binary(`00ff0102${'3'.repeat(32)}`), short('00ff011')],
    // A removed line `-- a/x` looks like the header of a file.
    [
      'of lines that look like headers',
      'diff --git a/q b/q\n--- a/q\n+++ b/q\n@@ -1,2 +1 @@\n--- a/x\n one\n',
      'diff --git a/q b/q\n--- a/q\n+++ b/q\n@@ -1,2 +1 @@\n--- a/y\n one\n',
    ],
  ])('are different changes if they differ in a change %s', (_, one, other) => {
    expect(isSameChange(one, other)).toBe(false);
    expect(isSameChange(other, one)).toBe(false);
  });
});
