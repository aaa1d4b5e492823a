/** Texts that make patterns and searches as expensive as they can be. */
export const hostileTexts = {
  /** Three letters in no order that a pattern could foresee. */
  letters: shuffled('abc', 60_000),
  ab: 'ab'.repeat(30_000),
  spaces: `${' '.repeat(59_999)}a`,
} as const;

/** Returns what a hostile person may put before a hostile rule: a body of 60 KB, 1,000 labels, 1,000 files. */
export function hostileData(body: string = hostileTexts.letters) {
  const labels = Array.from({ length: 1_000 }, (_, id) => ({ id, name: `label-${id}`, color: 'ffffff' }));
  const files = Array.from({ length: 1_000 }, (_, place) => ({
    filename: `src/folder-${place % 50}/file-${place}.ts`,
    additions: place,
  }));
  const pull = { number: 7, title: 'fix: it', body, labels, base: { ref: 'main' } };
  return {
    pull_request: pull,
    issue: { number: 7, title: 'A crash', body, labels },
    labels,
    files,
    event: { action: 'opened', number: 7, pull_request: structuredClone(pull), issue: { body, labels } },
    now: new Date('2026-01-01T00:00:00Z'),
  };
}

/** Expressions written to be expensive. `test/rules/expressions/hostile.test.ts` makes thousands more of them. */
export const hostileExpressions: readonly string[] = [
  'issue.body.matches("(([abc]{1,30})a){30}$")',
  'issue.body.matches("(a+)+$")',
  'issue.body.matches("((a?){20}){30}$")',
  'issue.body.matches("[abc]*a[abc]{100}x")',
  `issue.body.glob("${'*a'.repeat(249)}")`,
  `labels.exists(l, ${Array(60).fill('issue.body').join(' + ')} == "x")`,
  'labels.exists(l, event.issue.body == issue.body && l.name == "")',
  'labels.all(l, event.issue.labels == labels)',
  'labels.all(l, l in event.issue.labels)',
  'labels.all(l, labels.all(k, k.id + l.id >= 0))',
  `labels.exists(l, ${Array(40).fill('l.url.contains("a")').join(' || ')})`,
  'labels.exists(l, issue.body.size() > 100000)',
  `(${Array(20).fill('labels').join(' + ')}).exists(l, l.name == "")`,
  `labels.exists(l, ${'!'.repeat(21)}(l.id == 1))`,
  'labels.exists(l, issue.body.contains(l.name))',
  'labels.exists(l, issue.body.lower().contains("q"))',
  'issue.body.split("x").size() > 1',
  'labels.all(l, issue.body.replace("a", "bb").size() > l.id)',
  'issue.body.replace("", "x".replace("", issue.body)).size() > 1',
  'labels.all(l, labels.map(k, k.name).sort().size() > 0)',
  '(labels + labels + labels).distinct().size() == 1000',
  'labels.all(l, sets.contains(event.issue.labels, labels))',
  'labels.all(l, "%s %s %s".format([labels, issue.body, l]).size() > 0)',
  'labels.map(l, labels.map(k, labels)).flatten(3).size() > 0',
  '"%s".format([labels.map(l, labels)]).size() > 0',
  `labels.map(l, l.name).join().contains("${'x'.repeat(500)}")`,
];

function shuffled(letters: string, length: number): string {
  let seed = 12_345;
  let text = '';
  for (let place = 0; place < length; place += 1) {
    seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff;
    text += letters[(seed >> 16) % letters.length] ?? '';
  }
  return text;
}
