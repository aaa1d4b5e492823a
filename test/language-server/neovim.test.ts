import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { createMessageConnection, StreamMessageReader, StreamMessageWriter } from 'vscode-jsonrpc/node';
import { builtProgram } from '../support/built-program.ts';
import { recordedSession } from '../support/editors/neovim-session.ts';
import type { Published } from '../support/language-client.ts';
import { watchProcess } from '../support/processes.ts';

type Message = { readonly id?: number; readonly method: string; readonly params?: unknown };

/** The recorded messages, about a folder that is not there: the server needs none. */
const messages = readFileSync(recordedSession, 'utf8')
  .trimEnd()
  .split('\n')
  .map((line): Message => JSON.parse(line.replaceAll('/FOLDER', '/nowhere')));

describe('the recorded session of Neovim', () => {
  const published: Published[] = [];
  const answers = new Map<string, unknown>();
  let status: number | null;
  beforeAll(async () => {
    const child = watchProcess(
      spawn(process.execPath, [builtProgram(), 'lsp'], { stdio: ['pipe', 'pipe', 'inherit'] }),
    );
    const connection = createMessageConnection(
      new StreamMessageReader(child.stdout),
      new StreamMessageWriter(child.stdin),
    );
    let tell = (): void => {};
    connection.onNotification('textDocument/publishDiagnostics', (one: Published) => {
      published.push(one);
      tell();
    });
    connection.listen();
    const ended = once(child, 'exit');
    let version: number | undefined;
    for (const { id, method, params } of messages) {
      // Where the editor waited for problems, as its script says.
      if (method === 'textDocument/codeAction' || method === 'shutdown' || published.length === 0)
        while (version !== undefined && published.at(-1)?.version !== version)
          await new Promise<void>((resolve) => {
            tell = resolve;
          });
      if (id !== undefined) answers.set(method, await connection.sendRequest(method, params));
      else await connection.sendNotification(method, params);
      const { textDocument } = Object(params) as { textDocument?: { version?: number } };
      version = textDocument?.version ?? version;
    }
    [status] = await ended;
    connection.dispose();
  });

  it('has the problems of each text for which the editor waited', () => {
    const lines = published.map(({ diagnostics }) => diagnostics.map(({ range }) => range.start.line));

    expect(lines[0]).toEqual([5, 6]);
    expect(lines.at(-2)).toEqual([5]);
    expect(lines.at(-1)).toEqual([]);
  });

  it('answers every request of the editor', () => {
    const { items } = answers.get('textDocument/completion') as { items: readonly { label: string }[] };

    expect(items.map(({ label }) => label)).toEqual(expect.arrayContaining(['draft', 'labels', 'title']));
    expect(answers.get('textDocument/hover')).toMatchObject({
      contents: { value: expect.stringContaining('pull_request.draft') },
    });
    expect(answers.get('textDocument/definition')).toMatchObject({
      range: { start: { line: 2, character: 2 } },
    });
    expect(answers.get('textDocument/codeAction')).toMatchObject([{ title: 'Write opened' }]);
  });

  it('inserts no placeholders, which this editor does not support', () => {
    expect(JSON.stringify(answers.get('textDocument/completion'))).not.toContain('$0');
  });

  it('ends with the editor', () => {
    expect(status).toBe(0);
  });
});
