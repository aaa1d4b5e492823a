import { readFileSync } from 'node:fs';
import pg from 'pg';

/** Returns the function that reads the processor time, in milliseconds, of a server with all processes that it has had. */
export async function openProcessorTime(url: string): Promise<() => number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query("SELECT pg_read_file('postmaster.pid') AS text");
    const pid = Number.parseInt(rows[0].text, 10);
    return () => timesOf(pid).all + childrenOf(pid).reduce((sum, child) => sum + timesOf(child).own, 0);
  } finally {
    await client.end();
  }
}

function childrenOf(pid: number): readonly number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return text === '' ? [] : text.split(' ').map(Number);
}

/** Its own time, and that together with the time of its children that have ended. */
function timesOf(pid: number): { own: number; all: number } {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // Fields 14 to 17, in ticks of 10 ms.
    const [user = 0, system = 0, ofUser = 0, ofSystem = 0] = fields
      .slice(11, 15)
      .map((ticks) => Number(ticks) * 10);
    return { own: user + system, all: user + system + ofUser + ofSystem };
  } catch {
    // It ended in between: then its parent has its time.
    return { own: 0, all: 0 };
  }
}
