import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createDashboardClient, signInWithPassword } from '../../../test/support/dashboard-client.ts';
import { scrapeMetrics } from '../../../test/support/scrape-metrics.ts';

/** Something that a program wrote, and where. */
export type Written = { readonly where: string; readonly bytes: Buffer };

/** Returns every file below a folder, or those of this name, as they are now. */
export function filesIn(folder: string, only?: string): readonly Written[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && (only === undefined || entry.name === only))
    .map(({ parentPath, name }) => ({ where: name, bytes: readFileSync(join(parentPath, name)) }));
}

/** Returns the arguments and the environment of a process and of its children, where the system shows them. */
export function processTexts(pid: number): readonly Written[] {
  const read = (name: string): readonly Written[] => {
    try {
      return [{ where: `/proc/PID/${name}`, bytes: readFileSync(`/proc/${pid}/${name}`) }];
    } catch {
      return [];
    }
  };
  const children = read(`task/${pid}/children`).flatMap(({ bytes }) =>
    bytes.toString().trim().split(' ').filter(Boolean).map(Number),
  );
  return [...read('cmdline'), ...read('environ'), ...children.flatMap(processTexts)];
}

/** Returns the pages that an operator reaches from the overview, one link after the other, and the metrics. */
export async function pagesOf(url: string, data: string, most: number): Promise<readonly Written[]> {
  const password = readFileSync(join(data, 'dashboard.password'), 'utf8').trim();
  const operator = await signInWithPassword(url, password);
  const stranger = createDashboardClient(url, '');
  const written: Written[] = [];
  const queue = ['/'];
  const known = new Set(queue);
  for (let at = 0; at < queue.length && at < most; at += 1) {
    const path = queue[at] ?? '/';
    for (const { get } of [operator, stranger]) {
      const { text, headers } = await get(path);
      const answer = `${JSON.stringify([...headers].filter(([name]) => name !== 'set-cookie'))}\n${text}`;
      written.push({ where: `page ${path}`, bytes: Buffer.from(answer) });
      for (const [, href = ''] of text.matchAll(/href="([^"#]+)/g)) {
        const to = new URL(href.replaceAll('&amp;', '&'), `${url}${path}`);
        const next = to.pathname + to.search;
        if (to.origin !== url || known.has(next)) continue;
        known.add(next);
        queue.push(next);
      }
    }
  }
  const metrics = await scrapeMetrics({ url, data });
  const health = await Promise.all(
    ['healthz', 'readyz'].map(async (name) => (await fetch(`${url}/${name}`)).text()),
  );
  written.push({ where: 'metrics and health', bytes: Buffer.from([metrics, ...health].join('\n')) });
  return written;
}
