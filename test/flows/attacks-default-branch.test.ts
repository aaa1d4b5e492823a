import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { operations } from '../../src/contract/operations.ts';
import { recordFigure } from '../support/figure.ts';
import { cloneRepository, type GitClone } from '../support/git-client.ts';
import { at, type Harness, people, startHarness } from '../support/harness.ts';

const rulesThat = (label: string): string => `version: 1
rules:
  mark:
    on: issues.opened
    steps: [{ uses: set-labels, with: { add: [${label}] } }]
`;
const good = rulesThat('area/docs');
const evil = rulesThat('area/code');

let harness: Harness;
let clone: GitClone;
beforeAll(async () => {
  harness = await startHarness({ rules: good });
  clone = await cloneRepository(harness.cloneFrom(people.ada));
});
let attacks = 0;
beforeEach(() => {
  attacks += 1;
});
afterAll(async () => {
  clone.remove();
  await harness.close();
});

async function headOf(branch: string): Promise<string> {
  const { commit } = await harness.root.call(operations.getBranch, { params: { ...at, branch } });
  return commit?.id ?? '';
}

/** Commits the files that `write` creates in a clean work tree of main, and returns the commit. */
async function commitFrom(write: () => Promise<unknown> | unknown, add = true): Promise<string> {
  await clone.git('fetch', '--quiet', 'origin');
  await clone.git('clean', '--quiet', '-ffdx');
  await clone.git('checkout', '--quiet', '--force', '-B', 'work', 'origin/main');
  await write();
  if (add) await clone.git('add', '--all', '--force');
  await clone.git('commit', '--quiet', '--allow-empty', '-m', 'change');
  return (await clone.git('rev-parse', 'HEAD')).trim();
}

const forcePush = (commit: string) =>
  clone.git('push', '--quiet', '--force', 'origin', `${commit}:refs/heads/main`);

const pushMain = (commit: string): Promise<void> => harness.waitForPush(() => forcePush(commit));

function openIssue(title: string) {
  return harness.ada.call(operations.createIssue, { params: at, body: { title } });
}

const write = (path: string, text: string): void => writeFileSync(join(clone.folder, path), text);

describe('anything but a regular file on the default branch is refused and reported', () => {
  const replaced: Readonly<Record<string, [() => Promise<unknown> | unknown, string]>> = {
    'a symbolic link': [
      () => {
        rmSync(join(clone.folder, '.reeve.yml'));
        write('evil.yml', evil);
        symlinkSync('evil.yml', join(clone.folder, '.reeve.yml'));
      },
      'it is a symlink',
    ],
    'a submodule': [
      async () => {
        const commit = (await clone.git('rev-parse', 'HEAD')).trim();
        await clone.git('rm', '--quiet', '--force', '.reeve.yml');
        await clone.git('update-index', '--add', '--cacheinfo', `160000,${commit},.reeve.yml`);
      },
      'it is a submodule',
    ],
    'a folder': [
      () => {
        rmSync(join(clone.folder, '.reeve.yml'));
        mkdirSync(join(clone.folder, '.reeve.yml'));
        write('.reeve.yml/reeve.yml', evil);
      },
      'it is a dir',
    ],
    'a second rule file': [
      () => {
        mkdirSync(join(clone.folder, '.gitea'));
        write('.gitea/reeve.yml', evil);
      },
      'both exist',
    ],
    'a file that is too large': [() => write('.reeve.yml', `${good}#${'x'.repeat(65_536)}\n`), 'has 65'],
  };

  it.each(Object.keys(replaced))('%s', async (shape) => {
    const [put, words] = replaced[shape] ?? [() => undefined, ''];
    const before = await headOf('main');
    await pushMain(await commitFrom(put, shape !== 'a submodule'));
    const issue = await openIssue(shape);
    const isTold = (reason: string | undefined): boolean => reason?.includes(words) === true;
    // The last valid version of a file that is too large stays in force.
    const isKept = shape === 'a file that is too large';
    await harness.idle();
    const broken = await harness.waitForRun(({ rules, trigger, changes }) =>
      rules.some(({ verdict, reason }) =>
        isKept
          ? changes.some(({ path }) => path.includes(`/issues/${issue.number}/`))
          : trigger.kind === 'issues' && verdict === 'failed' && isTold(reason),
      ),
    );
    await harness.idle();

    // A large file is an invalid one, whose last valid version stays in force. The others replaced or joined the file.
    const kept = shape === 'a file that is too large' ? ['area/docs'] : [];
    expect(broken.changes.map(({ target }) => target)).toEqual(kept.map((name) => `label:${name}`));
    expect(await harness.labelsOf(issue.number)).toEqual(kept);
    await pushMain(before);
    await harness.idle();
  });

  it('a file whose name differs by case is not a rule file', async () => {
    const before = await headOf('main');
    await pushMain(
      await commitFrom(() => {
        rmSync(join(clone.folder, '.reeve.yml'));
        write('.REEVE.yml', evil);
        write('.Reeve.YML', evil);
      }),
    );
    const issue = await openIssue('case');
    await harness.idle();

    expect(await harness.labelsOf(issue.number)).toEqual([]);
    await pushMain(before);
    await harness.idle();
  });
});

it('in a force-push race, each run uses the rules of one commit of the default branch, never a mixture of two', async () => {
  const first = await headOf('main');
  const second = await commitFrom(() => write('.reeve.yml', rulesThat('kept')));
  for (let round = 0; round < 6; round += 1) {
    const to = round % 2 === 0 ? second : first;
    await Promise.all([forcePush(to), openIssue(`race ${round}`)]);
  }
  await harness.idle();

  const wanted = { [first]: 'label:area/docs', [second]: 'label:kept' };
  const raced = harness.runs.filter(({ rules }) => rules[0]?.verdict === 'matched').slice(-6);
  expect(raced.length).toBe(6);
  for (const { rules, changes } of raced) {
    for (const { target } of changes) expect(target).toBe(wanted[rules[0]?.commit ?? '']);
  }
  await forcePush(first);
  await harness.idle();
});

it('deleting the default branch leaves no rules in force', async (context) => {
  const spare = await commitFrom(() => write('.reeve.yml', evil));
  await clone.git('push', '--quiet', 'origin', 'origin/main:refs/heads/spare');
  await harness.root.call(operations.editRepository, { params: at, body: { default_branch: 'spare' } });
  await clone.git('push', '--quiet', 'origin', `${spare}:refs/tags/spare`, ':refs/heads/main');
  // The forge refuses to delete its default branch through git, but an administrator can delete it on disk.
  await clone.git('push', '--quiet', 'origin', ':refs/heads/spare').catch(() => undefined);
  await harness.idle();
  const issue = await openIssue('after');
  await harness.idle();

  expect(await harness.labelsOf(issue.number)).not.toContain('area/code');
  recordFigure(context, `${attacks} kinds of changes of the default branch: 0 effects`);
});
