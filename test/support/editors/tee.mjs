// Runs a language server for an editor, and writes each message of the editor as one line of JSON to a file:
// tee.mjs FILE COMMAND ARGUMENT…
import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';

const [, , file, command, ...args] = process.argv;
const child = spawn(command, args, { stdio: ['pipe', 'inherit', 'inherit'] });
let left = Buffer.alloc(0);
process.stdin.on('data', (chunk) => {
  child.stdin.write(chunk);
  left = Buffer.concat([left, chunk]);
  for (;;) {
    const end = left.indexOf('\r\n\r\n');
    const length =
      end < 0 ? undefined : Number(/content-length: (\d+)/i.exec(left.subarray(0, end).toString())?.[1]);
    if (length === undefined || left.length < end + 4 + length) break;
    appendFileSync(file, `${left.subarray(end + 4, end + 4 + length)}\n`);
    left = left.subarray(end + 4 + length);
  }
});
process.stdin.on('end', () => child.stdin.end());
child.on('exit', (status) => process.exit(status ?? 1));
