import { table, word } from '../reference/text.ts';

/** Results of one program of another project: kept by hand, measured by the commands in `commands`. */
type ClientResult = {
  readonly program: string;
  readonly version: string;
  readonly unit: string;
  readonly total: number;
  readonly embedded: number;
  readonly gitea: number;
};

const day = '2026-11-23';
const gitea = 'Gitea 1.27.0+dev-9d3f04eb7e';

const results: readonly ClientResult[] = [
  {
    program: 'Go SDK of Gitea, its own suite',
    version: '0.22.1',
    unit: 'tests, each alone',
    total: 63,
    embedded: 53,
    gitea: 53,
  },
  {
    program: 'Go SDK of Gitea, its own suite',
    version: '0.24.1',
    unit: 'tests, each alone',
    total: 65,
    embedded: 59,
    gitea: 59,
  },
  {
    program: 'py-gitea, its own suite',
    version: '0.3.0 (a0b65cf)',
    unit: 'tests',
    total: 51,
    embedded: 49,
    gitea: 49,
  },
  {
    program: 'go-scm, driver for Gitea',
    version: '65473142',
    unit: 'calls: every method that the driver supports',
    total: 50,
    embedded: 48,
    gitea: 48,
  },
];

/** Tests that fail: the server or servers, and the reason. */
const failures: readonly (readonly [tests: string, on: string, reason: string])[] = [
  [
    'Go SDK: `TestMilestones`',
    'both',
    'expects closed milestones in the list without `state`; Gitea 1.27 lists the open ones',
  ],
  [
    'Go SDK 0.22.1: `TestCreateRepoActionVariable`, `TestOrgActionVariable`, `TestUpdateOrgActionVariable`',
    'both',
    'expect 204 for a new variable; Gitea 1.27 answers 201',
  ],
  [
    'Go SDK 0.22.1: `TestFileCreateUpdateGet`',
    'both',
    'expects an older message of a 404; the message is now `not found`',
  ],
  [
    'Go SDK: `TestTags`',
    'both',
    'expects the message of a tag without its final newline, and one more in the object',
  ],
  [
    'Go SDK: `TestCommitStatus`',
    'both',
    'expects `warning` (0.22.1) or `success` (0.24.1) as the combined state with a warning; Gitea 1.27 answers `failure`',
  ],
  [
    'Go SDK: `TestGetGlobalSettings`',
    'both',
    'expects attachments of at most 2048 MiB; the default of Gitea 1.27 is 100, the embedded forge takes 25, since attachments pass through memory',
  ],
  [
    'Go SDK: `TestRepoMigrateAndLanguages`; py-gitea: `test_migrate_repo_gitea`, `test_migrate_repo_github`',
    'both',
    'clone from gitea.com and github.com, which the measuring machine does not reach',
  ],
  [
    'Go SDK: `TestCreateRepoSha256`',
    'Gitea',
    'Gitea offers SHA-256 from git 2.42 on, and the machine has 2.39; the embedded forge passes',
  ],
  [
    'Go SDK: `TestMyUser`',
    'embedded forge',
    'expects the MD5 of the e-mail address in `avatar_url`; the embedded forge hashes the name, because the other would confirm a guessed address',
  ],
  ['go-scm: `PullRequests.Merge`', 'both', 'sends no body, and `Do` is required: 422'],
  ['go-scm: `Milestones.List`', 'both', 'leaves out the question mark before the query: 404'],
];

/** Returns the section about programs of other projects. */
export function clientSection(): string {
  return `## Programs of other projects

Test suites and bots that this project did not write, on ${day}: on the embedded forge, and on a new, empty ${gitea}
with the same account (go-scm and Renovate: on the server of the contract suite).

${table(
  ['program', 'version', 'unit', 'total', 'embedded forge', 'Gitea 1.27'],
  results.map(({ program, version, unit, total, embedded, gitea: real }) => [
    program,
    version,
    unit,
    ...[total, embedded, real].map(String),
  ]),
)}

What fails, and why:

${table(['tests', 'fails on', 'reason'], failures)}

Renovate 44.121.2 (${word('RENOVATE_PLATFORM=gitea')}) opens its onboarding pull request in a repository with a ${word('package.json')}; after the merge it opens two
pull requests with labels, an assignee and a reviewer, schedules the merge of one, which the forge then performs, and opens its dashboard
issue. Three rounds send 40 requests to the API of the embedded forge. None gets an answer that the operation is not served; the 404s (an account
that is no organization, shared presets that do not exist, a file before it exists) are those of Gitea as well.

The methods of go-scm send 45 different operations. The embedded forge serves them all, and answers each with the status of Gitea.

The commands. Suites that expect the server under ${word('http://gitea:3000')} run in a network namespace of their own: that name is loopback,
\`example.com\` has an address, and nothing outside is reached.

\`\`\`sh
reeve forge --port 3000 --data ./data --admin test01:test01pass --admin-email test01@gitea.io --url http://gitea:3000
curl -u test01:test01pass -H 'content-type: application/json' -d '{"name":"gitea-admin","scopes":["all"]}' \\
  http://gitea:3000/api/v1/users/test01/tokens     # the token that the suite of the SDK expects
export GITEA_SDK_TEST_URL=http://gitea:3000 GITEA_SDK_TEST_USERNAME=test01 GITEA_SDK_TEST_PASSWORD=test01pass
go test -c -o sdk.test . && for t in $(./sdk.test -test.list .); do ./sdk.test -test.run "^$t\\$"; done

reeve forge --port 3000 --data ./data --admin test:password --admin-email secondarytest@test.org
python -m pytest ./tests     # py-gitea: a token of the account in the file .token

RENOVATE_PLATFORM=gitea RENOVATE_ENDPOINT=http://127.0.0.1:3000/ RENOVATE_TOKEN=… renovate OWNER/REPOSITORY
\`\`\``;
}
