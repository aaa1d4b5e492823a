import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { percentile } from '../../harness/sender.ts';
import { type BenchRow, benchRow, round } from '../runner.ts';
import { type OperationLoad, operationLoads } from './operations.ts';
import {
  arrangePlace,
  type BenchApi,
  createBenchApi,
  makeHistory,
  measured,
  type Place,
  type PlaceSize,
  pushHistory,
  putRunnersByControl,
  registerRunners,
} from './place.ts';

const sizes = {
  small: { items: 3, history: { folders: 2, filesPerFolder: 5, commits: 20, branches: 20 } },
  large: { items: 30, history: { folders: 100, filesPerFolder: 100, commits: 5_000, branches: 2_000 } },
} as const satisfies Record<string, PlaceSize>;
type SizeName = keyof typeof sizes;

/**
 * Rounds of a row, each of which sends one request to every forge. A slow row ends earlier, but not before `fewest`
 * rounds.
 */
export const amounts = {
  full: { warmUpMs: 700, warmUps: 50, measureMs: 3_500, rounds: 300, fewest: 12 },
  quick: { warmUpMs: 100, warmUps: 5, measureMs: 250, rounds: 20, fewest: 3 },
};
type Amount = (typeof amounts)['full'];

/** Embedded forge under load, whose folder is on this machine. */
type EmbeddedForge = {
  readonly url: string;
  readonly token: string;
  readonly controlToken: string;
  /** Returns the folder of a repository. */
  readonly folderOf: (repositoryId: number) => string;
};
/** A forge with its places. */
type Contestant = { readonly api: BenchApi; readonly places: ReadonlyMap<SizeName, Place> };
type Peer = { readonly name: string; readonly contestant: Contestant };
type Latency = { readonly p50: number; readonly p99: number };

/** Returns the forge to compare with, if any: `PEER_URL`, and the token of a site administrator in `PEER_TOKEN`. */
function readPeer(): { readonly url: string; readonly token: string } | undefined {
  const { PEER_URL: url, PEER_TOKEN: token } = process.env;
  if (!url) return undefined;
  if (!token) throw new Error('PEER_URL needs PEER_TOKEN, a token of a site administrator there');
  return { url: url.replace(/\/+$/, ''), token };
}

/**
 * Measures every operation of the service's description on a small and on a large repository of the embedded forge: the
 * time from the request to the end of its response, one request at a time. With a peer, the same repositories are
 * created there, and requests alternate between the two forges.
 */
export async function compareOperations(
  embedded: EmbeddedForge,
  { quick }: { readonly quick: boolean },
): Promise<readonly BenchRow[]> {
  const names = quick ? (['small'] as const) : (['small', 'large'] as const);
  const amount = quick ? amounts.quick : amounts.full;
  const wanted = readPeer();
  const apis: BenchApi[] = [];
  try {
    const ours = { api: createBenchApi(embedded.url, embedded.token), places: new Map<SizeName, Place>() };
    apis.push(ours.api);
    for (const size of names) ours.places.set(size, await arrangeEmbedded(ours.api, embedded, size));
    if (wanted === undefined) return await measureRows(names, { ours, peer: undefined }, amount);
    const there = { api: createBenchApi(wanted.url, wanted.token), places: new Map<SizeName, Place>() };
    apis.push(there.api);
    for (const [size, place] of ours.places) {
      there.places.set(size, await arrangePeer(there.api, `${embedded.url}/${place.owner}`, size));
    }
    const peer = { name: await nameOf(wanted), contestant: there };
    return await measureRows(names, { ours, peer }, amount);
  } finally {
    for (const api of apis) api.close();
  }
}

async function measureRows(
  names: readonly SizeName[],
  contest: { readonly ours: Contestant; readonly peer: Peer | undefined },
  amount: Amount,
): Promise<readonly BenchRow[]> {
  const rows: BenchRow[] = [];
  for (const load of operationLoads) {
    for (const size of names) rows.push(await measureRow(load, size, contest, amount));
  }
  return rows;
}

/** Returns an account name that no earlier run has used. */
function newName(size: SizeName): string {
  return `bench-${size}-${Date.now().toString(36)}`;
}

