import { type Received, startReceiver } from '../hook-receiver.ts';
import {
  type Fixture,
  fixtureSecret,
  type HookName,
  jsonOf,
  kindOf,
  type Recording,
  signaturesOf,
} from './fixture.ts';
import { createIssueTopic } from './issues.ts';
import {
  createReleaseTopic,
  createRemovalTopic,
  createWikiTopic,
  createWorkflowTopic,
} from './other-topics.ts';
import { createPullTopic, createReviewTopic } from './pulls.ts';
import { createRefTopic } from './refs.ts';
import { createRecordingSetup, type RecordingSetup, type Step, type Topic } from './setup.ts';

const topics: readonly ((setup: RecordingSetup) => Topic)[] = [
  ...[createRefTopic, createIssueTopic, createPullTopic, createReviewTopic, createWikiTopic],
  ...[createReleaseTopic, createWorkflowTopic, createRemovalTopic],
];

type RecordOptions = {
  readonly url: string;
  /** Token of a site administrator. */
  readonly token: string;
  /** Topics that the forge does not support. */
  readonly without?: readonly string[];
  /** Seconds to wait for the expected events of a step. */
  readonly patience: number;
  /** Waits until all other events of a step have arrived. */
  settle(): Promise<void>;
  /** Receives a line about each finished step. */
  tell?(line: string): void;
};

/** Causes every kind of event on a forge, and returns the resulting deliveries, normalised and signed again. */
export async function record(options: RecordOptions): Promise<Recording> {
  const { url, token, without = [], tell = () => {} } = options;
  const receiver = await startReceiver();
  const setup = await createRecordingSetup({ url, token, receiver: new URL(receiver.url).origin });
  const { version, suffix } = setup;
  const server = version.includes('+gitea-') ? 'forgejo' : 'gitea';
  const steps: Recording['steps'][number][] = [];
  const missing: Recording['missing'][number][] = [];
  const fixtures: Fixture[] = [];
  let rootUrl = url;

  async function take(step: Step): Promise<void> {
    const from = receiver.received.length;
    const come = (): readonly Fixture[] =>
      receiver.received
        .slice(from)
        // A system hook also receives events of other tests on the same server.
        .filter(({ body }) => body.includes(suffix))
        .map((one) => readDelivery(one, { server, version, step: step.name }));
    const problem = await provoke(step);
    const until = Date.now() + (step.timeoutSeconds ?? options.patience) * 1000;
    while (problem === undefined && missingKinds(step, come()).length > 0 && Date.now() < until)
      await wait(50);
    await options.settle();
    const came = come();
    const kinds = missingKinds(step, came);
    const why = problem?.replaceAll(suffix, '') ?? 'waited for, and did not come';
    if (problem !== undefined || kinds.length > 0) missing.push({ step: step.name, kinds, why });
    rootUrl = rootUrlOf(came) ?? rootUrl;
    const kept = withoutDuplicates(step, came);
    for (const one of kept) {
      const secret = one.hook === 'unsigned' ? '' : fixtureSecret;
      fixtures.push(normalise(one, secret, { suffix, rootUrl }));
    }
    steps.push({ name: step.name, came: kept.map(kindOf).sort() });
    const lack = problem ?? (kinds.length > 0 ? `missing: ${kinds.join(', ')}` : '');
    tell(`${step.name}: ${kept.map(kindOf).join(', ') || 'nothing'}. ${lack}`.trimEnd());
  }

  try {
    for (const topic of topics.map((create) => create(setup))) {
      if (without.includes(topic.name)) continue;
      for (const step of topic.steps) await take(step);
    }
  } finally {
    await setup.close();
    await receiver.close();
  }
  return { server, version, steps, missing, fixtures };
}

