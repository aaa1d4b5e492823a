import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createNamedSecrets } from '../../src/actions/secrets.ts';
import { type Client, createClient } from '../../src/client/client.ts';
import { operations } from '../../src/contract/operations.ts';
import type { Run } from '../../src/engine/record.ts';
import type { RunSettings } from '../../src/engine/run-context.ts';
import { createFactMemory } from '../../src/facts/ask.ts';
import { type Clock, systemClock } from '../../src/platform/clock.ts';
import { ReeveError } from '../../src/platform/errors.ts';
import { loadRuleFile } from '../../src/rules/files/load.ts';
import { formatProblem } from '../../src/rules/problem.ts';
import { registry } from '../../src/rules/registry.ts';
import type { LoadedRule } from '../../src/rules/rule.ts';
import { createAdmissions, createEnrolment, createIdentities } from '../../src/rules/sources/admission.ts';
import { createRuleSource } from '../../src/rules/sources/rule-source.ts';
import { loadFingerprintKey } from '../../src/server/settings/secrets/installation-secret.ts';
import { createWork } from '../../src/server/work.ts';
import { createStoredMemory } from '../../src/store/action-memory.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import type { Store } from '../../src/store/store.ts';
import type { Snapshots } from '../../src/work/sweeps/catch-up/snapshots.ts';
import type { Sweeps } from '../../src/work/sweeps/sweeps.ts';
import { everyServed } from '../../src/work/sweeps/targets/repositories.ts';
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts';
import { type FlowForge, startFlowForge } from './flow-forge.ts';
import { acme, people, realServer } from './flow-names.ts';
import { type FlowTemplate, flowTemplate } from './flow-template.ts';
import { makeReeve } from './make-reeve.ts';

export { acme, people } from './flow-names.ts';

/**
 * Scheduled half of the bot, with a clock that stands still until a test moves it. The embedded forge shares that
 * clock. A real server has its own clock, which is behind that of the bot.
 */
export type SweepHarness = {
  readonly forge: FlowForge;
  readonly proxy: FaultProxy;
  readonly root: Client;
  readonly ada: Client;
  readonly bot: Client;
  readonly store: Store;
  readonly snapshots: Snapshots;
  readonly sweeps: Sweeps;
  readonly runs: Run[];
  readonly now: () => Date;
  readonly clock: Clock;
  /** Environment that makes a command act like the sweeps, except for rules and named secrets. */
  readonly environment: Readonly<Record<string, string>>;
  /** Advances the clock. */
  advance(minutes: number): void;
  /** Lets the scheduler run, and handles all jobs that are due. */
  tick(): Promise<void>;
  /** Handles all jobs. */
  drain(): Promise<void>;
  /** Activates these rules as an operator file. */
  setRules(yaml: string, path?: string): void;
  /** Creates a repository of acme that the bot administers and serves. */
  makeRepository(name: string): Promise<void>;
  /** Replaces the runners on the forge. */
  putRunners(runners: readonly WantedRunner[]): Promise<void>;
  close(): Promise<void>;
};

/** Returns the rules of a file with this text. Throws if the file has problems. */
export function rulesOf(yaml: string, path = 'rules.yml'): readonly LoadedRule[] {
  const loaded = loadRuleFile({ path, text: yaml, level: 'operator', commit: '', registry });
  if (loaded.problems.length > 0) throw new Error(loaded.problems.map(formatProblem).join('\n'));
  return loaded.rules;
}

/** Scopes of the bot's token: everything that scheduled rules may need. */
const sweepScopes = [
  'read:user',
  'write:organization',
  'write:repository',
  'write:issue',
  'write:notification',
];

/** Returns the next full hour of the real clock in milliseconds. The slots of a test start then. */
function nextHour(): number {
  return Math.ceil(Date.now() / 3_600_000) * 3_600_000;
}

async function makeServedRepository(bot: Client, name: string): Promise<void> {
  const body = { name, auto_init: true, default_branch: 'main' };
  await bot.call(operations.createOrganizationRepository, { params: { org: acme }, body });
  await bot.call(operations.star, { params: { owner: acme, repo: name } });
}

/** Creates the organization of the bot with two repositories. */
async function arrangeRepositories(bot: Client): Promise<void> {
  await bot.call(operations.createOrganization, { body: { username: acme } });
  for (const name of ['demo', 'ops']) await makeServedRepository(bot, name);
}

/** Returns the initial state of an embedded forge whose clock shows this time. A real server starts empty. */
async function templateOf(now: Date): Promise<FlowTemplate | undefined> {
  if (realServer) return undefined;
  return flowTemplate(`sweeps at ${now.toISOString()}`, async (data) => {
    const forge = await startFlowForge({ data, clock: () => now, control: true });
    await forge.makePerson(people.root, { isAdministrator: true });
    await forge.makePerson(people.ada);
    const bot = await forge.makePerson(people.bot);
    await arrangeRepositories(bot);
    await forge.close();
    return [people.root, people.ada, people.bot];
  });
}

/**
 * Starts forge and worker. The organization acme, which the bot owns, has the repositories demo and ops, and there is a
 * person ada.
 */
