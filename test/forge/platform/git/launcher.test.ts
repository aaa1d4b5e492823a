import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LaunchedProgram } from '../../../../src/forge/platform/git/launched-program.ts';
import { createLauncher, type Launcher } from '../../../../src/forge/platform/git/launcher.ts';
import { watchProcess } from '../../../support/processes.ts';

let launcher: Launcher;
beforeEach(() => {
  launcher = createLauncher();
});
afterEach(() => launcher.close());

function start(script: string, env: Record<string, string> = {}): LaunchedProgram {
  return launcher.start({
    file: 'sh',
    args: ['-c', script],
    cwd: '/',
    env: { PATH: '/usr/bin:/bin', ...env },
  });
}

function ended(program: LaunchedProgram): Promise<number | null> {
  return new Promise((resolve, reject) => {
    program.on('close', resolve);
    program.on('error', reject);
  });
}

async function run(script: string, env?: Record<string, string>) {
  const program = start(script, env);
  program.stdin.end();
  const [code, out, error] = await Promise.all([ended(program), text(program.stdout), text(program.stderr)]);
  return { code, out, error };
}

/** Ids of the launchers that a process has started. */
function launchersOf(pid: number | undefined): readonly number[] {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' }).split('\n');
  return lines
    .filter((line) => line.includes('max-semi-space-size=1 -e'))
    .map((line) => line.trim().split(/\s+/).map(Number))
    .flatMap(([id = 0, parent]) => (parent === pid ? [id] : []));
}

describe('a program started by the launcher', () => {
  it('has its arguments, folder and environment, both outputs, and its exit code', async () => {
    const program = launcher.start({
      file: 'sh',
      args: ['-c', 'pwd; echo "$1 $A"; echo oh >&2; exit 3', 'sh', 'a b\n"c"'],
      cwd: '/usr',
      env: { PATH: '/usr/bin:/bin', A: 'é' },
    });
    program.stdin.end();

    expect(await Promise.all([ended(program), text(program.stdout), text(program.stderr)])).toEqual([
      3,
      '/usr\na b\n"c" é\n',
      'oh\n',
    ]);
  });

  it("inherits nothing else from the parent's environment", async () => {
    expect(
      (await run('env')).out.split('\n').filter((line) => !/^(PATH|PWD|SHLVL|_|OLDPWD)=/.test(line)),
    ).toEqual(['']);
  });

  it('reads its whole input while it writes its output', async () => {
    const program = start('cat');
    const pieces = Array.from({ length: 200 }, (_, number) => Buffer.alloc(65_536, number));
    const sent = pipeline(pieces, program.stdin);
    const received: Buffer[] = [];
    program.stdout.on('data', (piece: Buffer) => received.push(piece));

    expect(await ended(program)).toBe(0);
    await sent;
    expect(Buffer.concat(received).equals(Buffer.concat(pieces))).toBe(true);
  });

  it('loses no output if it ends without reading its input', async () => {
    const program = start('printf first; sleep 0.05; printf second');
    let out = '';
    program.stdout.on('data', (piece: Buffer) => {
      out += piece.toString();
      if (out !== 'first') return;
      // The program ends while this thread is blocked, so writing fails before the rest of the output is read.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
      program.stdin.write('input');
    });

    expect([await ended(program), out]).toEqual([0, 'firstsecond']);
  });

  it('can be killed, and keeps the output written until then', async () => {
    const program = start('echo on; exec sleep 600');
    const end = ended(program);
    await once(program.stdout, 'readable');
    program.kill();

    expect([await text(program.stdout), await end]).toEqual(['on\n', null]);
  });

  it('can be killed before it has started', async () => {
    const program = start('exec sleep 600');
    program.kill();
    program.stdout.resume();

    expect(await ended(program)).toBeNull();
  });

  it('ends even if its output is never read or no longer wanted', async () => {
    const unread = start('echo much');
    const unwanted = start('yes');
    const ends = Promise.all([ended(unread), ended(unwanted)]);
    await once(unwanted.stdout, 'readable');
    unwanted.stdout.destroy();

    expect((await ends)[0]).toBe(0);
  });

  it('gets no more input once its output is no longer wanted', async () => {
    const program = start('printf ready; cat');
    program.stdout.once('data', () => program.stdout.destroy());

    expect(await ended(program)).toBe(0);
  });

  it('reports why it could not be started', async () => {
    const missing = launcher.start({
      file: 'no-such-program',
      args: [],
      cwd: '/',
      env: { PATH: '/usr/bin' },
    });

    await expect(ended(missing)).rejects.toThrow('ENOENT');
  });

  it('gets its own output and exit code among a hundred concurrent programs', async () => {
    const results = await Promise.all(Array.from({ length: 100 }, (_, at) => run(`echo ${at}; exit ${at}`)));

    expect(results.map(({ code, out }) => [code, Number(out)])).toEqual(
      Array.from({ length: 100 }, (_, at) => [at, at]),
    );
  });
});

