import { tmpdir } from 'node:os';
import { createLauncher } from '../../src/forge/platform/git/launcher.ts';

/**
 * Starts git for clones and forges of tests, one for each worker: a worker holds much memory and starts processes slowly, and
 * a forge for each test would start a launcher for each test.
 */
export const launcher = createLauncher({ temporary: tmpdir() });
