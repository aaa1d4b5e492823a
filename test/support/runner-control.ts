import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '../../src/client/client.ts';
import { operations } from '../../src/contract/operations.ts';
import { ReeveError } from '../../src/platform/errors.ts';
import type { FlowForge } from './flow-forge.ts';

/** A runner as a flow wants it: of an organization (`owner`) or of a repository (`owner/name`). */
export type WantedRunner = {
  readonly name: string;
  readonly owner?: string;
  readonly repository?: string;
  readonly state: 'idle' | 'offline';
};

/** Puts runners on a forge. */
export interface RunnerControl {
  /** Leaves exactly these runners of those that were put here. */
  put(wanted: readonly WantedRunner[]): Promise<void>;
}

type Registered = WantedRunner & { readonly id: number; readonly headers: Record<string, string> };

/** A runner is offline a minute after it was last heard of. */
const offlineAfterMs = 100_000;

/**
 * Returns what puts runners on this forge: the embedded one through its control routes; with a real server they
 * register, say that they are there and fall silent by the protocol that runners speak (Connect, in JSON).
 */
export function createRunnerControl(forge: FlowForge, owner: Client): RunnerControl {
  const { embedded } = forge;
  if (embedded) return { put: (wanted) => putEmbedded(forge.url, embedded.controlToken ?? '', wanted) };
  let there: readonly Registered[] = [];
  const isSame = (a: WantedRunner, b: WantedRunner): boolean =>
    a.name === b.name && a.owner === b.owner && a.repository === b.repository;
  return {
    async put(wanted) {
      for (const runner of there) if (!wanted.some((one) => isSame(one, runner))) await remove(owner, runner);
      const next: Registered[] = [];
      for (const want of wanted) {
        const known = there.find((one) => isSame(one, want));
        const runner = { ...(known ?? (await register(forge.url, owner, want))), state: want.state };
        if (want.state === 'idle') await speak(forge.url, 'Declare', about(runner.name), runner.headers);
        else await untilOffline(owner, runner);
        next.push(runner);
      }
      there = next;
    },
  };
}

async function putEmbedded(url: string, token: string, wanted: readonly WantedRunner[]): Promise<void> {
  const answer = await fetch(`${url}/-/control/runners`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(wanted),
  });
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
}

const about = (name: string) => ({ name, version: 'v1.0.0', labels: ['linux'] });

async function register(url: string, owner: Client, want: WantedRunner): Promise<Registered> {
  const { token } = await registrationToken(owner, want);
  const { runner } = await speak(url, 'Register', { ...about(want.name), token });
  return {
    ...want,
    id: Number(runner.id),
    headers: { 'x-runner-uuid': String(runner.uuid), 'x-runner-token': String(runner.token) },
  };
}

function placeOf({ owner = '', repository }: WantedRunner) {
  const [repositoryOwner = '', repo = ''] = repository?.split('/') ?? [];
  return { organization: { org: owner }, repository: repository && { owner: repositoryOwner, repo } };
}

async function registrationToken(owner: Client, want: WantedRunner): Promise<{ token: string }> {
  const { organization, repository } = placeOf(want);
  const ask = (method: 'POST' | 'GET') =>
    repository
      ? owner.call({ ...operations.createRepositoryRunnerToken, method }, { params: repository })
      : owner.call({ ...operations.createOrganizationRunnerToken, method }, { params: organization });
  try {
    return await ask('POST');
  } catch (error) {
    // Forgejo gives the token to those who read it.
    if (error instanceof ReeveError && error.status === 405) return ask('GET');
    throw error;
  }
}

async function remove(owner: Client, runner: Registered): Promise<void> {
  const { organization, repository } = placeOf(runner);
  const one = { runner_id: runner.id };
  if (repository) await owner.call(operations.deleteRepositoryRunner, { params: { ...repository, ...one } });
  else await owner.call(operations.deleteOrganizationRunner, { params: { ...organization, ...one } });
}

async function untilOffline(owner: Client, runner: Registered): Promise<void> {
  const { organization, repository } = placeOf(runner);
  const one = { runner_id: runner.id };
  for (const deadline = performance.now() + offlineAfterMs; ; ) {
    const { status } = repository
      ? await owner.call(operations.getRepositoryRunner, { params: { ...repository, ...one } })
      : await owner.call(operations.getOrganizationRunner, { params: { ...organization, ...one } });
    if (status === 'offline') return;
    if (performance.now() > deadline) throw new Error(`${runner.name} is ${status} still`);
    await sleep(500);
  }
}

/** Calls one procedure of the runners' protocol. */
async function speak(
  url: string,
  procedure: 'Register' | 'Declare',
  body: unknown,
  headers: Record<string, string> = {},
): Promise<{ runner: Readonly<Record<string, unknown>> }> {
  const answer = await fetch(`${url}/api/actions/runner.v1.RunnerService/${procedure}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${procedure}: ${answer.status} ${text}`);
  return JSON.parse(text);
}
