import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  CancellationTokenSource,
  createMessageConnection,
  StreamMessageReader,
  StreamMessageWriter,
} from 'vscode-jsonrpc/node';
import { builtProgram } from './built-program.ts';
import { watchProcess } from './processes.ts';

export type Position = { readonly line: number; readonly character: number };
export type Range = { readonly start: Position; readonly end: Position };
export type Diagnostic = {
  readonly code: string;
  readonly message: string;
  readonly severity: number;
  readonly range: Range;
};
export type Published = {
  readonly uri: string;
  readonly version?: number;
  readonly diagnostics: readonly Diagnostic[];
};
export type Item = {
  readonly label: string;
  readonly detail?: string;
  readonly documentation?: { readonly value: string };
  readonly textEdit: { readonly range: Range; readonly newText: string };
};
export type Action = {
  readonly title: string;
  readonly edit: {
    readonly changes: Readonly<
      Record<string, readonly { readonly range: Range; readonly newText: string }[]>
    >;
  };
};

/** An editor that is connected to `reeve lsp` over the streams of the real process. */
export interface LanguageClient {
  readonly child: ChildProcessWithoutNullStreams;
  readonly folder: string;
  /** Messages of the server to the user and to the log. */
  readonly messages: string[];
  /** What the process has written to its error output. */
  readonly errors: () => string;
  path(name: string): string;
  /** Writes a file below the folder without opening it. */
  write(name: string, text: string): void;
  /** Opens a file with this text, and returns the problems that the server publishes. */
  open(name: string, text: string): Promise<readonly Diagnostic[]>;
  /** Replaces the text of an open file, and returns the problems of the new text. */
  change(name: string, text: string): Promise<readonly Diagnostic[]>;
  /** Replaces the text of an open file, and does not wait. */
  type(name: string, text: string): Promise<void>;
  /** Returns the problems that the server publishes next for a file, or has published for its newest text. */
  published(name: string): Promise<Published>;
  /** Returns how often the server has published the problems of a file. */
  publications(name: string): number;
  /** Sends requests about the beginning of a file, cancels them at once, and returns the codes of the errors. */
  cancel(method: string, name: string, count: number): Promise<readonly unknown[]>;
  /** Opens a text with `|` at the cursor, and returns the answer to a request about that place. */
  ask<Answer>(method: string, name: string, marked: string): Promise<Answer>;
  /** Returns the completions at `|` in a text. */
  complete(name: string, marked: string): Promise<readonly Item[]>;
  /** Returns the labels of the completions at `|` in a text. */
  labels(name: string, marked: string): Promise<readonly string[]>;
  hover(name: string, marked: string): Promise<string>;
  actions(name: string, text: string): Promise<readonly Action[]>;
  request<Answer>(method: string, params: unknown): Promise<Answer>;
  notify(method: string, params: unknown): Promise<void>;
  /** Ends the session as an editor does, and returns the exit status. */
  close(): Promise<number | null>;
}

