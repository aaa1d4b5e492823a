import { writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import type { BenchRow, Measure } from './bench/row.ts';

/**
 * `npm run bench`: measures what the design promises. `-- --quick` within 40 s; `-- --json` one array of rows;
 * `-- --write` stores docs/benchmarks.md; `-- --only NAME` one file. Exit 0 whatever was reached: it is a report.
 */
const benches: Readonly<Record<string, () => Promise<{ readonly measure: Measure }>>> = {
  intake: () => import('./bench/intake.ts'),
  log: () => import('./bench/log.ts'),
  backlog: () => import('./bench/backlog.ts'),
  rules: () => import('./bench/rules.ts'),
  sweeps: () => import('./bench/sweeps.ts'),
  forge: () => import('./bench/forge.ts'),
};

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true },
  },
});

const names = values.only ?? Object.keys(benches);
const rows: BenchRow[] = [];
for (const name of names) {
  const load = benches[name];
  if (load === undefined) {
    console.error(`no benchmark "${name}"; there are ${Object.keys(benches).join(', ')}`);
    process.exit(2);
  }
  console.error(`measuring ${name} …`);
  rows.push(...(await (await load()).measure({ quick: values.quick })));
}
if (values.write) await writeFile(new URL('../docs/benchmarks.md', import.meta.url), pageOf(rows));
console.log(values.json ? JSON.stringify(rows) : tableOf(rows));

function tableOf(rows: readonly BenchRow[]): string {
  const lines = rows.map(({ name, value, unit, against, ratio, target, ok }) => {
    const beside = ratio === null ? against || '–' : `${ratio} × (${against})`;
    return `| ${name} | ${value} ${unit} | ${beside} | ${target} | ${ok ? 'yes' : 'no'} |`;
  });
  return ['| what | value | against | target | reached |', '| --- | --- | --- | --- | --- |', ...lines].join(
    '\n',
  );
}

function pageOf(rows: readonly BenchRow[]): string {
  const machine = `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model ?? 'unknown processor'}, ${process.platform}`;
  return `# Benchmarks

Written by \`npm run bench -- --write\`. Ratios are measured side by side in one run and matter more than absolute figures:
servers, load and what is compared share the machine. ${machine}.

${tableOf(rows)}
`;
}
