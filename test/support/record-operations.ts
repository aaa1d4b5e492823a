import { subscribe } from 'node:diagnostics_channel';
import { appendFileSync } from 'node:fs';
import { basename } from 'node:path';
import { expect } from 'vitest';
import { z } from 'zod';
import type { Operation } from '../../src/contract/operation.ts';
import { operations } from '../../src/contract/operations.ts';
import { realForge } from './real-forge.ts';

const rows: readonly Operation[] = Object.values(operations);

/** Returns the operation of a request. Like the router, it selects the most specific of all matching paths. */
export function operationAt(method: string, path: string): Operation | undefined {
  const [plain = ''] = path.split('?');
  if (!plain.startsWith('/api/v1/')) return undefined;
  const fits = rows.filter(
    (row) => row.method === method && patternOf(row).test(plain.slice('/api/v1'.length)),
  );
  const weight = ({ path }: Operation): number =>
    path.replace(/\{\w+\*?\}/g, '').length - (path.endsWith('*}') ? 1000 : 0);
  return fits.toSorted((one, other) => weight(other) - weight(one))[0];
}

function patternOf({ path, method, params }: Operation): RegExp {
  const source = path
    .replaceAll('.', '\\.')
    // A directory may also be requested without the rest of the path.
    .replace(/\/\{\w+\*\}$/, method === 'GET' ? '(?:/.*)?' : '/.+')
    .replace(/\{(\w+)\}/g, (_, name: string) => {
      const shape = params.shape[name];
      return shape instanceof z.ZodEnum ? `(?:${shape.options.join('|')})` : '[^/]+';
    });
  return new RegExp(`^${source}/?$`, 's');
}

/** Data that undici publishes for a request whose headers have arrived; only public members. */
type Published = {
  readonly request: { readonly origin: string | URL; readonly method: string; readonly path: string };
  readonly response: { readonly statusCode: number };
};

/**
 * Records which operations the importing test file calls and how they were answered. The file named by CONTRACT_RECORD
 * receives one line `file id status real|embedded` for each call. Without that variable, nothing is recorded. Every
 * request of this process counts, regardless of its sender.
 */
export function recordOperations(): void {
  const target = process.env.CONTRACT_RECORD;
  if (!target) return;
  const real = realForge()?.url;
  const seen = new Set<string>();
  subscribe('undici:request:headers', (message) => {
    const { request, response } = message as Published;
    const id = operationAt(request.method, request.path)?.id;
    if (id === undefined) return;
    const forge = real !== undefined && String(request.origin) === new URL(real).origin ? 'real' : 'embedded';
    const line = `${basename(expect.getState().testPath ?? '')} ${id} ${response.statusCode} ${forge}`;
    if (seen.has(line)) return;
    seen.add(line);
    appendFileSync(target, `${line}\n`);
  });
}
