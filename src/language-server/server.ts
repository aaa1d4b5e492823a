import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath, pathToFileURL } from 'node:url';
import {
  type CodeAction,
  CodeActionKind,
  type CompletionItem,
  CompletionItemKind,
  createConnection,
  type Diagnostic,
  DiagnosticSeverity,
  InsertTextFormat,
  LSPErrorCodes,
  MarkupKind,
  MessageType,
  type Range,
  ResponseError,
  ShowMessageNotification,
  StreamMessageReader,
  StreamMessageWriter,
  TextDocumentSyncKind,
  TextDocuments,
} from 'vscode-languageserver/node';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { z } from 'zod';
import type { ClientOptions } from '../client/client.ts';
import { createClient } from '../client/client.ts';
import { systemClock } from '../platform/clock.ts';
import { messageOf } from '../platform/errors.ts';
import { fixOf, type Problem } from '../rules/problem.ts';
import { type Completion, complete } from './completion.ts';
import { createForgeNames, type ForgeName, type ForgeNames, maxRepositories } from './forge-names.ts';
import { declarationOf, documentationOf } from './hover.ts';
import type { Offer } from './in-expression.ts';
import { createOpenFiles, type Examined, type FileOptions } from './open-files.ts';
import { placeAt } from './place.ts';
import type { PlaceInFile } from './slot.ts';

/** Forge whose names are completed. */
type ForgeOptions = Pick<ClientOptions, 'url' | 'credentials'>;

export type LanguageServerOptions = {
  readonly files: FileOptions;
  /** The forge of the environment, which takes precedence over that of the editor. */
  readonly forge?: ForgeOptions | undefined;
  /** Repositories whose names are completed, as `owner/name`. */
  readonly repositories: readonly string[];
  readonly version: string;
  readonly input: Readable;
  readonly output: Writable;
  /** What is wrong with the settings of the environment, without secrets. */
  readonly problem?: string | undefined;
};

/**
 * Settings that an editor sends when it starts the server. They must be those of its user: the server asks for no
 * settings of a folder, because the author of a folder would choose where the token is sent.
 */
const InitializationOptions = z.strictObject({
  forge: z.strictObject({ url: z.string().max(2_000), tokenFile: z.string().max(4_096) }).optional(),
  repositories: z
    .array(z.string().regex(/^[^/\s]+\/[^/\s]+$/))
    .max(maxRepositories)
    .optional(),
});

/** Time without a change before a file is examined. */
const quietMs = 150;
/** Maximum time that a completion waits for the forge. */
const forgeWaitMs = 1_500;
/** Maximum number of words in one answer. */
const maxItems = 3_000;
const maxTokenBytes = 4_096;

const cancelled = new ResponseError(LSPErrorCodes.RequestCancelled, 'cancelled by the editor');