describe('the launcher', () => {
  it('fails running programs when its process dies, and restarts', async () => {
    const before = launchersOf(process.pid);
    const program = start('exec sleep 5');
    program.stdout.resume();
    const end = ended(program).catch((error: Error) => error.message);
    await run('true');
    const [mine = 0] = launchersOf(process.pid).filter((pid) => !before.includes(pid));
    process.kill(mine, 'SIGKILL');

    expect(await end).toContain('has ended');
    expect((await run('echo again')).out).toBe('again\n');
  });

  it('reports that it cannot create a folder for its socket', async () => {
    const before = process.env.TMPDIR;
    process.env.TMPDIR = '/nonexistent';
    try {
      await expect(ended(start('true'))).rejects.toThrow('no socket to start git');
    } finally {
      if (before === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = before;
    }
    expect((await run('echo again')).out).toBe('again\n');
  });

  it('fails one program if the folder of its socket was removed, and creates another folder', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'launcher-'));
    const before = process.env.TMPDIR;
    process.env.TMPDIR = folder;
    const { code } = await run('true');
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
    expect([code, readdirSync(folder).length]).toEqual([0, 1]);
    rmSync(folder, { recursive: true });

    await expect(ended(start('true'))).rejects.toThrow('ENOENT');
    expect((await run('echo again')).out).toBe('again\n');
  });

  it('lets running programs finish when it is closed, and then ends', async () => {
    const before = launchersOf(process.pid);
    const program = start('read line; echo "$line"');
    const end = ended(program);
    launcher.close();
    program.stdin.end('last\n');

    expect([await text(program.stdout), await end]).toEqual(['last\n', 0]);
    while (launchersOf(process.pid).some((pid) => !before.includes(pid))) await setTimeout(20);
  });

  it.each(['SIGKILL', 'SIGTERM'] as const)(
    'leaves nothing behind after %s of the process that uses it',
    async (signal) => {
      const folder = mkdtempSync(join(tmpdir(), 'launcher-'));
      const module = fileURLToPath(
        new URL('../../../../src/forge/platform/git/launcher.ts', import.meta.url),
      );
      const code = `
      const { createLauncher } = await import(${JSON.stringify(module)});
      const program = createLauncher().start({ file: 'sh', args: ['-c', 'echo on; cat; echo off'], cwd: '/', env: { PATH: '/usr/bin:/bin' } });
      program.stdout.pipe(process.stdout);`;
      const child = watchProcess(
        spawn(process.execPath, ['--input-type=module', '-e', code], {
          stdio: ['ignore', 'pipe', 'inherit'],
          env: { ...process.env, TMPDIR: folder },
        }),
      );
      await once(child.stdout, 'data');
      const [mine = 0] = launchersOf(child.pid);
      expect(readdirSync(folder)).toHaveLength(1);
      child.kill(signal);
      await once(child, 'exit');

      while (readdirSync(folder).length > 0) await setTimeout(20);
      while (isAlive(mine)) await setTimeout(20);
      rmSync(folder, { recursive: true });
    },
  );

  it('leaves no folder behind if the process that uses it dies while programs start', async () => {
    const module = fileURLToPath(new URL('../../../../src/forge/platform/git/launcher.ts', import.meta.url));
    const code = `
      const { createLauncher } = await import(${JSON.stringify(module)});
      const launcher = createLauncher();
      const start = () => launcher.start({ file: 'sh', args: ['-c', 'echo on; cat'], cwd: '/', env: { PATH: '/usr/bin:/bin' } });
      for (const program of Array.from({ length: 12 }, start)) program.stdout.on('data', (data) => process.stdout.write(data));`;
    // In most rounds, the launcher reports programs that failed to start after the process that uses it has died.
    for (let round = 0; round < 4; round += 1) {
      const folder = mkdtempSync(join(tmpdir(), 'launcher-'));
      const child = watchProcess(
        spawn(process.execPath, ['--input-type=module', '-e', code], {
          stdio: ['ignore', 'pipe', 'inherit'],
          env: { ...process.env, TMPDIR: folder },
        }),
      );
      await once(child.stdout, 'data');
      child.kill('SIGKILL');
      await once(child, 'exit');

      while (readdirSync(folder).length > 0) await setTimeout(20);
      rmSync(folder, { recursive: true });
    }
  });

  it('does not keep an idle process alive', async () => {
    const module = fileURLToPath(new URL('../../../../src/forge/platform/git/launcher.ts', import.meta.url));
    const code = `
      const { createLauncher } = await import(${JSON.stringify(module)});
      const program = createLauncher().start({ file: 'sh', args: ['-c', 'sleep 0.2; echo done'], cwd: '/', env: { PATH: '/usr/bin:/bin' } });
      program.stdout.pipe(process.stdout);
      program.on('close', () => program.kill());`;
    const child = watchProcess(
      spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] }),
    );

    expect([await text(child.stdout), (await once(child, 'exit'))[0]]).toEqual(['done\n', 0]);
  });
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
