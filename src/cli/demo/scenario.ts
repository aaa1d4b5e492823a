import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Client } from '../../client/client.ts';
import { operations } from '../../contract/operations.ts';
import type { PullRequest } from '../../contract/resources/pulls.ts';
import type { Run } from '../../engine/record.ts';
import { messageOf, ReeveError } from '../../platform/errors.ts';
import type { Store } from '../../store/store.ts';
import { at, type People } from './repository.ts';

/** Prints one step: a word for what it is about, and a sentence. */
type Say = (about: string, text: string) => void;

/** Waits for the run that an event of a pull request caused. */
export type WaitForRun = (wanted: { activity: string; index: number; after: number }) => Promise<Run>;

const branch = 'ada/handbook';
const title = 'Write the handbook';

const handbook = [
  '# Handbook',
  '',
  ...Array.from({ length: 12 }, (_, line) => `${line + 1}. Ask the reeve.`),
  '',
].join('\n');
const program = Array.from({ length: 60 }, (_, line) => `export const rule${line} = ${line};`).join('\n');

/**
 * Plays what happens in any repository: a branch is pushed, a pull request is opened, the labels come; another push turns
 * it into something else, the labels follow. Every step is the real thing. Where the pull request is there already,
 * nothing is played again. Throws where a label is not where the rules want it.
 */
export async function playScenario(options: {
  people: People;
  cloneUrl: string;
  ada: { name: string; password: string };
  folder: string;
  store: Store;
  waitForRun: WaitForRun;
  say: Say;
}): Promise<void> {
  const { people, say, waitForRun } = options;
  const known = await findDemoPull(people.ada);
  if (known) {
    say('pull', `#${known.number} "${known.title}" is there already: ${known.html_url}`);
    say('labels', await labelsOf(people.ada, known.number));
    return;
  }
  const checkout = await cloneAs({
    url: options.cloneUrl,
    folder: join(options.folder, 'ada'),
    person: options.ada,
  });
  await checkout.switchTo(branch);
  const first = await checkout.commit('Write the handbook', { 'docs/handbook.md': handbook });
  say('push', `ada pushes ${branch} at ${first.slice(0, 10)}: docs/handbook.md`);

  const wanted = await labelId(people.root, 'help wanted');
  let after = Date.now();
  const pull = await people.ada.call(operations.createPull, {
    params: at,
    body: { title, head: branch, base: 'main', labels: [wanted], body: 'There is work to do.' },
  });
  say('pull', `#${pull.number} "${pull.title}" by ada, labelled by her: help wanted   ${pull.html_url}`);
  await follow('opened', pull.number, after, ['help wanted']);

  const before = await labelNames(people.ada, pull.number);
  after = Date.now();
  const second = await checkout.commit('Write a program instead', {
    'docs/handbook.md': null,
    'src/rules.js': program,
  });
  say(
    'push',
    `ada pushes ${branch} at ${second.slice(0, 10)}: no docs/handbook.md any more, but src/rules.js with 60 lines`,
  );
  await follow('synchronized', pull.number, after, before);

  async function follow(
    activity: string,
    index: number,
    since: number,
    labelsBefore: readonly string[],
  ): Promise<void> {
    const run = await waitForRun({ activity, index, after: since });
    const delivery = await options.store.readDelivery(run.trigger.delivery ?? '');
    say(
      'delivery',
      `${run.trigger.kind}.${activity} accepted as ${run.trigger.delivery}, ${delivery?.bytes ?? 0} bytes, verified with secret "${delivery?.entry}"`,
    );
    sayRun(run, say);
    const labelsAfter = await labelNames(people.ada, index);
    say('labels', `before: ${show(labelsBefore)}   after: ${show(labelsAfter)}`);
    assertDone(run, labelsAfter);
  }
}

function sayRun(run: Run, say: Say): void {
  for (const rule of run.rules) {
    const name = rule.rule.slice(rule.rule.lastIndexOf('#') + 1);
    const place = `${rule.source}:${rule.line}${rule.commit ? ` at ${rule.commit.slice(0, 10)}` : ''}`;
    const reason = rule.reason === undefined ? '' : `: ${rule.reason}`;
    say('rule', `${name} ${rule.verdict}${reason}   (${place})`);
  }
  const requests = new Map(run.changes.map((change) => [JSON.stringify(change.input), change]));
  for (const { method, path, input } of requests.values()) {
    const body = (input as { body?: unknown } | undefined)?.body;
    say(
      'request',
      `${method} ${path} ${JSON.stringify(body ?? {})}   (${run.requests} requests in ${run.ms} ms)`,
    );
  }
}