/** Serves an editor over two streams, and never resolves: the library ends the process when the editor is gone. */
export async function serveLanguage(options: LanguageServerOptions): Promise<never> {
  const connection = createConnection(
    new StreamMessageReader(options.input),
    new StreamMessageWriter(options.output),
  );
  const documents = new TextDocuments(TextDocument);
  const byPath = new Map<string, TextDocument>();
  const files = createOpenFiles(options.files, (path) => byPath.get(path)?.getText());
  const timers = new Map<string, NodeJS.Timeout>();
  const examined = new Map<string, { readonly version: number; readonly found: Promise<Examined> }>();
  let names: ForgeNames | undefined;
  let takesSnippets = false;

  connection.onInitialize(async ({ capabilities, initializationOptions }) => {
    takesSnippets = capabilities.textDocument?.completion?.completionItem?.snippetSupport === true;
    const given = InitializationOptions.safeParse(initializationOptions ?? {});
    const problems = [options.problem, given.success ? undefined : wordsOfOptions(given.error)];
    const { forge, repositories = [] } = given.data ?? {};
    try {
      const chosen = options.forge ?? (forge && (await readForge(forge)));
      if (chosen)
        names = createForgeNames({
          client: createClient({ ...chosen, concurrency: 4 }),
          repositories: [...options.repositories, ...repositories],
          clock: systemClock,
          onProblem: (message) => connection.console.warn(`names on the forge: ${message}`),
        });
    } catch (error) {
      problems.push(messageOf(error));
    }
    connection.onInitialized(async () => {
      // As a notification: the method of the library is a request, which not every editor answers.
      for (const problem of problems)
        if (problem !== undefined)
          await connection.sendNotification(ShowMessageNotification.type, {
            type: MessageType.Warning,
            message: `Reeve: ${problem}`,
          });
    });
    return {
      serverInfo: { name: 'reeve', version: options.version },
      capabilities: {
        textDocumentSync: TextDocumentSyncKind.Incremental,
        completionProvider: { triggerCharacters: ['.', '"', "'", ' ', '[', '{', ','] },
        hoverProvider: true,
        definitionProvider: true,
        codeActionProvider: { codeActionKinds: [CodeActionKind.QuickFix] },
      },
    };
  });

  /** Returns the problems of a document as it is now; a text is examined once. */
  const examine = (document: TextDocument): Promise<Examined> => {
    const { uri, version } = document;
    const known = examined.get(uri);
    if (known?.version === version) return known.found;
    const path = pathOf(uri);
    const found = path === undefined ? nothing : files.examine(path, document.getText()).catch(failed);
    examined.set(uri, { version, found });
    return found;
  };
  const nothing: Promise<Examined> = Promise.resolve({ problems: [], warnings: [] });
  const failed = (error: unknown): Examined => {
    connection.console.error(`a file could not be examined: ${messageOf(error)}`);
    return { problems: [], warnings: [] };
  };

  const publish = async (uri: string): Promise<void> => {
    const document = documents.get(uri);
    if (document === undefined) return;
    const { version } = document;
    const { problems, warnings } = await examine(document);
    // A newer text has its own timer.
    if (documents.get(uri)?.version !== version) return;
    const diagnostics = [
      ...problems.map((problem) => diagnosticOf(problem, DiagnosticSeverity.Error)),
      ...warnings.map((problem) => diagnosticOf(problem, DiagnosticSeverity.Warning)),
    ];
    await connection.sendDiagnostics({ uri, version, diagnostics });
  };
  const soon = (uri: string): void => {
    clearTimeout(timers.get(uri));
    timers.set(
      uri,
      setTimeout(() => {
        timers.delete(uri);
        publish(uri).catch(failed);
      }, quietMs),
    );
  };
  /** Examines the open files again that include packs, because this one may be a pack. */
  const afterChange = (changed: TextDocument): void => {
    soon(changed.uri);
    for (const other of documents.all()) {
      if (other === changed || !other.getText().includes('include')) continue;
      examined.delete(other.uri);
      soon(other.uri);
    }
  };

  documents.onDidOpen(({ document }) => {
    const path = pathOf(document.uri);
    if (path !== undefined) byPath.set(path, document);
  });
  documents.onDidChangeContent(({ document }) => afterChange(document));
  documents.onDidSave(({ document }) => {
    examined.delete(document.uri);
    afterChange(document);
  });
  documents.onDidClose(({ document }) => {
    const { uri } = document;
    clearTimeout(timers.get(uri));
    timers.delete(uri);
    examined.delete(uri);
    byPath.delete(pathOf(uri) ?? '');
    connection.sendDiagnostics({ uri, diagnostics: [] }).catch(failed);
  });

  const placeIn = (uri: string, position: Range['start']) => {
    const document = documents.get(uri);
    const path = pathOf(uri);
    if (document === undefined || path === undefined) return undefined;
    const text = document.getText();
    const kind = files.kindOf(path, text);
    const offset = document.offsetAt(position);
    const found = kind && placeAt(text, offset);
    if (found === undefined || kind === undefined) return undefined;
    const place: PlaceInFile = { ...found, filePath: path, schema: files.schemaOf(kind) };
    return { document, text, offset, place };
  };

  connection.onCompletion(async ({ textDocument, position }, token) => {
    // The editor cancels most requests of fast typing while they wait.
    if (token.isCancellationRequested) return cancelled;
    const found = placeIn(textDocument.uri, position);
    if (found === undefined) return null;
    const { document, text, offset, place } = found;
    const completion = await complete(place, text, files);
    const ofForge = completion.names && names ? await within(names.of(completion.names), forgeWaitMs) : [];
    if (token.isCancellationRequested) return cancelled;
    const start = document.positionAt(offset - completion.typed.length);
    const range = { start, end: position };
    const offers = [...completion.offers, ...ofForge.flatMap((name) => offerOfName(name, completion, place))];
    const items = offers.slice(0, maxItems).map((offer) => itemOf(offer, range, takesSnippets));
    return { isIncomplete: offers.length > maxItems, items };
  });

  connection.onHover(({ textDocument, position }) => {
    const found = placeIn(textDocument.uri, position);
    const value = found && documentationOf(found.place);
    return value ? { contents: { kind: MarkupKind.Markdown, value } } : null;
  });

  connection.onDefinition(async ({ textDocument, position }) => {
    const found = placeIn(textDocument.uri, position);
    const declared = found && (await declarationOf(found.place, found.text, files));
    if (declared === undefined) return null;
    const target = TextDocument.create('', '', 0, declared.text);
    const range = { start: target.positionAt(declared.start), end: target.positionAt(declared.end) };
    return { uri: pathToFileURL(resolve(declared.path)).href, range };
  });

  connection.onCodeAction(async ({ textDocument: { uri }, range }) => {
    const document = documents.get(uri);
    if (document === undefined) return [];
    const { version } = document;
    const { problems, warnings } = await examine(document);
    // The edits would be about another text.
    if (documents.get(uri)?.version !== version) return [];
    return [...problems, ...warnings].flatMap((problem) => actionsOf(problem, range, document));
  });

  documents.listen(connection);
  connection.listen();
  return new Promise<never>(() => {});
}

