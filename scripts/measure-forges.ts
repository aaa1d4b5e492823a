import { parseArgs } from 'node:util';
import { operations } from '../src/contract/operations.ts';
import { realServer } from '../test/support/flow-names.ts';
import { cloneRepository } from '../test/support/git-client.ts';
import { at, type Harness, type HarnessOptions, people, startHarness } from '../test/support/harness.ts';

/**
 * `node scripts/measure-forges.ts [--times N] [--json]`: measures the time from the end of a call, or of `git push`, to
 * the changed label, and the number of requests of a run. It runs each scenario N times (default 30) on the embedded
 * forge and, if `FORGE_URL` and `FORGE_TOKEN` are set, on that server, one after the other in one process.
 */
const { values } = parseArgs({
  options: { times: { type: 'string', default: '30' }, json: { type: 'boolean', default: false } },
});
const times = Number(values.times);

/** Number of warm-up rounds, in which rule files, labels and the account are read. */
const warmUp = 2;
const places = Array.from({ length: times + warmUp }, (_, place) => place);
/**
 * Uses different labels in each round, because a label that is repeatedly added and removed would be stopped as
 * flapping.
 */
const sync = (labelOf: (place: number) => string, condition: (place: number) => string): string =>
  places.map((place) => `            ${labelOf(place)}: '${condition(place)}'`).join('\n');
const issueLabel = (place: number): string => `issue/${place}`;
const pushLabel = (place: number): string => `push/${place}`;

const rules = `version: 1
rules:
  by-title:
    on: { issues: [opened, edited] }
    steps:
      - uses: set-labels
        with:
          sync:
${sync(issueLabel, (place) => `issue.title == "number ${place}"`)}
  by-path:
    on: { pull_request: [opened, synchronized] }
    steps:
      - uses: set-labels
        with:
          sync:
${sync(pushLabel, (place) => `files.exists(f, f.filename == "file-${place}")`)}
`;
const enough = 10_000;
const budgets = {
  delivery: { all: enough, repository: enough },
  hour: { all: enough, repository: enough },
};

/**
 * Result of one round: milliseconds until the delivery was stored and until the label was changed, and requests of the
 * run.
 */
type Sample = { readonly delivered: number; readonly labelled: number; readonly requests: number };
type Row = {
  readonly forge: string;
  readonly journey: string;
  readonly times: number;
  readonly median: number;
  readonly p95: number;
  readonly delivered: number;
  readonly requests: number;
};

const rows: Row[] = [...(await measure('embedded', { on: 'the embedded forge' }))];
if (realServer) {
  const answer = await fetch(`${realServer.url}/api/v1/version`);
  rows.push(...(await measure(`server ${Reflect.get(Object(await answer.json()), 'version')}`, {})));
}
console.log(values.json ? JSON.stringify(rows) : tableOf(rows));

async function measure(forge: string, options: HarnessOptions): Promise<readonly Row[]> {
  console.error(`measuring ${forge} …`);
  const harness = await startHarness({
    rules,
    labels: [...places.map(issueLabel), ...places.map(pushLabel)],
    server: { budgets },
    ...options,
  });
  try {
    return [
      rowOf(forge, 'edit of an issue → label', await editIssue(harness)),
      rowOf(forge, 'git push → label', await pushCommits(harness)),
    ];
  } finally {
    await harness.close();
  }
}

async function editIssue(harness: Harness): Promise<readonly Sample[]> {
  const { number: index } = await harness.ada.call(operations.createIssue, {
    params: at,
    body: { title: 'plain' },
  });
  await harness.idle();
  return repeat(harness, (time) =>
    harness.ada.call(operations.editIssue, {
      params: { ...at, index },
      body: { title: `number ${time}` },
    }),
  );
}

async function pushCommits(harness: Harness): Promise<readonly Sample[]> {
  await harness.openPull('work', { 'notes.txt': 'a' });
  await harness.idle();
  const clone = await cloneRepository(harness.cloneFrom(people.ada));
  await clone.git('checkout', '--quiet', 'work');
  try {
    return await repeat(
      harness,
      () => clone.git('push', '--quiet', 'origin', 'work'),
      async (time) => {
        await clone.commit({ [`file-${time}`]: `${time}` });
      },
    );
  } finally {
    clone.remove();
  }
}

/**
 * Repeatedly performs an action that changes a label. The label counts as changed when the forge has responded to the
 * write.
 */
async function repeat(
  harness: Harness,
  happen: (time: number) => Promise<unknown>,
  prepare: (time: number) => Promise<unknown> = async () => {},
): Promise<readonly Sample[]> {
  const samples: Sample[] = [];
  for (const time of places) {
    await prepare(time);
    const changed = Promise.withResolvers<number>();
    harness.proxy.decide = ({ method, path }) => ({
      kind: 'pass',
      after: async () => {
        if (method === 'PUT' && path.endsWith('/labels')) changed.resolve(Date.now());
      },
    });
    const seen = harness.runs.length;
    await happen(time);
    const ended = Date.now();
    const run = await harness.waitForRun(
      (one) => harness.runs.indexOf(one) >= seen && one.changes.length > 0,
    );
    const changedAt = await changed.promise;
    const delivery = await harness.server.store.readDelivery(run.trigger.delivery ?? '');
    await harness.idle();
    samples.push({
      delivered: (delivery?.receivedAt.getTime() ?? ended) - ended,
      labelled: changedAt - ended,
      requests: run.requests,
    });
  }
  return samples.slice(warmUp);
}

function rowOf(forge: string, journey: string, samples: readonly Sample[]): Row {
  return {
    forge,
    journey,
    times: samples.length,
    median: quantile(
      samples.map(({ labelled }) => labelled),
      0.5,
    ),
    p95: quantile(
      samples.map(({ labelled }) => labelled),
      0.95,
    ),
    delivered: quantile(
      samples.map(({ delivered }) => delivered),
      0.5,
    ),
    requests: quantile(
      samples.map(({ requests }) => requests),
      0.5,
    ),
  };
}

function quantile(given: readonly number[], share: number): number {
  const sorted = given.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

function tableOf(all: readonly Row[]): string {
  return [
    '| forge | journey | times | median | p95 | of it until the delivery was stored | requests a run |',
    '| --- | --- | --- | --- | --- | --- | --- |',
    ...all.map(
      (row) =>
        `| ${row.forge} | ${row.journey} | ${row.times} | ${row.median} ms | ${row.p95} ms | ${row.delivered} ms | ${row.requests} |`,
    ),
  ].join('\n');
}
