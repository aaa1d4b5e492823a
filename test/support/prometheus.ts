import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** One series of an answer: labels, and its latest value as text. */
export type PrometheusSeries = {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
};

/** A Prometheus that runs on loopback. */
export interface Prometheus {
  /** Returns the series of an expression now. Rejects where Prometheus refuses the expression. */
  query(expression: string): Promise<readonly PrometheusSeries[]>;
  /** Returns the values of a label of the series that match. */
  valuesOf(label: string, match: string): Promise<readonly string[]>;
  stop(): Promise<void>;
}

/** Starts Prometheus with a configuration file and data in a folder; undefined where it is not installed. */
export async function startPrometheus(options: {
  readonly configuration: string;
  readonly folder: string;
}): Promise<Prometheus | undefined> {
  const child = spawn(
    'prometheus',
    [
      `--config.file=${options.configuration}`,
      `--storage.tsdb.path=${join(options.folder, 'prometheus')}`,
      '--web.listen-address=127.0.0.1:0',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const address = await new Promise<string | undefined>((resolve, reject) => {
    let log = '';
    child.stderr.on('data', (chunk) => {
      log += chunk;
      const [, found] = /address=(127\.0\.0\.1:[1-9]\d*)/.exec(log) ?? [];
      if (found) resolve(found);
    });
    child.once('error', (error) =>
      'code' in error && error.code === 'ENOENT' ? resolve(undefined) : reject(error),
    );
    child.once('exit', (code) => reject(new Error(`prometheus ended with ${code}:\n${log}`)));
  });
  if (address === undefined) return undefined;
  const ask = async (path: string, query: Readonly<Record<string, string>>): Promise<unknown> => {
    const answer = await fetch(`http://${address}/api/v1/${path}?${new URLSearchParams(query)}`);
    const body = (await answer.json()) as { status: string; error?: string; data: unknown };
    if (body.status !== 'success') throw new Error(`${query.query ?? path}: ${body.error}`);
    return body.data;
  };
  return {
    async query(expression) {
      const { result } = (await ask('query', { query: expression })) as {
        result: readonly PrometheusSeries[];
      };
      return result;
    },
    valuesOf: async (label, match) =>
      (await ask(`label/${label}/values`, { 'match[]': match })) as readonly string[],
    async stop() {
      const ended = once(child, 'exit');
      child.kill();
      await ended;
    },
  };
}
