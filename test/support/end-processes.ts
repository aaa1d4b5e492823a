import { afterAll } from 'vitest';
import { endProcesses } from './processes.ts';

// A test that fails leaves no process behind either.
afterAll(endProcesses);
