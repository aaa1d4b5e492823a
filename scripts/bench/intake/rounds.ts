import startedAs from '../../../bin/memory.json' with { type: 'json' };
import { type Child, startChild } from '../child.ts';
import { type BenchRow, median, round } from '../row.ts';
import type { Load, LoadResult } from './load.ts';

/** What `server.ts` can be. */
export type Kind = 'bare' | 'octokit' | 'reeve' | 'postgres';
export type Server = { readonly child: Child; readonly port: number };
type Results = ReadonlyMap<Kind, readonly LoadResult[]>;

const connections = 64;

/** Starts a server; one of Reeve as `reeve serve` starts, with its store at `address`. */
export async function startServer(kind: Kind, address: string): Promise<Server> {
  const isReeve = kind === 'reeve' || kind === 'postgres';
  const script = new URL('./server.ts', import.meta.url);
  const { child, ready } = await startChild(script, [kind, address], isReeve ? startedAs : {});
  return { child, port: Number(ready) };
}

/** Loads the servers in turns over 64 connections; returns the rounds, and how many deliveries each server got. */
export async function loadInTurns(
  servers: ReadonlyMap<Kind, Server>,
  { rounds, perConnection }: { readonly rounds: number; readonly perConnection: number },
): Promise<{ readonly results: Results; readonly sent: number }> {
  const { child: load } = await startChild(new URL('./load.ts', import.meta.url));
  const results = new Map<Kind, LoadResult[]>([...servers.keys()].map((kind) => [kind, []]));
  try {
    // The first round warms up and is not counted.
    for (let at = 0; at <= rounds; at += 1) {
      for (const [kind, { port }] of servers) {
        const result = await load.ask<LoadResult>({ port, connections, perConnection } satisfies Load);
        if (result.refused !== '') throw new Error(`${kind} refused requests: ${result.refused}`);
        if (at > 0) results.get(kind)?.push(result);
      }
    }
  } finally {
    await load.stop();
  }
  return { results, sent: (rounds + 1) * connections * perConnection };
}

/** Throws unless a server of Reeve has stored all that it was sent. */
export async function requireStored({ child }: Server, sent: number): Promise<void> {
  const counts = await child.ask<Record<string, number>>('counts');
  if (counts.accepted !== sent) throw new Error(`${sent} sent, stored ${JSON.stringify(counts)}`);
}

export function medianOf(results: Results, kind: Kind, member: 'perSecond' | 'p99Ms'): number {
  return median((results.get(kind) ?? []).map((result) => result[member]));
}

/** Returns the rate of a server ÷ that of another one, round by round: neighbours in time share the noise. */
function ratioOf(results: Results, kind: Kind, other: Kind): number {
  return median(
    (results.get(kind) ?? []).map(
      (own, at) => own.perSecond / (results.get(other)?.[at]?.perSecond ?? Number.NaN),
    ),
  );
}

/** Returns the row of the rate of a server beside another one. */
export function intakeRow(
  results: Results,
  row: {
    readonly name: string;
    readonly kind: Kind;
    readonly against: string;
    readonly other: Kind;
    /** The least ratio. */
    readonly target: number;
  },
): BenchRow {
  const { name, kind, against, other, target } = row;
  const ratio = ratioOf(results, kind, other);
  return {
    name: `${name}, 8 KB, ${connections} connections`,
    value: Math.round(medianOf(results, kind, 'perSecond')),
    unit: 'deliveries/s',
    against: `${against}: ${Math.round(medianOf(results, other, 'perSecond'))}/s`,
    ratio: round(ratio),
    target: `>= ${target} x`,
    ok: ratio >= target,
  };
}
