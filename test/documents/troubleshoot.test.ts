import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { anchorOf, blocksOf } from '../../scripts/site/markdown.ts';
import { operations } from '../../src/contract/operations.ts';
import { packageRoot } from '../../src/platform/package.ts';
import { makeDelivery } from '../store/make.ts';
import { reeve, reeveProcess } from '../support/command.ts';
import { at, type Harness, minimalScopes, people, secret } from '../support/harness.ts';
import { startOperatorHarness } from '../support/operator-harness.ts';

/** A command of a `console` block, and the lines of output on the page. */
type ShownCommand = { readonly command: string; readonly printed: readonly string[] };

/** Returns the commands of the `console` blocks of a page, by the anchor of the heading above them. */
function shownCommands(page: string): ReadonlyMap<string, readonly ShownCommand[]> {
  const sections = readFileSync(join(packageRoot, page), 'utf8').split(/^#{2,3} /m);
  const found = sections.map((text) => {
    const blocks = blocksOf(text).filter(({ language }) => language === 'console');
    return [
      anchorOf(text.split('\n', 1)[0] ?? ''),
      blocks.flatMap((block) => commandsIn(block.text)),
    ] as const;
  });
  return new Map(found.filter(([, commands]) => commands.length > 0));
}

function commandsIn(text: string): readonly ShownCommand[] {
  const [, ...parts] = text.split(/^\$ /m);
  return parts.map((part) => {
    const [command = '', ...printed] = part.trimEnd().split('\n');
    return { command, printed };
  });
}

/**
 * Returns the first line on the page that the command did not print in this order; undefined if all lines were printed.
 * `…` stands for any text.
 */
function missingLine(printed: readonly string[], output: string): string | undefined {
  const lines = output.split('\n');
  let from = 0;
  for (const line of printed) {
    const pattern = new RegExp(`^\\s*${line.trim().split('…').map(literal).join('.*')}\\s*$`);
    const place = lines.findIndex((one, index) => index >= from && pattern.test(one));
    if (place === -1) return line;
    from = place + 1;
  }
  return undefined;
}

/** Returns a pattern for exactly this text. */
const literal = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');

const rules = `version: 1
rules:
  ask:
    on: { issues: [opened] }
    if: issue.title.endsWith("?")
    steps: [{ uses: set-labels, with: { add: [area/docs] } }]
  triage:
    on: { issues: [opened] }
    if: issue.title.startsWith("Bug")
    steps: [{ uses: set-labels, with: { add: [triage] } }]
`;
const observed = `version: 1
mode: observe
rules:
  urgent:
    on: { issues: [opened] }
    if: issue.title.startsWith("Urgent")
    steps: [{ uses: set-labels, with: { add: [kept] } }]
  nightly:
    on: { schedule: "13 2 * * *" }
    each: issue
    steps: [{ uses: set-labels, with: { add: [kept] } }]
`;
const broken = `version: 1
rules:
  label:
    on: { pull_request: [synchronize] }
    if: pull_request.titel.startsWith("fix")
    steps: [{ uses: set-labels, with: { add: [kept] } }]
`;
const execute = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'reeve-troubleshoot-'));
const file = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text, { mode: 0o600 });
  return path;
};
const page = shownCommands('docs/troubleshoot.md');

