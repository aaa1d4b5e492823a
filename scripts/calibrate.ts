// Measures how long one unit of the evaluation budget takes on this machine, for every kind of work. Run it on an idle
// machine: `node scripts/calibrate.ts`. A row far above the others means that its cost in
// src/rules/expressions/budget.ts or src/patterns/automaton.ts is too low.

import { Meter } from '../src/patterns/meter.ts';
import { Re2Compiler } from '../src/patterns/re2.ts';
import { compileCondition } from '../src/rules/expressions/conditions.ts';
import { createEnvironment } from '../src/rules/files/context.ts';
import { registry } from '../src/rules/registry.ts';
import { hostileData, hostileTexts } from './bench/hostile.ts';

const rounds = 60;
/** Rounds are short, so that nothing else runs during the best of them. */
const maxRoundsMs = 1_500;

const environment = createEnvironment({
  registry,
  level: 'operator',
  occasions: [{ family: 'pull_request', subject: 'pull_request' }],
});

type Row = { readonly name: string; readonly units: number; readonly nsPerUnit: number };

/** Evaluates an expression on the data with an unlimited budget, and returns the best of several rounds. */
function measure(name: string, source: string, text: string | undefined): Row {
  const compiled = compileCondition(
    source,
    { environment, patterns: new Re2Compiler() },
    { file: '', at: () => ({ line: 1, column: 1 }) },
  );
  if ('problems' in compiled) throw new Error(`${name}: ${compiled.problems[0]?.message}`);
  let best = Number.POSITIVE_INFINITY;
  let units = 0;
  const endMs = performance.now() + maxRoundsMs;
  for (let round = 0; round < rounds && performance.now() < endMs; round += 1) {
    const data: Readonly<Record<string, unknown>> = hostileData(text);
    const pool = { left: 1e12 };
    const meter = new Meter({ pool, reserve: 0, describe: () => '' });
    const find = ({ name: asked }: { name: string }) =>
      Object.hasOwn(data, asked) ? { value: data[asked] } : undefined;
    const before = process.cpuUsage();
    compiled.condition.evaluate({ find }, meter);
    const { user, system } = process.cpuUsage(before);
    units = 1e12 - pool.left;
    best = Math.min(best, ((user + system) * 1_000) / units);
  }
  return { name, units, nsPerUnit: best };
}

const { spaces, letters, ab } = hostileTexts;
const loop = (body: string): string => `labels.filter(l, l.id < 20).exists(l, files.exists(f, ${body}))`;

const pathGlobs = JSON.stringify(
  Array.from({ length: 90 }, (_, n) => ['lib/x*/**', '**/y*.ts', 'src/z/*-a'][n % 3]?.replace('*', `${n}*`)),
);

const rows: readonly Row[] = [
  measure('operators', loop('l.id * 3 + f.additions == -1'), undefined),
  measure('members that are missing', loop('f.previous_filename == "x" || f.status == "y"'), undefined),
  measure('logic', loop('false || false || false || f.additions < 0'), undefined),
  measure('short texts compared', loop('f.filename == l.name'), undefined),
  measure(
    'long texts compared',
    'labels.filter(l, l.id < 50).exists(l, event.pull_request.body != pull_request.body)',
    letters,
  ),
  measure(
    'lists compared',
    'labels.filter(l, l.id < 20).exists(l, event.pull_request.labels != labels)',
    undefined,
  ),
  measure('lists searched', 'labels.filter(l, l.id > 900).all(l, l in event.pull_request.labels)', undefined),
  measure('texts joined', 'labels.filter(l, l.id < 20).exists(l, pull_request.body + l.name == "")', letters),
  measure(
    'texts searched',
    `labels.filter(l, l.id < 20).exists(l, pull_request.body.contains("${'ab'.repeat(400)}c"))`,
    ab,
  ),
  measure(
    'texts searched from behind',
    `labels.filter(l, l.id < 20).exists(l, pull_request.body.lastIndexOf("c${'ab'.repeat(400)}") > 0)`,
    ab,
  ),
  measure(
    'texts in small letters',
    'labels.filter(l, l.id < 20).exists(l, pull_request.body.lower() == "")',
    letters,
  ),
  measure('texts trimmed', 'labels.filter(l, l.id < 20).exists(l, pull_request.body.trim() == "a")', spaces),
  measure('texts measured', 'labels.filter(l, l.id < 20).exists(l, pull_request.body.size() == 0)', letters),
  measure('texts split and joined', 'pull_request.body.split("a").join("b") == ""', letters.slice(0, 20_000)),
  measure('objects written into texts', '"%s".format([labels]) == "x"', undefined),
  measure('lists made', 'labels.map(l, [l, l]).size() + labels.filter(l, l.id > 5).size() == 0', undefined),
  measure(
    'instants read',
    loop('timestamp("2026-01-01T00:00:0" + string(l.id % 10) + "Z") > now'),
    undefined,
  ),
  measure('timezones', Array(45).fill('now.getHours("Europe/Berlin") > 30').join(' || '), undefined),
  measure(
    'evidence',
    Array.from({ length: 40 }, (_, place) => `labels[${place}] == labels[999]`).join(' || '),
    undefined,
  ),
  measure('a pattern over a long text', 'pull_request.body.matches("(?i)\\\\bcloses #\\\\d+x")', letters),
  measure('a pattern over many texts', 'files.exists(f, f.filename.glob("**/*.md"))', undefined),
  measure('path globs over many files', `only_touches(["src/**"]) && touches(${pathGlobs})`, undefined),
  measure(
    'a pattern with many states',
    'pull_request.body.matches("(([abc]{1,30})a){30}$")',
    letters.slice(0, 500),
  ),
  measure(
    'a pattern with large states',
    'pull_request.body.matches("[abc]*a[abc]{100}x")',
    letters.slice(0, 4_000),
  ),
  measure(
    'a pattern with small states',
    'pull_request.body.matches("(a|b|c)*a(a|b|c){12}$")',
    letters.slice(0, 10_000),
  ),
  measure('a pattern with many classes', 'pull_request.body.matches("(\\\\pL?\\\\pN?){40}x$")', letters),
  measure('a glob with many stars', `pull_request.body.glob("${'*a'.repeat(200)}")`, letters),
];

for (const { name, units, nsPerUnit } of rows) {
  console.log(
    `${name.padEnd(32)} ${(units / 1e6).toFixed(2).padStart(10)} million units ${nsPerUnit.toFixed(2).padStart(8)} ns each`,
  );
}
const worst = Math.max(...rows.map(({ nsPerUnit }) => nsPerUnit));
console.log(`worst: ${worst.toFixed(2)} ns each`);
