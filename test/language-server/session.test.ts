import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { loadRuleFile } from '../../src/rules/files/load.ts';
import { registry } from '../../src/rules/registry.ts';
import { type BareServer, startBareServer } from '../support/bare-server.ts';
import { cpuMs } from '../support/cpu-time.ts';
import { isThorough, recordFigure } from '../support/figure.ts';
import { applyAction, type LanguageClient, startLanguageClient } from '../support/language-client.ts';

const file = 'rules/a.yml';
const ruleOf = (rest: string, on = 'pull_request'): string =>
  `version: 1\nconditions:\n  green: passed("ci/*")\nrules:\n  a:\n    on: ${on}\n${rest}`;
const condition = (text: string): string => ruleOf(`    if: ${text}\n`);
const withArguments = (action: string, text: string): string =>
  ruleOf(`    steps:\n      - uses: ${action}\n        with:\n          ${text}\n`);

describe('reeve lsp', () => {
  let client: LanguageClient;
  beforeAll(async () => {
    client = await startLanguageClient();
  });
  afterAll(async () => {
    expect(await client.close()).toBe(0);
    expect(client.errors()).toBe('');
    expect(client.messages).toEqual([]);
  });

  describe('problems', () => {
    const text = ruleOf(
      '    if: pull_requst.draft && green\n    steps:\n      - uses: set-lables\n        with: { add: [bug] }\n',
      '{ pull_request: [openned] }',
    );

    it('are those of reeve check, at their places', async () => {
      const { problems } = loadRuleFile({
        path: client.path(file),
        text,
        level: 'operator',
        commit: '',
        registry,
      });

      const found = await client.open(file, text);

      expect(found.map(({ code, range: { start } }) => [code, start.line + 1, start.character + 1])).toEqual(
        problems.map(({ code, line, column }) => [code, line, column]),
      );
      expect(found.map(({ severity, message }) => [severity, message.replace(/.*, did/, 'did')])).toEqual([
        [1, 'did you mean "opened"?'],
        [1, 'did you mean "pull_request"?'],
        [1, 'did you mean "set-labels"?'],
      ]);
    });

    it('follow the text that is open, not the file on the disk', async () => {
      client.write('rules/b.yml', 'version: 2\n');
      const good = ruleOf(
        '    steps:\n      - uses: set-labels\n        with: { add: [bug] }\n',
        'pull_request.opened',
      );

      expect(await client.open('rules/b.yml', good)).toEqual([]);
      expect((await client.change('rules/b.yml', `${good}extra: 1\n`)).map(({ code }) => code)).toEqual([
        'unknown-key',
      ]);
      expect(await client.change('rules/b.yml', good)).toEqual([]);
    });

    it('are warnings where reeve check warns', async () => {
      const found = await client.open(
        'rules/c.yml',
        condition('pull_request.milestone.title == "x"') +
          '    steps: [{ uses: set-labels, with: { add: [x] } }]\n',
      );

      expect(found.map(({ code, severity }) => [code, severity])).toContainEqual(['null-member', 2]);
    });

    it('of a repository’s file have its level', async () => {
      const found = await client.open(
        '.gitea/reeve.yml',
        ruleOf('    steps:\n      - uses: sync-repository\n        with: { has_wiki: false }\n', 'push'),
      );

      expect(found.map(({ code }) => code)).toContain('level');
    });

    it('of a rule test and of the operator file are found', async () => {
      const tests = await client.open(
        'rules/a.test.yml',
        'cases:\n  - name: x\n    evnt: {}\n    expect: {}\n',
      );
      const operator = await client.open('reeve.yml', 'version: 1\nconcurency: 3\n');

      expect(tests.map(({ code, range }) => [code, range.start.line])).toContainEqual(['unknown-key', 2]);
      expect(operator.map(({ message, range: { start, end } }) => [message, start, end])).toEqual([
        [
          'the file: there is no key "concurency", did you mean "concurrency"?',
          { line: 1, character: 0 },
          { line: 1, character: 10 },
        ],
      ]);
    });

    it('of two files that write one status stand in the one that is open', async () => {
      const status = (name: string): string =>
        `version: 1\nrules:\n  ${name}:\n    on: pull_request\n    steps:\n      - uses: set-status\n        with: { context: gate, when: "true", description: x, otherwise: { state: pending, description: y } }\n`;
      client.write('more/rules/one.yml', status('one'));

      const found = await client.open('more/rules/two.yml', status('two'));

      expect(
        found.map(({ code }) => code),
        JSON.stringify(found),
      ).toEqual(['status-name']);
    });

    it.each([
      ['docker-compose.yml', 'version: "3"\nservices:\n  web: { image: x }\n'],
      ['rules/alerts.yml', 'groups:\n  - name: x\n'],
      ['logging.yml', 'version: 1\nformatters: {}\n'],
      ['other.test.yml', 'tests: []\n'],
    ])('are not looked for in a file of another program: %s', async (name, other) => {
      expect(await client.open(name, other)).toEqual([]);
      expect(await client.labels(name, `${other}|`)).toEqual([]);
    });
  });

  describe('completion', () => {
    it.each<readonly [string, string, readonly string[], readonly string[]]>([
      ['the keys of a file', '|', ['version', 'rules', 'include'], ['steps']],
      [
        'the keys of a rule',
        'version: 1\nrules:\n  a:\n    |',
        ['on', 'if', 'steps', 'permission'],
        ['uses'],
      ],
      ['a key between others', ruleOf('    st|\n    if: "true"\n'), ['steps', 'each'], ['on', 'if']],
      ['events', ruleOf('', 'pu|'), ['push', 'pull_request', 'pull_request.opened', 'auto'], []],
      ['activities', ruleOf('', '{ pull_request: [|] }'), ['opened', 'synchronized'], ['created']],
      [
        'filters of an event',
        ruleOf('', '\n      pull_request:\n        |'),
        ['types', 'branches', 'paths'],
        [],
      ],
      [
        'names of expressions',
        condition('|'),
        ['pull_request', 'files', 'green', 'touches', 'has'],
        ['params.x'],
      ],
      [
        'what an event lacks is left out',
        ruleOf('    if: |\n', 'issues'),
        ['issue'],
        ['pull_request', 'files'],
      ],
      ['members', condition('pull_request.|'), ['draft', 'labels', 'behind'], ['filename']],
      ['members in quotes', condition('"!pull_request.|'), ['draft'], ['filename']],
      ['members of the items of a list', condition('files.exists(x, x.|'), ['filename', 'status'], ['draft']],
      [
        'members in nested loops',
        condition('reviews.exists(r, files.exists(x, r.user.|'),
        ['login'],
        ['filename'],
      ],
      ['the variable of a loop', condition('files.exists(entry, |'), ['entry'], []],
      ['functions of a list', condition('files.|'), ['exists', 'size', 'map'], ['startsWith']],
      [
        'functions of a text',
        condition('pull_request.title.|'),
        ['startsWith', 'contains', 'matches'],
        ['exists'],
      ],
      ['values of a comparison', condition('pull_request.state == "|"'), ['open', 'closed'], []],
      [
        'parameters',
        `version: 1\nparams:\n  days: { type: int, default: 3 }\nrules:\n  a:\n    on: push\n    if: params.|\n`,
        ['days'],
        ['params'],
      ],
      ['keys of a step', ruleOf('    steps:\n      - |\n'), ['uses', 'if', 'with'], ['on']],
      ['actions', ruleOf('    steps:\n      - uses: |\n'), ['set-labels', 'merge', 'comment'], []],
      ['arguments', withArguments('merge', '|'), ['method', 'when'], ['add']],
      ['values of an argument', withArguments('merge', 'method: |'), ['squash', 'rebase'], []],
      ['conditions in arguments', withArguments('merge', 'when: gr|'), ['green', 'pull_request'], []],
      ['conditions of labels', withArguments('set-labels', 'sync: { docs: pull_request.| }'), ['draft'], []],
      ['templates', withArguments('comment', 'text: Hello ${{ pull_request.user.| }}!'), ['login'], []],
      ['nothing in the text of a template', withArguments('comment', 'text: Hello |'), [], ['pull_request']],
      ['modes', 'version: 1\nmode: |\n', ['observe', 'enforce'], []],
      ['true and false', withArguments('merge', 'delete-branch: |'), ['true', 'false'], []],
      [
        'the kinds of each',
        ruleOf('    each: |\n', '{ schedule: "7 * * * *" }'),
        ['pull_request', 'repository'],
        [],
      ],
    ])('%s', async (_, marked, wanted, unwanted) => {
      const labels = await client.labels(file, marked);

      expect(labels).toEqual(expect.arrayContaining([...wanted]));
      for (const one of unwanted) expect(labels).not.toContain(one);
    });

    it.each<readonly [string, string, string, readonly string[]]>([
      [
        'facts of a rule test',
        'rules/a.test.yml',
        'cases:\n  - name: x\n    facts:\n      |\n',
        ['files', 'labels'],
      ],
      [
        'kinds of events of a rule test',
        'rules/a.test.yml',
        'cases:\n  - name: x\n    event:\n      kind: |\n',
        ['pull_request'],
      ],
      [
        'actions of a rule test',
        'rules/a.test.yml',
        'cases:\n  - name: x\n    expect:\n      changes:\n        - action: |\n',
        ['set-labels'],
      ],
      ['keys of the operator file', 'reeve.yml', 'version: 1\n|', ['repositories', 'grants']],
      ['grants of the operator file', 'reeve.yml', 'version: 1\ngrants:\n  - use: [|]\n', ['merge', 'files']],
    ])('%s', async (_, name, marked, wanted) => {
      expect(await client.labels(name, marked)).toEqual(expect.arrayContaining([...wanted]));
    });

    it('replaces the word that is written, with a colon after a key', async () => {
      const items = await client.complete(file, 'version: 1\nrules:\n  a:\n    des|');

      expect(items.find(({ label }) => label === 'description')?.textEdit).toEqual({
        range: { start: { line: 3, character: 4 }, end: { line: 3, character: 7 } },
        newText: 'description: ',
      });
    });

    it('says what each word means', async () => {
      const items = await client.complete(file, condition('fil|'));

      expect(items.find(({ label }) => label === 'files')?.documentation?.value).toContain(
        'The changed files',
      );
    });
  });

  describe('documentation', () => {
    it.each([
      ['a fact', condition('fil|es.size() > 3'), 'The changed files of a pull request'],
      ['a member', condition('pull_request.dr|aft'), '`pull_request.draft`: true or false'],
      ['a member of an item', condition('files.exists(x, x.file|name == "a")'), '`x.filename`: text'],
      ['a function', condition('files.si|ze() > 3'), 'How many characters, items or members'],
      [
        'a function about the subject',
        condition('touch|es("docs/**")'),
        'A changed file of the pull request',
      ],
      ['a named condition', condition('gre|en'), 'passed("ci/*")'],
      ['an action', ruleOf('    steps:\n      - uses: set-l|abels\n'), 'Adds and removes the listed labels'],
      ['an argument', withArguments('set-labels', 'ad|d: [x]'), 'argument of `set-labels`'],
      ['an event', ruleOf('', 'pull_re|quest.opened'), 'The subject is a pull_request'],
      ['a key', ruleOf('    per|mission: write\n'), 'Whose comments the rule obeys'],
      [
        'a parameter',
        'version: 1\nparams:\n  days: { type: int, default: 3, description: Age in days. }\nrules:\n  a:\n    on: push\n    if: params.da|ys > 3\n',
        'Age in days.',
      ],
    ])('of %s', async (_, marked, words) => {
      expect(await client.hover(file, marked)).toContain(words);
    });

    it('of what is nothing is empty', async () => {
      expect(await client.hover(file, condition('"labels.exists(l, l.name == \'wo|rd\')"'))).toBe('');
    });
  });

  describe('packs', () => {
    const including = (given: string): string =>
      `version: 1\ninclude:\n  - name: stale\n    file: packs/stale.yml\n    with: { ${given} }\nrules: {}\n`;
    const pack =
      'version: 1\nparams:\n  days: { type: int }\nrules:\n  a:\n    on: { schedule: "7 3 * * *" }\n    each: issue\n    if: params.days > 3\n    steps: [{ uses: set-labels, with: { add: [stale] } }]\n';

    it('are read from the disk, and from the editor while they are open', async () => {
      client.write('p/rules/packs/stale.yml', pack);
      const name = 'p/rules/main.yml';

      expect(await client.open(name, including('days: 5'))).toEqual([]);
      expect((await client.change(name, including('day: 5'))).map(({ code }) => code)).toEqual([
        'parameter',
        'parameter',
      ]);
      await client.change(name, including('days: 5'));
      const { version } = await client.published(name);
      await client.open(
        'p/rules/packs/stale.yml',
        pack.replace('params:\n  days', 'params:\n  age').replace('params.days', 'params.age'),
      );
      await expect
        .poll(async () => (await client.published(name)).diagnostics.map(({ code }) => code))
        .toEqual(['parameter', 'parameter']);
      expect((await client.published(name)).version).toBe(version);
    });

    it('complete their parameters and their paths, and are declared in their file', async () => {
      client.write('q/rules/packs/stale.yml', pack);
      const name = 'q/rules/main.yml';

      expect(await client.labels(name, including('|'))).toEqual(['days']);
      expect(await client.labels(name, including('days: 5').replace('packs/stale.yml', '|'))).toEqual([
        'packs/stale.yml',
      ]);
      const declared = await client.ask<{ uri: string; range: { start: unknown } }>(
        'textDocument/definition',
        name,
        including('da|ys: 5'),
      );
      expect(declared).toMatchObject({
        uri: pathToFileURL(client.path('q/rules/packs/stale.yml')).href,
        range: { start: { line: 2, character: 2 } },
      });
      const itself = await client.ask<{ uri: string }>(
        'textDocument/definition',
        name,
        including('days: 5').replace('packs/stale', 'packs/st|ale'),
      );
      expect(itself.uri).toBe(declared.uri);
    });
  });

  describe('declarations', () => {
    it.each([
      ['a named condition', condition('gre|en && true'), { line: 2, character: 2 }],
      [
        'a parameter',
        'version: 1\nparams:\n  days: { type: int, default: 3 }\nrules:\n  a:\n    on: push\n    if: params.da|ys > 3\n',
        { line: 2, character: 2 },
      ],
    ])('of %s', async (_, marked, start) => {
      expect(await client.ask('textDocument/definition', file, marked)).toMatchObject({
        uri: pathToFileURL(client.path(file)).href,
        range: { start },
      });
    });
  });

  describe('remedies', () => {
    const steps = '    steps: [{ uses: set-labels, with: { add: [bug] } }]\n';

    it.each([
      ['a misspelt name', `${condition('pull_requst.draft')}${steps}`, 'pull_request.draft'],
      ['a misspelt activity of a word', ruleOf(steps, 'pull_request.openned'), 'on: pull_request.opened'],
      [
        'a function of another language',
        `${condition('pull_request.title.toLowerCase() == "x"')}${steps}`,
        'title.lower()',
      ],
      ['the length of a list', `${condition('files.length > 3')}${steps}`, 'if: files.size() > 3'],
      [
        'a literal of a comparison',
        `${condition('pull_request.state == "opn"')}${steps}`,
        'pull_request.state == "open"',
      ],
      [
        'an unquoted exclamation mark',
        `${condition('!pull_request.draft')}${steps}`,
        'if: "!pull_request.draft"',
      ],
      [
        'a value that may be null',
        `${condition('pull_request.milestone.title == "x"')}${steps}`,
        'if: has(pull_request.milestone) && pull_request.milestone.title == "x"',
      ],
      [
        'braces around a condition',
        `${condition('${{ pull_request.draft }}')}${steps}`,
        'if: pull_request.draft',
      ],
      ['the version as text', `version: "1"\n${ruleOf(steps).slice(11)}`, 'version: 1\n'],
    ])('%s is corrected', async (_, text, corrected) => {
      const [action] = await client.actions(file, text);

      const made = action ? applyAction(text, action) : text;
      expect(made).toContain(corrected);
      expect((await client.actions(file, made)).map(({ title }) => title)).not.toContain(action?.title);
    });
  });

  describe('hostile texts', () => {
    it.each([
      ['deep brackets', `version: 1\nrules: ${'['.repeat(5_000)}`],
      [
        'deep maps',
        `version: 1\nrules:\n${Array.from({ length: 3_000 }, (_, depth) => `${' '.repeat(depth % 60)}a:\n`).join('')}`,
      ],
      ['more than 64 KiB', `version: 1\nrules:\n${'  a: { on: push }\n'.repeat(8_000)}`],
      ['aliases', 'version: 1\na: &a [x]\nb: [*a, *a]\nrules: {}\n'],
      ['the mark of the cursor', 'version: 1\nrules:\n  "\ue0cf": 1\n'],
      ['a key of every object', 'version: 1\nrules:\n  __proto__: {}\n  constructor: {}\n'],
      ['a long expression', condition(`"${'('.repeat(3_000)}"`)],
      ['brackets without an end', condition(`"${'a.b('.repeat(2_000)}"`)],
      ['control characters', 'version: 1\nrules:\n  a\u0007: \u001b[31m\n'],
    ])('%s are answered', async (_, text) => {
      const found = await client.open('rules/hostile.yml', text);

      expect(found.length).toBeGreaterThan(0);
      for (const at of [0, Math.floor(text.length / 2), text.length]) {
        const marked = `${text.slice(0, at)}|${text.slice(at)}`;
        expect(await client.complete('rules/hostile.yml', marked)).toBeInstanceOf(Array);
        expect(typeof (await client.hover('rules/hostile.yml', marked))).toBe('string');
      }
      expect(await client.actions('rules/hostile.yml', text)).toBeInstanceOf(Array);
    });

    it('thousands of edits are examined together', async () => {
      const text = condition('pull_request.draft');
      for (let count = 0; count < 3_000; count += 1)
        await client.type('rules/edits.yml', `${text}# ${count}\n`);

      const { diagnostics } = await client.published('rules/edits.yml');

      expect(diagnostics.map(({ code }) => code)).toEqual(['missing-key']);
      // One in ten, where a busy machine makes the editor pause.
      expect(client.publications('rules/edits.yml')).toBeLessThan(300);
    });

    it('requests that the editor cancels are given up', async () => {
      await client.open('rules/cancelled.yml', condition('true'));

      const codes = await client.cancel('textDocument/completion', 'rules/cancelled.yml', 200);

      // RequestCancelled of the protocol; the first ones may have been answered.
      expect(codes.filter((code) => code === -32_800).length).toBeGreaterThan(100);
      expect((await client.labels('rules/cancelled.yml', condition('|'))).length).toBeGreaterThan(0);
    });
  });

  it('answers only about files on this machine', async () => {
    const textDocument = { uri: 'untitled:Untitled-1', version: 1, languageId: 'yaml', text: 'version: 1\n' };
    await client.notify('textDocument/didOpen', { textDocument });
    const position = { line: 0, character: 0 };

    expect(await client.request('textDocument/completion', { textDocument, position })).toBeNull();
    expect(await client.request('textDocument/hover', { textDocument, position })).toBeNull();
  });

  it('writes nothing', async () => {
    await client.actions(file, ruleOf('', 'pull_request.openned'));
    await client.complete(file, condition('|'));

    const written = readdirSync(client.folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(client.folder.length + 1))
      .filter((name) => !name.startsWith('.cache'));
    expect(written.toSorted()).toEqual([
      'more/rules/one.yml',
      'p/rules/packs/stale.yml',
      'q/rules/packs/stale.yml',
      'rules/b.yml',
    ]);
    expect(readFileSync(client.path('rules/b.yml'), 'utf8')).toBe('version: 2\n');
    expect(statSync(client.path('rules')).isDirectory()).toBe(true);
  });
});

