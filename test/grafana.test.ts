import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '../src/contract/operations.ts';
import { systemClock } from '../src/platform/clock.ts';
import { packageRoot } from '../src/platform/package.ts';
import { metricTable } from '../src/server/dashboard/metrics.ts';
import { createRunnerMemory } from '../src/work/sweeps/targets/runner-memory.ts';
import { post } from './support/deliveries.ts';
import { isThorough } from './support/figure.ts';
import type { GrafanaDashboard, PrometheusTarget } from './support/grafana-dashboard.ts';
import { at, type Harness, people } from './support/harness.ts';
import { startOperatorHarness } from './support/operator-harness.ts';
import { scrapeMetrics } from './support/scrape-metrics.ts';

/** Series of a query result, with its labels and its latest value as text. */
type PrometheusSeries = {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
};

/** Prometheus server on loopback. */
interface Prometheus {
  /** Returns the current series of an expression. Rejects if Prometheus refuses the expression. */
  query(expression: string): Promise<readonly PrometheusSeries[]>;
  /** Returns the values of a label in the matching series. */
  valuesOf(label: string, match: string): Promise<readonly string[]>;
  stop(): Promise<void>;
}

/**
 * Starts Prometheus with a configuration file, and with its data in a folder. Returns undefined if Prometheus is not
 * installed.
 */
async function startPrometheus(options: {
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

const text = readFileSync(join(packageRoot, 'deploy/grafana/reeve.json'), 'utf8');
const dashboard: GrafanaDashboard = JSON.parse(text);
const { panels } = dashboard;
const queries = panels.flatMap((panel) =>
  panel.type === 'row' ? [] : panel.targets.map((target) => ({ title: panel.title, ...target })),
);

/** Returns the type errors of TypeScript files that exist only in memory, for each file. */
function typeErrors(files: Readonly<Record<string, string>>): readonly (readonly string[])[] {
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    allowImportingTsExtensions: true,
    exactOptionalPropertyTypes: true,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2024,
    types: [],
  };
  const host = ts.createCompilerHost(options);
  const { readFile, fileExists, getSourceFile } = host;
  const paths = new Map(
    Object.entries(files).map(([name, source]) => [join(packageRoot, 'test', name), source]),
  );
  host.fileExists = (path) => paths.has(path) || fileExists(path);
  host.readFile = (path) => paths.get(path) ?? readFile(path);
  host.getSourceFile = (path, language, ...more) => {
    const source = paths.get(path);
    return source === undefined
      ? getSourceFile(path, language, ...more)
      : ts.createSourceFile(path, source, language);
  };
  const program = ts.createProgram([...paths.keys()], options, host);
  return [...paths.keys()].map((path) =>
    ts
      .getPreEmitDiagnostics(program, program.getSourceFile(path))
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n')),
  );
}

describe('the Grafana dashboard', () => {
  it('satisfies the types that Grafana publishes, which refuse unknown fields and values', () => {
    const typed = (json: string): string =>
      `import type { GrafanaDashboard } from './support/grafana-dashboard.ts';\nexport const made: GrafanaDashboard = ${json};`;

    const [asItIs, member, value] = typeErrors({
      'grafana-as-it-is.ts': typed(text),
      'grafana-member.ts': typed(text.replace('"showPoints"', '"showDots"')),
      'grafana-value.ts': typed(text.replace('"mode": "multi"', '"mode": "many"')),
    });

    expect(asItIs).toEqual([]);
    expect(member?.join()).toContain('showDots');
    expect(value?.join()).toContain('"many"');
  });

  it('can be imported anywhere: it contains no fixed data source, and uses only variables that it defines', () => {
    const names = dashboard.templating.list.map(({ name }) => name);
    const used = [...text.matchAll(/\$\{?([a-z]\w*)/g)].map(([, name]) => name);

    expect(dashboard.id).toBeUndefined();
    expect(names).toEqual(['datasource', 'job', 'instance']);
    expect(dashboard.templating.list[0]).toMatchObject({ type: 'datasource', query: 'prometheus' });
    expect([...new Set(used)].toSorted()).toEqual(names.toSorted());
    expect([...text.matchAll(/"uid": "([^"]+)"/g)].map(([, uid]) => uid)).toEqual([
      dashboard.uid,
      ...Array(queries.length + panels.filter(({ type }) => type !== 'row').length + 2).fill('${datasource}'),
    ]);
  });

  it('has a row for each subject, and no overlapping panels', () => {
    expect(panels.filter(({ type }) => type === 'row').map(({ title }) => title)).toEqual([
      'State',
      'Intake and failures',
      'Latency',
      'Queue, lanes and lag',
      'Forge requests and rate limits',
      'Sweeps and runners',
      'Processes, leader and takeovers',
      'Memory',
    ]);
    const taken = new Set<string>();
    for (const { gridPos, title } of panels) {
      const { x, y, w, h } = gridPos as { x: number; y: number; w: number; h: number };
      expect([title, x + w <= 24]).toEqual([title, true]);
      for (let column = x; column < x + w; column += 1) {
        for (let line = y; line < y + h; line += 1) {
          expect([title, taken.has(`${column} ${line}`)]).toEqual([title, false]);
          taken.add(`${column} ${line}`);
        }
      }
    }
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length);
    for (const panel of panels) {
      if (panel.type === 'row') continue;
      expect(panel.description).toMatch(/\.$/);
      expect(new Set(panel.targets.map(({ refId }) => refId)).size).toBe(panel.targets.length);
    }
  });

  it('shows each metric of Reeve, with counters as rates', () => {
    const rows: Readonly<Record<string, { type: string }>> = metricTable;
    const shown = new Set(queries.flatMap(({ expr }) => usesIn(expr).map(({ metric }) => metric)));

    expect([...shown].filter((name) => name.startsWith('reeve_')).toSorted()).toEqual(
      Object.keys(metricTable).toSorted(),
    );
    for (const { expr } of queries) {
      for (const { metric, isRate } of usesIn(expr)) {
        const type = rows[metric]?.type;
        if (type !== undefined) expect([expr, isRate]).toEqual([expr, type !== 'gauge']);
      }
    }
  });

  it('filters metrics of the installation by job, and metrics of a process also by instance', () => {
    const rows: Readonly<Record<string, { type: string; ofInstallation?: true }>> = metricTable;
    for (const { expr } of queries) {
      for (const { metric, matchers } of usesIn(expr)) {
        const isOfAll = rows[metric]?.ofInstallation === true || metric === 'reeve_leader';
        // Only the leader exports metrics of the installation, so selecting another process would show nothing.
        const expected = isOfAll ? /^job=~"\$job"/ : /^job=~"\$job", instance=~"\$instance"/;
        if (isOfAll && metric !== 'reeve_leader') expect([metric, matchers]).not.toContain('instance');
        expect([metric, matchers]).toEqual([metric, expect.stringMatching(expected)]);
      }
    }
  });
});

