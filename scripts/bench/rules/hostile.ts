/** Expressions written to be expensive. `test/rules/bounds.test.ts` makes thousands more of them. */
export const hostileExpressions: readonly string[] = [
  'issue.body.matches("(a+)+$")',
  'issue.body.matches("((a?){30}){30}$")',
  'issue.body.matches("(x+x+)+y")',
  `labels.exists(l, ${Array(60).fill('issue.body').join(' + ')} == "x")`,
  'labels.exists(l, event.issue.body == issue.body && l.name == "")',
  'labels.all(l, event.issue.labels == labels)',
  'labels.all(l, l in event.issue.labels)',
  `labels.exists(l, ${Array(40).fill('l.url.contains("a")').join(' || ')})`,
  'labels.exists(l, issue.body.size() > 100000)',
  `(${Array(20).fill('labels').join(' + ')}).exists(l, l.name == "")`,
  `labels.exists(l, ${'!'.repeat(21)}(l.id == 1))`,
  'labels.exists(l, issue.body.contains(l.name))',
  'labels.exists(l, issue.body.lower().contains("q"))',
  'issue.body.split("x").size() > 1',
  `labels.map(l, l.name).join().contains("${'x'.repeat(500)}")`,
];
