// Sends the same requests to the embedded forge and to a real server, and lists where the responses differ.
import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { createForgeInstance } from '../../src/forge/forge.ts';
import { launcher } from '../../test/support/launcher.ts';
import { passwordCost } from '../../test/support/privilege-setup.ts';
import type { RealForge } from '../../test/support/real-forge.ts';
import { compareReplies, type Difference } from './peer/compare.ts';
import { readSteps, refusedSteps } from './peer/contract-steps.ts';
import { type Explanation, explain, explanations } from './peer/explained.ts';
import { lastSteps, people, seedSteps } from './peer/seed-steps.ts';
import { createSide, type Reply, type Side, type Step, send } from './peer/side.ts';
import type { PeerResult } from './result.ts';

/** Result of a run: equal responses, explained differences and unexplained ones. */
export type Comparison = {
  readonly requests: number;
  readonly equal: number;
  readonly explained: ReadonlyMap<Explanation, number>;
  readonly unexplained: readonly Found[];
};

/**
 * Wait in milliseconds before a differing read is repeated, because a real server does some of its work after its
 * response.
 */
const settling = 3_000;

/** Runs the complete scenario on a new embedded forge and on the peer, one request at a time. */
export async function comparePeer(peer: RealForge): Promise<Comparison> {
  const run = randomBytes(3).toString('hex').replace(/^\d/, 'x');
  const names = Object.fromEntries([...people, 'acme', 'vault'].map((name) => [name, `${name}-${run}`]));
  const theirs = createSide(peer.url, peer.token, { ...names, run });
  const administrator = await accountOf(theirs);
  const forge = await createForgeInstance({ passwordCost, launcher, clock: () => new Date() });
  try {
    const url = await forge.listen();
    const password = randomBytes(12).toString('hex');
    await forge.createAdministrator({ ...administrator, password });
    const ours = createSide(url, await createToken(url, administrator.name, password), { ...names, run });
    for (const person of people)
      await Promise.all([ours, theirs].map((side) => createPerson(side, person, run)));
    return await runSteps(ours, theirs, run);
  } finally {
    await forge.close();
  }
}

async function runSteps(ours: Side, theirs: Side, run: string): Promise<Comparison> {
  const found: Found[] = [];
  for (const part of [seedSteps, readSteps(), refusedSteps(), lastSteps]) {
    const answers: Found[] = [];
    for (const step of part) {
      if (step.isSettled) await setTimeout(settling);
      answers.push({ step, differences: await compareStep(ours, theirs, step, run) });
    }
    await setTimeout(settling);
    for (const { step, differences } of answers) {
      const isSettled = step.method !== 'GET' || differences.every((one) => explain(step, one));
      found.push({ step, differences: isSettled ? differences : await compareStep(ours, theirs, step, run) });
    }
  }
  return summarize(found);
}

type Found = { readonly step: Step; readonly differences: readonly Difference[] };

function summarize(found: readonly Found[]): Comparison {
  const explained = new Map<Explanation, number>();
  for (const { step, differences } of found) {
    for (const difference of differences) {
      const reason = explain(step, difference);
      if (reason !== undefined) explained.set(reason, (explained.get(reason) ?? 0) + 1);
    }
  }
  const unexplained = found.map(({ step, differences }) => ({
    step,
    differences: differences.filter((one) => explain(step, one) === undefined),
  }));
  return {
    requests: found.length,
    equal: found.filter(({ differences }) => differences.length === 0).length,
    explained,
    unexplained: unexplained.filter(({ differences }) => differences.length > 0),
  };
}

async function compareStep(
  ours: Side,
  theirs: Side,
  step: Step,
  run: string,
): Promise<readonly Difference[]> {
  const [one, other] = await Promise.all([send(ours, step), sendSettled(theirs, step)]);
  const options = {
    run,
    isInstanceWide: step.isInstanceWide ?? false,
    isUnordered: step.isUnordered ?? false,
  };
  return compareReplies({ side: ours, reply: one }, { side: theirs, reply: other }, options);
}

/** Sends a step, and repeats a merge that is refused while the server still checks the pull request. */
async function sendSettled(side: Side, step: Step): Promise<Reply> {
  for (let left = 40; ; left -= 1) {
    const reply = await send(side, step);
    if (reply.status !== 405 || !reply.text.includes('try again later') || left === 0) return reply;
    await setTimeout(250);
  }
}

async function accountOf(side: Side): Promise<{ name: string; email: string }> {
  const { json, status } = await send(side, { as: 'admin', method: 'GET', path: '/user' });
  const { login, email } = (json ?? {}) as { login?: string; email?: string };
  if (login === undefined || email === undefined) throw new Error(`GET /user answered ${status}`);
  return { name: login, email };
}

async function createPerson(side: Side, person: string, run: string): Promise<void> {
  const name = `${person}-${run}`;
  const password = randomBytes(12).toString('hex');
  const body = { username: name, email: `${name}@example.org`, password, must_change_password: false };
  const { status, text } = await send(side, { as: 'admin', method: 'POST', path: '/admin/users', body });
  if (status !== 201) throw new Error(`${side.url}: POST /admin/users answered ${status} ${text}`);
  side.credentials.set(person, `token ${await createToken(side.url, name, password)}`);
}

async function createToken(url: string, name: string, password: string): Promise<string> {
  const response = await fetch(`${url}/api/v1/users/${name}/tokens`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`,
    },
    body: JSON.stringify({ name: 'peer', scopes: ['all'] }),
  });
  if (!response.ok) throw new Error(`${url}: POST /users/${name}/tokens answered ${response.status}`);
  const { sha1 } = (await response.json()) as { sha1: string };
  return sha1;
}

/** Returns the stored data of a run, for the page. */
export function resultOf(version: string, day: string, comparison: Comparison): PeerResult {
  const { requests, equal, explained, unexplained } = comparison;
  return {
    version,
    day,
    requests,
    equal,
    unexplained: unexplained.length,
    explained: [...explained].map(([{ reason }, count]) => ({ reason, count })),
  };
}

/** Returns the lines to print after a run. */
export function reportOf({ requests, equal, explained, unexplained }: Comparison): readonly string[] {
  const unmet = explanations.filter((one) => !explained.has(one));
  return [
    ...unexplained.flatMap(({ step: { as, method, path, body, raw }, differences }) => [
      `${method} ${path} as ${as}${body ? ` ${JSON.stringify(body).slice(0, 120)}` : ''}${raw ? ` ${raw.text}` : ''}`,
      ...differences.map(({ at, ours, theirs }) => `    ${at}: embedded ${ours} | peer ${theirs}`),
    ]),
    ...[...explained].map(([{ reason }, count]) => `explained ${count} times: ${reason}`),
    ...unmet.map(({ reason }) => `explained, but not met in this run: ${reason}`),
    `${requests} requests to each server: ${equal} with equal answers, ${requests - equal - unexplained.length} with explained differences, ${unexplained.length} with unexplained differences`,
  ];
}