describe('names on the forge', () => {
  const token = 'a-token-that-nobody-may-see-0123456789';
  let forge: BareServer;
  let isBroken = false;
  const clients: LanguageClient[] = [];
  const start: typeof startLanguageClient = async (options) => {
    const client = await startLanguageClient(options);
    clients.push(client);
    return client;
  };
  beforeAll(async () => {
    forge = await startBareServer(({ path, headers }, response) => {
      const answers: Readonly<Record<string, unknown>> = {
        '/api/v1/version': { version: '1.27.1' },
        '/api/v1/repos/acme/shop/labels': [
          { id: 1, name: 'kind/bug', color: 'ff0000' },
          { id: 2, name: 'needs: help', color: 'ff0000' },
        ],
        '/api/v1/repos/acme/shop/branches': [{ name: 'release/1' }],
        '/api/v1/orgs/acme/teams': [{ id: 1, name: 'crew' }],
        '/api/v1/orgs/acme/labels': [{ id: 3, name: 'shared', color: 'ff0000' }],
      };
      const answer = answers[path.replace(/\?.*$/, '')];
      response.setHeader('content-type', 'application/json');
      response.statusCode = isBroken ? 500 : answer === undefined ? 404 : 200;
      // A hostile forge repeats what it was sent.
      response.end(
        JSON.stringify(isBroken ? { message: headers.authorization } : (answer ?? { message: 'not found' })),
      );
    });
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) await client.close();
    isBroken = false;
    forge.requests.length = 0;
  });
  afterAll(() => forge.close());
  const environment = (): Record<string, string> => ({ FORGE_URL: forge.url, FORGE_TOKEN: token });

  it('are completed with reading requests alone', async () => {
    const client = await start({ environment: environment(), args: ['--repository', 'acme/shop'] });

    expect(await client.labels(file, withArguments('set-labels', 'add: [|]'))).toEqual(
      expect.arrayContaining(['kind/bug', 'needs: help', 'shared']),
    );
    expect(await client.labels(file, condition('labelled("kind/|"'))).toEqual([
      'kind/bug',
      'needs: help',
      'shared',
    ]);
    expect(await client.labels(file, condition('pull_request.base.ref == "|"'))).toEqual(['release/1']);
    expect(await client.labels(file, condition('team("|").size() > 0'))).toEqual(['acme/crew']);
    const quoted = await client.complete(file, withArguments('set-labels', 'add: [|]'));
    expect(quoted.find(({ label }) => label === 'needs: help')?.textEdit.newText).toBe('"needs: help"');
    expect(new Set(forge.requests.map(({ method }) => method))).toEqual(new Set(['GET']));
    expect(forge.requests.every(({ headers }) => headers.authorization === `token ${token}`)).toBe(true);
  });

  it('do not show the token, whatever the forge answers', async () => {
    isBroken = true;
    const client = await start({ environment: environment(), args: ['--repository', 'acme/shop'] });

    expect(await client.labels(file, condition('labelled("|"'))).toEqual([]);
    await expect.poll(() => client.messages.length).toBeGreaterThan(0);
    expect(`${client.messages.join('\n')}${client.errors()}`).not.toContain(token);
  });

  it('take the forge of the editor’s user if the environment has none', async () => {
    const client = await start();
    client.write('token', `${token}\n`);
    const path = client.path('token');
    const other = await start({
      initializationOptions: { forge: { url: forge.url, tokenFile: path }, repositories: ['acme/shop'] },
    });

    expect(await other.labels(file, condition('labelled("|"'))).toEqual([
      'kind/bug',
      'needs: help',
      'shared',
    ]);
  });

  it('go to no other forge than that of the environment', async () => {
    const elsewhere = await startBareServer((_, response) => response.end('[]') as never);
    const client = await start({
      environment: environment(),
      initializationOptions: {
        forge: { url: elsewhere.url, tokenFile: '/dev/null' },
        repositories: ['acme/shop'],
      },
    });

    expect(await client.labels(file, condition('labelled("|"'))).toEqual([
      'kind/bug',
      'needs: help',
      'shared',
    ]);
    expect(elsewhere.requests).toEqual([]);
    await elsewhere.close();
  });

  it('are not read because of files in the opened folder', async () => {
    const client = await start();
    client.write('token', token);
    for (const name of ['reeve.env', '.env', 'rules/reeve.env'])
      client.write(name, `FORGE_URL=${forge.url}\nFORGE_TOKEN=${token}\n`);
    client.write(
      '.vscode/settings.json',
      JSON.stringify({ 'reeve.forge': { url: forge.url, tokenFile: client.path('token') } }),
    );
    await client.notify('workspace/didChangeConfiguration', {
      settings: {
        reeve: { forge: { url: forge.url, tokenFile: client.path('token') }, repositories: ['acme/shop'] },
      },
    });

    expect(await client.labels(file, condition('labelled("|"'))).toEqual([]);
    expect(forge.requests).toEqual([]);
  });

  it('say what is wrong with the settings, and check files without them', async () => {
    const client = await start({ initializationOptions: { forge: { url: forge.url, token } } });

    expect((await client.open(file, 'version: 2\nrules: {}\n')).map(({ code }) => code)).toEqual(['value']);
    expect(client.messages.join('\n')).toContain('the settings of the editor are not used');
    expect(client.messages.join('\n')).not.toContain(token);
  });

  it.each(['acme', 'a/b/c'])('refuse the repository %s', async (name) => {
    await expect(startLanguageClient({ args: ['--repository', name] })).rejects.toThrow();
  });
});

