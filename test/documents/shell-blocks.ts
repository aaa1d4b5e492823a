/**
 * Command blocks that no test of the documentation runs, by page and first line, with the reason. `commands.test.ts`
 * runs all other blocks. It also checks what it can in these blocks without running them: commands and flags of
 * `reeve`, npm scripts, and files.
 */
export const notRun: Readonly<Record<string, string>> = {
  'README.md: npm ci && npm start': 'starts the demo on fixed ports; test/flows/demo.test.ts plays it',
  'docs/start.md: npm ci && npm start': 'starts the demo on fixed ports; test/flows/demo.test.ts plays it',
  'README.md: npm ci && npm test': 'is what runs this test; .ci/run runs exactly this line',
  "CONTRIBUTING.md: { echo 'Breaks: A delivery is acknowledged only after it is stored.'":
    'needs a broken source; test/twins.test.ts applies patches',
  'docs/conformance.md: FORGE_URL=http://127.0.0.1:3000 FORGE_TOKEN=… npx vitest run test/contract   # only the contract suite':
    'needs a real forge',
  'docs/conformance.md: FORGE_URL=http://127.0.0.1:3000 FORGE_TOKEN=… npm run conformance -- --peer':
    'needs a real server, and is run manually',
  'docs/conformance.md: reeve forge --port 3000 --data ./data --admin test01:test01pass --admin-email test01@gitea.io --url http://gitea:3000':
    'needs suites of other projects',
  'docs/deploy.md: npm install --global @reeve-forge/reeve':
    'needs systemd and root; test/deploy.test.ts examines the unit',
  'docs/deploy.md: docker build -t reeve .': 'needs Docker; npm run image follows the Dockerfile',
  'docs/deploy.md: cd deploy/compose': 'needs Docker; test/deploy.test.ts examines the compose files',
  'docs/deploy.md: docker compose -f with-gitea.yml up -d gitea': 'needs Docker',
  'docs/deploy.md: docker compose -f postgres.yml up -d --no-deps reeve-1': 'needs Docker',
  'docs/deploy.md: kubectl create namespace reeve':
    'needs Kubernetes; test/deploy.test.ts examines the manifests',
  'docs/forge.md: reeve forge --port 3000 --data ./forge --admin root:a-password-for-loopback --json':
    'takes a fixed port; test/cli/commands/forge-command.test.ts runs it on a free one',
  'docs/editors.md: node scripts/build-vscode.ts':
    'needs VS Code; test/vscode-extension.test.ts builds and examines the package',
  'docs/forge.md: git push origin HEAD:refs/for/main/fix-typo':
    'needs a clone; test/contract/agit.test.ts pushes for review',
  'docs/import.md: cd my-repository':
    'needs a repository with files of other bots; test/cli/commands/import.test.ts makes some',
  'docs/import.md: reeve setup --rules imported-rules':
    'its rules are those of an import; test/cli/commands/import.test.ts makes them, and setup.test.ts takes such a folder',
  'docs/postgresql.md: pg_dump --format=custom --schema=reeve --no-owner --file=reeve.dump postgres://reeve@database.example/reeve':
    'needs the programs of PostgreSQL; test/store/postgres/dump.test.ts runs them',
  'docs/postgresql.md: createdb --host=database.example --username=reeve reeve_restored':
    'needs the programs of PostgreSQL; test/store/postgres/dump.test.ts runs them',
  'docs/postgresql.md: export DATABASE_URL_FILE=/etc/reeve/database-url':
    'needs PostgreSQL; test/cli/commands/store-copy.test.ts copies stores',
  'docs/postgresql.md: reeve store copy --from env:DATABASE_URL --to /var/lib/reeve-new':
    'needs PostgreSQL; test/cli/commands/store-copy.test.ts copies stores',
  'docs/backup.md: (umask 077 && tar -czf reeve.tar.gz reeve.env reeve.yml reeve-rules data token)':
    'test/cli/commands/setup.test.ts moves the folder',
  'docs/backup.md: reeve setup --settings reeve.env --webhook https://new.example.org':
    'test/cli/commands/setup.test.ts moves the folder, and the address of a hook',
  'docs/start.md: install -m 600 /dev/stdin token          # paste the token, then Ctrl-D':
    'waits for a person',
  'docs/rotate.md: install -m 600 /dev/stdin token.new      # paste the token, then Ctrl-D':
    'waits for a person; test/flows/revoked-token.test.ts renews a token',
  'docs/rotate.md: npx reeve setup --settings reeve.env --repository acme/demo --rotate':
    'test/cli/commands/setup.test.ts rotates around a restart',
  'docs/rotate.md: reeve setup --settings reeve.env --repository acme/demo --dashboard https://reeve.example.org':
    'test/cli/commands/sign-in.test.ts registers the application',
  'docs/upgrade.md: npm install --global @reeve-forge/reeve': 'needs systemd and root',
  'docs/upgrade.md: npm install --global @reeve-forge/reeve@X.Y.Z':
    'needs systemd and root; the command between is run for docs/backup.md',
};
