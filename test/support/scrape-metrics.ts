import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Returns the metrics of a server. Its store is a file, and the dashboard password is in the same folder. */
export async function scrapeMetrics({ url, data }: { url: string; data: string }): Promise<string> {
  return scrapeWithPassword(url, (await readFile(join(data, 'dashboard.password'), 'utf8')).trim());
}

/** Returns the metrics of a server as Prometheus reads them. */
export async function scrapeWithPassword(url: string, password: string): Promise<string> {
  const authorization = `Basic ${Buffer.from(`prometheus:${password}`).toString('base64')}`;
  const answer = await fetch(`${url}/metrics`, { headers: { authorization } });
  if (answer.status !== 200) throw new Error(`metrics of ${url}: ${answer.status}`);
  return answer.text();
}
