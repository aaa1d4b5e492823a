import { afterEach, describe, expect, it } from 'vitest';
import { operations } from '../../src/contract/operations.ts';
import type { Run } from '../../src/engine/record.ts';
import { reeve } from '../support/command.ts';
import type { Fault } from '../support/fault-proxy.ts';
import { acme, at, type Harness, people } from '../support/harness.ts';
import { startOperatorHarness, writesOf } from '../support/operator-harness.ts';
import { addFile } from '../support/privilege-setup.ts';

let harness: Harness;
afterEach(() => harness.close());

const rules = `version: 1
rules:
  keep:
    on: { push: { branches: [kept] } }
    steps:
      - uses: commit-files
        with:
          branch: kept
          message: Keep files
          files:
            - { path: one.txt, content: "one\\n" }
            - { path: two.txt, content: "two\\n" }
  note:
    on: { push: { branches: [kept] } }
    steps: [{ uses: report-issue, with: { key: "\${{ event.after }}", title: "Pushed \${{ event.after }}" } }]
`;

const isCommit = ({ method, path }: { method: string; path: string }): boolean =>
  method === 'POST' && path.endsWith('/demo/contents');

/** Applies a fault to the first commit request. Later requests pass. */
function meddle(fault: Fault): void {
  let met = 0;
  harness.proxy.decide = (passing) => {
    if (!isCommit(passing)) return { kind: 'pass' };
    met += 1;
    return met === 1 ? fault : { kind: 'pass' };
  };
}

async function textOf(filepath: string, ref = 'kept', repo: string = at.repo): Promise<string | undefined> {
  const params = { ...at, repo, filepath };
  const entry = await harness.root
    .call(operations.getContents, { params, query: { ref } })
    .catch(() => undefined);
  return entry === undefined || Array.isArray(entry)
    ? undefined
    : Buffer.from(entry.content ?? '', 'base64').toString('utf8');
}

async function tipOf(branch = 'kept') {
  const sha = (await harness.root.call(operations.getBranch, { params: { ...at, branch } })).commit?.id ?? '';
  const { commit, parents } = await harness.root.call(operations.getCommit, { params: { ...at, sha } });
  return { sha, message: commit?.message?.trim(), parents: parents?.map((parent) => parent.sha) };
}

/** Pushes as ada, and returns the run of the rule that commits the files. */
async function push(filepath = 'start.txt', text = filepath): Promise<Run> {
  await addFile(harness.ada, at, 'kept', filepath, text);
  const run = await harness.waitForRun(({ rules: all }) =>
    all.some(({ rule, verdict }) => rule.endsWith('#keep') && verdict === 'matched'),
  );
  await harness.idle();
  return run;
}

const outcomesOf = (run: Run) => run.outcomes.map(({ status, error }) => error ?? status);