export async function startSweepHarness(
  options: {
    at?: string;
    maxRequests?: number;
    settings?: RunSettings;
    /** Secrets by name, with the key of the harness's data. */
    namedSecrets?: ReadonlyMap<string, string>;
    /**
     * Time by which the embedded forge's clock is behind the bot's clock. Default: 0. A real server's clock is behind
     * anyway.
     */
    behindMs?: number;
  } = {},
): Promise<SweepHarness> {
  const data = await mkdtemp(join(tmpdir(), 'reeve-sweeps-'));
  let nowMs = realServer ? nextHour() : Date.parse(options.at ?? '2026-05-04T10:00:00Z');
  const now = (): Date => new Date(nowMs);
  const forgeNow = (): Date => new Date(nowMs - (options.behindMs ?? 0));
  const template = await templateOf(forgeNow());
  const forge = await startFlowForge({ data, clock: forgeNow, control: true, template });
  const proxy = await startFaultProxy(forge.url);
  const root = await forge.makePerson(people.root, { isAdministrator: true });
  const ada = await forge.makePerson(people.ada);
  const bot = await forge.makePerson(people.bot);
  if (template === undefined) await arrangeRepositories(bot);

  const { token } = await forge.makeToken(people.bot, sweepScopes);
  const clock: Clock = {
    ...systemClock,
    now,
    sleep: async (ms) => {
      nowMs += ms;
    },
  };
  const client = createClient({ url: proxy.url, credentials: { token }, sleep: async () => {} });
  const store = await openSqliteStore({ path: join(data, 'reeve.db'), role: 'worker', clock });
  const login = async (): Promise<string> => people.bot;
  const self = await bot.call(operations.getSelf, {});
  const served = createEnrolment({ client, login, listed: [], clock });
  const rules = createRuleSource({
    client,
    everyServed: () => everyServed(client, { login, listed: [] }),
    operatorRules: [],
    clock,
  });
  const identities = createIdentities({ client, clock });
  const runs: Run[] = [];
  const { namedSecrets } = options;
  const secrets =
    namedSecrets && createNamedSecrets(namedSecrets, await loadFingerprintKey(data, { store: undefined }));
  const reeve = makeReeve({
    ...options.settings,
    ...(secrets ? { secrets } : {}),
    client,
    account: async () => ({ id: self.id }),
    clock,
    memory: createFactMemory(clock),
    actionMemory: createStoredMemory(store),
    store,
    admissions: createAdmissions({ identities, served, coverageOf: () => true }),
    rules,
    everyRule: () => rules.everyRule(),
    served: { login, listed: [] },
    metrics: {
      countRun: (run) => void runs.push(run),
      countSweepRun: (run) => void runs.push(run),
      countQueueEvent: () => {},
    },
  });
  const { worker, sweeps, snapshots: seen } = createWork(reeve, {});

  let runnerControl: RunnerControl | undefined;
  const harness: SweepHarness = {
    forge,
    proxy,
    root,
    ada,
    bot,
    store,
    snapshots: seen,
    sweeps,
    runs,
    now,
    clock,
    environment: { FORGE_URL: proxy.url, FORGE_TOKEN: token, REEVE_DATA: data },
    advance(minutes) {
      nowMs += minutes * 60_000;
    },
    async tick() {
      await sweeps.scheduler.tick(now());
      await harness.drain();
    },
    async drain() {
      for (;;) {
        await worker.tick();
        await worker.idle();
        const { accepted, claimed } = await store.counts();
        if (accepted + claimed === 0) return;
      }
    },
    setRules: (yaml, path) => rules.replaceOperatorRules(rulesOf(yaml, path)),
    makeRepository: (name) => makeServedRepository(bot, name),
    async putRunners(runners) {
      runnerControl ??= createRunnerControl(forge, bot);
      await runnerControl.put(runners);
    },
    async close() {
      await worker.stop();
      await sweeps.stop();
      await store.close();
      await proxy.close();
      await forge.close();
      await rm(data, { recursive: true, force: true });
    },
  };
  return harness;
}

/** Runner that a flow requests, of an organization (`owner`) or of a repository (`owner/name`). */
type WantedRunner = {
  readonly name: string;
  readonly owner?: string;
  readonly repository?: string;
  readonly state: 'idle' | 'offline';
};

/** Manages the runners on a forge. */
interface RunnerControl {
  /** Of the runners created here, keeps or adds exactly these and removes all others. */
  put(wanted: readonly WantedRunner[]): Promise<void>;
}

type Registered = WantedRunner & { readonly id: number; readonly headers: Record<string, string> };

/** Maximum wait. A forge reports a runner as offline one minute after its last message. */
const offlineAfterMs = 100_000;

/**
 * Creates a runner control for this forge. For the embedded forge, it uses the control routes. For a real server, it
 * uses the runner protocol (Connect, in JSON): it registers runners, reports them as alive, and lets them fall silent.
 */
function createRunnerControl(forge: FlowForge, owner: Client): RunnerControl {
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
    // Forgejo returns the token only for a GET request.
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

/** Calls one procedure of the runner protocol. */
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
