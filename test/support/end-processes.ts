import { afterAll } from 'vitest';
import { endProcesses } from './processes.ts';

// A failing test leaves no process behind either.
afterAll(endProcesses);