/** Returns the path of a document; undefined for what is not a file on this machine. */
function pathOf(uri: string): string | undefined {
  try {
    return uri.startsWith('file:') ? fileURLToPath(uri) : undefined;
  } catch {
    // A host, or an escaped slash.
    return undefined;
  }
}

function wordsOfOptions(error: z.ZodError): string {
  const places = error.issues.map(({ path, message }) => `${path.join('.') || 'the options'}: ${message}`);
  return `the settings of the editor are not used: ${places.slice(0, 5).join('; ')}`;
}

/** Returns the forge of the editor's settings. Rejects if the file with the token cannot be used. */
async function readForge({ url, tokenFile }: { url: string; tokenFile: string }): Promise<ForgeOptions> {
  const about = await stat(tokenFile);
  if (!about.isFile() || about.size > maxTokenBytes) throw new Error(`${tokenFile} is no file with a token`);
  return { url, credentials: { token: (await readFile(tokenFile, 'utf8')).trim() } };
}

/** Returns the names, or none if they do not arrive in time; they are there for the next completion. */
async function within(names: Promise<readonly ForgeName[]>, ms: number): Promise<readonly ForgeName[]> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<readonly ForgeName[]>((done) => {
    timer = setTimeout(() => done([]), ms);
  });
  return Promise.race([names, late]).finally(() => clearTimeout(timer));
}

/** Returns a name on the forge as it is written at a place: in a literal text, as a key, or as a value. */
function offerOfName({ name, of }: ForgeName, { isText }: Completion, place: PlaceInFile): readonly Offer[] {
  const detail = `on the forge: ${of}`;
  if (isText) return /["'\\]/.test(name) ? [] : [{ label: name, kind: 'value', detail }];
  const isPlain =
    /^[A-Za-z0-9][\w./+-]*( [\w./+-]+)*$/.test(name) && !/^(true|false|null|[\d.]+)$/i.test(name);
  const written = isPlain ? name : JSON.stringify(name);
  const isKey = place.role === 'key' && !place.isFollowed;
  return [{ label: name, kind: 'value', detail, insert: isKey ? `${written}: ` : written }];
}

const itemKinds: Readonly<Record<Offer['kind'], CompletionItemKind>> = {
  key: CompletionItemKind.Property,
  value: CompletionItemKind.EnumMember,
  name: CompletionItemKind.Variable,
  fact: CompletionItemKind.Variable,
  member: CompletionItemKind.Field,
  function: CompletionItemKind.Function,
  event: CompletionItemKind.Event,
  action: CompletionItemKind.Class,
};

function itemOf(
  { label, kind, detail, documentation, insert = label }: Offer,
  range: Range,
  takesSnippets: boolean,
): CompletionItem {
  const cursor = insert.indexOf('$0');
  const isSnippet = cursor >= 0 && takesSnippets;
  const newText = isSnippet || cursor < 0 ? insert : insert.slice(0, cursor);
  return {
    label,
    kind: itemKinds[kind],
    ...(detail !== undefined && { detail }),
    ...(documentation && { documentation: { kind: MarkupKind.Markdown, value: documentation } }),
    textEdit: { range, newText },
    insertTextFormat: isSnippet ? InsertTextFormat.Snippet : InsertTextFormat.PlainText,
  };
}

function rangeOf({ line, column, width }: Problem): Range {
  const start = { line: line - 1, character: column - 1 };
  return { start, end: { line: line - 1, character: column - 1 + width } };
}

function diagnosticOf(problem: Problem, severity: DiagnosticSeverity): Diagnostic {
  const { code, message, suggestion } = problem;
  const hint = suggestion === undefined ? '' : `, did you mean "${suggestion}"?`;
  return { range: rangeOf(problem), severity, code, source: 'reeve', message: `${message}${hint}` };
}

/** Returns the remedy of a problem that a range touches, as an edit of the document. */
function actionsOf(problem: Problem, range: Range, document: TextDocument): readonly CodeAction[] {
  const own = rangeOf(problem);
  const isTouched = own.start.line <= range.end.line && own.end.line >= range.start.line;
  const made = fixOf(problem, document.getText());
  if (!isTouched || made === undefined) return [];
  const edited = { start: document.positionAt(made.start), end: document.positionAt(made.end) };
  const shown = made.text.length > 60 ? `${made.text.slice(0, 59)}…` : made.text;
  return [
    {
      title: `Write ${shown.replace(/\s+/g, ' ')}`,
      kind: CodeActionKind.QuickFix,
      isPreferred: true,
      diagnostics: [diagnosticOf(problem, DiagnosticSeverity.Error)],
      edit: { changes: { [document.uri]: [{ range: edited, newText: made.text }] } },
    },
  ];
}