/** Returns the error message of a failed step, or undefined. */
async function provoke(step: Step): Promise<string | undefined> {
  try {
    await step.perform();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Returns the address that a server uses for itself, which may differ from the requested address. */
function rootUrlOf(came: readonly Fixture[]): string | undefined {
  for (const one of came) {
    const { repository } = JSON.parse(jsonOf(one));
    const { html_url: address, full_name: name } = repository ?? {};
    if (address?.endsWith(`/${name}`)) return address.slice(0, -name.length - 1);
  }
  return undefined;
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Address of the server in recordings. */
const normalAddress = 'http://127.0.0.1:3000';

type Normaliser = {
  /** Suffix that the recording added to its names, to be removed. */
  readonly suffix: string;
  /** Address that the server uses for itself. */
  readonly rootUrl: string;
};

/**
 * Removes traces of the recording machine and run from a delivery, and signs it again. Times and ids are kept. Throws
 * if the original signature was wrong, because a server with other signatures must be examined, not corrected.
 */
function normalise(delivery: Fixture, secret: string, { suffix, rootUrl }: Normaliser): Fixture {
  const json = jsonOf(delivery);
  for (const [name, value] of Object.entries(delivery.headers)) {
    const right = signaturesOf(json, secret)[name.toLowerCase()];
    if (right !== undefined && right !== value) throw new Error(`${name} of ${delivery.step} is not right`);
  }
  const { host } = new URL(rootUrl);
  const text = json
    .replaceAll(suffix, '')
    .replaceAll(rootUrl.replace(/\/$/, ''), normalAddress)
    .replaceAll(host, new URL(normalAddress).host)
    // Account under which the server's process runs.
    .replaceAll(/(ssh_url\\*": ?\\*")(ssh:\/\/)?\w+@/g, '$1$2git@');
  const signatures = signaturesOf(text, secret);
  const headers = Object.entries(delivery.headers).map(([name, value]) => [
    name,
    signatures[name.toLowerCase()] ?? value,
  ]);
  const body = json === delivery.body ? text : new URLSearchParams({ payload: text }).toString();
  return { ...delivery, headers: Object.fromEntries(headers), body };
}

const transport = new Set(['host', 'content-length', 'connection', 'accept-encoding', 'transfer-encoding']);
const usual: readonly HookName[] = ['repository', 'organization', 'system'];

/** Reads a request as a delivery. The address of a hook ends in the name of the hook. */
function readDelivery(
  { rawHeaders, url, body }: Received,
  about: { server: string; version: string; step: string },
): Fixture {
  const headers: Record<string, string> = {};
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2);
    if (!transport.has(name.toLowerCase())) headers[name] = value;
  }
  const { action = '' } = JSON.parse(jsonOf({ headers, body }));
  // The recording creates hooks only with these names.
  const hook = url.slice(1) as HookName;
  const eventType = headers['X-Gitea-Event-Type'] ?? '';
  const [server, version, step] = [about.server, about.version, about.step];
  return { server, version, eventType, activity: action, step, hook, heardBy: [hook], headers, body };
}

/** Returns the expected kinds of a step that at least one hook has not received yet. */
function missingKinds({ expects, hooks = usual }: Step, came: readonly Fixture[]): readonly string[] {
  const lacking = new Set<string>();
  for (const hook of hooks) {
    const kinds = came.filter((one) => one.hook === hook).map(kindOf);
    for (const kind of expects) {
      const at = kinds.indexOf(kind);
      if (at === -1) lacking.add(kind);
      else kinds.splice(at, 1);
    }
  }
  return [...lacking];
}

/**
 * Returns the deliveries of a step to keep. Of deliveries with the same bytes, only that of the first hook is kept,
 * unless the step keeps all.
 */
function withoutDuplicates({ keepsAll = false }: Step, came: readonly Fixture[]): readonly Fixture[] {
  const kept: Fixture[] = [];
  for (const hook of [...usual, 'user', 'form', 'unsigned'] as const) {
    const taken = new Set<Fixture>();
    for (const one of came.filter((other) => other.hook === hook)) {
      const same = kept.findIndex(
        (other) => !taken.has(other) && other.eventType === one.eventType && jsonOf(other) === jsonOf(one),
      );
      const known = kept[same];
      if (keepsAll || known === undefined) {
        kept.push(one);
        taken.add(one);
        continue;
      }
      const both = { ...known, heardBy: [...known.heardBy, hook] };
      kept[same] = both;
      // If a hook receives the same bytes twice, they count as two deliveries.
      taken.add(both);
    }
  }
  return kept;
}
