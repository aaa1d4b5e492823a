import { afterAll } from 'vitest';
import { endProcesses } from './processes.ts';

// Even a failing test leaves no process behind.
afterAll(endProcesses);
