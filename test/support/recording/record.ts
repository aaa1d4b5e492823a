import { startReceiver } from '../hook-receiver.ts';
import { type Fixture, fixtureSecret, jsonOf, kindOf, type Recording } from './fixture.ts';
import { createIssueTopic } from './issues.ts';
import { normalise } from './normalise.ts';
import { createReleaseTopic, createRemovalTopic, createWikiTopic } from './other-topics.ts';
import { createPullTopic } from './pulls.ts';
import { missingKinds, readDelivery, withoutDuplicates } from './received.ts';
import { createRefTopic } from './refs.ts';
import { createReviewTopic } from './reviews.ts';
import { createRecordingSetup, type RecordingSetup } from './setup.ts';
import type { Step, Topic } from './step.ts';
import { createWorkflowTopic } from './workflows.ts';

const topics: readonly ((setup: RecordingSetup) => Topic)[] = [
  ...[createRefTopic, createIssueTopic, createPullTopic, createReviewTopic, createWikiTopic],
  ...[createReleaseTopic, createWorkflowTopic, createRemovalTopic],
];

type RecordOptions = {
  readonly url: string;
  /** Of a site administrator. */
  readonly token: string;
  /** Topics that the forge has no part in. */
  readonly without?: readonly string[];
  /** Seconds to wait for what a step is known to bring. */
  readonly patience: number;
  /** Waits until whatever else a step brought has come. */
  settle(): Promise<void>;
  /** Hears of each step when it is over. */
  tell?(line: string): void;
};

/** Provokes every kind of event on a forge and returns the deliveries that came of it, normalised and signed again. */
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
        // A system hook hears what others do on the same server.
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

/** Returns what could not be done, or undefined. */
async function provoke(step: Step): Promise<string | undefined> {
  try {
    await step.perform();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Returns the address that a server gives itself: it may differ from the one it was asked at. */
function rootUrlOf(came: readonly Fixture[]): string | undefined {
  for (const one of came) {
    const { repository } = JSON.parse(jsonOf(one));
    const { html_url: address, full_name: name } = repository ?? {};
    if (address?.endsWith(`/${name}`)) return address.slice(0, -name.length - 1);
  }
  return undefined;
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