it.runIf(isThorough)('completes in a file of 100 rules within 50 ms of processor time', async (context) => {
  const client = await startLanguageClient();
  const rules = Array.from(
    { length: 100 },
    (_, number) =>
      `  rule-${number}:\n    description: Pull requests that change documentation have the label docs.\n    on: { pull_request: [opened, synchronized] }\n    if: "!pull_request.draft && files.exists(f, f.filename.startsWith(\\"docs/${number}\\"))"\n    steps:\n      - uses: set-labels\n        with: { sync: { docs-${number}: touches("docs/${number}/**") } }\n`,
  );
  const text = (written: string): string =>
    `version: 1\nrules:\n${rules.join('')}  last:\n    on: pull_request\n    if: ${written}\n`;
  for (let count = 0; count < 20; count += 1) await client.complete(file, text('pull_request.|'));
  const rounds = 50;
  const before = cpuMs(client.child.pid);
  for (let count = 0; count < rounds; count += 1)
    expect((await client.complete(file, text(`files.exists(x${count}, x${count}.|`))).length).toBeGreaterThan(
      0,
    );
  const each = (cpuMs(client.child.pid) - before) / rounds;

  recordFigure(context, `${each.toFixed(1)} ms of processor time for a completion in a file of 100 rules`);
  expect(each).toBeLessThan(50);
  await client.close();
});
