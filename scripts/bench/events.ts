import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import startedAs from '../../bin/memory.json' with { type: 'json' };
import { type Child, startChild } from './child.ts';
import { createEventsForge, type EventsForge, owner } from './events/fill.ts';
import type { Answered, ForgeQuestion, Labelled } from './events/forge.ts';
import type { Done } from './events/reeve.ts';
import { deliveryOf, keepConnections, type Send, type Sent } from './events/requests.ts';
import { writeOperatorRules } from './events/rules.ts';
import { type BenchRow, type Measure, median, round } from './row.ts';

/** Deliveries that are sent at the same time. */
const connections = 8;

/** An embedded forge and Reeve, each in a process of its own, and the deliveries that have not been sent yet. */
type Installation = {
  readonly made: EventsForge;
  readonly forge: Child;
  readonly forgeUrl: string;
  readonly reeve: Child;
  readonly reeveUrl: string;
  /** How many requests have put labels on an issue so far. */
  labelled: number;
};
type Place = { readonly repository: EventsForge['repositories'][number]; readonly number: number };

/** From deliveries to labels: how long one takes, and how many Reeve handles with the time of one processor. */
export const measure: Measure = async ({ quick }) => {
  const repositoryCount = quick ? 60 : 500;
  const singles = quick ? 40 : 300;
  const many = quick ? 600 : 5_000;
  const folder = await mkdtemp(join(tmpdir(), 'reeve-bench-'));
  const children: Child[] = [];
  // One for the first event of each repository, and those of both measurements.
  const issues = 1 + Math.ceil((2 * (singles + 20) + many) / repositoryCount);
  try {
    const made = await createEventsForge(join(folder, 'forge'), { repositories: repositoryCount, issues });
    await writeOperatorRules(join(folder, 'rules'));
    const start = async (script: string, args: readonly string[], as = {}): Promise<[Child, string]> => {
      const { child, ready } = await startChild(new URL(`./events/${script}`, import.meta.url), args, as);
      children.unshift(child);
      return [child, String(ready)];
    };
    const [forge, forgeUrl] = await start('forge.ts', [join(folder, 'forge')]);
    const paths = ['reeve', 'rules', 'reeve.log'].map((name) => join(folder, name));
    const [reeve, reeveUrl] = await start('reeve.ts', [forgeUrl, made.token, ...paths], startedAs);
    const all: Installation = { made, forge, forgeUrl, reeve, reeveUrl, labelled: 0 };
    const places = placesOf(made, issues);
    const first = await measureMany(all, places.splice(0, repositoryCount));
    const throughput = await measureMany(all, places.splice(0, many));
    // After thousands of events, like a server that has run for some time: its code is compiled.
    const latency = await measureSingles(all, places.splice(0, 2 * (singles + 20)), singles);
    return [latencyRow(latency), throughputRow(throughput, first)];
  } finally {
    for (const child of children) await child.stop();
    await rm(folder, { recursive: true, force: true });
  }
};

/** Returns every issue, all repositories in turns. */
function placesOf({ repositories }: EventsForge, issues: number): Place[] {
  return Array.from({ length: issues }, (_, at) =>
    repositories.map((repository) => ({ repository, number: at + 1 })),
  ).flat();
}

type Latency = {
  readonly reeveMs: number;
  readonly bareMs: number;
  readonly ratio: number;
  readonly requests: number;
};

/** Sends one delivery at a time, and in turns with it, on another issue, the requests that it has caused. */
async function measureSingles(all: Installation, places: readonly Place[], count: number): Promise<Latency> {
  const { send, close } = keepConnections(1);
  const reeve: number[] = [];
  const bare: number[] = [];
  let requests: readonly Answered[] = [];
  try {
    for (let at = 0; at < places.length; at += 2) {
      const [labelled, asked] = places.slice(at, at + 2);
      if (labelled === undefined || asked === undefined) break;
      await askForge<readonly Answered[]>(all, 'answered');
      const reeveMs = await labelByDelivery(all, send, labelled);
      await settle(all);
      const caused = await askForge<readonly Answered[]>(all, 'answered');
      const bareMs = await labelByRequests(all, send, { caused, from: labelled, to: asked });
      // The first ones warm up.
      if (places.length - at > 2 * count) continue;
      requests = caused;
      reeve.push(reeveMs);
      bare.push(bareMs);
    }
  } finally {
    close();
  }
  // In pairs: neighbours in time share what else the machine does.
  const ratio = median(reeve.map((ms, at) => ms / (bare[at] ?? Number.NaN)));
  return { reeveMs: median(reeve), bareMs: median(bare), ratio, requests: requests.length };
}