type MetricUse = {
  readonly metric: string;
  readonly exported: string;
  readonly matchers: string;
  readonly isRate: boolean;
};

/** Returns the metrics that an expression reads. The series of a histogram count as the histogram. */
function usesIn(expression: string): readonly MetricUse[] {
  return [...expression.matchAll(/(?:(rate|increase)\()?\b([a-z]\w*)\{([^}]*)\}/g)].map(
    ([, rate, exported = '', matchers = '']) => ({
      metric: exported.startsWith('reeve_') ? exported.replace(/_(bucket|count|sum)$/, '') : exported,
      exported,
      matchers,
      isRate: rate !== undefined,
    }),
  );
}

/** Returns the labels by which an expression groups its series. */
const groupsOf = (expression: string): readonly string[] =>
  [...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, labels = '']) => labels.split(', '));

const rules = `version: 1
rules:
  mark: { on: issues.opened, steps: [{ uses: set-labels, with: { add: [kept] } }] }
  broken: { on: issues.opened, if: 'issue.labels[5].name == "x"', steps: [{ uses: set-labels, with: { add: [kept] } }] }
  swept:
    on: { schedule: "* * * * *" }
    each: repository
    steps: [{ uses: sync-labels, with: { labels: [{ name: kept, color: ff0000 }] } }]
`;

/** Metrics that have no series until a merge queue has worked, which takes minutes. */
const absentWithoutQueue = ['reeve_merge_queue_wait_seconds', 'reeve_merge_queue_removed_total'];