/** Starts `reeve lsp` and initializes a session. */
export async function startLanguageClient(
  options: {
    readonly args?: readonly string[];
    readonly environment?: Readonly<Record<string, string>>;
    readonly initializationOptions?: unknown;
    readonly snippets?: boolean;
  } = {},
): Promise<LanguageClient> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'reeve-lsp-')));
  const child = watchProcess(
    spawn(
      process.execPath,
      [builtProgram(), 'lsp', ...(options.args ?? []).map((arg) => arg.replace('FOLDER', folder))],
      {
        cwd: folder,
        env: { PATH: process.env.PATH ?? '', HOME: folder, ...options.environment },
      },
    ),
  );
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const connection = createMessageConnection(
    new StreamMessageReader(child.stdout),
    new StreamMessageWriter(child.stdin),
  );
  const messages: string[] = [];
  const newest = new Map<string, Published>();
  const publications = new Map<string, number>();
  const waiting = new Map<string, (() => void)[]>();
  connection.onNotification('textDocument/publishDiagnostics', (published: Published) => {
    newest.set(published.uri, published);
    publications.set(published.uri, (publications.get(published.uri) ?? 0) + 1);
    for (const tell of waiting.get(published.uri) ?? []) tell();
  });
  for (const method of ['window/logMessage', 'window/showMessage'])
    connection.onNotification(method, ({ message }: { message: string }) => {
      messages.push(message);
    });
  connection.listen();
  const path = (name: string): string => join(folder, name);
  const uriOf = (name: string): string => pathToFileURL(path(name)).href;
  const versions = new Map<string, number>();
  const texts = new Map<string, string>();

  const refused = new Promise<never>((_, reject) => {
    child.once('exit', (status) => reject(new Error(`reeve lsp ended with ${status}: ${errors}`)));
  });
  const initialized = connection.sendRequest('initialize', {
    processId: process.pid,
    rootUri: pathToFileURL(folder).href,
    capabilities: {
      textDocument: { completion: { completionItem: { snippetSupport: options.snippets === true } } },
    },
    initializationOptions: options.initializationOptions,
  });
  await Promise.race([initialized, refused]);
  refused.catch(() => {}); // The end of the session.
  await connection.sendNotification('initialized', {});

  const type = async (name: string, text: string): Promise<void> => {
    const version = (versions.get(name) ?? 0) + 1;
    versions.set(name, version);
    texts.set(name, text);
    const textDocument = { uri: uriOf(name), version, languageId: 'yaml', text };
    if (version === 1) await connection.sendNotification('textDocument/didOpen', { textDocument });
    else
      await connection.sendNotification('textDocument/didChange', {
        textDocument: { uri: uriOf(name), version },
        contentChanges: [{ text }],
      });
  };
  const published = async (name: string): Promise<Published> => {
    const uri = uriOf(name);
    for (;;) {
      const found = newest.get(uri);
      if (found?.version === versions.get(name) && found !== undefined) return found;
      await new Promise<void>((tell) => waiting.set(uri, [...(waiting.get(uri) ?? []), tell]));
    }
  };
  const ask = async <Answer>(method: string, name: string, marked: string): Promise<Answer> => {
    const at = marked.indexOf('|');
    await type(name, marked.slice(0, at) + marked.slice(at + 1));
    const lines = marked.slice(0, at).split('\n');
    const position = { line: lines.length - 1, character: lines.at(-1)?.length ?? 0 };
    return connection.sendRequest<Answer>(method, { textDocument: { uri: uriOf(name) }, position });
  };
  const complete = async (name: string, marked: string): Promise<readonly Item[]> =>
    (await ask<{ items: readonly Item[] } | null>('textDocument/completion', name, marked))?.items ?? [];

  return {
    child,
    folder,
    messages,
    errors: () => errors,
    path,
    write(name, text) {
      mkdirSync(dirname(path(name)), { recursive: true });
      writeFileSync(path(name), text);
    },
    async open(name, text) {
      await type(name, text);
      return (await published(name)).diagnostics;
    },
    async change(name, text) {
      await type(name, text);
      return (await published(name)).diagnostics;
    },
    type,
    published,
    publications: (name) => publications.get(uriOf(name)) ?? 0,
    async cancel(method, name, count) {
      const position = { line: 0, character: 0 };
      const sent = Array.from({ length: count }, () => {
        const source = new CancellationTokenSource();
        const params = { textDocument: { uri: uriOf(name) }, position };
        const answer = connection.sendRequest(method, params, source.token);
        source.cancel();
        return answer.then(
          () => undefined,
          ({ code }: { code: unknown }) => code,
        );
      });
      return Promise.all(sent);
    },
    ask,
    complete,
    labels: async (name, marked) => (await complete(name, marked)).map(({ label }) => label),
    async hover(name, marked) {
      const answer = await ask<{ contents: { value: string } } | null>('textDocument/hover', name, marked);
      return answer?.contents.value ?? '';
    },
    async actions(name, text) {
      await type(name, text);
      const end = { line: text.split('\n').length, character: 0 };
      return connection.sendRequest('textDocument/codeAction', {
        textDocument: { uri: uriOf(name) },
        range: { start: { line: 0, character: 0 }, end },
        context: { diagnostics: [] },
      });
    },
    request: (method, params) => connection.sendRequest(method, params),
    notify: (method, params) => connection.sendNotification(method, params),
    async close() {
      const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
      if (child.exitCode === null && child.signalCode === null) {
        await connection.sendRequest('shutdown');
        await connection.sendNotification('exit');
      }
      const status = child.exitCode ?? (await ended);
      connection.dispose();
      rmSync(folder, { recursive: true, force: true });
      return status;
    },
  };
}

/** Returns a text after the edits of an action. */
export function applyAction(text: string, { edit }: Action): string {
  const lines = text.split('\n');
  const offsetOf = ({ line, character }: Position): number =>
    lines.slice(0, line).reduce((sum, one) => sum + one.length + 1, 0) + character;
  const edits = Object.values(edit.changes).flat();
  return edits
    .toSorted((a, b) => offsetOf(b.range.start) - offsetOf(a.range.start))
    .reduce(
      (made, { range, newText }) =>
        made.slice(0, offsetOf(range.start)) + newText + made.slice(offsetOf(range.end)),
      text,
    );
}