/** Returns the time from the first byte of a delivery to the answer of the request that puts the label. */
async function labelByDelivery(
  all: Installation,
  send: Send,
  { repository, number }: Place,
): Promise<number> {
  const delivery = deliveryOf(all.made, repository, number);
  all.labelled += 1;
  const labels = askForge<Labelled>(all, { labels: all.labelled });
  const startNs = process.hrtime.bigint();
  const [{ path, atNs }] = await Promise.all([labels, send(`${all.reeveUrl}/webhook`, delivery)]);
  const expected = `/repos/${owner}/${repository.name}/issues/${number}/labels`;
  if (!path.endsWith(expected)) throw new Error(`the label was put by ${path}, not ${expected}`);
  return Number(BigInt(atNs) - startNs) / 1e6;
}

/** Sends the requests that Reeve sent for one issue for another one, one after the other over a kept connection. */
async function labelByRequests(
  all: Installation,
  send: Send,
  { caused, from, to }: { caused: readonly Answered[]; from: Place; to: Place },
): Promise<number> {
  const pathOf = ({ repository, number }: Place): string =>
    `/repos/${owner}/${repository.name}/issues/${number}`;
  const authorization = `Bearer ${all.made.token}`;
  // Reeve also asks the forge for other things, such as its own account from time to time.
  const aboutIssue = caused.filter(({ path }) => path.includes(pathOf(from)));
  const requests = aboutIssue.map(({ method, path }): [string, Sent] => {
    const body = method === 'PUT' ? JSON.stringify({ labels: [to.repository.label] }) : undefined;
    const headers = { authorization, accept: 'application/json', 'content-type': 'application/json' };
    const url = `${all.forgeUrl}${path.replace(pathOf(from), pathOf(to))}`;
    return [url, { method, headers, ...(body === undefined ? {} : { body }) }];
  });
  if (requests.at(-1)?.[1].method !== 'PUT') throw new Error('the last request did not put the label');
  const startMs = performance.now();
  for (const [url, sent] of requests) JSON.parse(await send(url, sent));
  const ms = performance.now() - startMs;
  all.labelled += 1;
  return ms;
}

type Throughput = {
  readonly count: number;
  readonly cpuMs: number;
  readonly ms: number;
  readonly requests: number;
};

/** Sends deliveries as fast as they are accepted, and waits until each issue has its label and nothing waits. */
async function measureMany(all: Installation, places: readonly Place[]): Promise<Throughput> {
  const deliveries = places.map(({ repository, number }) => deliveryOf(all.made, repository, number));
  const { send, close } = keepConnections(connections);
  await askForge(all, 'answered');
  const before = await settle(all);
  const startMs = performance.now();
  try {
    all.labelled += places.length;
    const labels = askForge<Labelled>(all, { labels: all.labelled });
    await Promise.all(deliveries.map((delivery) => send(`${all.reeveUrl}/webhook`, delivery)));
    await labels;
    const ms = performance.now() - startMs;
    const after = await settle(all);
    if (after.dead > 0) throw new Error(`${after.dead} deliveries are dead`);
    const { length: requests } = await askForge<readonly Answered[]>(all, 'answered');
    return { count: places.length, cpuMs: after.cpuMs - before.cpuMs, ms, requests };
  } finally {
    close();
  }
}

function askForge<Answer>({ forge }: Installation, question: ForgeQuestion): Promise<Answer> {
  return forge.ask<Answer>(question);
}

/** Waits until nothing waits in the store of Reeve. */
function settle({ reeve }: Installation): Promise<Done> {
  return reeve.ask<Done>('done');
}

function latencyRow({ reeveMs, bareMs, ratio, requests }: Latency): BenchRow {
  return {
    name: 'delivery to label on the embedded forge, end to end',
    value: round(reeveMs),
    unit: 'ms',
    against: `the same ${requests} requests over a kept connection, one after the other: ${round(bareMs)} ms`,
    ratio: round(ratio),
    target: '<= 2 x',
    ok: ratio <= 2,
  };
}

function throughputRow({ count, cpuMs, ms, requests }: Throughput, first: Throughput): BenchRow {
  const perSecond = (1_000 * count) / cpuMs;
  const beside = [
    `${round(cpuMs / count)} ms of all threads and ${round(requests / count)} requests each`,
    `the first of a repository ${round(first.cpuMs / first.count)} ms and ${round(first.requests / first.count)} requests`,
    `by the clock, beside forge and load: ${Math.round((1_000 * count) / ms)}/s`,
  ];
  return {
    name: `events with one label each, 1,000 rules, ${first.count} repositories with rule files: per second of processor time`,
    value: Math.round(perSecond),
    unit: 'events/s',
    against: beside.join('; '),
    ratio: null,
    target: '>= 300 /s',
    ok: perSecond >= 300,
  };
}
