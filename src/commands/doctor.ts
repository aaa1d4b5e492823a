import type { Environment } from '../config.ts';
import type { Terminal } from './terminal.ts';
export async function doctor(_o: object, _e: Environment, _t: Terminal): Promise<number> {
  return 0;
}