/** The end state must be what the rules ask: every change they planned was made, and shows in the labels. */
function assertDone(run: Run, labels: readonly string[]): void {
  const failed = run.rules.find(({ verdict }) => verdict === 'failed');
  if (failed) throw new ReeveError('rules-broken', `${failed.rule} failed: ${failed.reason}`);
  if (run.changes.length === 0) {
    throw new ReeveError(
      'rules-broken',
      'no rule asked for a change of labels here: look at rules/demo/labels.yml',
    );
  }
  for (const { change, status, error } of run.outcomes) {
    if (status === 'failed')
      throw new ReeveError('rules-broken', `${change} was not applied: ${error ?? status}`);
  }
  for (const { target, value } of run.changes) {
    const name = target.slice('label:'.length);
    if (target.startsWith('label:') && labels.includes(name) !== value) {
      throw new ReeveError('rules-broken', `the label "${name}" should ${value ? '' : 'not '}be there`);
    }
  }
}

async function findDemoPull(client: Client): Promise<PullRequest | undefined> {
  for await (const pull of client.items(operations.listPulls, { params: at, query: { state: 'all' } })) {
    if (pull.title === title) return pull;
  }
  return undefined;
}

async function labelId(client: Client, name: string): Promise<number> {
  for await (const label of client.items(operations.listLabels, { params: at }))
    if (label.name === name) return label.id;
  throw new ReeveError('internal', `the demo's repository has no label "${name}"`);
}

async function labelNames(client: Client, index: number): Promise<readonly string[]> {
  const labels = await client.call(operations.listIssueLabels, { params: { ...at, index } });
  return labels.map((label) => label.name);
}

async function labelsOf(client: Client, index: number): Promise<string> {
  return show(await labelNames(client, index));
}

function show(names: readonly string[]): string {
  return names.length === 0 ? '(none)' : names.join(', ');
}

const execute = promisify(execFile);

/** A person's clone of a repository, worked on with the git program as a person would. */
interface Checkout {
  /** Starts or continues a branch from the default branch. */
  switchTo(branch: string): Promise<void>;
  /** Commits files (a null content removes one) and pushes the branch. Returns the new commit. */
  commit(message: string, files: Readonly<Record<string, string | null>>): Promise<string>;
}

/** Clones a repository over HTTP into a folder. The password stands in the environment of git alone, not in its arguments. */
async function cloneAs(options: {
  url: string;
  folder: string;
  person: { name: string; password: string };
}): Promise<Checkout> {
  const { url, folder, person } = options;
  const basic = Buffer.from(`${person.name}:${person.password}`).toString('base64');
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: person.name,
    GIT_AUTHOR_EMAIL: `${person.name}@example.org`,
    GIT_COMMITTER_NAME: person.name,
    GIT_COMMITTER_EMAIL: `${person.name}@example.org`,
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'http.extraHeader',
    GIT_CONFIG_VALUE_0: `Authorization: Basic ${basic}`,
  };
  const git = async (...args: readonly string[]): Promise<string> => {
    try {
      const { stdout } = await execute('git', args, { cwd: folder, env, timeout: 30_000 });
      return stdout.trim();
    } catch (cause) {
      const said =
        typeof cause === 'object' && cause !== null && 'stderr' in cause
          ? String(cause.stderr)
          : messageOf(cause);
      throw new ReeveError('git-failed', `git ${args[0]}: ${said.trim()}`, { cause });
    }
  };
  await mkdir(folder, { recursive: true });
  await git('clone', '--quiet', url, '.');
  return {
    async switchTo(branch) {
      const known = await git('ls-remote', '--heads', 'origin', branch);
      await (known === '' ? git('switch', '--quiet', '-c', branch) : git('switch', '--quiet', branch));
    },
    async commit(message, files) {
      for (const [path, content] of Object.entries(files)) {
        if (content === null) {
          await git('rm', '--quiet', '--', path);
          continue;
        }
        await mkdir(dirname(join(folder, path)), { recursive: true });
        await writeFile(join(folder, path), content);
        await git('add', '--', path);
      }
      // A demo that was interrupted has committed this already.
      if ((await git('status', '--porcelain')) !== '') await git('commit', '--quiet', '-m', message);
      await git('push', '--quiet', 'origin', 'HEAD');
      return git('rev-parse', 'HEAD');
    },
  };
}