describe('commit-files', () => {
  it('commits the differing files once, and the push triggers the rules that did not cause it', async () => {
    harness = await startOperatorHarness(rules);

    const run = await push();

    expect(outcomesOf(run).slice(0, 2)).toEqual(['applied', 'applied']);
    expect([await textOf('one.txt'), await textOf('two.txt')]).toEqual(['one\n', 'two\n']);
    const { sha, message, parents } = await tipOf();
    expect([message, parents?.length]).toEqual(['Keep files', 1]);
    const [before] = parents ?? [];
    expect(harness.proxy.passed.filter(isCommit)).toHaveLength(1);
    const titles = async () =>
      (await harness.root.call(operations.listIssues, { params: at, query: { type: 'issues' } })).map(
        ({ title }) => title,
      );
    expect((await titles()).toSorted()).toEqual([`Pushed ${before}`, `Pushed ${sha}`].toSorted());
    const caused = harness.runs.find(({ trigger }) => trigger.because?.run === run.id);
    expect(caused?.rules.find(({ rule }) => rule.endsWith('#keep'))?.verdict).not.toBe('matched');
    // The record omits the committed content, because it would grow with each file.
    expect(JSON.stringify(run.changes)).not.toContain(Buffer.from('one\n').toString('base64'));
  });

  it('plans again if another commit changes a file in the meantime, and overwrites no content that it has not read', async () => {
    harness = await startOperatorHarness(rules);
    await addFile(harness.root, at, 'side', 'x.txt');
    meddle({ kind: 'pass', before: () => addFile(harness.ada, at, 'kept', 'one.txt', 'by ada') });

    const run = await push();

    expect(outcomesOf(run).slice(0, 2)).toEqual(['applied', 'applied']);
    expect(harness.proxy.passed.filter(isCommit)).toHaveLength(2);
    expect(await textOf('one.txt')).toBe('one\n');
    // The commit in between is the parent of our commit, and a revert restores its text.
    expect(run.changes[0]?.input).toMatchObject({
      body: { files: [{ operation: 'update' }, { operation: 'create' }] },
    });
    const { out } = await reeve(['revert', run.id, '--json'], { environment: harness.environment });
    expect(
      JSON.parse(out)
        .outcomes.slice(0, 2)
        .map(({ status }: { status: string }) => status),
    ).toEqual([...['applied', 'applied']]);
    expect([await textOf('one.txt'), await textOf('two.txt')]).toEqual(['by ada', undefined]);
  });

  it('does nothing if another commit adds the same files in the meantime', async () => {
    harness = await startOperatorHarness(rules);
    meddle({
      kind: 'pass',
      async before() {
        await addFile(harness.ada, at, 'kept', 'one.txt', 'one\n');
        await addFile(harness.ada, at, 'kept', 'two.txt', 'two\n');
      },
    });

    const run = await push();

    expect(run.outcomes.slice(0, 2).map(({ status }) => status)).toEqual(['skipped', 'skipped']);
    expect(harness.proxy.passed.filter(isCommit)).toHaveLength(1);
  });

  it('reports the protected branch if the forge refuses the commit, and changes nothing', async () => {
    harness = await startOperatorHarness(rules, { access: 'write' });
    const body = {
      rule_name: 'kept',
      enable_push: true,
      enable_push_whitelist: true,
      push_whitelist_usernames: [people.ada],
    };
    await harness.root.call(operations.createBranchProtection, { params: at, body });

    const run = await push();

    expect(run.outcomes[0]).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('kept is protected'),
    });
    expect(run.changes[0]?.reason).toContain('protected against pushes of this account');
    expect(await textOf('one.txt')).toBeUndefined();
    expect(harness.proxy.passed.filter(isCommit)).toHaveLength(1);
  });

  it('commits once even if the response is lost, and the push is still recognized as its consequence', async () => {
    harness = await startOperatorHarness(rules);
    meddle({ kind: 'lose' });

    await push();
    await harness.waitForRun(
      (one) => one.trigger.because !== undefined && one.rules.some(({ rule }) => rule.endsWith('#note')),
    );
    await harness.idle();

    expect(harness.proxy.passed.filter(isCommit)).toHaveLength(1);
    expect([await textOf('one.txt'), await textOf('two.txt')]).toEqual(['one\n', 'two\n']);
    expect((await tipOf()).message).toBe('Keep files');
  });

  it('is reverted file by file if one of the files has changed since', async () => {
    harness = await startOperatorHarness(rules);
    const run = await push('one.txt', 'before');
    const content = Buffer.from('later').toString('base64');
    const params = { ...at, filepath: 'two.txt' };
    const live = await harness.root.call(operations.getContents, { params, query: { ref: 'kept' } });
    const sha = Array.isArray(live) ? '' : (live.sha ?? '');
    await harness.server.stop();
    await harness.ada.call(operations.updateFile, {
      params,
      body: { content, sha, branch: 'kept', message: 'x' },
    });

    const { status, out } = await reeve(['revert', run.id, '--json'], { environment: harness.environment });

    const back: Run = JSON.parse(out);
    expect(status).toBe(1);
    expect(back.refused.map(({ change, why }) => [change.target, why])).toContainEqual([
      'file:kept:two.txt',
      expect.stringContaining('changed since'),
    ]);
    expect([await textOf('one.txt'), await textOf('two.txt')]).toEqual(['before', 'later']);
    expect((await tipOf()).message).toBe('Restore files as before');
  });
});

describe('a rollout', () => {
  const rollout = `version: 1
rules:
  rollout:
    in: ["${acme}/*", "!${acme}/templates"]
    on: { schedule: "0 0 1 1 *" }
    each: repository
    if: '!repository.archived'
    steps:
      - uses: commit-files
        with:
          files:
            - { path: .editorconfig, content: "root = true\\n" }
            - { path: assets/logo.bin, from: "${acme}/templates:logo.bin@main" }
`;

  it('commits to the default branch of every repository once, and then plans nothing more', async () => {
    harness = await startOperatorHarness(rollout);
    const bytes = Buffer.from([0, 159, 146, 150]);
    for (const name of ['templates', 'other', 'empty']) {
      await harness.root.call(operations.createOrganizationRepository, {
        params: { org: acme },
        body: {
          name,
          auto_init: name !== 'empty',
          default_branch: name === 'other' ? 'trunk' : 'main',
          private: true,
        },
      });
      await harness.root.call(operations.putCollaborator, {
        params: { owner: acme, repo: name, collaborator: people.bot },
        body: { permission: name === 'templates' ? 'read' : 'write' },
      });
      if (name !== 'templates')
        await harness.bot.call(operations.star, { params: { owner: acme, repo: name } });
    }
    await harness.root.call(operations.createFile, {
      params: { owner: acme, repo: 'templates', filepath: 'logo.bin' },
      body: { content: bytes.toString('base64'), message: 'logo' },
    });
    const environment = { ...harness.environment, REEVE_RULES: harness.rules ?? '' };

    const first = await reeve(['sweep', 'rollout', '--json'], { environment });

    expect(JSON.parse(first.out)).toMatchObject({ items: 3, failed: 0 });
    for (const [repo, branch] of [
      [at.repo, 'main'],
      ['other', 'trunk'],
    ] as const) {
      expect(await textOf('.editorconfig', branch, repo)).toBe('root = true\n');
      const params = { owner: acme, repo, filepath: 'assets/logo.bin' };
      const logo = await harness.root.call(operations.getContents, { params });
      expect(Array.isArray(logo) ? undefined : logo.content).toBe(bytes.toString('base64'));
    }
    const commits = () => writesOf(harness).filter((request) => /POST .*contents$/.test(request));
    expect(commits()).toHaveLength(2);

    await reeve(['sweep', 'rollout', '--json'], { environment });
    expect(commits()).toHaveLength(2);
  });
});
