import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect } from 'vitest';
import { runDemo } from '../../src/cli/demo/demo.ts';
import { loadSettings } from '../../src/server/settings/config.ts';
import { reeveProcess, start, waitForExit, waitForOutput } from '../support/command.ts';
import { signInWithPassword } from '../support/dashboard-client.ts';
import { requiring } from '../support/flow-requirements.ts';

const it = requiring('its own process');

const cleanUp: (() => void)[] = [];
afterEach(() => {
  for (const clean of cleanUp.splice(0)) clean();
});

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'reeve-demo-test-'));
  cleanUp.push(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

it('the demo runs completely with --once and shows each step', async () => {
  const { status, out, error } = await reeveProcess(['serve', '--once']);

  expect(error).toBe('');
  expect(status).toBe(0);
  expect(out.split('\n').map((line) => line.split(' ')[0])).toEqual([
    ...['forge', 'repository', 'hook', 'push', 'pull', 'delivery', 'rule', 'request', 'labels'],
    ...['push', 'delivery', 'rule', 'request', 'labels', 'done', ''],
  ]);
  expect(out).toMatch(/labels +before: help wanted +after: area\/docs, help wanted/);
  expect(out).toMatch(/labels +before: area\/docs, help wanted +after: area\/code, help wanted, size\/L/);
});

const breakages: readonly [string, (text: string) => string, string][] = [
  ['an error', (text) => text.replace('touches', 'touchs'), 'labels.yml:14:'],
  [
    'a label that does not exist',
    (text) => text.replace('area/docs:', 'area/dox:'),
    'there is no label "area/dox"',
  ],
  [
    'a rule that plans no changes',
    (text) => text.replaceAll(/"(docs|src)/g, '"none').replace('> 40', '> 4000'),
    'no rule asked',
  ],
];

it.each(breakages)(
  'the demo fails and reports the reason if the rule file has %s',
  async (_title, change, words) => {
    const ruleFile = join(folder(), 'labels.yml');
    writeFileSync(ruleFile, change(readFileSync('rules/demo/labels.yml', 'utf8')));
    const settings = await loadSettings({});
    const stop = new AbortController().signal;

    const demo = runDemo({ once: true, stop, ruleFile }, settings, { out() {}, error() {}, style: String });

    await expect(demo).rejects.toMatchObject({ exit: 1, message: expect.stringContaining(words) });
  },
);

it('the demo stays up, works with demo.env alone, and restarts with the same data', async () => {
  const data = folder();
  const environment = { REEVE_DATA: data, PORT: '0', FORGE_PORT: '0', HOME: data };
  const first = start(['serve'], { environment });
  const ended = waitForExit(first);
  const invited = await waitForOutput(first, /In a browser.*\.\n/);
  const file = join(data, 'demo.env');
  expect(statSync(file).mode & 0o777).toBe(0o600);

  const script = `set -eu
. ${file}
cd ${data}
git clone -q "http://ada:$DEMO_ADA_PASSWORD@\${DEMO_URL#http://}/acme/demo.git" work
cd work
git switch -q -c mine
mkdir -p docs && echo hello > docs/mine.md
git add docs && git -c user.name=ada -c user.email=ada@example.org commit -q -m "Mine"
git push -q origin mine
curl -sf -u "ada:$DEMO_ADA_PASSWORD" -H 'content-type: application/json' -d '{"title":"Mine","head":"mine","base":"main"}' "$DEMO_URL/api/v1/repos/acme/demo/pulls" > pull.json
for i in $(seq 100); do
  curl -sf -u "ada:$DEMO_ADA_PASSWORD" "$DEMO_URL/api/v1/repos/acme/demo/issues/2/labels" > labels.json
  grep -q area/docs labels.json && break
  sleep 0.1
done
cat labels.json
for header in 'x-nothing: 1' 'authorization: Bearer wrong'; do
  curl -s -o /dev/null -w '%{http_code}\\n' -H "$header" -H 'content-type: application/json' -H 'x-gitea-delivery: a' -H 'x-gitea-event-type: push' -d '{}' "$DEMO_WEBHOOK_URL"
done
`;
  const printed = execFileSync('bash', ['-c', script], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: data },
  });
  expect(printed).toContain('"name":"area/docs"');
  expect(printed.split('\n').slice(-3)).toEqual([expect.stringMatching(/401$/), '401', '']);

  const [, address = '', password = ''] =
    /In a browser, (\S+)\/ .* password is in (\S+)\./.exec(invited) ?? [];
  const operator = await signInWithPassword(address, readFileSync(password, 'utf8').trim());
  const [row = ''] = (await operator.get('/deliveries?search=demo')).text
    .split('</li>')
    .filter((line) => line.includes('#2 Mine'));
  expect(row).toContain('pull request opened by ada');

  first.kill('SIGTERM');
  const { status, error } = await ended;
  expect(status).toBe(0);
  // Only the two requests that matched no secret are logged.
  const logged = error
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).msg);
  expect(logged).toEqual(Array(2).fill('refused a delivery: no entry of secrets matches'));
  const before = readFileSync(file, 'utf8');

  const second = start(['serve'], { environment });
  const endedAgain = waitForExit(second);
  const shown = await waitForOutput(second, /Everything is up/);
  expect(shown).toContain('#1 "Write the handbook" is there already');
  expect(shown).toMatch(/labels +area\/code, help wanted, size\/L/);
  const secretsOf = (text: string): string[] =>
    text.split('\n').filter((line) => /PASSWORD|SECRET|AUTHORIZATION|TOKEN/.test(line));
  expect(secretsOf(readFileSync(file, 'utf8'))).toEqual(secretsOf(before));
  second.kill('SIGINT');
  expect(await endedAgain).toMatchObject({ status: 0, error: '' });
});