let harness: Harness;
beforeAll(async () => {
  harness = await startOperatorHarness({ 'rules.yml': rules, 'observed.yml': observed });
});
const mend: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const undo of mend.splice(0)) await undo();
});
afterAll(async () => {
  await harness?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Opens an issue and waits until it has been handled. */
async function openIssue(title: string): Promise<void> {
  const seen = harness.runs.length;
  await harness.ada.call(operations.createIssue, { params: at, body: { title } });
  await harness.waitForRun((one) => harness.runs.indexOf(one) >= seen && one.trigger.activity === 'opened');
  await harness.idle();
}

type Variables = Record<string, string>;

/** Causes the fault of each section of the page, and returns the settings for it. */
const faults: Readonly<Record<string, () => Promise<Variables | undefined>>> = {
  'setup-says-that-the-delivery-does-not-arrive': async () => {
    file('token', harness.token);
    return { REEVE_DATA: join(folder, 'data'), REEVE_CONFIG: join(folder, 'reeve.yml'), PORT: '0' };
  },
  'the-forge-refuses-the-token': async () => ({ FORGE_TOKEN: 'f'.repeat(40) }),
  'the-forge-cannot-be-reached': async () => ({ FORGE_URL: 'http://127.0.0.1:9' }),
  'the-token-lacks-a-scope': async () => {
    const { token } = await harness.forge.makeToken(people.bot, minimalScopes.slice(0, 3));
    return { FORGE_TOKEN: token };
  },
  'no-repository-is-served': async () => {
    await harness.bot.call(operations.unstar, { params: at });
    mend.push(() => harness.bot.call(operations.star, { params: at }));
    return undefined;
  },
  'reeve-does-not-start-settings-cannot-be-used': async () => ({
    WEBHOOK_SECRET: 'short',
    REEVE_RULE: 'rules',
  }),
  'reeve-does-not-start-another-program-has-the-port': async () => ({ REEVE_DATA: join(folder, 'data') }),
  'reeve-does-not-start-another-reeve-has-the-store': async () => ({ PORT: '0' }),
  'nothing-happens-after-an-event': async () => void (await openIssue('Hello')),
  'a-rule-fails': async () => void (await openIssue('Bug: no till')),
  'a-rule-file-is-not-used': async () => void file('rules.yml', broken),
  'a-change-is-planned-but-not-made': async () => void (await openIssue('Urgent: no till')),
  'nothing-is-written-at-all': async () => {
    await run('reeve pause all', {});
    mend.push(() => run('reeve resume all', {}));
    await openIssue('Where is the till?');
    return undefined;
  },
  'a-schedule-does-nothing': async () => undefined,
  'a-rule-made-a-wrong-change': async () => void (await openIssue('Is this documented?')),
  'a-delivery-is-dead': async () => {
    const { store } = harness.server;
    const { id } = await store.accept(makeDelivery({ eventType: 'push' }));
    await store.route([{ id, to: 'dead', reason: 'the body is not JSON' }]);
    return undefined;
  },
  'deliveries-wait': async () => {
    harness.proxy.decide = () => ({ kind: 'answer', status: 401, body: '{"message":"invalid token"}' });
    mend.push(async () => {
      harness.proxy.decide = () => ({ kind: 'pass' });
    });
    await harness.ada.call(operations.createIssue, { params: at, body: { title: 'Waits' } });
    await expect.poll(() => run('curl -s http://127.0.0.1:8080/readyz', {})).toContain('refused');
    return undefined;
  },
  'the-dashboard-answers-421': async () => undefined,
  'the-password-of-the-dashboard-is-lost': async () => undefined,
};

/** Runs a command of the page against the forge and the server of this test. */
async function run(command: string, environment: Variables): Promise<string> {
  const { port } = new URL(harness.server.url);
  if (!command.startsWith('reeve ')) {
    const { stdout } = await execute('bash', ['-c', command.replace('127.0.0.1:8080', `127.0.0.1:${port}`)]);
    return stdout;
  }
  const isSetup = command.startsWith('reeve setup');
  const [, ...args] = command
    .replaceAll(/ --settings (\S+)/g, isSetup ? ` --settings ${folder}/$1` : '')
    .replace('--token-file ', `--token-file ${folder}/`)
    .replace('https://git.example.org', harness.forge.url)
    .replace('https://reeve.example.org', 'http://127.0.0.1:9')
    .replace(/ rules$/, ` ${folder}/rules.yml`)
    .split(' ');
  const settings = { WEBHOOK_SECRET: secret, REEVE_RULES: harness.rules ?? '', PORT: port };
  const standard = isSetup ? {} : { ...harness.environment, ...settings };
  const call = args[0] === 'serve' ? reeveProcess : reeve;
  const { out, error } = await call(args, { environment: { ...standard, ...environment } });
  return out + error;
}

describe('docs/troubleshoot.md', () => {
  it('has a fault for each section with commands, and a section for each fault', () => {
    expect([...page.keys()]).toEqual(Object.keys(faults));
  });

  it.each([...page])('%s', async (anchor, commands) => {
    const environment = (await faults[anchor]?.()) ?? {};

    for (const { command, printed } of commands) {
      const output = await run(command, environment);
      expect(missingLine(printed, output), output).toBeUndefined();
    }
  });
});