describe('the queries of the dashboard, for a Reeve with deliveries', () => {
  let aheadMs = 0;
  let harness: Harness;
  let prometheus: Prometheus | undefined;
  const folder = mkdtempSync(join(tmpdir(), 'reeve-grafana-'));

  beforeAll(async () => {
    harness = await startOperatorHarness(rules, {
      server: {
        clock: { ...systemClock, now: () => new Date(Date.now() + aheadMs) },
        repositories: [`${people.ada}/*`],
        budgets: { delivery: { all: 50, repository: 50 }, hour: { all: 2, repository: 2 } },
      },
    });
    const { server } = harness;
    await createRunnerMemory(server.store).observe(
      'organization acme',
      [{ id: 1, name: 'builder', status: 'offline', busy: false, disabled: false, labels: [] }],
      new Date(),
    );
    await openIssues('one', 'two', 'three');
    await post(server.url, { eventType: 'issues', payload: {} }, { authorization: 'wrong' });
    // The delivery has the id of one repository and the name of another.
    const { id } = await harness.root.call(operations.getRepository, { params: at });
    const owner = { id: 3, login: people.ada };
    const push = { ref: 'refs/heads/main', before: '0'.repeat(40), after: '1'.repeat(40) };
    await harness.ada.call(operations.createRepository, { body: { name: 'own', auto_init: true } });
    await post(server.url, {
      eventType: 'push',
      payload: {
        ...push,
        repository: { id, name: 'own', full_name: `${people.ada}/own`, owner },
        sender: { id: 7, login: people.ada },
      },
    });
    aheadMs += 60_000;
    await harness.waitForRun(({ changes }) => changes.length > 0);
  });
  afterAll(async () => {
    await prometheus?.stop();
    await harness.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const openIssues = async (...titles: readonly string[]): Promise<void> => {
    for (const title of titles)
      await harness.ada.call(operations.createIssue, { params: at, body: { title } });
    await harness.idle();
  };
  /** Creates enough garbage to trigger a garbage collection, which occurs in any process after a while. */
  const collectGarbage = (): number => Array.from({ length: 2_000_000 }, (_, index) => ({ index })).length;
  const readMetrics = () => scrapeMetrics({ url: harness.server.url, data: harness.data });

  it('read only metrics and labels that Reeve exports', async () => {
    await expect.poll(readMetrics).toContain('reeve_sweep_items{');
    collectGarbage();
    await expect.poll(readMetrics).toContain('nodejs_gc_duration_seconds_sum{');
    const exported = new Map<string, Set<string>>();
    for (const [, name = '', labels = ''] of (await readMetrics()).matchAll(/^(\w+)(?:\{(.*)\})? \S+$/gm)) {
      const known = exported.get(name) ?? new Set(['job', 'instance']);
      for (const [, label = ''] of labels.matchAll(/(\w+)="/g)) known.add(label);
      exported.set(name, known);
    }
    const absent = new Set<string>();
    for (const { expr, legendFormat } of queries) {
      for (const { metric, exported: name, matchers } of usesIn(expr)) {
        const labels = exported.get(name);
        if (labels === undefined) absent.add(metric);
        const used = [...matchers.matchAll(/(\w+)=/g)].map(([, label = '']) => label);
        for (const label of labels === undefined ? [] : [...used, ...groupsOf(expr)])
          expect([name, ...(labels ?? [])]).toContain(label);
      }
      for (const [, label] of legendFormat.matchAll(/\{\{(\w+)\}\}/g))
        expect(groupsOf(expr)).toContain(label);
    }
    expect([...absent]).toEqual(['reeve_merge_queue_wait_seconds']);
  });

  it.runIf(isThorough)('have results in Prometheus', async ({ skip }) => {
    writeFileSync(join(folder, 'password'), readFileSync(join(harness.data, 'dashboard.password')), {
      mode: 0o600,
    });
    const configuration = join(folder, 'prometheus.yml');
    const target = new URL(harness.server.url).host;
    writeFileSync(
      configuration,
      JSON.stringify({
        scrape_configs: [
          {
            job_name: 'reeve',
            scrape_interval: '250ms',
            scrape_timeout: '250ms',
            static_configs: [{ targets: [target] }],
            basic_auth: { username: 'reeve', password_file: join(folder, 'password') },
          },
        ],
      }),
    );
    prometheus = await startPrometheus({ configuration, folder });
    if (prometheus === undefined) return skip('prometheus is not installed');
    const { query, valuesOf } = prometheus;
    await expect.poll(() => query('reeve_webhook_requests_total{result="stored"}')).toHaveLength(1);
    await openIssues('four', 'five');
    await expect
      .poll(() => query('increase(reeve_run_seconds_count{door="webhook"}[1m]) > 0'))
      .toHaveLength(1);

    const found = await Promise.all(
      queries.map(async (one) => ({ ...one, series: await query(inPrometheus(one, target)) })),
    );

    expect(await valuesOf('job', 'reeve_build_info')).toEqual(['reeve']);
    expect(await valuesOf('instance', 'reeve_build_info{job=~"reeve"}')).toEqual([target]);
    const empty = found.filter(
      ({ series }) => !series.some(({ value }) => Number.isFinite(Number(value[1]))),
    );
    const metricsOf = (some: typeof empty) =>
      new Set(some.flatMap(({ expr }) => usesIn(expr).map(({ metric }) => metric)));
    expect([...metricsOf(empty)].toSorted()).toEqual(absentWithoutQueue.toSorted());
  });
});

/** Returns a query as Grafana sends it, with the values of its variables. */
const inPrometheus = ({ expr }: PrometheusTarget, instance: string): string =>
  expr.replaceAll('$job', 'reeve').replaceAll('$instance', instance).replaceAll('$__rate_interval', '1m');
