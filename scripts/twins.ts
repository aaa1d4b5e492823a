import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Judgement, judgeTwins } from './twins/judge.ts';
import { loadTwins, selectTwins } from './twins/twin.ts';

/**
 * `npm run twins [-- --only NAME] [--shard 1/4]`: breaks the source with each patch of test/twins/ in a scratch copy,
 * runs the checks that must detect it, and prints `caught N of N`. Exit 0 only if every twin is caught, 1 if one is
 * not, 2 for wrong usage or malformed patches.
 */
const root = fileURLToPath(new URL('..', import.meta.url));

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      only: { type: 'string', multiple: true, default: [] },
      shard: { type: 'string', default: '1/1' },
    },
  });
  const twins = selectTwins(await loadTwins(`${root}test/twins`), values);
  const abort = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, () => abort.abort());
  try {
    const judgements = await judgeTwins({
      root,
      twins,
      signal: abort.signal,
      onProgress: (text) => console.error(text),
      onJudgement: (judgement) => console.log(format(judgement)),
    });
    const caught = judgements.filter(({ verdict }) => verdict === 'caught').length;
    console.log(`caught ${caught} of ${twins.length}`);
    return caught === twins.length ? 0 : 1;
  } catch (error) {
    if (!abort.signal.aborted) throw error;
    console.error('stopped');
    return 130;
  }
}

function format({ twin, verdict, detail, tookMs }: Judgement): string {
  const seconds = `${(tookMs / 1_000).toFixed(1)} s`.padStart(7);
  const label = verdict === 'caught' ? verdict : verdict.toUpperCase();
  const first = `${label.padEnd(6)} ${seconds}  ${twin.name}: ${detail}`;
  return verdict === 'missed' ? `${first}\n                 broken promise: ${twin.breaks}` : first;
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}