export async function arrangeEmbedded(
  api: BenchApi,
  { url, controlToken, folderOf }: EmbeddedForge,
  size: SizeName,
): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-bench-history-'));
  try {
    makeHistory(folder, sizes[size].history);
    return await arrangePlace(api, {
      name: newName(size),
      size: sizes[size],
      putRunners: putRunnersByControl(url, controlToken),
      async putHistory({ name, token, ask }) {
        const { id } = await ask('POST', '/user/repos', { name: measured });
        const address = `${url}/${name}/${measured}.git`;
        await pushHistory(folder, { address, user: name, token, bare: folderOf(id) });
      },
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Creates the place on the peer. The peer fetches the history from an account of the embedded forge, because it would
 * need minutes for a push of thousands of branches.
 */
export async function arrangePeer(api: BenchApi, from: string, size: SizeName): Promise<Place> {
  return await arrangePlace(api, {
    name: newName(size),
    size: sizes[size],
    putRunners: registerRunners(api.url),
    async putHistory({ name, ask }) {
      const asked = { repo_name: measured, repo_owner: name, service: 'git' };
      await ask('POST', '/repos/migrate', { ...asked, clone_addr: `${from}/${measured}.git` });
    },
  });
}

/** Returns the kind and version of the forge at an address. */
async function nameOf({ url, token }: { url: string; token: string }): Promise<string> {
  const response = await fetch(`${url}/api/v1/version`, { headers: { authorization: `token ${token}` } });
  const { version } = (await response.json()) as { version: string };
  return version.includes('+gitea-') ? `Forgejo ${version}` : `Gitea ${version}`;
}

export async function measureRow(
  load: OperationLoad,
  size: SizeName,
  { ours, peer }: { readonly ours: Contestant; readonly peer: Peer | undefined },
  amount: Amount,
): Promise<BenchRow> {
  const contestants = peer ? [ours, peer.contestant] : [ours];
  const samples = contestants.map((): number[] => []);
  let number = 0;
  const ask = async ({
    api,
    places,
  }: Contestant): Promise<{ readonly took: number; readonly length: number }> => {
    const place = places.get(size);
    if (place === undefined) throw new Error(`no place ${size}`);
    const call = { ...load.ask(place, number), token: place.token };
    const startedAt = performance.now();
    const { text } = await api.send(call);
    const took = performance.now() - startedAt;
    if (load.undo) await api.send({ ...load.undo(place, text), token: place.token });
    return { took, length: lengthOf(text) };
  };
  const run = async (rounds: number, fewest: number, ms: number): Promise<void> => {
    for (const list of samples) list.length = 0;
    const endAt = performance.now() + ms;
    for (let at = 0; at < rounds && (at < fewest || performance.now() < endAt); at += 1) {
      number += 1;
      // The forges take turns in being first.
      const order = number % 2 === 0 ? [...contestants.keys()] : [...contestants.keys()].reverse();
      const lengths = new Set<number>();
      for (const which of order) {
        const { took, length } = await ask(contestants[which] ?? ours);
        samples[which]?.push(took);
        lengths.add(length);
      }
      // Lists of different lengths require different work.
      if (lengths.size > 1) throw new Error(`${load.name}: lists of ${[...lengths].join(' and ')} items`);
    }
  };
  await run(amount.warmUps, 1, amount.warmUpMs);
  await run(amount.rounds, amount.fewest, amount.measureMs);
  const [own = [], other] = samples;
  return toRow(
    `${load.name}, ${size} repository`,
    latencyOf(own),
    other && peer && { ...latencyOf(other), name: peer.name },
  );
}

/** Returns the number of items in a response; 0 if it is not a list. */
function lengthOf(text: string): number {
  if (text === '') return 0;
  const found = JSON.parse(text) as { runners?: unknown[]; dir_contents?: unknown[] };
  const items = Array.isArray(found) ? found : (found.runners ?? found.dir_contents ?? []);
  return items.length;
}

function latencyOf(times: readonly number[]): Latency {
  return { p50: percentile(times, 0.5), p99: percentile(times, 0.99) };
}

function toRow(
  name: string,
  ours: Latency,
  peer: (Latency & { readonly name: string }) | undefined,
): BenchRow {
  const own = `p99 ${round(ours.p99)} ms`;
  return benchRow({
    name: `embedded forge: ${name}, p50`,
    value: ours.p50,
    unit: 'ms',
    against: peer ? `${own}; ${peer.name}: p50 ${round(peer.p50)} ms, p99 ${round(peer.p99)} ms` : own,
    ratio: peer && ours.p50 / peer.p50,
    target: peer ? '<= 1 x' : '–',
  });
}
