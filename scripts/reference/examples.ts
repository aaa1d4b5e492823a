import { activitiesOf, eventFamilies, type Family } from '../../src/contract/events/event-families.ts';

/** Returns a rule file that listens to a family. */
export function eventExample(family: Family): string {
  const [activity] = activitiesOf(family);
  const on = activity === undefined ? family : `${family}.${activity}`;
  return `version: 1\nrules:\n  example:\n    on: ${on}\n    steps:\n${stepFor(eventFamilies[family].subject)}`;
}

function stepFor(subject: string): string {
  if (subject === 'issue' || subject === 'pull_request') {
    return '      - uses: set-labels\n        with: { add: [triage] }\n';
  }
  return '      - uses: set-status\n        with: { state: success, description: Seen. }\n';
}

/** Operator file with every setting. */
export const operatorExample = `version: 1
secrets:
  - name: acme
    scope: [acme/*]
    authorization-file: /run/secrets/reeve-authorization
    hmac-file: /run/secrets/reeve-hmac
named-secrets:
  CI_HOOK: { file: /run/secrets/ci-hook }
notify-hosts: [chat.internal, 10.1.0.0/16]
accounts: { ada: 42 }
repositories: [acme/*, "!acme/attic"]
organizations:
  acme: { rules: acme/.reeve }
grants:
  - repositories: [acme/site]
    actions: [dismiss-stale-reviews]
  - organizations: [acme]
    actions: [sync-labels, protect-tags]
    facts: [branch_protections]
  - in: ["acme/*", "!acme/attic"]
    use: [open-pull-request, collaborators]
    branches: [main, "release/*"]
limits: { delivery: 50, hour: 500, repository-delivery: 20, repository-hour: 100 }
webhook:
  url: https://reeve.example.org/webhook
  system: false
  users: [ada]
  organizations: [acme]
  repositories: [ada/site]
  events: all
dashboard: { url: https://reeve.example.org }
preview: true
report-problems: issue
own: account
repeated: refuse
delivery-lifetime: 3d
poll: 60
heartbeat: { to: HEARTBEAT, every: 5m }
report: { to: CI_HOOK, repository: acme/reeve, cron: "7 8 * * 1", timezone: Europe/Berlin }
concurrency: 16
max-body: 16MiB
retention: { settled: 14d, dead: 180d, max-size: 20GiB }
allow-admin: false
`;

/** True expression for each function and loop. A test evaluates them, and the reference shows them. */
export const functionExamples: Readonly<Record<string, string>> = {
  startsWith: '"release/1.2".startsWith("release/")',
  endsWith: '"src/app.ts".endsWith(".ts")',
  contains: '"fix: a crash".contains("crash")',
  matches: '"feat(ui): a button".matches("^(feat|fix)(\\\\([a-z]+\\\\))?: ")',
  glob: '"docs/guide/install.md".glob("docs/**")',
  lower: '"CRASH".lower() == "crash"',
  lowerAscii: '"CRASH".lowerAscii() == "crash"',
  upperAscii: '"crash".upperAscii() == "CRASH"',
  trim: '"  a ".trim() == "a"',
  indexOf: '"area/docs".indexOf("/") == 4',
  lastIndexOf: '"a/b/c".lastIndexOf("/") == 3',
  substring: '"area/docs".substring(5) == "docs"',
  split: '"a,b".split(",") == ["a", "b"]',
  join: '["a", "b"].join("-") == "a-b"',
  replace: '"a-b-c".replace("-", "/") == "a/b/c"',
  format: '"%s has %d files, %.1f%% of all".format(["docs", 3, 12.5]) == "docs has 3 files, 12.5% of all"',
  'sets.contains': 'sets.contains(["bug", "docs", "ui"], ["ui", "bug"])',
  'sets.intersects': 'sets.intersects(["ada", "eve"], ["bob", "eve"])',
  'sets.equivalent': 'sets.equivalent([1, 2, 2], [2, 1])',
  distinct: '["a", "b", "a"].distinct() == ["a", "b"]',
  'lists.distinct': 'lists.distinct([1, 1, 2]) == [1, 2]',
  flatten: '[["a"], ["b", "c"]].flatten() == ["a", "b", "c"]',
  'lists.flatten': 'lists.flatten([[1], [2, 3]]) == [1, 2, 3]',
  sort: '[3, 1, 2].sort() == [1, 2, 3]',
  'lists.sort': 'lists.sort(["b", "a"]) == ["a", "b"]',
  sum: '[1, 2, 3].sum() == 6',
  'math.greatest': 'math.greatest(1, 7, 3) == 7',
  'math.least': 'math.least([4, 2]) == 2',
  size: 'size("docs") == 4 && [1, 2].size() == 2',
  string: 'string(7) == "7"',
  int: 'int("7") == 7',
  double: 'double("0.5") == 0.5',
  bool: 'bool("true")',
  timestamp: 'timestamp("2026-01-02T03:04:05Z") < now',
  duration: 'now - duration("24h") < now',
  all: '[1, 2, 3].all(n, n > 0)',
  exists: '["bug", "docs"].exists(name, name == "bug")',
  exists_one: '[1, 2, 2].exists_one(n, n == 1)',
  filter: '[1, 2, 3].filter(n, n > 1) == [2, 3]',
  map: '[1, 2].map(n, n * 2) == [2, 4]',
  has: '!has(event.no_such_member)',
};

/** Returns the example of a function. The examples of all date and time functions have the same form. */
export function exampleOf(name: string): string {
  return functionExamples[name] ?? `timestamp("2026-01-02T03:04:05Z").${name}() >= 0`;
}
